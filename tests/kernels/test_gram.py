"""Gram matrices as such: symmetry, definiteness, threads, slices, kinds of input, memory, interruption."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
import strategies
from sapwood.errors import DataError, KernelError, TooLargeError
from sapwood.kernels import Kernel, Linear, PartialTree, SubsetTree, Subtree

KERNELS: list[Kernel] = [
    Subtree(),
    SubsetTree(),
    SubsetTree(0.7, bag_of_words=True, max_depth=3),
    PartialTree(),
    PartialTree(0.6, 0.8, max_subsequence=3, leaves=False),
    SubsetTree().normalized() + 0.5 * PartialTree().normalized(),
    (SubsetTree() * Subtree() + 1) ** 2,
]
named = pytest.mark.parametrize("kernel", KERNELS, ids=repr)

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def assert_psd(K: np.ndarray) -> None:
    lowest = np.linalg.eigvalsh(K)[0]
    assert lowest >= -1e-10 * np.trace(K)


class TestShape:
    @pytest.mark.slow
    @named
    @given(st.lists(strategies.internal_trees(6), min_size=1, max_size=6))
    def test_symmetric_and_positive_semidefinite(self, kernel: Kernel, trees: list[sw.Tree]) -> None:
        K = kernel(trees)
        assert K.dtype == np.float64
        assert K.flags.c_contiguous
        np.testing.assert_array_equal(K, K.T)
        assert_psd(K)
        np.testing.assert_allclose(kernel.diag(trees), np.diagonal(K), rtol=1e-12)

    @pytest.mark.slow
    @named
    def test_treebank(self, kernel: Kernel, treebank: sw.TreeArray) -> None:
        X = treebank[:150]
        with sw.options(threads=1):
            K = kernel(X)
            other = kernel(X[20:70], X)
            diagonal = kernel.diag(X)
            scores = kernel.expansion(X, K[:, :2])(X)
        np.testing.assert_array_equal(K, K.T)
        assert_psd(K)
        np.testing.assert_allclose(other, K[20:70], rtol=1e-10)
        np.testing.assert_allclose(diagonal, np.diagonal(K), rtol=1e-10)
        for threads in (2, 5):
            with sw.options(threads=threads):
                np.testing.assert_array_equal(kernel(X), K)
                np.testing.assert_array_equal(kernel(X[20:70], X), other)
                np.testing.assert_array_equal(kernel.diag(X), diagonal)
                np.testing.assert_array_equal(kernel.expansion(X, K[:, :2])(X), scores)
        # Asking again gives the same bits.
        np.testing.assert_array_equal(kernel(X), K)

    @named
    def test_one_pair_at_a_time(self, kernel: Kernel, treebank: sw.TreeArray) -> None:
        X = treebank[40:46]
        K = kernel(X)
        for i in range(len(X)):
            for j in range(len(X)):
                assert kernel(X[i], X[j]) == pytest.approx(K[i, j], rel=1e-10)

    @named
    def test_a_part_of_a_large_store(self, kernel: Kernel, treebank: sw.TreeArray) -> None:
        """Views share the store of all trees; what is outside the view must not count."""
        chosen = [5, 900, 5, 2000, 0]
        alone = sw.TreeArray(list(treebank[chosen]))
        np.testing.assert_allclose(kernel(treebank[chosen]), kernel(alone), rtol=1e-10)
        np.testing.assert_allclose(kernel(treebank[:3], treebank[chosen]), kernel(treebank[:3], alone), rtol=1e-10)

    @named
    def test_empty(self, kernel: Kernel) -> None:
        X = sw.TreeArray(["(a b)", "(a (b c))"])
        empty = X[:0]
        assert kernel(empty).shape == (0, 0)
        assert kernel(empty, X).shape == (0, 2)
        assert kernel(X, empty).shape == (2, 0)
        assert kernel(sw.TreeArray([]), sw.TreeArray([])).shape == (0, 0)
        assert kernel.diag(empty).shape == (0,)
        assert kernel.expansion(empty, np.zeros((0, 3)))(X).tolist() == [[0.0] * 3] * 2
        assert kernel.expansion(X, np.ones((2, 3)))(empty).shape == (0, 3)

    def test_an_empty_bag_shares_nothing(self) -> None:
        X = sw.TreeArray([["(a b)"], []])
        np.testing.assert_array_equal(SubsetTree(1.0)(X), [[1, 0], [0, 0]])

    def test_a_bag_is_the_sum_of_its_trees(self) -> None:
        bag = ["(a (b c))", "(a (b c))", "(b c)"]
        for kernel in KERNELS[:5]:
            K = kernel(bag)
            assert kernel([bag])[0, 0] == pytest.approx(K.sum())
            np.testing.assert_allclose(kernel([bag], bag), K.sum(axis=0, keepdims=True))


class TestInput:
    @pytest.mark.slow
    def test_kinds_that_mean_the_same(self) -> None:
        import nltk
        import pandas as pd

        texts = ["(S (NP (NN dog)) (VP barks))", "(S (NP (NN cat)) (VP barks))"]
        kernel = SubsetTree()
        K = kernel(sw.TreeArray(texts))
        trees = [sw.Tree.fromstring(text) for text in texts]
        nltk_trees = [nltk.Tree.fromstring(text) for text in texts]
        objects = np.empty(2, dtype=object)
        objects[:] = trees
        for data in (
            texts,
            tuple(texts),
            trees,
            nltk_trees,
            objects,
            pd.Series(trees),
            pd.Series(texts),
            np.array(texts),
        ):
            np.testing.assert_array_equal(kernel(data), K)
        assert kernel(texts[0], trees[1]) == kernel(nltk_trees[0], nltk_trees[1]) == K[0, 1]
        assert kernel.diag(trees[0]).tolist() == [K[0, 0]]

    @pytest.mark.parametrize("kernel", KERNELS[:5], ids=repr)
    def test_refusals_say_what_to_do(self, kernel: Kernel) -> None:
        with pytest.raises(DataError, match="a list of trees as X"):
            kernel("(a b)")
        with pytest.raises(DataError, match="compares trees"):
            kernel(np.zeros((2, 2)))
        with pytest.raises(DataError, match=r"say which one with \.on\('tree'\)"):
            kernel(sw.Examples(tree=["(a b)"]))
        with pytest.raises(DataError, match="got int"):
            kernel(5)
        with pytest.raises(sw.BracketError, match="<element 1>:1:1"):
            kernel(["(a b)", "(a b"])

    def test_weights_must_fit(self) -> None:
        with pytest.raises(DataError, match=r"one row per example, 1 here; got shape \(2, 1\)"):
            SubsetTree().expansion(["(a b)"], np.zeros((2, 1)))
        with pytest.raises(DataError, match="one row per example"):
            SubsetTree().expansion(["(a b)"], np.zeros(1))
        with pytest.raises(DataError, match=r"weights\[1, 0\] is nan; expected finite numbers"):
            SubsetTree().expansion(["(a b)", "(a c)"], np.array([[1.0, 2.0], [np.nan, np.inf]]))

    def test_expansions_take_what_kernels_take(self) -> None:
        compiled = SubsetTree(1.0).expansion(["(a b)"], np.array([[2.0]]))
        assert compiled(["(a b)", "(a c)"]).tolist() == [[2.0], [0.0]]
        assert (SubsetTree(1.0) * 3).expansion(["(a b)"], np.array([[2.0]]))(["(a b)"]).tolist() == [[6.0]]
        assert (SubsetTree(1.0) ** 2).expansion(["(a b)"], np.array([[2.0]]))(["(a b)"]).tolist() == [[2.0]]


class TestNormalized:
    def test_elements_that_share_nothing(self) -> None:
        X = ["(a b)", "c", "(a (b d))", "e"]
        with pytest.warns(UserWarning, match=r"2 of 4 elements .*positions 1, 3\)") as caught:
            K = SubsetTree().normalized()(X)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert np.isfinite(K).all()
        assert np.diagonal(K).tolist() == [1, 0, 1, 0]
        assert not K[1].any()
        with pytest.warns(UserWarning, match="share nothing"):
            assert SubsetTree().normalized().diag(X).tolist() == [1, 0, 1, 0]

    def test_overflow_is_an_error(self) -> None:
        wide = sw.Tree("s", [sw.Tree("a", ["b"])] * 2000)
        with pytest.raises(KernelError, match=r"example 0 with itself is not finite.* smaller decay"):
            SubsetTree(1.0).normalized()([wide])

    @pytest.mark.slow
    @given(st.lists(strategies.internal_trees(6), min_size=2, max_size=5))
    def test_against_numpy(self, trees: list[sw.Tree]) -> None:
        for kernel in KERNELS[:4]:
            K = kernel(trees)
            scale = 1 / np.sqrt(np.diagonal(K))
            np.testing.assert_allclose(kernel.normalized()(trees), K * scale[:, None] * scale, rtol=1e-12)
            np.testing.assert_allclose(
                kernel.normalized()(trees[:1], trees), (K * scale[:, None] * scale)[:1], rtol=1e-12
            )


class TestMemory:
    @pytest.mark.slow
    def test_gram_takes_little_more_than_its_array(self, fresh: Run) -> None:
        done = fresh(
            """
            import resource, random
            import numpy as np
            import sapwood as sw
            from sapwood.kernels import PartialTree, SubsetTree, Subtree

            def peak():
                return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

            def tree(depth):
                label = random.choice("abcdefgh")
                if depth == 0:
                    return sw.Tree(label)
                return sw.Tree(label, [tree(depth - 1) for _ in range(random.randint(1, 2))])

            random.seed(1)
            n = 5000
            X = sw.TreeArray([tree(3) for _ in range(n)])
            for kernel in (Subtree(), SubsetTree(), PartialTree(), SubsetTree().normalized()):
                kernel(X[:100])
                X.node_count()
                arena = X._arena.nbytes + X._as_bags().nbytes
                # The high-water mark never goes down, so what is there now is filled up to it first.
                with open("/proc/self/statm") as stream:
                    now = int(stream.read().split()[1]) * resource.getpagesize()
                filler = np.ones(max(0, peak() - now) // 8 + 1)
                before = peak()
                K = kernel(X)
                grown = peak() - before
                assert grown < 1.2 * K.nbytes + 2 * arena, (kernel, grown / K.nbytes, arena)
                assert grown > 0.8 * K.nbytes, "the measurement is broken"
                del K, filler
            """
        )
        assert done.returncode == 0, done.stderr

    @pytest.mark.slow
    @pytest.mark.parametrize("kernel", [*KERNELS, Linear()], ids=repr)
    def test_too_large_is_refused_before_anything_is_taken(self, kernel: Kernel, stopwatch: Callable[..., Any]) -> None:
        many = np.zeros(10_000_000, dtype=np.int64)
        X: Any = sw.TreeArray(["(a b)"])[many] if not isinstance(kernel, Linear) else np.zeros((10_000_000, 1))
        told = r"10,000,000 x 10,000,000 .* needs [\d,.]+ GB .*Instead: "
        with stopwatch(at_most=1), pytest.raises(TooLargeError, match=told) as caught:
            kernel(X)
        assert isinstance(caught.value, MemoryError)
        assert "blocks of rows" in str(caught.value)

    @pytest.mark.slow
    def test_address_space_limits_are_respected(self, fresh: Run) -> None:
        done = fresh(
            """
            import resource
            import numpy as np
            import sapwood as sw

            X = sw.TreeArray(["(a b)"])[np.zeros(20_000, dtype=int)]
            kernel = sw.kernels.SubsetTree()
            kernel(X[:10])
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
            try:
                kernel(X)
            except sw.errors.TooLargeError as error:
                print(error)
            kernel(X[:1000])
            """
        )
        assert done.returncode == 0, done.stderr
        assert "20,000 x 20,000 Gram matrix needs 3.2 GB" in done.stdout

    def test_the_alternatives_work(self) -> None:
        """Whatever the message proposes must run on trees."""
        X = sw.TreeArray([f"(a (b {i % 7}) (c {i % 5}))" for i in range(60)])
        kernel = SubsetTree()
        whole = kernel(X)
        blocks = np.concatenate([kernel(X[a : a + 16], X) for a in range(0, len(X), 16)])
        np.testing.assert_allclose(blocks, whole)
        with pytest.raises(TooLargeError) as caught:
            kernel(X[np.zeros(10_000_000, dtype=int)])
        # scikit-learn's Nystroem insists on matrices, so it must not be what the message proposes for trees.
        assert "Nystroem" not in str(caught.value)


INTERRUPTED = {
    "SubsetTree": "SubsetTree()(B)",
    "Subtree": "Subtree()(B)",
    "PartialTree": "PartialTree()(X)",
    "normalized": "PartialTree().normalized()(X, X)",
    "one wide tree": "PartialTree()([W], [W])",
    "its diagonal": "PartialTree().diag([W])",
    "its expansion": "PartialTree().expansion([W], np.ones((1, 1)))([W])",
    "wide documents": "PartialTree()(D)",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sends POSIX signals")
@pytest.mark.parametrize("what", INTERRUPTED)
def test_interrupt(what: str, interrupt: Callable[..., str]) -> None:
    """Ctrl-C stops a computation that would take many seconds within one, and Python goes on."""
    code = f"""
        import random
        import numpy as np
        import sapwood as sw
        from sapwood.kernels import PartialTree, SubsetTree, Subtree

        random.seed(0)
        def tree(depth):
            if depth == 0:
                return sw.Tree(random.choice("abcdefghijklmnopqrst"))
            return sw.Tree(random.choice("xy"), [tree(depth - 1) for _ in range(random.randint(2, 3))])
        X = sw.TreeArray([tree(5) for _ in range(300)])[np.arange(6000) % 300]
        W = sw.Tree("a", ["b"] * 100_000)
        B = sw.TreeArray([list(X[:300])])[np.zeros({3000 if what == "Subtree" else 1000}, dtype=int)]
        B.node_count()
        words = [sw.Tree("s", [f"w{{i}}"]) for i in range(50)]
        D = sw.TreeArray([sw.Tree("d", random.choices(words, k=60)) for _ in range(1000)])
        print("ready", flush=True)
        try:
            {INTERRUPTED[what]}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        else:
            print("finished", flush=True)
        print(SubsetTree(1.0)("(a b)", "(a b)"), flush=True)
    """
    assert interrupt(code) == "interrupted\n1.0\n"


class TestWorkflow:
    """TreeArray and kernels inside scikit-learn, as people use them."""

    @staticmethod
    def data() -> tuple[sw.TreeArray, np.ndarray]:
        generator = np.random.default_rng(0)
        y = np.arange(60) % 2
        X = sw.TreeArray(
            [
                f"(S (NP (NN n{generator.integers(5)})) (VP (V {'runs' if one else 'eats'}) x{generator.integers(3)}))"
                for one in y
            ]
        )
        return X, y

    def test_split_and_cross_validation(self) -> None:
        from sklearn.model_selection import cross_val_score, train_test_split
        from sklearn.svm import SVC

        X, y = self.data()
        X1, X2, y1, y2 = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        assert isinstance(X1, sw.TreeArray)
        assert isinstance(X2, sw.TreeArray)
        assert X1._arena is X._arena
        assert (len(X1), len(X2)) == (42, 18)
        model = SVC(kernel=SubsetTree()).fit(X1, y1)
        assert model.score(X2, y2) == 1.0
        assert cross_val_score(SVC(kernel=SubsetTree().normalized()), X, y, cv=3, n_jobs=2).tolist() == [1.0] * 3
        assert cross_val_score(SVC(kernel="precomputed"), SubsetTree()(X), y, cv=3).tolist() == [1.0] * 3

    def test_grid_search_with_two_processes(self) -> None:
        from sklearn.model_selection import GridSearchCV
        from sklearn.svm import SVC

        X, y = self.data()
        grid = {"kernel__kernel__decay": np.array([0.2, 0.4]), "kernel__kernel__max_depth": [None, 2]}
        search = GridSearchCV(SVC(kernel=SubsetTree().normalized()), grid, cv=3, n_jobs=2).fit(X, y)
        assert search.best_score_ == 1.0
        best = search.best_estimator_.kernel
        assert sw.kernels.parse_kernel(repr(best)) == best

    def test_nltk_trees_in_lists(self) -> None:
        import nltk
        from sklearn.model_selection import train_test_split
        from sklearn.svm import SVC

        X, y = self.data()
        trees = [nltk.Tree.fromstring(text) for text in X.to_strings()]
        X1, X2, y1, y2 = train_test_split(trees, y, random_state=0)
        assert SVC(kernel=PartialTree()).fit(X1, y1).score(X2, y2) == 1.0

    def test_several_views(self) -> None:
        from sklearn.model_selection import GridSearchCV
        from sklearn.svm import SVC

        X, y = self.data()
        E = sw.Examples(tree=X, flat=[{"n": float(i % 3)} for i in range(len(X))])
        kernel = SubsetTree().normalized().on("tree") + 0.1 * Linear().on("flat")
        search = GridSearchCV(SVC(kernel=kernel), {"kernel__k2__weight": [0.1, 0.2]}, cv=3, n_jobs=2).fit(E, y)
        assert search.best_score_ == 1.0

    @named
    def test_pickled_kernels_and_trees(self, kernel: Kernel) -> None:
        X, _ = self.data()
        again, Y = pickle.loads(pickle.dumps((kernel, X[10:20])))
        assert again == kernel
        np.testing.assert_allclose(again(Y), kernel(X)[10:20, 10:20], rtol=1e-12)

"""The algebra of kernels and kernels on flat features, against NumPy; parameters; expressions."""

from __future__ import annotations

import copy
import os
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import CrossPair, Kernel, Linear, PartialTree, Polynomial, SubsetTree, Subtree, parse_kernel
from sapwood.kernels.evaluation import changeable
from sapwood.learn import KernelSVC, VotedPerceptron
from sapwood.words import Table

X = sw.TreeArray(["(a (b c))", "(a (b c) (b d))", "(b c)"])
E = sw.Examples(tree=X, flat=[{"x": 1.0, "w": "dog"}, {"x": 2.0, "w": "cat"}, {"y": 1.5}])

numbers = st.sampled_from([0.5, 1, 2, 0.25, np.float64(0.3), np.int64(2), 1e-9, 3e20])
tree_kernels = st.one_of(
    st.builds(Subtree, decay=st.sampled_from([0.1, 0.4, np.float64(0.7), 1])),
    st.builds(
        SubsetTree, decay=st.sampled_from([0.4, 1.0]), bag_of_words=st.booleans(), max_depth=st.sampled_from([None, 2])
    ),
    st.builds(
        PartialTree,
        decay=st.sampled_from([0.4, np.float32(0.5)]),
        depth_decay=st.sampled_from([0.4, 1]),
        max_subsequence=st.sampled_from([None, 3, np.int64(2)]),
        leaves=st.booleans(),
        terminal_factor=st.sampled_from([1.0, 2]),
    ),
)
flat_kernels = st.one_of(
    st.just(Linear()), st.builds(Polynomial, degree=st.integers(1, 3), constant=st.sampled_from([0, 1.0]))
)


def combine(part: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
    return st.one_of(
        st.builds(lambda a, b: a + b, part, part),
        st.builds(lambda a, b: a * b, part, part),
        st.builds(lambda a, n: n * a, part, numbers.map(float)),
        st.builds(lambda a, n: a * n, part, numbers),
        st.builds(lambda a, n: a + n, part, numbers),
        st.builds(lambda a, n: float(n) + a, part, numbers),
        st.builds(lambda a, n: a**n, part, st.integers(1, 3)),
        st.builds(lambda a: a.normalized(), part),
    )


kernels = st.recursive(tree_kernels, combine, max_leaves=5)
mixed = st.recursive(
    st.one_of(tree_kernels.map(lambda k: k.on("tree")), flat_kernels.map(lambda k: k.on("flat"))), combine, max_leaves=5
)


class TestValues:
    @pytest.mark.slow
    @given(tree_kernels, tree_kernels)
    def test_operators(self, a: Kernel, b: Kernel) -> None:
        A, B = a(X), b(X)
        cases = [
            (a + b, A + B),
            (a * b, A * B),
            (2 * a, 2 * A),
            (a * 0.5, 0.5 * A),
            (a + 1.5, A + 1.5),
            (1.5 + a, A + 1.5),
            (a**3, A**3),
            (0.6 * a + 0.4 * b, 0.6 * A + 0.4 * B),
            ((a + b) ** 2 * a, (A + B) ** 2 * A),
            (0 * a, 0 * A),
        ]
        for kernel, expected in cases:
            np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
            np.testing.assert_allclose(kernel(X[:2], X), expected[:2], rtol=1e-12)
            np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), rtol=1e-12)
            weights = np.array([[1.0, -1.0], [0.5, 2.0], [3.0, 0.0]])
            np.testing.assert_allclose(kernel.expansion(X, weights)(X), expected @ weights, rtol=1e-9, atol=1e-9)

    def test_views(self) -> None:
        kernel = 0.6 * SubsetTree().on("tree") + 0.4 * Linear().normalized().on("flat")
        flat = Linear().normalized()(E["flat"])
        np.testing.assert_allclose(kernel(E), 0.6 * SubsetTree()(X) + 0.4 * flat)
        np.testing.assert_allclose(kernel(E[1:], E), kernel(E)[1:])
        np.testing.assert_allclose(kernel.expansion(E, np.eye(3))(E), kernel(E))
        with pytest.raises(DataError, match="it needs Examples, not TreeArray"):
            kernel(X)
        assert kernel.bind(E) == kernel


class Kept(Kernel):
    """A kernel between numbers that gives away arrays of its own, or of integers."""

    def __init__(self, kind: str = "integers") -> None:
        self.kind = kind

    def _give(self, values: Any) -> Any:
        if self.kind == "integers":
            return values.astype(np.int64)
        self.given, self.before = values, values.copy()
        given = values[:]
        given.flags.writeable = self.kind == "views"
        return given

    def _gram(self, X: Any, Y: Any) -> Any:
        return self._give(X @ (X if Y is None else Y).T)

    def _diag(self, X: Any) -> Any:
        return (X**2).sum(axis=1)

    def _pairwise(self, X: Any) -> Any:
        half = len(X) // 2
        return self._give((X[:half] * X[half:]).sum(axis=1))


@pytest.mark.parametrize("kind", ["integers", "views", "read-only"])
def test_what_a_kernel_gives_is_not_changed(kind):
    numbers = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0], [0.0, 1.0]])
    kernel = Kept(kind)
    for make in (lambda k: k.normalized(), lambda k: 0.5 * k, lambda k: k + 1.5, lambda k: 0.5 * k * k, lambda k: k**2):
        made, expected = make(kernel), make(Linear())
        np.testing.assert_allclose(made(numbers), expected(numbers))
        np.testing.assert_allclose(made(numbers, numbers[:2]), expected(numbers, numbers[:2]))
        np.testing.assert_allclose(made.pairwise(numbers), expected.pairwise(numbers))
    sides = sw.Examples(a=numbers, b=numbers[::-1])
    made, expected = CrossPair(kernel, "a", "b"), CrossPair(Linear(), "a", "b")
    np.testing.assert_allclose(made(sides), expected(sides))
    np.testing.assert_allclose(made(sides, sides[:2]), expected(sides, sides[:2]))
    np.testing.assert_allclose(made.pairwise(sides), expected.pairwise(sides))
    normal = kernel.normalized()
    for compare in (normal, normal.pairwise):
        compare(numbers)
        if kind != "integers":
            np.testing.assert_array_equal(normal.kernel.given, normal.kernel.before)


def test_gram_matrices_are_changed_in_place():
    for kernel in (Subtree(), SubsetTree(), PartialTree(), Linear(words=Table({("c", "d"): 0.5}))):
        for K in (kernel._gram(X, None), kernel._gram(X, X)):
            assert changeable(K) is K
    for matrix in (np.eye(3), sparse.eye_array(3).tocsr(), E["flat"]):
        for kernel in (Linear(), Polynomial()):
            K = kernel._gram(matrix, matrix)
            assert changeable(K) is K


class TestExpressions:
    @given(st.one_of(kernels, mixed))
    def test_repr_reads_back(self, kernel: Kernel) -> None:
        again = parse_kernel(repr(kernel))
        assert again == kernel
        assert repr(again) == repr(kernel)

    @given(st.one_of(kernels, mixed))
    def test_copies_and_parameters(self, kernel: Kernel) -> None:
        from sklearn.base import clone

        for again in (clone(kernel), copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
            assert again == kernel
            assert again is not kernel
            assert repr(again) == repr(kernel)
        parameters = kernel.get_params()
        before = repr(kernel)
        assert kernel.set_params(**kernel.get_params(deep=False)) is kernel
        leaves = {name: value for name, value in parameters.items() if not isinstance(value, Kernel)}
        kernel.set_params(**leaves)
        assert repr(kernel) == before

    def test_nested_parameters(self) -> None:
        kernel = 0.5 * SubsetTree().normalized() + PartialTree()
        assert kernel.get_params()["k1__kernel__kernel__decay"] == 0.4
        kernel.set_params(k1__weight=0.25, k1__kernel__kernel__decay=0.9, k2__leaves=False)
        assert repr(kernel) == "0.25 * SubsetTree(decay=0.9).normalized() + PartialTree(decay=0.4, leaves=False)"
        kernel.set_params(k2=Subtree(), k2__decay=0.1)
        assert repr(kernel.get_params(deep=False)["k2"]) == "Subtree(decay=0.1)"

    @pytest.mark.parametrize(
        "bad",
        [
            {"k1__kernel__decay": 0.9, "k2__decay": 7},
            {"k1__kernel__decay": 0.9, "k2__nope": 1},
            {"k1__kernel__decay": 0.9, "nope": 1},
            {"k2": Subtree(), "k1__kernel__decay": 0},
            {"k2": 3},
            {"k2__decay__more": 3},
        ],
    )
    def test_a_refused_parameter_changes_nothing(self, bad: dict[str, Any]) -> None:
        kernel = SubsetTree().normalized() + PartialTree()
        before = repr(kernel)
        with pytest.raises(ParameterError):
            kernel.set_params(**bad)
        assert repr(kernel) == before

    def test_equality(self) -> None:
        assert SubsetTree() == SubsetTree(decay=0.4)
        assert SubsetTree() != SubsetTree(decay=0.5)
        assert SubsetTree() != Subtree()
        assert SubsetTree() != 0.4
        assert 2 * Subtree() + 1 == 2 * Subtree() + 1
        with pytest.raises(TypeError):
            hash(SubsetTree())

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "broken at column"),
            ("SubsetTree(", "broken at column"),
            ("Nope()", "no kernel called Nope; there are Constant, .*Linear"),
            ("SubsetTre(decay=0.4)", r"no kernel called SubsetTre; did you mean SubsetTree\(\)\?"),
            ("rbf", r"column 1: there is no kernel called rbf; did you mean RBF\(\)\?"),
            ("SubsetTree", r"SubsetTree needs parentheses: write SubsetTree\(\)"),
            ("SubsetTree.normalized()", r"write SubsetTree\(\)"),
            ("SubsetTree(decay=2)", r"decay must be a number in \(0, 1\], got 2"),
            (
                "SubsetTree(depth=2)",
                r"SubsetTree got an unexpected keyword argument 'depth'; it takes decay, bag_of_words, ",
            ),
            ("SubsetTree(**{})", r"\*\* is not allowed"),
            ("SubsetTree(decay=0.4, decay=0.9)", "column 29: decay is given twice; keep one"),
            ("SubsetTree(decay={[]: 1})", "column 18: a key of a dictionary must be text or a number"),
            ("SubsetTree(decay=__import__('os').system('x'))", "no kernel called|only kernels"),
            ("SubsetTree().__class__", "only kernels"),
            ("SubsetTree().on(3)", "only kernels"),
            ("SubsetTree().bind(1)", "only kernels"),
            ("SubsetTree() - Subtree()", "only kernels"),
            ("-1 * SubsetTree()", "weight must be a finite number of at least 0"),
            ("1e999 * SubsetTree()", "weight must be"),
            ("2 ** SubsetTree()", "cannot be combined"),
            ("SubsetTree() ** 0.5", "exponent must be an integer"),
            ("0.4", "is a number, not a kernel"),
            ("1 + 1", "one side of the operator must be a kernel"),
            ("[x for x in ()]", "only kernels"),
            ("Linear(); Linear()", "broken at column"),
            ("Linear() +" * 990 + "Linear()", "characters; at most 10000|nested too deeply|cannot be read"),
            ("(" * 3000, "broken|cannot be read"),
            ("Linear()\0", "broken|cannot be read"),
            ("Polynomial(degree=" + "9" * 5000 + ")", "broken|cannot be read|limit"),
        ],
    )
    def test_refusals(self, text: str, message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            parse_kernel(text)

    def test_only_text(self) -> None:
        for value in (None, 3, ["Linear()"], b"Linear()"):
            with pytest.raises(ParameterError, match="must be a str"):
                parse_kernel(value)  # type: ignore[arg-type]


class TestParameters:
    @pytest.mark.parametrize("kind", [Subtree, SubsetTree, PartialTree])
    @pytest.mark.parametrize("decay", [0, -0.1, 1.0001, float("nan"), float("inf"), "0.4", None, True, 0j])
    def test_decay_is_in_its_range(self, kind: type[Kernel], decay: Any) -> None:
        with pytest.raises(ParameterError, match=r"decay must be a number in \(0, 1\], got .*0\.4 is a common choice"):
            kind(decay=decay)
        kernel = kind()
        with pytest.raises(ParameterError, match="decay must be"):
            kernel.set_params(decay=decay)
        assert kernel == kind()
        if kind is PartialTree:
            with pytest.raises(ParameterError, match="depth_decay must be"):
                PartialTree(depth_decay=decay)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: SubsetTree(max_depth=0), "max_depth must be None or an integer of at least 1, got 0"),
            (lambda: SubsetTree(max_depth=1.5), "max_depth must be"),
            (lambda: SubsetTree(max_depth=True), "max_depth must be"),
            (lambda: SubsetTree(bag_of_words="yes"), "bag_of_words must be True or False"),
            (lambda: PartialTree(max_subsequence=-1), "max_subsequence must be"),
            (lambda: PartialTree(leaves=1), "leaves must be True or False"),
            (lambda: PartialTree(terminal_factor=-1), "terminal_factor must be"),
            (lambda: PartialTree(terminal_factor=float("nan")), "terminal_factor must be"),
            (lambda: PartialTree(terminal_factor="1"), "terminal_factor must be"),
            (lambda: Polynomial(degree=0), "degree must be"),
            (lambda: Polynomial(degree=1.5), "degree must be"),
            (lambda: Polynomial(constant=-1), "constant must be a finite number of at least 0"),
            (lambda: Polynomial(scale=0), "scale must be a finite number of more than 0"),
            (lambda: Polynomial(scale=float("inf")), "scale must be"),
            (lambda: -1 * Subtree(), "weight must be a finite number of at least 0"),
            (lambda: Subtree() * float("nan"), "weight must be"),
            (lambda: Subtree() + -1, "value must be"),
            (lambda: Subtree() ** 0, "exponent must be"),
            (lambda: Subtree() ** 1.5, "exponent must be"),
            (lambda: Subtree().on(3), "view must be the name"),
        ],
    )
    def test_others(self, make: Any, message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            make()

    def test_a_kernel_adds_to_kernels_only(self) -> None:
        for other in ("x", None, [1]):
            with pytest.raises(TypeError):
                Subtree() + other  # type: ignore[operator]

    def test_threads(self) -> None:
        for bad in (0, -1, 1.5, True, "2"):
            with pytest.raises(ParameterError, match="threads must be an integer of at least 1"):
                sw.options(threads=bad)  # type: ignore[arg-type]
        from sapwood import settings

        before = settings.threads()
        for many in (4097, 10**30):
            with pytest.raises(ParameterError, match=f"threads must be at most 4,096, got {many:,}; .* cores"):
                sw.options(threads=many)
        assert settings.threads() == before
        with sw.options(threads=np.int64(1)):
            assert settings.threads() == 1
            assert type(settings.threads()) is int
            assert SubsetTree()(X).shape == (3, 3)
        with sw.options(threads=before + 1, progress=True):
            assert settings.threads() == before + 1
            assert settings.show_progress()
            assert SubsetTree()(X).shape == (3, 3)
        assert settings.threads() == before
        assert not settings.show_progress()

    def test_all_cores_where_a_process_cannot_be_confined(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from sapwood import settings

        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        for found, cores in ((7, 7), (None, 1)):
            monkeypatch.setattr(os, "cpu_count", lambda found=found: found)
            assert settings._cores() == cores


class TestValuesNotReferences:
    """Setting a parameter of one kernel changes no other, and no model that has been trained."""

    def test_parts_are_copied(self):
        kernel = SubsetTree(0.4)
        made = [
            kernel + Subtree(),
            Subtree() + kernel,
            kernel * Subtree(),
            2 * kernel,
            kernel * 2,
            kernel**2,
            kernel.normalized(),
            kernel.on("a"),
            kernel.normalized().on("a") + kernel.normalized().on("b"),
        ]
        before = [repr(other) for other in made]
        kernel.set_params(decay=0.9)
        assert [repr(other) for other in made] == before
        made[-1].set_params(k1__kernel__kernel__decay=0.7)
        assert repr(made[-1]) == (
            "SubsetTree(decay=0.7).normalized().on('a') + SubsetTree(decay=0.4).normalized().on('b')"
        )

    def test_copies_are_deep_in_kernels_alone(self):
        words = Table({("a", "b"): 0.5})
        kernel = Linear(words=words).normalized()
        copied = kernel.copy()
        assert copied == kernel
        assert copied.kernel is not kernel.kernel
        assert copied.kernel.words is words

    def test_models_keep_the_kernel_they_were_trained_with(self, tmp_path):
        trees, labels = ["(S (A a))", "(S (B b))", "(S (A c))", "(S (B d))"], [0, 1, 0, 1]
        for learner in (KernelSVC, partial(VotedPerceptron, shuffle=False)):
            kernel = SubsetTree(0.4)
            model = learner(kernel).fit(trees, labels)
            expected = learner(SubsetTree(0.4)).fit(trees, labels).decision_function(trees)
            learner(kernel).set_params(kernel__decay=0.9)
            np.testing.assert_array_equal(model.decision_function(trees), expected)
            sw.save(model, tmp_path / "m.sap")
            np.testing.assert_array_equal(sw.load(tmp_path / "m.sap").decision_function(trees), expected)


class TestTinySelfKernels:
    """Normalised values of examples whose self-kernels are close to the smallest number."""

    X = np.array([[1e-160, 0], [0, 1e-160], [1e-160, 1e-160], [1.0, 0.0], [0.0, 0.0]])
    EXPECTED = np.array(
        [
            [1, 0, np.sqrt(0.5), 1, 0],
            [0, 1, np.sqrt(0.5), 0, 0],
            [np.sqrt(0.5), np.sqrt(0.5), 1, np.sqrt(0.5), 0],
            [1, 0, np.sqrt(0.5), 1, 0],
            [0, 0, 0, 0, 0],
        ]
    )

    @pytest.mark.filterwarnings("ignore:1 of 5 elements")
    @pytest.mark.filterwarnings("ignore:2 of 10 elements")
    def test_values(self):
        kernel = Linear().normalized()
        K = kernel(self.X)
        # So close to zero a product has few digits left.
        np.testing.assert_allclose(K, self.EXPECTED, atol=1e-3)
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_allclose(kernel(self.X, self.X[::-1]), self.EXPECTED[:, ::-1], atol=1e-3)
        np.testing.assert_allclose(kernel.pairwise(self.X, self.X), np.diagonal(self.EXPECTED), atol=1e-3)


def test_support_examples_are_warned_about_once():
    trees, labels = ["a", "b", "(S (A a))", "(S (B b))"], [0, 1, 0, 1]
    with pytest.warns(UserWarning, match="2 of 4 elements"):
        model = KernelSVC(SubsetTree().normalized()).fit(trees, labels)
    assert len(model.support_) >= 2
    model.predict(trees[2:])


@pytest.mark.parametrize("value", [10**400, np.complex128(0.4), True, np.nan, "1"])
def test_numbers_that_no_parameter_takes(value):
    for make in (
        lambda: SubsetTree(decay=value),
        lambda: PartialTree(terminal_factor=value),
        lambda: Polynomial(constant=value),
        lambda: Polynomial(scale=value),
        lambda: KernelSVC(C=value).fit(["(a b)", "(a c)"], [0, 1]),
    ):
        with pytest.raises(ParameterError):
            make()
    if type(value) is int:
        with pytest.raises(ParameterError, match="weight must be a finite number"):
            value * SubsetTree()
        with pytest.raises(ParameterError, match="value must be a finite number"):
            SubsetTree() + value


class TestFlat:
    @pytest.mark.slow
    @given(
        st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.sampled_from([0.0, 1.0, 2.5]), st.integers(0, 99)
    )
    def test_against_numpy(self, n: int, m: int, degree: int, constant: float, seed: int) -> None:
        generator = np.random.default_rng(seed)
        A = generator.normal(size=(n, 3)) * (generator.random((n, 3)) < 0.6)
        B = generator.normal(size=(m, 3))
        for kernel, f in (
            (Linear(), lambda P: P),
            (Polynomial(degree, constant, 0.5), lambda P: (0.5 * P + constant) ** degree),
        ):
            expected, own = f(A @ B.T), f(A @ A.T)
            as_dicts = [[{f"f{j}": v for j, v in enumerate(row) if v} for row in M] for M in (A, B)]
            kinds = [
                (A, B),
                (A.tolist(), B.tolist()),
                (sparse.csr_matrix(A), sparse.coo_array(B)),
                (sparse.csc_array(A), B),
                as_dicts,
            ]
            for left, right in kinds:
                np.testing.assert_allclose(kernel(left, right), expected, atol=1e-12)
                np.testing.assert_allclose(kernel(left), own, atol=1e-12)
                np.testing.assert_allclose(kernel.diag(left), np.diagonal(own), atol=1e-12)
                weights = np.ones((m, 1))
                np.testing.assert_allclose(kernel.expansion(right, weights)(left), expected @ weights, atol=1e-10)

    def test_many_rows(self) -> None:
        M = sparse.random(700, 30, density=0.2, random_state=0, format="csr")
        np.testing.assert_allclose(Linear()(M, M[:300]), (M @ M[:300].T).toarray(), atol=1e-12)

    def test_text_features_are_one_hot(self) -> None:
        rows = [{"w": "dog", "n": 2}, {"w": "cat", "n": np.float32(1)}, {"w": "dog", "n": True, "none": None}, {}]
        np.testing.assert_array_equal(Linear()(rows), [[5, 2, 3, 0], [2, 2, 1, 0], [3, 1, 2, 0], [0, 0, 0, 0]])

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
    def test_not_a_number(self, bad: float) -> None:
        M = np.zeros((3, 2))
        M[1, 0] = bad
        for data in (M, sparse.csr_array(M)):
            with pytest.raises(DataError, match="row 1 has a feature that is NaN or infinite; fill or drop it"):
                Linear()(data)
            with pytest.raises(DataError, match="row 1"):
                Polynomial().diag(data)
            with pytest.raises(DataError, match="row 1"):
                Linear().on("flat")(sw.Examples(flat=data))
        with pytest.raises(DataError, match="row 1: the feature 'x' is"):
            Linear()([{}, {"x": bad}])

    def test_refusals(self) -> None:
        with pytest.raises(DataError, match="X has 2 features but Y has 3"):
            Linear()(np.zeros((1, 2)), np.zeros((1, 3)))
        with pytest.raises(DataError, match="one side has dictionaries"):
            Linear()([{}], np.zeros((1, 3)))
        with pytest.raises(DataError, match=r"got trees; say which view with \.on"):
            Linear()(X)
        with pytest.raises(DataError, match="views tree, flat"):
            Linear()(E)
        with pytest.raises(DataError, match="two dimensions"):
            Linear()(np.zeros(3))
        with pytest.raises(DataError, match="must hold real numbers"):
            Linear()(np.zeros((1, 1), dtype="M8[s]"))
        with pytest.raises(DataError, match="all of the same length"):
            Linear()([[1, 2], [3]])
        for bad in ([1], {"a"}, 1j, 10**400):
            with pytest.raises(DataError, match=r"row 0: the feature 'x' is .*expected a finite number or text"):
                Linear()([{"x": bad}])

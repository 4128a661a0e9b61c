"""Values at the ends of what a number holds: overflow is an error that names the trees, normalised values stay in
[-1, 1]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
import strategies
from sapwood.errors import KernelError
from sapwood.kernels import CrossPair, Kernel, LandmarkMap, Linear, PartialTree, Polynomial, SubsetTree, Subtree
from sapwood.kernels.normalization import bound, multiply, normalize
from sapwood.learn import KernelSVC, VotedPerceptron

SMALL = sw.Tree.fromstring("(s (a b))")
# 2^2000 fragments.
LARGE = sw.Tree("s", [sw.Tree("a", ["b"])] * 2000)
OVERFLOWING: list[Kernel] = [
    SubsetTree(1.0),
    SubsetTree(1.0) + 1,
    0 * SubsetTree(1.0) + Subtree(),
    2 * SubsetTree(1.0),
    SubsetTree(1.0) * Subtree(),
    SubsetTree(1.0) ** 2,
    SubsetTree(1.0) + PartialTree(),
    SubsetTree(1.0).normalized(),
]
overflowing = pytest.mark.parametrize("kernel", OVERFLOWING, ids=repr)


class TestOverflow:
    @overflowing
    def test_gram(self, kernel: Kernel) -> None:
        X = [SMALL, SMALL, LARGE, SMALL]
        with pytest.raises(KernelError, match="of example 2 with itself is not finite"):
            kernel(X)
        with pytest.raises(KernelError, match="of example 2 with itself is not finite"):
            kernel.diag(X)

    @overflowing
    def test_two_sides(self, kernel: Kernel) -> None:
        X, Y = [SMALL, LARGE], [SMALL, SMALL, LARGE]
        both = "example 1 of X with itself" if kernel is OVERFLOWING[-1] else "example 1 with example 2 of Y"
        with pytest.raises(KernelError, match=f"of {both} is not finite"):
            kernel(X, Y)
        with pytest.raises(KernelError, match="is not finite"):
            kernel(LARGE, LARGE)

    @overflowing
    def test_pairs(self, kernel: Kernel) -> None:
        X, Y = [SMALL, LARGE, SMALL], [SMALL, LARGE, SMALL]
        both = "of X with itself" if kernel is OVERFLOWING[-1] else "of X with its partner in Y"
        with pytest.raises(KernelError, match=f"of example 1 {both} is not finite"):
            kernel.pairwise(X, Y)

    def test_the_other_side_of_a_normalised_kernel(self) -> None:
        kernel = SubsetTree(1.0).normalized()
        with pytest.raises(KernelError, match="example 1 of Y with itself"):
            kernel([SMALL], [SMALL, LARGE])
        with pytest.raises(KernelError, match="example 1 of Y with itself"):
            kernel.pairwise([SMALL, SMALL], [SMALL, LARGE])

    def test_examples_of_several_views(self) -> None:
        X = sw.Examples(a=[SMALL, LARGE], b=[SMALL, LARGE])
        for kernel in (SubsetTree(1.0).on("a") + Subtree().on("b"), CrossPair(SubsetTree(1.0), "a", "b")):
            with pytest.raises(KernelError, match="of example 1 with itself is not finite"):
                kernel(X)

    def test_numbers(self) -> None:
        """Numpy's own warnings do not come first: all warnings are errors here."""
        X = np.array([[0.0], [1e200], [0.0]])
        kernels: list[Kernel] = [Linear(), Polynomial(degree=3), Polynomial(degree=3) * Linear(), Linear() ** 3]
        for kernel in kernels:
            with pytest.raises(KernelError, match="of example 1 with itself is not finite"):
                kernel(X)
            with pytest.raises(KernelError, match="of example 1 with example 0 of Y is not finite"):
                kernel(X, np.array([[1e200]]))

    def test_explanation(self) -> None:
        with pytest.raises(KernelError, match="is not finite"):
            SubsetTree(1.0).explain(LARGE, LARGE)

    def test_landmarks_are_named_by_their_place_in_the_training_examples(self) -> None:
        for seed in range(3):
            with pytest.raises(KernelError, match="of example 2 is not finite"):
                LandmarkMap(SubsetTree(1.0), random_state=seed).fit([SMALL, SMALL, LARGE, SMALL])

    @pytest.mark.parametrize(
        "score",
        [
            lambda X: SubsetTree(1.0).expansion(X[:1], np.ones((1, 2)))(X),
            lambda X: KernelSVC(SubsetTree(1.0)).fit([X[0], "(s c)"], [0, 1]).predict(X),
            lambda X: VotedPerceptron(SubsetTree(1.0), vote="last").fit([X[0], "(s c)"], [1, 0]).predict(X),
            lambda X: VotedPerceptron(SubsetTree(1.0), memory_limit=1e-6).fit([X[0], "(s c)"], [1, 0]).predict(X),
        ],
        ids=["expansion", "svm", "perceptron", "votes"],
    )
    def test_what_is_scored(self, score: Callable[[Any], Any]) -> None:
        huge = SMALL
        for _ in range(1100):
            huge = sw.Tree("q", [huge, huge])
        with pytest.raises(KernelError, match="of example 2 is not finite"):
            score([SMALL, SMALL, huge, SMALL])

    def test_what_just_fits(self) -> None:
        """A thousand children that are there or not."""
        tree = sw.Tree("s", [sw.Tree("a", ["b"])] * 1000)
        assert SubsetTree(1.0)(tree, tree) == pytest.approx(2.0**1000)
        with pytest.raises(KernelError, match="not finite"):
            (SubsetTree(1.0) ** 2)(tree, tree)
        assert (SubsetTree(1.0).normalized() ** 2)([tree])[0, 0] == 1.0


NORMALISED: list[Kernel] = [
    SubsetTree(0.4).normalized(),
    SubsetTree(0.7, bag_of_words=True).normalized(),
    Subtree(0.3).normalized(),
    PartialTree(0.4, 0.6).normalized(),
    (SubsetTree(0.4) + PartialTree(0.3)).normalized(),
    (SubsetTree(0.4) * Subtree(0.9)).normalized(),
    (SubsetTree(0.4) ** 3).normalized(),
]


def assert_bounded(kernel: Kernel, X: Any) -> None:
    for K in (kernel(X), kernel(X, X), kernel(X, X[:]), kernel(X[:], X[::-1])[:, ::-1]):
        assert K.max() <= 1.0
        # All examples share something with themselves.
        assert (np.diagonal(K) == 1.0).all()
        assert np.isfinite(np.sqrt(2 - 2 * K)).all()
    np.testing.assert_array_equal(kernel(X, X), kernel(X).T)
    np.testing.assert_array_equal(kernel.pairwise(X, X), np.ones(len(X)))
    np.testing.assert_array_equal(kernel.diag(X), np.ones(len(X)))


class TestNormalised:
    @pytest.mark.slow
    @pytest.mark.parametrize("kernel", NORMALISED, ids=repr)
    @given(st.lists(strategies.internal_trees(8), min_size=1, max_size=6))
    def test_never_above_one(self, kernel: Kernel, trees: list[sw.Tree]) -> None:
        assert_bounded(kernel, trees)

    @pytest.mark.slow
    @pytest.mark.parametrize("kernel", NORMALISED, ids=repr)
    def test_treebank(self, kernel: Kernel, treebank: sw.TreeArray) -> None:
        assert_bounded(kernel, treebank[:200])

    def test_no_more_than_rounding_is_taken_away(self, treebank: sw.TreeArray) -> None:
        X = treebank[:200]
        K, raw = NORMALISED[0](X), SubsetTree(0.4)(X)
        scale = 1 / np.sqrt(np.diagonal(raw))
        np.testing.assert_allclose(K, raw * scale[:, None] * scale, rtol=2e-14)

    def test_negative_values(self) -> None:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 7))
        X = np.concatenate([X, -X, 3 * X])
        K = Linear().normalized()(X)
        assert K.min() == -1.0
        assert K.max() == 1.0
        assert np.isfinite(np.arccos(K)).all()
        assert np.isfinite(np.arccos(Linear().normalized().pairwise(X, -X))).all()

    def test_a_kernel_that_is_none(self) -> None:
        """A leaf that matches the label of an internal node counts 1, and 0.1 with itself."""
        kernel = PartialTree(1.0, 1.0, terminal_factor=0.01).normalized()
        trees = ["(a b)", "(a (b c))"]
        with pytest.warns(UserWarning, match=r"2 of the values of .* not positive semi-definite"):
            K = kernel(trees)
        assert K.max() == 1.0
        with pytest.warns(UserWarning, match=r"1 of the values of .* not positive semi-definite"):
            assert kernel.pairwise(trees[:1], trees[1:]) == [1.0]


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_normalizing_a_matrix_is_multiplying_and_bounding(layout: str) -> None:
    rng = np.random.default_rng(3)
    left, right = rng.uniform(0.1, 2.0, 300), rng.uniform(0.1, 2.0, 41)
    values = rng.uniform(-1.2, 1.2, (300, 41)) / np.outer(left, right)
    values[8, 4], values[9, 5] = np.inf, 0.0
    values[10, 6] = (1.0 - 1e-15) / (left[10] * right[6])
    left[11] = 0.0
    values[11, 7] = 0.0
    expected = values.copy()
    multiply(expected, left[:, None], right)
    beyond = bound(expected)
    found = values if layout == "rows" else np.asfortranarray(values)
    assert normalize(found, left, right) == beyond > 0
    np.testing.assert_array_equal(found, expected)
    found[3, 4] = np.nan
    normalize(found, left, right)
    assert np.argwhere(np.isnan(found)).tolist() == [[3, 4]]

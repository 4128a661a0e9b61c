"""Distances and nearest examples against their definition; normalized values stay within their bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import RBF, GrammarDriven, Linear, PartialTree, Polynomial, SubsetTree, Subtree
from specimens import TREES, corpus, trees
from strategies import trees as random_trees

KERNELS = [SubsetTree(), SubsetTree(0.3).normalized(), Subtree(), PartialTree(0.4), GrammarDriven().normalized()]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_distances_are_as_defined(kernel: Any) -> None:
    X, Y = list(trees()), TREES
    kernel = kernel.bind(sw.TreeArray([*X, *Y]))
    found = kernel.distance(X, Y)
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            square = kernel(x, x) + kernel(y, y) - 2 * kernel(x, y)
            assert found[i, j] == pytest.approx(math.sqrt(max(square, 0.0)), abs=1e-6)
    own = kernel.distance(X)
    assert (np.diagonal(own) == 0).all()
    np.testing.assert_allclose(own, own.T)
    assert kernel.distance(X[0], X[1]) == pytest.approx(own[0, 1])
    np.testing.assert_allclose(kernel.distance(X[0], X), own[0], atol=1e-12)
    np.testing.assert_allclose(kernel.distance(X, X[0]), own[:, 0], atol=1e-12)
    # A metric.
    assert (own[:, :, None] <= own[:, None, :] + own.T[None, :, :] + 1e-9).all()


def test_of_matrices_it_is_the_euclidean_distance() -> None:
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(5, 3)), random.normal(size=(4, 3))
    expected = np.linalg.norm(X[:, None] - Y[None], axis=2)
    np.testing.assert_allclose(Linear().distance(X, Y), expected)
    assert (Linear().nearest(X, Y, k=2).positions == np.argsort(expected, axis=1)[:, :2]).all()


@given(st.lists(random_trees(), min_size=1, max_size=5), st.sampled_from([0.1, 0.4, 1.0]))
def test_normalized_values_and_distances_of_equal_trees(some: list[sw.Tree], decay: float) -> None:
    X, copies = sw.TreeArray(some), sw.TreeArray([str(tree) for tree in some])
    for kernel in (SubsetTree(decay), PartialTree(decay), Subtree(decay)):
        with np.errstate(all="raise"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *args, **kwargs: None)
            values = kernel.normalized()(X, copies)
            assert (np.abs(values) <= 1.0).all()
            assert np.isfinite(kernel.normalized().distance(X, copies)).all()
        assert (np.diagonal(kernel.distance(X, copies)) == 0).all()


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=repr)
def test_the_nearest_are_those_of_a_full_sort(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = corpus().trees
    asked = sw.TreeArray(TREES)
    distances, values = kernel.distance(asked, X), kernel(asked, X)
    expected = np.argsort(distances, axis=1, kind="stable")
    for cells in (1 << 22, 28):  # one block, and blocks of seven
        monkeypatch.setattr("sapwood.kernels.neighbors._CELLS", cells)
        for k in (1, 7, 10_000):
            found = kernel.nearest(asked, X, k)
            np.testing.assert_array_equal(found.positions, expected[:, :k])
            np.testing.assert_allclose(found.distances, np.take_along_axis(distances, expected[:, :k], 1), atol=1e-12)
            np.testing.assert_allclose(found.values, np.take_along_axis(values, expected[:, :k], 1))
    one = kernel.nearest(TREES[1], X, 4)
    np.testing.assert_array_equal(one.positions, expected[1, :4])


def test_near_duplicates_and_equals() -> None:
    X = [TREES[0], TREES[1], TREES[0]]
    found = SubsetTree().nearest(TREES[0], X, k=3)
    assert found.positions.tolist() == [0, 2, 1]
    assert found.distances[:2].tolist() == [0.0, 0.0]
    assert SubsetTree().nearest(TREES[0], sw.TreeArray([]), k=3).positions.tolist() == []
    assert SubsetTree().nearest([], X, k=3).positions.shape == (0, 3)


def test_one_tree_against_many() -> None:
    k = SubsetTree()
    np.testing.assert_array_equal(k(TREES[0], TREES), k(TREES)[0])
    np.testing.assert_array_equal(k(TREES, TREES[0]), k(TREES)[0])
    assert isinstance(k(TREES[0], TREES[1]), float)
    with pytest.raises(DataError, match="needs something to be compared with"):
        k(TREES[0])
    with pytest.raises(DataError, match="pass Y"):
        k.distance(TREES[0])
    with pytest.raises(DataError, match="single tree"):
        k.nearest(TREES[0], TREES[1])
    with pytest.raises(ParameterError, match="k must be"):
        k.nearest(TREES[0], TREES, k=0)


def test_large_self_kernels_have_a_distance() -> None:
    big = np.array([[1e154], [-1e154]])
    assert np.isfinite(Linear().distance(big[:1], big[:1])).all()
    assert RBF(0.5).distance(big / 1e150)[0, 1] == pytest.approx(math.sqrt(2.0))
    assert Polynomial(2).distance([[1.0]], [[0.0]])[0, 0] == pytest.approx(math.sqrt(4 + 1 - 2))

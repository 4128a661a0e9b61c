"""Scores of trees under a weighted sum of kernels, against the Gram matrix and against plain recursions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
import strategies
from oracles import tree_kernels
from sapwood.kernels import Kernel, PartialTree, SubsetTree, Subtree
from sapwood.trees import Tree

KERNELS = [
    Subtree(0.4),
    Subtree(1.0),
    SubsetTree(0.4),
    SubsetTree(1.0, bag_of_words=True),
    SubsetTree(0.4, max_depth=1),
    SubsetTree(0.4, max_depth=2),
    SubsetTree(0.3, bag_of_words=True, max_depth=4),
    PartialTree(0.4, 0.4),
    PartialTree(0.5, 0.3, max_subsequence=2, leaves=False),
]
named = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def alike(seed: int, count: int) -> list[Tree]:
    """Return trees of a tiny grammar, so that many begin with the same fragment and differ only further down."""
    rng = np.random.default_rng(seed)

    def grow(label: str, depth: int) -> Tree:
        if depth == 0:
            return Tree(label, [str(rng.choice(["u", "v"]))])
        return Tree(
            label, [grow("A", depth - 1), grow(str(rng.choice(["A", "B"])), depth - 1 - int(rng.integers(depth)))]
        )

    return [grow("A", int(rng.integers(2, 5))) for _ in range(count)]


@pytest.mark.slow
@named
@pytest.mark.parametrize("together", [True, False], ids=["one store", "two stores"])
@given(seed=st.integers(0, 2**31), few=st.lists(strategies.internal_trees(6), min_size=1, max_size=4))
@settings(max_examples=15)
def test_scores_are_products_with_the_gram_matrix(kernel: Kernel, together: bool, seed: int, few: list[Tree]) -> None:
    support = sw.TreeArray(alike(seed, 60) + few)
    rows = support[::7] if together else sw.TreeArray(alike(seed + 1, 9) + few)
    weights = np.random.default_rng(seed).normal(size=(len(support), 3))
    K = kernel(rows, support)
    scores = kernel.expansion(support, weights)(rows)
    assert np.all(np.abs(scores - K @ weights) <= 1e-10 * (K @ np.abs(weights)) + 1e-300)
    with sw.options(threads=2):
        np.testing.assert_array_equal(kernel.expansion(support, weights)(rows), scores)
    # A row does not depend on those beside it.
    np.testing.assert_array_equal(kernel.expansion(support, weights)(rows[1:3]), scores[1:3])


@given(st.lists(strategies.internal_trees(5), min_size=2, max_size=5), st.integers(0, 2**31))
@settings(max_examples=25)
def test_scores_are_sums_of_plain_recursions(trees: list[Tree], seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=(len(trees), 1))
    X = sw.TreeArray(trees)
    for kernel, plain in (
        (Subtree(0.4), lambda a, b: tree_kernels.subtree_pairs(a, b, 0.4)),
        (SubsetTree(0.4), lambda a, b: tree_kernels.subset_pairs(a, b, 0.4)),
    ):
        K = np.array([[plain(a, b) for b in trees] for a in trees])
        np.testing.assert_allclose(kernel.expansion(X, weights)(X), K @ weights, rtol=1e-9, atol=1e-9)


@named
def test_documents_are_sums_of_their_trees(kernel: Kernel) -> None:
    support = sw.TreeArray(alike(3, 50))
    trees = alike(4, 6)
    score = kernel.expansion(support, np.random.default_rng(5).normal(size=(50, 2)))
    each = score(sw.TreeArray(trees))
    documents = score(sw.TreeArray([tuple(trees[:4]), (), tuple(trees[4:])]))
    np.testing.assert_allclose(
        documents, [each[:4].sum(axis=0), [0.0, 0.0], each[4:].sum(axis=0)], rtol=1e-9, atol=1e-9
    )

"""What the order of trees may change: the last bits of a value, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sapwood as sw
import specimens
from sapwood.kernels import GrammarDriven, PartialTree, SemanticSubsetTree, SmoothedPartialTree, SubsetTree, Subtree

KERNELS: dict[str, Callable[[], Any]] = {
    "Subtree": lambda: Subtree(0.3),
    "SubsetTree": lambda: SubsetTree(0.3),
    "SubsetTree, normalized": lambda: SubsetTree(0.3).normalized(),
    "PartialTree": lambda: PartialTree(decay=0.3, depth_decay=0.7),
    "SemanticSubsetTree": lambda: SemanticSubsetTree(specimens.similarity()),
    "SmoothedPartialTree": lambda: SmoothedPartialTree(specimens.similarity()),
    "GrammarDriven": lambda: GrammarDriven(specimens.specimen("Grammar")),
}


@pytest.fixture(scope="module")
def trees() -> sw.TreeArray:
    # Long sentences: many pairs of nodes have the same production, and their sum an order.
    parts = [str(tree) for tree in specimens.corpus().trees[:60]]
    return sw.TreeArray([f"(TOP {' '.join(parts[at : at + 3])})" for at in range(40)])


@pytest.mark.parametrize("name", KERNELS)
def test_values_agree_whatever_is_stored_beside_them(name: str, trees: sw.TreeArray) -> None:
    kernel = KERNELS[name]()
    K = kernel(trees)
    order = np.random.default_rng(1).permutation(len(trees))
    # Stored anew in another order, one row by itself, seen from the other side, and in tiles.
    again = kernel(sw.TreeArray([trees[at] for at in order]))
    tile = kernel(trees[5:9].detach(), trees[20:30].detach())
    for found, expected in (
        (again, K[np.ix_(order, order)]),
        (kernel(trees[3:4].detach(), trees), K[3:4]),
        (kernel(trees, trees[3:4].detach()), K[:, 3:4]),
        (tile, K[5:9, 20:30]),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0.0)


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_call_gives_the_same_bits(name: str, trees: sw.TreeArray) -> None:
    kernel = KERNELS[name]()
    K = kernel(trees)
    for threads in (1, 2, 3):
        with sw.options(threads=threads):
            np.testing.assert_array_equal(kernel(trees), K)
    # The same trees in the same order, stored in the same way.
    np.testing.assert_array_equal(kernel(sw.TreeArray(list(trees))), kernel(sw.TreeArray(list(trees))))

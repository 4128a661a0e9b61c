"""Slow, obvious twins of what the library computes fast.

Two kinds for each tree kernel. ``*_features`` lists every fragment of a tree as an explicit feature vector, so that a
kernel is a dot product and no recursion over pairs is involved; it explodes, hence small trees only. ``*_pairs`` is
the textbook recursion over pairs of nodes, for larger trees.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
from hypothesis import reject

from sapwood import Tree

Features = dict[Any, complex]


def nodes(tree: Tree) -> list[Tree]:
    """Every node, with repetitions."""
    return [tree] + [node for child in tree.children for node in nodes(child)]


def internal_count(tree: Tree) -> int:
    return sum(not node.is_leaf for node in nodes(tree))


def as_bag(element: Tree | Iterable[Tree]) -> list[Tree]:
    return [element] if isinstance(element, Tree) else list(element)


def dot(left: Features, right: Features) -> float:
    value = sum(weight * right[key] for key, weight in left.items() if key in right)
    assert abs(complex(value).imag) < 1e-9
    return complex(value).real


def bag_features(element: Tree | Iterable[Tree], one: Callable[[Tree], Features]) -> Features:
    total: Features = Counter()
    for tree in as_bag(element):
        for key, weight in one(tree).items():
            total[key] = total.get(key, 0.0) + weight
    return total


# Fragments as features.


def subtree_features(tree: Tree, decay: float) -> Features:
    """Every complete subtree that is not a leaf."""
    found: Features = {}
    for node in nodes(tree):
        if not node.is_leaf:
            found[str(node)] = found.get(str(node), 0.0) + decay ** (internal_count(node) / 2)
    return found


def affordable(sizes: Iterable[int]) -> None:
    """Give up on a drawn example with more fragments than enumeration can list in a moment."""
    if math.prod(sizes) > 100_000:
        reject()


def _subset_fragments(node: Tree) -> list[tuple[Any, int, int]]:
    """Fragments rooted at an internal node: (shape, productions, height); a child that is cut off is just its label."""
    choices = []
    for child in node.children:
        options: list[tuple[Any, int, int]] = [(child.label, 0, 0)]
        if not child.is_leaf:
            options += _subset_fragments(child)
        choices.append(options)
    affordable(map(len, choices))
    return [
        (
            (node.label, tuple(shape for shape, _, _ in chosen)),
            1 + sum(count for _, count, _ in chosen),
            1 + max(height for _, _, height in chosen),
        )
        for chosen in itertools.product(*choices)
    ]


def subset_features(tree: Tree, decay: float, bag_of_words: bool = False, max_depth: int | None = None) -> Features:
    """Every fragment that keeps productions whole, up to a height; with the bag of words also every leaf."""
    found: Features = {}
    for node in nodes(tree):
        if node.is_leaf:
            if bag_of_words:
                key = ("word", node.label)
                found[key] = found.get(key, 0.0) + decay**0.5
            continue
        for shape, productions, height in _subset_fragments(node):
            if max_depth is None or height <= max_depth:
                found[shape] = found.get(shape, 0.0) + decay ** (productions / 2)
    return found


def _partial_fragments(
    node: Tree, decay: float, depth_decay: float, limit: int | None, leaves: bool, terminal_factor: float
) -> Features:
    """Fragments rooted at a node. A leaf carries a second feature whose square is what the terminal factor adds."""
    if node.is_leaf and not leaves:
        return {}
    root = depth_decay**0.5
    found: Features = {(node.label, ()): root * decay}
    if node.is_leaf:
        found[(node.label, "leaf")] = root * decay * cmath.sqrt(terminal_factor - 1.0)
        return found
    below = [_partial_fragments(child, decay, depth_decay, limit, leaves, terminal_factor) for child in node.children]
    affordable(1 + len(rooted) for rooted in below)
    longest = len(below) if limit is None else min(limit, len(below))
    for length in range(1, longest + 1):
        for chosen in itertools.combinations(range(len(below)), length):
            gaps = chosen[-1] - chosen[0] + 1 - length
            for parts in itertools.product(*(below[index].items() for index in chosen)):
                key = (node.label, tuple(shape for shape, _ in parts))
                weight = root * decay**gaps
                for _, part in parts:
                    weight *= part
                found[key] = found.get(key, 0.0) + weight
    return found


def partial_features(
    tree: Tree,
    decay: float,
    depth_decay: float,
    max_subsequence: int | None = None,
    leaves: bool = True,
    terminal_factor: float = 1.0,
) -> Features:
    """Every fragment that may leave out children."""
    found: Features = {}
    for node in nodes(tree):
        rooted = _partial_fragments(node, decay, depth_decay, max_subsequence, leaves, terminal_factor)
        for key, weight in rooted.items():
            found[key] = found.get(key, 0.0) + weight
    return found


# The recursions over pairs of nodes.


def _over_pairs(left: Any, right: Any, delta: Callable[[Tree, Tree], float]) -> float:
    lefts = Counter(node for tree in as_bag(left) for node in nodes(tree))
    rights = Counter(node for tree in as_bag(right) for node in nodes(tree))
    return sum(m * n * delta(a, b) for a, m in lefts.items() for b, n in rights.items())


def _production(node: Tree) -> tuple[str, ...]:
    return (node.label, *(child.label for child in node.children))


def subtree_pairs(left: Any, right: Any, decay: float) -> float:
    return _over_pairs(left, right, lambda a, b: decay ** internal_count(a) if not a.is_leaf and a == b else 0.0)


def subset_pairs(
    left: Any, right: Any, decay: float, bag_of_words: bool = False, max_depth: int | None = None
) -> float:
    @cache
    def delta(a: Tree, b: Tree, depth: int | None) -> float:
        if a.is_leaf or b.is_leaf or _production(a) != _production(b) or depth == 0:
            return 0.0
        value = decay
        for x, y in zip(a.children, b.children, strict=True):
            value *= 1.0 + delta(x, y, None if depth is None else depth - 1)
        return value

    def total(a: Tree, b: Tree) -> float:
        if a.is_leaf and b.is_leaf:
            return decay if bag_of_words and a.label == b.label else 0.0
        return delta(a, b, max_depth)

    return _over_pairs(left, right, total)


def partial_pairs(
    left: Any,
    right: Any,
    decay: float,
    depth_decay: float,
    max_subsequence: int | None = None,
    leaves: bool = True,
    terminal_factor: float = 1.0,
) -> float:
    @cache
    def delta(a: Tree, b: Tree) -> float:
        if a.label != b.label:
            return 0.0
        bare = depth_decay * decay**2
        if a.is_leaf or b.is_leaf:
            if not leaves:
                return 0.0
            return bare * terminal_factor if a.is_leaf and b.is_leaf else bare
        n, m = len(a.children), len(b.children)
        below = np.array([[delta(x, y) for y in b.children] for x in a.children])
        # ending[i, j]: sequences of the current length whose last pair is (i, j).
        ending = below.copy()
        total = ending.sum()
        longest = min(n, m) if max_subsequence is None else min(n, m, max_subsequence)
        for _ in range(longest - 1):
            longer = np.zeros_like(ending)
            for i in range(1, n):
                for j in range(1, m):
                    if below[i, j]:
                        powers = decay ** (np.arange(i - 1, -1, -1)[:, None] + np.arange(j - 1, -1, -1)[None, :])
                        longer[i, j] = below[i, j] * (powers * ending[:i, :j]).sum()
            ending = longer
            total += ending.sum()
        return float(bare + depth_decay * total)

    return _over_pairs(left, right, delta)

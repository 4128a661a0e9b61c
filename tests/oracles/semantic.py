"""Slow, obvious twins of the kernels that look into words.

``semantic_by_fragments`` lists every fragment of both trees and compares them pair by pair, as the definition says;
it explodes, hence small trees only. ``semantic_by_pairs`` is the recursion over pairs of nodes, and
``smoothed_by_sequences`` enumerates child sequences. All take σ as a plain function.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from oracles.tree_kernels import affordable, nodes
from sapwood import Tree

Sigma = Callable[[str, str], float]


def is_preterminal(node: Tree, phrases: frozenset[str]) -> bool:
    return len(node.children) == 1 and node.children[0].is_leaf and node.label not in phrases


@dataclass(frozen=True)
class Fragment:
    """What stays of a fragment without its words, the words from left to right, and the number of productions."""

    skeleton: str
    words: tuple[str, ...]
    productions: int


def rooted_fragments(node: Tree, phrases: frozenset[str]) -> list[Fragment]:
    """Every fragment whose root is this node."""
    if node.is_leaf:
        return []
    if is_preterminal(node, phrases):
        # The mark keeps a word apart from a cut-off phrase with the same label.
        return [Fragment(f"({node.label} *)", (node.children[0].label,), 1)]
    choices = []
    for child in node.children:
        bare = Fragment(child.label, (), 0)
        choices.append([bare, *rooted_fragments(child, phrases)])
    affordable(map(len, choices))
    result = []
    for parts in itertools.product(*choices):
        skeleton = f"({node.label} {' '.join(part.skeleton for part in parts)})"
        words = tuple(word for part in parts for word in part.words)
        result.append(Fragment(skeleton, words, 1 + sum(part.productions for part in parts)))
    return result


def semantic_by_fragments(
    a: Tree, b: Tree, sigma: Sigma, decay: float, leaf_weight: float, phrases: frozenset[str]
) -> float:
    left = [fragment for node in nodes(a) for fragment in rooted_fragments(node, phrases)]
    right = [fragment for node in nodes(b) for fragment in rooted_fragments(node, phrases)]
    total = 0.0
    for one, other in itertools.product(left, right):
        if one.skeleton != other.skeleton:
            continue
        value = decay**one.productions * leaf_weight ** len(one.words)
        for pair in zip(one.words, other.words, strict=True):
            value *= sigma(*pair)
        total += value
    return total


def semantic_by_pairs(
    a: Tree, b: Tree, sigma: Sigma, decay: float, leaf_weight: float, phrases: frozenset[str]
) -> float:
    @cache
    def shared(x: Tree, y: Tree) -> float:
        if x.is_leaf or y.is_leaf or x.label != y.label:
            return 0.0
        preterminal = is_preterminal(x, phrases)
        if preterminal != is_preterminal(y, phrases):
            return 0.0
        if preterminal:
            return decay * leaf_weight * sigma(x.children[0].label, y.children[0].label)
        if [child.label for child in x.children] != [child.label for child in y.children]:
            return 0.0
        value = decay
        for pair in zip(x.children, y.children, strict=True):
            value *= 1.0 + shared(*pair)
        return value

    return sum(shared(x, y) for x in nodes(a) for y in nodes(b))


def smoothed_by_sequences(
    a: Tree,
    b: Tree,
    sigma: Sigma,
    is_word: Callable[[Tree], bool],
    decay: float,
    depth_decay: float,
    terminal_factor: float,
    longest: int | None = None,
) -> float:
    def sequences(count: int) -> Iterator[tuple[int, ...]]:
        for length in range(1, min(count, longest or count) + 1):
            yield from itertools.combinations(range(count), length)

    def gaps(sequence: tuple[int, ...]) -> int:
        return sequence[-1] - sequence[0] + 1 - len(sequence)

    @cache
    def shared(x: Tree, y: Tree) -> float:
        if is_word(x) != is_word(y):
            return 0.0
        alike = sigma(x.label, y.label) if is_word(x) else float(x.label == y.label)
        if x.is_leaf or y.is_leaf:
            both = x.is_leaf and y.is_leaf
            return alike * depth_decay * decay**2 * (terminal_factor if both else 1.0)
        total = decay**2
        for left in sequences(len(x.children)):
            for right in sequences(len(y.children)):
                if len(left) == len(right):
                    value = decay ** (gaps(left) + gaps(right))
                    for i, j in zip(left, right, strict=True):
                        value *= shared(x.children[i], y.children[j])
                    total += value
        return alike * depth_decay * total

    return sum(shared(x, y) for x in nodes(a) for y in nodes(b))

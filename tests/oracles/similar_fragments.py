"""Slow, obvious twins of fragments that match without being the same: every pair of two small trees, one by one.

Each function returns ``{(fragment of a, fragment of b): weight}``. Fragments are trees, except for partial ones, which
must say of each node whether it is a leaf or a word: they are nested tuples (label, mark, children).
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable

from oracles.grammar_driven import Oracle
from oracles.semantic import is_preterminal
from oracles.tree_kernels import affordable
from sapwood import Tree

Sigma = Callable[[str, str], float]
Pairs = dict[tuple[object, object], float]


def _semantic_rooted(node: Tree, phrases: frozenset[str]) -> list[tuple[Tree, str, tuple[str, ...], int]]:
    """Fragment, skeleton, words and number of productions."""
    if node.is_leaf:
        return []
    if is_preterminal(node, phrases):
        return [(node, f"({node.label} *)", (node.children[0].label,), 1)]
    choices = [[(Tree(child.label), child.label, (), 0), *_semantic_rooted(child, phrases)] for child in node.children]
    affordable(map(len, choices))
    return [
        (
            Tree(node.label, [part[0] for part in parts]),
            f"({node.label} {' '.join(part[1] for part in parts)})",
            tuple(word for part in parts for word in part[2]),
            1 + sum(part[3] for part in parts),
        )
        for parts in itertools.product(*choices)
    ]


def semantic_fragments(tree: Tree, phrases: frozenset[str]) -> Counter:
    """How often a tree holds each (fragment, skeleton, words, productions)."""
    return Counter(found for node in tree.preorder() for found in _semantic_rooted(node, phrases))


def semantic_pairs(
    a: Tree, b: Tree, sigma: Sigma, decay: float, leaf_weight: float, phrases: frozenset[str]
) -> dict[tuple, float]:
    """Keys are (fragment of a, its skeleton, fragment of b)."""
    found: dict[tuple, float] = defaultdict(float)
    right = semantic_fragments(b, phrases)
    for (one, skeleton, words, size), times in semantic_fragments(a, phrases).items():
        for (other, other_skeleton, other_words, _), other_times in right.items():
            if skeleton != other_skeleton:
                continue
            value = decay**size * leaf_weight ** len(words) * times * other_times
            for pair in zip(words, other_words, strict=True):
                value *= sigma(*pair)
            if value:
                found[one, skeleton, other] += value
    return dict(found)


def partial_marked(
    tree: Tree, mark: Callable[[Tree], object], decay: float, depth_decay: float, limit: int | None
) -> dict[tuple, float]:
    """Every partial fragment of a tree, its nodes marked, with its feature value."""

    def rooted(node: Tree) -> dict[tuple, float]:
        found = {(node.label, mark(node), ()): depth_decay**0.5 * decay}
        below = [rooted(child) for child in node.children]
        affordable(1 + len(each) for each in below)
        for length in range(1, min(limit or len(below), len(below)) + 1):
            for chosen in itertools.combinations(range(len(below)), length):
                gaps = chosen[-1] - chosen[0] + 1 - length
                for parts in itertools.product(*(below[index].items() for index in chosen)):
                    fragment = (node.label, mark(node), tuple(part for part, _ in parts))
                    value = depth_decay**0.5 * decay**gaps
                    for _, factor in parts:
                        value *= factor
                    found[fragment] = found.get(fragment, 0.0) + value
        return found

    total: dict[tuple, float] = defaultdict(float)
    for node in tree.preorder():
        for fragment, value in rooted(node).items():
            total[fragment] += value
    return dict(total)


def marked_likeness(one: tuple, other: tuple, factor: Callable[[tuple, tuple], float]) -> float:
    """The product over the nodes of two fragments, 0 if they differ in shape."""
    if len(one[2]) != len(other[2]):
        return 0.0
    value = factor(one, other)
    for pair in zip(one[2], other[2], strict=True):
        if not value:
            return 0.0
        value *= marked_likeness(*pair, factor)
    return value


def as_tree(fragment: tuple) -> Tree:
    return Tree(fragment[0], [as_tree(child) for child in fragment[2]])


def grammar_pairs(oracle: Oracle, a: Tree, b: Tree) -> Pairs:
    """Fragments as they stand in a and b after deletions, tags before mutation; words are stars if they are ignored."""

    def tag(node: Tree) -> Tree:
        return Tree(node.label, ["*"]) if oracle.lexical == "ignore" else node

    def delta(x: Tree, y: Tree) -> Pairs:
        if x.is_leaf or y.is_leaf:
            return {}
        if oracle.is_tag(x) and oracle.is_tag(y):
            words = oracle.word_similarity(x.children[0].label, y.children[0].label)
            return {(tag(x), tag(y)): oracle.decay * oracle.tag_similarity(x.label, y.label) * words}
        if oracle.is_tag(x) or oracle.is_tag(y) or x.label != y.label:
            return {}
        found: Pairs = defaultdict(float)
        ways = [[kept for each in oracle.variations(node).values() for kept in each] for node in (x, y)]
        for one, other in itertools.product(*ways):
            if len(one) != len(other):
                continue
            price = oracle.decay * oracle.deletion ** (len(x.children) + len(y.children) - 2 * len(one))
            slots = [aligned(x.children[i], y.children[j]) for i, j in zip(one, other, strict=True)]
            affordable(map(len, slots))
            for parts in itertools.product(*(slot.items() for slot in slots)):
                value = price
                for _, factor in parts:
                    value *= factor
                key = Tree(x.label, [pair[0] for pair, _ in parts]), Tree(y.label, [pair[1] for pair, _ in parts])
                found[key] += value
        return found

    def aligned(x: Tree, y: Tree) -> Pairs:
        bare = Tree(x.label), Tree(y.label)
        if oracle.scope == "deep" and oracle.is_tag(x) and oracle.is_tag(y):
            alike = oracle.tag_similarity(x.label, y.label)
            words = oracle.word_similarity(x.children[0].label, y.children[0].label)
            return {bare: alike, (tag(x), tag(y)): alike * oracle.decay * words}
        if oracle.scope == "deep" and (oracle.is_tag(x) or oracle.is_tag(y)):
            return {bare: oracle._aligned(x, y, {})}
        return {bare: 1, **delta(x, y)} if x.label == y.label else {}

    total: Pairs = defaultdict(float)
    for x, y in itertools.product(a.preorder(), b.preorder()):
        for key, value in delta(x, y).items():
            if value:
                total[key] += value
    return {key: float(value) for key, value in total.items() if value}

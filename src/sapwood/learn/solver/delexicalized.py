"""Trees that differ in a single word, with that word taken out.

The path from a predicate to an argument ends in the predicate, which occurs nowhere else. For kernels that compare
words by equality, a pair of such trees has one of two values, decided by whether the words agree, so tables over
delexicalized trees replace a much larger one over trees.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.trees.array import TreeArray

__all__ = ["DelexicalizedTrees", "delexicalize"]


@dataclass(frozen=True)
class DelexicalizedTrees:
    """Distinct trees with their one special word taken out.

    Attributes
    ----------
    filled, refilled : TreeArray
        The distinct trees without their words: with one made-up word in the place of all, and with another.
    items : array of uint32
        The delexicalized tree of each tree.
    tags : array of uint32
        The word of each tree; 0 where there is none.
    parents : frozenset of str
        Labels of the nodes over the words that were taken out.
    """

    filled: TreeArray
    refilled: TreeArray
    items: NDArray[np.uint32]
    tags: NDArray[np.uint32]
    parents: frozenset[str]


def delexicalize(trees: TreeArray, reserved: set[str]) -> DelexicalizedTrees | None:
    """Take the special word out of each of these distinct trees; None where that makes them few fewer.

    A special word is a leaf without siblings that occurs once in its tree, and nowhere, in any tree, in another role.

    Parameters
    ----------
    trees : TreeArray
        Distinct trees, no bags.
    reserved : set of str
        Labels that mean something to the kernel and are no words.
    """
    labels, node_labels, ends, children, roots = trees._arena.dump(trees._roots)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    sizes = ends.astype(np.int64) - begins
    words = _word_labels(labels, node_labels, children, begins, sizes, reserved)
    seen = np.bincount(node_labels, weights=_occurrences(roots, children, begins, sizes), minlength=len(labels))
    for attempt in itertools.count():
        count, word = _count_words(node_labels, children, begins, sizes, words)
        whole = count[roots] != 1
        # What occurs in a tree that is kept whole is no special word of another one.
        used = np.zeros(len(labels), dtype=np.bool_)
        used[node_labels[_reachable(roots[whole], children, begins, sizes, len(node_labels))]] = True
        conflicts = np.flatnonzero(words & used)
        if not len(conflicts):
            break
        # Often one word that stands for all others is in the way; if it is not that, the search should not take long.
        words[conflicts[np.argmax(seen[conflicts])] if attempt < 3 else conflicts] = False
    if not words.any():
        return None
    tags = np.where(whole, 0, word[roots] + 1).astype(np.uint32)
    built = _without(labels, node_labels, children, begins, sizes, words)
    items = np.unique(built.place[roots], return_inverse=True)
    # A table over these trees, and one per word over the trees that hold it, take the place of one over all trees.
    same_word = np.bincount(tags)[1:].astype(np.float64)
    if len(items[0]) ** 2 + (same_word**2).sum() > 0.7 * len(roots) ** 2:
        return None
    chosen = items[0].astype(np.uint32)
    single = sizes == 1
    over = node_labels[single][words[node_labels[children[begins[single]]]]]
    return DelexicalizedTrees(
        built.trees("\ufdd0", chosen),
        built.trees("\ufdd1", chosen),
        items[1].astype(np.uint32),
        tags,
        frozenset(labels[number] for number in np.unique(over)),
    )


def _word_labels(
    labels: list[str], node_labels: Any, children: Any, begins: Any, sizes: Any, reserved: set[str]
) -> NDArray[np.bool_]:
    """Return which labels are seen on leaves without siblings only."""
    words = np.zeros(len(labels), dtype=np.bool_)
    other = np.zeros(len(labels), dtype=np.bool_)
    leaves = sizes == 0
    single = begins[sizes == 1]
    words[node_labels[children[single]]] = True
    other[node_labels[~leaves]] = True
    # A leaf beside others; counted on edges, since one and the same leaf may have several parents.
    crowded = np.repeat(sizes, sizes) > 1
    other[node_labels[children[crowded]]] = True
    other[[number for number, label in enumerate(labels) if label in reserved]] = True
    return words & ~other


def _count_words(
    node_labels: Any, children: Any, begins: Any, sizes: Any, words: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many words each subtree holds, two standing for more, and which one if it is one."""
    count = words[node_labels].astype(np.int64)
    word = node_labels.astype(np.int64)
    kids, starts, lengths = children.tolist(), begins.tolist(), sizes.tolist()
    counts, found = count.tolist(), word.tolist()
    for node, length in enumerate(lengths):
        if not length:
            continue
        total = 0
        for child in kids[starts[node] : starts[node] + length]:
            if counts[child]:
                total += counts[child]
                found[node] = found[child]
        counts[node] = min(total, 2)
    return np.array(counts, dtype=np.int64), np.array(found, dtype=np.int64)


def _occurrences(roots: Any, children: Any, begins: Any, sizes: Any) -> NDArray[np.float64]:
    """Return how often each subtree occurs in all trees together."""
    times = np.bincount(roots, minlength=len(sizes)).astype(np.float64).tolist()
    kids, starts, lengths = children.tolist(), begins.tolist(), sizes.tolist()
    # Children come before their parents.
    for node in range(len(lengths) - 1, -1, -1):
        for child in kids[starts[node] : starts[node] + lengths[node]]:
            times[child] += times[node]
    return np.array(times)


def _reachable(roots: Any, children: Any, begins: Any, sizes: Any, nodes: int) -> NDArray[np.bool_]:
    seen = np.zeros(nodes, dtype=np.bool_)
    seen[roots] = True
    for node in range(nodes - 1, -1, -1):
        if seen[node] and sizes[node]:
            seen[children[begins[node] : begins[node] + sizes[node]]] = True
    return seen


@dataclass(frozen=True)
class _Rebuilt:
    """Subtrees listed once each after words have been taken out."""

    labels: list[str]
    node_labels: NDArray[np.uint32]
    ends: NDArray[np.uint64]
    children: NDArray[np.uint32]
    place: NDArray[np.int64]  # of each subtree as it was

    def trees(self, word: str, roots: NDArray[np.uint32]) -> TreeArray:
        arena = _core.trees.Arena.load([word, *self.labels], self.node_labels, self.ends, self.children)
        return TreeArray._from_arena(arena, roots).detach()


def _without(labels: list[str], node_labels: Any, children: Any, begins: Any, sizes: Any, words: Any) -> _Rebuilt:
    kept = np.flatnonzero(~words)
    renumbered = np.zeros(len(labels), dtype=np.int64)
    renumbered[kept] = np.arange(1, len(kept) + 1)
    names = renumbered[node_labels].tolist()
    kids, starts, lengths = children.tolist(), begins.tolist(), sizes.tolist()
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    place: list[int] = []
    new_labels: list[int] = []
    new_children: list[int] = []
    new_ends: list[int] = []
    for node, name in enumerate(names):
        below = tuple([place[child] for child in kids[starts[node] : starts[node] + lengths[node]]])
        number = known.setdefault((name, below), len(known))
        place.append(number)
        if number == len(new_labels):
            new_labels.append(name)
            new_children += below
            new_ends.append(len(new_children))
    return _Rebuilt(
        [labels[number] for number in kept],
        np.array(new_labels, dtype=np.uint32),
        np.array(new_ends, dtype=np.uint64),
        np.array(new_children, dtype=np.uint32),
        np.array(place, dtype=np.int64),
    )

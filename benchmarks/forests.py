"""Sets of alternatives as a left-to-right parser meets them: every way to attach the next word to what it has built.

``load(sentences)`` takes trees of the treebank (see ``treebank``), collects how words are attached in all of them, and
gives for each word of the first ``sentences`` trees the tree so far with the word attached in every admissible way;
the way of the treebank is the best. Alternatives of one word share nearly everything.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

import sapwood as sw
import treebank
from sapwood import _core


@dataclass(frozen=True)
class Forests:
    """Trees, 1 for the best of its group and 0 for the others, and groups."""

    X: sw.TreeArray
    y: np.ndarray
    groups: np.ndarray
    origin: str


@dataclass(eq=False)
class _Node:
    label: str
    children: list[_Node] = field(default_factory=list)
    parent: _Node | None = None
    first: int = 0  # its first word


class _Store:
    """Distinct subtrees as numbers."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[int, ...]], int] = {}

    def node(self, label: str, children: tuple[int, ...] = ()) -> int:
        return self._known.setdefault((label, children), len(self._known))

    def chain(self, labels: tuple[str, ...]) -> int:
        number = self.node(labels[-1])
        for label in reversed(labels[:-1]):
            number = self.node(label, (number,))
        return number

    def arena(self) -> _core.trees.Arena:
        labels = sorted({label for label, _ in self._known})
        number = {label: at for at, label in enumerate(labels)}
        return _core.trees.Arena.load(
            labels,
            np.array([number[label] for label, _ in self._known], dtype=np.uint32),
            np.cumsum([len(children) for _, children in self._known]).astype(np.uint64),
            np.array([child for _, children in self._known for child in children], dtype=np.uint32),
        )


@dataclass(frozen=True)
class _Step:
    """The attachment of word ``word`` to the tree so far, whose root is ``root``."""

    word: int
    root: _Node
    anchor: _Node
    up: tuple[str, ...]  # labels put above the root
    down: tuple[str, ...]  # labels from below the anchor to the word's tag

    @property
    def key(self) -> tuple[str, str]:
        return self.anchor.label, self.down[-1]


def _convert(tree: sw.Tree) -> _Node:
    """Tags become the leaves; a node over one of its own label is that node."""
    node = _Node(tree.label)
    if not (len(tree.children) == 1 and tree.children[0].is_leaf):
        node.children = [_convert(child) for child in tree.children]
        while len(node.children) == 1 and node.children[0].label == node.label and node.children[0].children:
            node.children = node.children[0].children
        for child in node.children:
            child.parent = node
    return node


def _leaves(node: _Node) -> Iterator[_Node]:
    if not node.children:
        yield node
    for child in node.children:
        yield from _leaves(child)


def _steps(top: _Node) -> Iterator[_Step]:
    leaves = list(_leaves(top))
    for position in reversed(range(len(leaves))):
        node: _Node | None = leaves[position]
        while node is not None:
            node.first = position
            node = node.parent
    root = leaves[0]
    for word in range(1, len(leaves)):
        down, joint = [leaves[word].label], leaves[word].parent
        while joint.first >= word:
            down.append(joint.label)
            joint = joint.parent
        above, up = root, []
        while above is not joint and above is not None:
            above = above.parent
            if above is not None:
                up.append(above.label)
        if above is None:
            yield _Step(word, root, joint, (), tuple(reversed(down)))
        else:
            yield _Step(word, root, root if up else joint, tuple(up), tuple(reversed(down)))
            root = joint


def load(sentences: int, *, grammar: int = 1000) -> Forests:
    """Return the alternatives for the words of so many sentences, with the attachments of ``grammar`` sentences."""
    source = treebank.load(grammar)
    trees = sw.read_trees(io.StringIO("\n".join(source.lines)), drop_traces=True, drop_function_tags=True)
    tops = [_convert(tree) for tree in trees]
    # Dictionaries keep the order of arrival; nothing depends on hashing.
    paths: dict[tuple[str, str], dict[tuple[tuple[str, ...], tuple[str, ...]], None]] = defaultdict(dict)
    for top in tops:
        for step in _steps(top):
            paths[step.key][step.up, step.down] = None
    store, roots, best, groups = _Store(), [], [], []
    for top in tops[:sentences]:
        for step in _steps(top):
            made, gold = _alternatives(step, paths, store)
            if len(made) < 2:
                continue
            groups += [groups[-1] + 1 if groups else 0] * len(made)
            best += [float(at == gold) for at in range(len(made))]
            roots += made
    X = sw.TreeArray._from_arena(store.arena(), np.array(roots, dtype=np.uint32))
    return Forests(X, np.array(best), np.array(groups), f"{source.origin}, attachments in {sentences} sentences")


def _alternatives(step: _Step, paths: dict, store: _Store) -> tuple[list[int], int]:
    """Return every way to attach a word, and which one the treebank has."""

    def seen(node: _Node) -> int:
        return store.node(node.label, tuple(seen(child) for child in node.children if child.first < step.word))

    # The right frontier, with what is left of it at each level.
    frontier: list[tuple[_Node, tuple[int, ...]]] = []
    node = step.root
    while node.children:
        kids = [child for child in node.children if child.first < step.word]
        frontier.append((node, tuple(seen(child) for child in kids[:-1])))
        node = kids[-1]
    below = [store.node(node.label)]
    for anchor, left in reversed(frontier):
        below.append(store.node(anchor.label, (*left, below[-1])))
    below.reverse()
    made, gold = [], -1
    for depth, (anchor, left) in enumerate(frontier):
        for up, down in paths[anchor.label, step.down[-1]]:
            if up:
                continue
            if anchor is step.anchor and not step.up and down == step.down:
                gold = len(made)
            number = store.node(anchor.label, (*left, below[depth + 1], store.chain(down)))
            for above, before in reversed(frontier[:depth]):
                number = store.node(above.label, (*before, number))
            made.append(number)
    for up, down in paths[step.root.label, step.down[-1]]:
        if not up:
            continue
        if up == step.up and down == step.down:
            gold = len(made)
        number = below[0]
        for label in up[:-1]:
            number = store.node(label, (number,))
        made.append(store.node(up[-1], (number, store.chain(down))))
    return made, gold

"""Where things stand in one tree: numbered nodes with parents, children and the words they cover.

A ``Tree`` knows its children only, and one subtree may stand in many places. ``Positions`` numbers the places in
pre-order, leaves included, so that tasks can speak of *this* node, its parent and its words.
"""

from __future__ import annotations

from sapwood.errors import DataError
from sapwood.trees.tree import Tree

__all__ = ["Positions"]


class Positions:
    """The places of a tree, numbered in pre-order.

    Parameters
    ----------
    tree : Tree
        Any tree; its leaves are the words.

    Attributes
    ----------
    nodes : list of Tree
        The subtree at each place.
    labels : list of str
        The label at each place.
    parent : list of int
        The place above; -1 for the root.
    children : list of list of int
        The places below, in order.
    first, last : list of int
        The first and last word that each place covers, counted from 0.
    leaves : list of int
        The place of each word.

    Examples
    --------
    >>> at = Positions(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD barked)))"))
    >>> at.labels[at.tag(2)], at.labels[at.parent[at.tag(2)]]
    ('VBD', 'VP')
    >>> [at.labels[node] for node in at.spanning(0, 1)]
    ['NP']
    """

    __slots__ = ("_spans", "children", "first", "labels", "last", "leaves", "nodes", "parent")

    def __init__(self, tree: Tree) -> None:
        nodes: list[Tree] = []
        parent: list[int] = []
        stack = [(tree, -1)]
        while stack:
            node, above = stack.pop()
            number = len(nodes)
            nodes.append(node)
            parent.append(above)
            stack.extend([(child, number) for child in reversed(node.children)])
        self.nodes, self.parent = nodes, parent
        self.labels = [node.label for node in nodes]
        self.children: list[list[int]] = [[] for _ in nodes]
        self.first, self.last = [0] * len(nodes), [0] * len(nodes)
        self.leaves: list[int] = []
        for number in range(1, len(nodes)):
            self.children[parent[number]].append(number)
        for number, node in enumerate(nodes):
            # Going down in pre-order, a node begins where the next leaf is.
            self.first[number] = len(self.leaves)
            if not node.children:
                self.last[number] = len(self.leaves)
                self.leaves.append(number)
        for number in range(len(nodes) - 1, -1, -1):
            if self.children[number]:
                self.last[number] = self.last[self.children[number][-1]]
        self._spans: dict[tuple[int, int], list[int]] | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    def tag(self, word: int) -> int:
        """Return the place right above a word.

        Raises
        ------
        DataError
            If there is no such word, or the tree is nothing but a word.
        """
        if not 0 <= word < len(self.leaves):
            raise DataError(f"there is no word {word}; the tree has {len(self.leaves)}, counted from 0.")
        above = self.parent[self.leaves[word]]
        if above < 0:
            raise DataError(f"the tree is the single word {self.labels[0]!r}; expected a tag above each word.")
        return above

    def is_tag(self, node: int) -> bool:
        """Whether a place is a pre-terminal: one word and nothing else below it."""
        below = self.children[node]
        return len(below) == 1 and not self.children[below[0]]

    def spanning(self, first: int, last: int) -> list[int]:
        """Return the places that cover exactly these words, top down, without the words themselves."""
        if self._spans is None:
            self._spans = {}
            for number in range(len(self.nodes)):
                if self.children[number]:
                    self._spans.setdefault((self.first[number], self.last[number]), []).append(number)
        return self._spans.get((first, last), [])

    def up(self, node: int) -> list[int]:
        """Return the path from a place to the root, both included."""
        path = []
        while node >= 0:
            path.append(node)
            node = self.parent[node]
        return path

    def path(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """Return the path from one place to another: up to their lowest common place, and down from there.

        The common place ends the first list; the second list has what lies below it, down to ``end``.
        """
        rising = self.up(start)
        order = {node: step for step, node in enumerate(rising)}
        falling = []
        while end not in order:
            falling.append(end)
            end = self.parent[end]
        return rising[: order[end] + 1], falling[::-1]

"""The subset-tree kernel in plain Python: the yardstick of what one writes without a library."""

from __future__ import annotations

from collections import defaultdict
from typing import Any


class Node:
    """A label and a list of children."""

    __slots__ = ("children", "label")

    def __init__(self, label: str, children: list[Node]) -> None:
        self.label = label
        self.children = children

    @classmethod
    def copy(cls, tree: Any) -> Node:
        """Copy anything that has a label and children."""
        return cls(tree.label, [cls.copy(child) for child in tree.children])

    def inner(self) -> list[Node]:
        """Return the nodes that have children."""
        if not self.children:
            return []
        return [self, *[node for child in self.children for node in child.inner()]]

    def production(self) -> tuple[str, ...]:
        return (self.label, *[child.label for child in self.children])


def textbook(first: Node, second: Node, decay: float) -> float:
    """Evaluate the kernel as its definition reads: the recursion for every pair of nodes."""
    others = second.inner()
    return sum(_delta(a, b, decay) for a in first.inner() for b in others)


def indexed(first: Node, second: Node, decay: float) -> float:
    """Do the same with a dictionary from productions to nodes, so that only pairs that match are visited."""
    by_production = defaultdict(list)
    for node in second.inner():
        by_production[node.production()].append(node)
    return sum(_delta(a, b, decay) for a in first.inner() for b in by_production.get(a.production(), ()))


def _delta(a: Node, b: Node, decay: float) -> float:
    if not a.children or not b.children or a.production() != b.production():
        return 0.0
    value = decay
    for x, y in zip(a.children, b.children, strict=True):
        value *= 1.0 + _delta(x, y, decay)
    return value

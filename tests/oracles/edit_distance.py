"""Tree edit distance by its definition: forests shrink from the right, and every way to shrink is tried."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

Nested = tuple[str, tuple["Nested", ...]]


def distance(
    one: Nested,
    other: Nested,
    rename: Callable[[str, str], float] = lambda a, b: float(a != b),
    insert: Callable[[str], float] = lambda label: 1.0,
    delete: Callable[[str], float] = lambda label: 1.0,
) -> float:
    """Return the least cost, for trees that are small enough to recurse on."""

    @cache
    def forests(left: tuple[Nested, ...], right: tuple[Nested, ...]) -> float:
        if not left and not right:
            return 0.0
        ways = []
        if left:
            label, below = left[-1]
            ways.append(forests(left[:-1] + below, right) + delete(label))
        if right:
            label, below = right[-1]
            ways.append(forests(left, right[:-1] + below) + insert(label))
        if left and right:
            (label, below), (new_label, other_below) = left[-1], right[-1]
            price = 0.0 if label == new_label else rename(label, new_label)
            ways.append(forests(left[:-1], right[:-1]) + forests(below, other_below) + price)
        return min(ways)

    return forests((one,), (other,))


def nested(tree: object) -> Nested:
    """Return a tree as tuples."""
    return tree.label, tuple(nested(child) for child in tree.children)  # type: ignore[attr-defined]

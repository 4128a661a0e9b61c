"""Patterns of trees by their definitions: every node is compared with every other."""

from __future__ import annotations

from sapwood import Tree
from sapwood.trees.patterns import ONLY, All, NodePattern, Not, Relation, Relations, parse
from sapwood.trees.positions import Positions


def places(tree: Tree, pattern: str) -> list[int]:
    """The numbers in pre-order of the nodes that match."""
    at = Positions(tree)
    parsed = parse(pattern)
    return [node for node in range(len(at)) if _matches(at, node, parsed)]


def _matches(at: Positions, node: int, pattern: NodePattern) -> bool:
    if not pattern.matches(at.labels[node]):
        return False
    return pattern.relations is None or _holds(at, node, pattern.relations)


def _holds(at: Positions, node: int, relations: Relations) -> bool:
    if isinstance(relations, Relation):
        others = [other for other in range(len(at)) if _related(at, node, other, relations.move, relations.which)]
        return any(_matches(at, other, relations.node) for other in others)
    if isinstance(relations, Not):
        return not _holds(at, node, relations.part)
    combine = all if isinstance(relations, All) else any
    return combine(_holds(at, node, part) for part in relations.parts)


def _is_child(at: Positions, above: int, below: int, which: int) -> bool:
    children = at.children[above]
    if below not in children:
        return False
    if which == ONLY:
        return len(children) == 1
    number = children.index(below)
    return which in (0, number + 1, number - len(children))


def _is_below(at: Positions, above: int, below: int, which: int) -> bool:
    return any(
        _is_child(at, above, child, which) and (child == below or _is_below(at, child, below, which))
        for child in at.children[above]
    )


def _related(at: Positions, a: int, b: int, move: str, which: int) -> bool:
    sisters = a != b and at.parent[a] == at.parent[b] and at.parent[a] >= 0
    row = at.children[at.parent[a]] if at.parent[a] >= 0 else []
    match move:
        case "child":
            return _is_child(at, a, b, which)
        case "parent":
            return _is_child(at, b, a, which)
        case "below":
            return _is_below(at, a, b, which)
        case "above":
            return _is_below(at, b, a, which)
        case "sister":
            return sisters
        case "next_sister":
            return sisters and row.index(b) == row.index(a) + 1
        case "previous_sister":
            return sisters and row.index(b) == row.index(a) - 1
        case "later_sister":
            return sisters and row.index(b) > row.index(a)
        case "earlier_sister":
            return sisters and row.index(b) < row.index(a)
        case "next":
            return at.first[b] == at.last[a] + 1
        case "previous":
            return at.last[b] == at.first[a] - 1
        case "later":
            return at.first[b] > at.last[a]
        case "earlier":
            return at.last[b] < at.first[a]
    raise AssertionError(move)

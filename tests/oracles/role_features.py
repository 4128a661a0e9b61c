"""Features of candidates one by one, each from a new look at the tree, and their columns by dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from sapwood.tasks.roles.feature_sets import feature_names
from sapwood.tasks.roles.features import OF_BOTH, OF_NODES, OF_PREDICATES
from sapwood.tasks.roles.views import Parse, View

_CLAUSES = ("S", "SBAR", "SBARQ", "SINV", "SQ", "VP")


def value(name: str, view: View, node: int) -> str:
    """Return a single feature."""
    fresh = Parse(view.at.nodes[0]).view(view.predicate, view.lemma)
    fresh.given = view.given
    if name in _PATHS:
        rising, falling = ([view.at.labels[one] for one in part] for part in view.at.path(node, view.tag))
        return _PATHS[name](rising, falling)
    if name == "syntactic_frame":
        return _frame(fresh, node, "v")
    if name == "frame_with_predicate":
        return _frame(fresh, node, view.lemma)
    if name in OF_NODES:
        return OF_NODES[name](fresh.parse, node)
    return OF_PREDICATES[name](fresh) if name in OF_PREDICATES else OF_BOTH[name](fresh, node)


def values(view: View, node: int, kind: str) -> list[str]:
    """Return the values of all features of a set, groups included."""
    found: dict[str, str] = {}
    for name in feature_names(kind):
        parts = [found[part] for part in name.split("&")] if "&" in name else [value(name, view, node)]
        found[name] = "|".join(parts) if all(parts) else ""
    return list(found.values())


def columns(known: Sequence[Sequence[str]], row: Sequence[str]) -> list[int]:
    """Return the columns of a row, where the known values of each feature have one each."""
    numbers: dict[tuple[int, str], int] = {}
    for feature, texts in enumerate(known):
        for text in texts:
            numbers[feature, text] = len(numbers)
    return [numbers[feature, text] for feature, text in enumerate(row) if (feature, text) in numbers]


def _frame(view: View, node: int, predicate: str) -> str:
    names = ["NP" if phrase == node else "np" for phrase in view.noun_phrases]
    names.insert(sum(phrase <= view.tag for phrase in view.noun_phrases), predicate)
    return "_".join(names)


def _text(rising: list[str], falling: list[str]) -> str:
    return "^".join(rising) + "".join(f"!{label}" for label in falling)


def _runs(labels: list[str]) -> list[str]:
    return [label for at, label in enumerate(labels) if not at or label != labels[at - 1]]


def _collapsed(rising: list[str], falling: list[str]) -> str:
    up, down = _runs(rising), _runs(falling)
    return _text(up, down[1:] if down and down[0] == up[-1] else down)


def _clauses(rising: list[str], falling: list[str]) -> str:
    up, down = (_runs([one if one in _CLAUSES else "*" for one in part]) for part in (rising[1:], falling[:-1]))
    return f"{rising[0]}^{'^'.join(up)}!{'!'.join(down)}"


_PATHS = {
    "path": _text,
    "partial_path": lambda rising, falling: "^".join(rising),
    "undirected_path": lambda rising, falling: "-".join(rising + falling),
    "initial_path": lambda rising, falling: "!".join("".join(one[0] for one in part) for part in (rising, falling)),
    "distance": lambda rising, falling: str(min(len(rising + falling) - 1, 12)),
    "collapsed_path": _collapsed,
    "clause_path": _clauses,
}

"""Scores that others have built on tree edit distance: TEDS for tables and TSED for programs.

Both are 1 − d / n, where n counts the nodes of the larger tree. The distance itself is in ``edit``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.checks import check_flag
from sapwood.errors import DataError
from sapwood.search.costs import Matrix, RenameCosts, different
from sapwood.search.edit import EditDistance
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree

__all__ = ["teds", "tsed"]

_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
# What a tag ends if it is still open, up to the table that both stand in.
_CELLS = frozenset({"td", "th"})
_ENDS = {
    "td": _CELLS,
    "th": _CELLS,
    "tr": _CELLS | {"tr"},
    **dict.fromkeys(("thead", "tbody", "tfoot"), _CELLS | {"tr", "thead", "tbody", "tfoot"}),
}


def teds(predicted: str, expected: str, *, structure_only: bool = False) -> float:
    """Return the tree-edit-distance-based similarity (TEDS) of two tables in HTML, from 0 to 1.

    Tags of the first table of each text are the nodes. Cells (``td``) with the same spans cost the Levenshtein distance
    of what is in them, characters and tags, divided by the longer length; everything else that differs costs 1. The
    distance is divided by the number of tags inside the larger table, those in cells included, as the authors' program
    does it.

    Parameters
    ----------
    predicted, expected : str
        HTML with a table. A prediction without a table scores 0.
    structure_only : bool
        Leave the content of cells out (TEDS-Struct).

    References
    ----------
    X. Zhong, E. ShafieiBavani and A. Jimeno Yepes, 2020: Image-based table recognition: data, model, and evaluation.

    Examples
    --------
    >>> teds("<table><tr><td>12</td></tr></table>", "<table><tr><td>13</td></tr></table>")
    0.75
    """
    check_flag(structure_only, "structure_only")
    for name, text in (("predicted", predicted), ("expected", expected)):
        if not isinstance(text, str):
            raise DataError(f"{name} must be HTML as text, got {type(text).__name__}.")
    target = _Table.read(expected, structure_only)
    if target is None:
        raise DataError("expected has no <table>, so there is nothing to compare with.")
    source = _Table.read(predicted, structure_only)
    if source is None:
        return 0.0
    distance = EditDistance(_Cells({**source.cells, **target.cells}))  # type: ignore[arg-type]
    most = max(source.tags, target.tags)
    return 1.0 - float(distance(source.tree, target.tree)) / most if most else 1.0


def tsed(source: Any, target: Any, *, delete: float = 1.0, insert: float = 0.8, rename: float = 1.0) -> float:
    """Return the tree similarity of edit distance (TSED) of two programs, from 0 to 1.

    Parameters
    ----------
    source, target : tree
        Syntax trees: what tree-sitter gives (its tree or a node of it), or any tree that Sapwood takes. As in the
        authors' program, named nodes of tree-sitter count, and a node with fields is called by the last of them.
    delete, insert, rename : float
        Costs; those by default are the ones that the authors use.

    References
    ----------
    Y. Song and others, 2024: Revisiting code similarity evaluation with abstract syntax tree edit distance.

    Examples
    --------
    >>> tsed("(module (expression call))", "(module (expression (call name)))")
    0.8
    """
    trees = TreeArray([_program(source, "source"), _program(target, "target")])
    nodes = max(trees[:1].node_count(), trees[1:].node_count())
    distance = EditDistance(rename, delete=delete, insert=insert)
    return max(0.0, 1.0 - float(distance.pairwise(trees[:1], trees[1:])[0]) / nodes)


class _Cells(RenameCosts):
    """What it costs to turn one tag of a table into another."""

    def __init__(self, cells: dict[str, tuple[tuple[int, int], tuple[str, ...]]]) -> None:
        self.cells = cells

    def table(
        self, labels: Sequence[str], leaves: NDArray[np.bool_], others: Sequence[str], other_leaves: NDArray[np.bool_]
    ) -> Matrix:
        costs = different(labels, others)
        rows = [row for row, label in enumerate(labels) if label in self.cells]
        columns = [column for column, label in enumerate(others) if label in self.cells]
        numbers: dict[str, int] = {}
        sides = []
        for names, chosen in ((labels, rows), (others, columns)):
            contents = [self.cells[names[place]][1] for place in chosen]
            tokens = [numbers.setdefault(token, len(numbers)) for content in contents for token in content]
            lengths = np.array([len(content) for content in contents], dtype=np.uint64)
            sides.append((np.array(tokens, dtype=np.uint32), np.cumsum(lengths, dtype=np.uint64), lengths))
        found = np.empty((len(rows), len(columns)))
        _core.edit.sequences(*sides[0][:2], *sides[1][:2], found)
        found /= np.maximum(1, np.maximum.outer(sides[0][2], sides[1][2]))
        spans = [np.array([self.cells[names[k]][0] for k in chosen]).reshape(-1, 2) for names, chosen in
                 ((labels, rows), (others, columns))]  # fmt: skip
        same = (spans[0][:, None] == spans[1][None]).all(axis=2)
        costs[np.ix_(rows, columns)] = np.where(same, found, 1.0)
        return costs


class _Table(HTMLParser):
    """The first table of a page: its tags as a tree, a cell as one node with all that is in it."""

    def __init__(self, structure_only: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._structure_only = structure_only
        # Tags that are open outside of cells, each with its children; those that are open in a cell; its tokens.
        self._open: list[tuple[str, list[Tree]]] = []
        self._inside: list[str] = []
        self._tokens: list[str] | None = None
        self._spans = (1, 1)
        self._tree: Tree | None = None
        self.tags = -1  # the table itself does not count
        self.cells: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {}

    @classmethod
    def read(cls, text: str, structure_only: bool) -> _Table | None:
        table = cls(structure_only)
        table.feed(text)
        table.close()
        while table._tree is None and table._open:
            table._close()
        return table if table._tree is not None else None

    @property
    def tree(self) -> Tree:
        assert self._tree is not None
        return self._tree

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._tree is not None or (not self._open and tag != "table"):
            return
        if "table" not in self._inside:
            self._end_before(tag)
        self.tags += 1
        if self._tokens is not None:
            self._tokens.append(f"<{tag}>")
            if tag not in _VOID:
                self._inside.append(tag)
            elif tag != "unk":
                self._tokens.append(f"</{tag}>")
            return
        self._open.append((tag, []))
        if tag == "td":
            given = dict(attrs)
            self._spans = _span(given.get("colspan"), "colspan"), _span(given.get("rowspan"), "rowspan")
            self._tokens = []
        elif tag in _VOID:
            self._close()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # In HTML the slash means nothing.
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        if self._tokens is not None:
            self._tokens += data

    def handle_endtag(self, tag: str) -> None:
        if self._tree is not None or tag in _VOID:
            return
        if self._tokens is not None and tag in self._inside:
            while self._end_inside() != tag:
                pass
        elif any(name == tag for name, _ in self._open):
            while self._close() != tag:
                pass

    def _end_before(self, tag: str) -> None:
        """End what cannot hold this tag."""
        ends = _ENDS.get(tag, frozenset())
        names = [name for name, _ in self._open]
        since = len(names) - names[::-1].index("table") if "table" in names else 0
        hit = next((place for place in range(since, len(names)) if names[place] in ends), None)
        while hit is not None and len(self._open) > hit:
            self._close()

    def _end_inside(self) -> str:
        assert self._tokens is not None
        tag = self._inside.pop()
        if tag != "unk":
            self._tokens.append(f"</{tag}>")
        return tag

    def _close(self) -> str:
        tag, children = self._open.pop()
        label = tag
        if self._tokens is not None:
            while self._inside:
                self._end_inside()
            tokens = () if self._structure_only else tuple(self._tokens)
            # Tokens are characters and tags; a separator that no character is keeps them apart.
            label = "\t".join([f"td {self._spans[0]} {self._spans[1]}", *tokens])
            self.cells[label] = self._spans, tokens
            self._tokens = None
        tree = Tree(label, children)
        if self._open:
            self._open[-1][1].append(tree)
        else:
            self._tree = tree
        return tag


def _span(value: str | None, name: str) -> int:
    if value is None:
        return 1
    if not re.fullmatch(r"\s*\d{1,6}\s*", value):
        raise DataError(f"{name}={value!r} of a cell is no whole number.")
    return int(value)


def _program(program: Any, name: str) -> Any:
    """Return a tree of tree-sitter as a tree; anything else as it is."""
    node = getattr(program, "root_node", program)
    if not hasattr(node, "named_child_count"):
        if isinstance(program, (list, tuple, bytes)):
            raise DataError(f"{name} must be one tree, got {type(program).__name__}.")
        return program
    # A node is called by the last word between its brackets: its type, or the name of its last field.
    stack: list[tuple[list[str], list[Tree]]] = [([], [])]
    for token in re.findall(r"[()]|[^\s()]+", str(node)):
        if token == "(":
            stack.append(([], []))
        elif token != ")":
            stack[-1][0].append(token)
        elif len(stack) > 1:
            words, children = stack.pop()
            stack[-1][1].append(Tree(words[-1] if words else "?", children))
    if len(stack) != 1 or len(stack[0][1]) != 1:
        raise DataError(
            f"{name} is a tree of tree-sitter that cannot be read, probably because of syntax errors in it."
        )
    return stack[0][1][0]

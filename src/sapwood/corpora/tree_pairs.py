"""Pairs of parsed texts: one ``label<TAB>trees<TAB>trees`` per line.

A text may have several sentences, so a field holds any number of trees side by side; an empty one is a text without
words. Pairs of plain text are read by ``text_pairs``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.corpora.labeled import LabeledRow, given_labels, labeled_rows, nothing_in
from sapwood.errors import BracketError, DataError
from sapwood.sources import Line, Source, lines
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import read_into, to_brackets
from sapwood.trees.examples import Examples
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["read", "write"]


class TreeFields:
    """Fields of trees, all on one arena."""

    def __init__(self) -> None:
        self.arena = _core.trees.Arena()

    def read(self, text: str, line: Line, column: int) -> NDArray[np.uint32]:
        if not text.strip():
            return np.zeros(0, dtype=np.uint32)
        try:
            return read_into(self.arena, text.encode("utf-8", "surrogatepass"), line.source)
        except BracketError as fault:
            at, row = fault.column + (column - 1 if fault.line == 1 else 0), line.number + fault.line - 1
            raise BracketError(line.source, row, at, fault.reason, fault.context) from None

    def array(self, fields: Sequence[NDArray[np.uint32]]) -> TreeArray:
        roots = np.concatenate([np.zeros(0, dtype=np.uint32), *fields])
        if all(len(field) == 1 for field in fields):
            return TreeArray._from_arena(self.arena, roots)
        return TreeArray._from_arena(self.arena, roots, np.cumsum([len(field) for field in fields], dtype=np.uint64))


def read(source: Source | Sequence[Source], *, labels: bool = True) -> tuple[Examples, NDArray[np.str_] | None]:
    """Return the pairs of trees of all files, and their labels.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        One ``label<TAB>trees<TAB>trees`` per line, as UTF-8; empty lines are passed over.
    labels : bool
        With False, lines may also hold two fields of trees alone, and no labels are returned unless every line has one.

    Returns
    -------
    pairs : Examples
        With the views ``first`` and ``second``.
    labels : array of str, or None

    Raises
    ------
    FormatError, BracketError
        With file, line and column, and nothing is returned.

    Examples
    --------
    >>> import io
    >>> pairs, y = read(io.StringIO("same\\t(NP (NN dog))\\t(NP (NN dog))\\n"))
    >>> pairs, y.tolist()
    (Examples(first, second; 1 row), ['same'])
    """
    rows = list(labeled_rows(lines(source), labels=labels, fields=2, what="trees"))
    if not rows:
        raise nothing_in(source, "pair", "label<TAB>trees<TAB>trees")
    return tree_pairs(rows), given_labels(rows)


def tree_pairs(rows: Iterable[LabeledRow]) -> Examples:
    """Read the trees of rows with two fields as pairs."""
    fields = TreeFields()
    sides: tuple[list[NDArray[np.uint32]], list[NDArray[np.uint32]]] = [], []
    for row in rows:
        for number, side in enumerate(sides):
            side.append(fields.read(row.fields[number], row.line, row.column(number)))
    return Examples(first=fields.array(sides[0]), second=fields.array(sides[1]))


def write(pairs: Examples, labels: Iterable[object], path: str | os.PathLike[str]) -> None:
    """Write pairs of trees with their labels; the file appears whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pairs.tsv")
    >>> write(Examples(first=["(NP (NN dog))"], second=["(NP (NN cat))"]), ["other"], path)
    >>> print(path.read_text(), end="")
    other	(NP (NN dog))	(NP (NN cat))
    """
    rows = []
    labels = list(labels)
    if len(labels) != len(pairs):
        raise DataError(f"there are {len(pairs):,} pairs but {len(labels):,} labels; give one per pair.")
    for label, first, second in zip(labels, pairs["first"], pairs["second"], strict=True):
        text = str(label).strip()
        if not text or any(mark in text for mark in "\t\r\n"):
            raise DataError(f"the label {label!r} cannot be written: it is empty or has a tab or line break.")
        rows.append(f"{text}\t{side_by_side(first)}\t{side_by_side(second)}\n")
    write_text(path, rows)


def side_by_side(element: Tree | tuple[Tree, ...]) -> str:
    """Return one tree or several as a field in brackets."""
    return " ".join(to_brackets(tree, escape=True) for tree in (element if isinstance(element, tuple) else (element,)))

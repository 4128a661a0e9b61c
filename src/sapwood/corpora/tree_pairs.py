"""Pairs of parsed texts: one ``label<TAB>trees<TAB>trees`` per line.

A text may have several sentences, so a field holds any number of trees side by side; an empty one is a text without
words. Pairs of plain text are read by ``text_pairs``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.labeled import LabeledRow, given_labels, labeled_rows, nothing_in
from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import lines
from sapwood.trees.brackets import to_brackets
from sapwood.trees.examples import Examples
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["read", "write"]

__dir__ = public_names(__name__)


def read(source: Sources, *, labels: bool = True) -> tuple[Examples, NDArray[np.str_] | None]:
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
    texts = TreeTexts(several=True)
    for row in rows:
        for number in (0, 1):
            texts.add(row.fields[number], row.line, row.column(number))
    return Examples(first=texts.array(slice(0, None, 2)), second=texts.array(slice(1, None, 2)))


def write(pairs: Examples, labels: Iterable[object], path: str | os.PathLike[str]) -> None:
    """Write pairs of trees with their labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pairs.tsv")
    >>> write(Examples(first=["(NP (NN dog))"], second=["(NP (NN cat))"]), ["other"], path)
    >>> print(path.read_text(), end="")
    other	(NP (NN dog))	(NP (NN cat))
    """
    labels = list(labels)
    if len(labels) != len(pairs):
        raise DataError(f"there are {len(pairs):,} pairs but {len(labels):,} labels; give one per pair.")
    rows = []
    for label, first, second in zip(labels, pairs["first"], pairs["second"], strict=True):
        text = str(label).strip()
        if not text or any(mark in text for mark in "\t\r\n"):
            raise DataError(f"the label {label!r} cannot be written: it is empty or has a tab or line break.")
        rows.append(f"{text}\t{field_of(first)}\t{field_of(second)}\n")
    write_text(path, rows)


def field_of(element: Tree | tuple[Tree, ...]) -> str:
    """Return one tree or several as a field in brackets."""
    return " ".join(to_brackets(tree, escape=True) for tree in (element if isinstance(element, tuple) else (element,)))

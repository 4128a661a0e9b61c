"""Lines with a label in front: ``label<TAB>tree``, ``label<TAB>text``, and pairs of these."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import FormatError
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import Line, lines
from sapwood.trees.array import TreeArray
from sapwood.trees.texts import TreeTexts

__all__ = ["read"]

__dir__ = public_names(__name__)


class LabeledRow(NamedTuple):
    """A line with its label, if it has one, and the fields after it."""

    line: Line
    label: str | None
    fields: tuple[str, ...]

    def column(self, field: int = 0) -> int:
        """Return the column in which a field begins, counted from 1."""
        before = len(self.line.text) - sum(map(len, self.fields)) - len(self.fields) + 1
        return before + sum(len(text) + 1 for text in self.fields[:field]) + 1


def labeled_rows(
    rows: Iterable[Line], *, labels: bool = True, fields: int = 1, what: str = "tree"
) -> Iterator[LabeledRow]:
    """Yield lines with their labels taken off; empty lines are passed over.

    Parameters
    ----------
    rows : iterable of Line
    labels : bool
        Whether every line must have a label; otherwise it may lack one.
    fields : int
        Fields after the label, with tabs between them; a single one may hold tabs itself.
    what : str
        What a field is called in messages.

    Examples
    --------
    >>> rows = labeled_rows([Line("file", 1, "same\\tWhy?\\tWhy so?")], fields=2, what="text")
    >>> next(rows).label
    'same'
    """
    expected = "<TAB>".join(["label", *[what] * fields])
    if not labels:
        expected += " or " + "<TAB>".join([what] * fields)
    for line in rows:
        if not line.text.strip():
            continue
        cells = line.text.split("\t", 1) if fields == 1 else line.text.split("\t")
        if len(cells) == fields and not labels:
            yield LabeledRow(line, None, tuple(cells))
        elif len(cells) != fields + 1:
            tabs = "no tab" if len(cells) == 1 else f"{len(cells) - 1} tabs"
            raise line.fault(f"expected {expected}, but the line has {tabs}")
        elif not cells[0].strip():
            raise line.fault("the label before the first tab is empty")
        else:
            yield LabeledRow(line, cells[0].strip(), tuple(cells[1:]))


def tree_column(rows: Iterable[LabeledRow]) -> TreeArray:
    """Read the trees of rows with one field."""
    texts = TreeTexts()
    for row in rows:
        texts.add(row.fields[0], row.line, row.column())
    return texts.array()


def nothing_in(source: Sources, what: str, expected: str) -> FormatError:
    """Make the error to raise where a source has blank lines only."""
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else getattr(source, "name", "the source")
    return FormatError(str(name), 1, 1, f"holds no {what}; expected lines of {expected}")


def given_labels(rows: Sequence[LabeledRow]) -> NDArray[np.str_] | None:
    """Return the labels of rows; None unless all have one."""
    found = [row.label for row in rows if row.label is not None]
    return np.array(found) if len(found) == len(rows) else None


def read(source: Sources, *, labels: bool = True, encoding: str = "utf-8") -> tuple[TreeArray, NDArray[np.str_] | None]:
    """Return the trees of all files, and their labels.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        One ``label<TAB>tree`` per line; empty lines are passed over.
    labels : bool
        With False, lines may also hold a tree alone, and no labels are returned unless every line has one.

    Returns
    -------
    trees : TreeArray
    labels : array of str, or None

    Examples
    --------
    >>> import io
    >>> trees, y = read(io.StringIO("ask\\t(S (WH who) (V runs))\\ntell\\t(S (N he) (V runs))\\n"))
    >>> len(trees), y.tolist()
    (2, ['ask', 'tell'])
    """
    rows = list(labeled_rows(lines(source, encoding=encoding), labels=labels))
    if not rows:
        raise nothing_in(source, "tree", "label<TAB>tree")
    return tree_column(rows), given_labels(rows)

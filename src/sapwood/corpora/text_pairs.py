"""Pairs of plain texts with a label in front: one ``label<TAB>text<TAB>text`` per line, without a header."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.labeled import given_labels, labeled_rows, nothing_in
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import lines

__all__ = ["read"]

__dir__ = public_names(__name__)


def read(
    source: Sources, *, labels: bool = True, encoding: str = "utf-8"
) -> tuple[list[tuple[str, str]], NDArray[np.str_] | None]:
    """Return the pairs of all files, and their labels.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Empty lines are passed over; a text may be empty.
    labels : bool
        With False, lines may also hold two texts alone, and no labels are returned unless every line has one.

    Examples
    --------
    >>> import io
    >>> pairs, y = read(io.StringIO("same\\tWhy rain?\\tWhy does it rain?\\n"))
    >>> pairs, y.tolist()
    ([('Why rain?', 'Why does it rain?')], ['same'])
    """
    rows = list(labeled_rows(lines(source, encoding=encoding), labels=labels, fields=2, what="text"))
    if not rows:
        raise nothing_in(source, "pair", "label<TAB>text<TAB>text")
    return [(row.fields[0], row.fields[1]) for row in rows], given_labels(rows)

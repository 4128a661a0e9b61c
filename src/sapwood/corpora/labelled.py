"""Labelled trees: one ``label<TAB>tree`` per line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.sources import FormatError, Source, TreeTexts, lines
from sapwood.trees.array import TreeArray

__all__ = ["read_labelled"]


def read_labelled(
    source: Source | Sequence[Source], *, labels: bool = True, encoding: str = "utf-8"
) -> tuple[TreeArray, NDArray[np.str_] | None]:
    """Read labelled trees.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        One ``label<TAB>tree`` per line; empty lines are passed over.
    labels : bool
        With False, lines may also hold a tree alone, and no labels are returned unless every line has one.
    encoding : str
        Encoding of the files.

    Returns
    -------
    trees : TreeArray
    labels : array of str, or None

    Raises
    ------
    FormatError, BracketError
        With file, line and column, and nothing is returned.

    Examples
    --------
    >>> import io
    >>> trees, y = read_labelled(io.StringIO("ask\\t(S (WH who) (V runs))\\ntell\\t(S (N he) (V runs))\\n"))
    >>> len(trees), y.tolist()
    (2, ['ask', 'tell'])
    """
    texts = TreeTexts()
    found: list[str | None] = []
    name = "the source"
    for line in lines(source, encoding=encoding):
        name = line.source
        if not line.text.strip():
            continue
        label, tab, tree = line.text.partition("\t")
        if not tab and labels:
            raise line.fault("expected label<TAB>tree, but the line has no tab")
        if tab and not label.strip():
            raise line.fault("the label before the tab is empty")
        texts.add(tree if tab else line.text, line, len(label) + 2 if tab else 1)
        found.append(label.strip() if tab else None)
    if not found:
        raise FormatError(name, 1, 1, "holds no tree; expected lines of label<TAB>tree")
    given = [label for label in found if label is not None]
    return texts.array(), np.array(given) if len(given) == len(found) else None

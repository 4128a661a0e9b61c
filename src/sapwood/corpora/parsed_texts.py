"""Texts with the trees of their sentences: one ``text<TAB>trees`` per line, as made from the output of any parser."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.tree_pairs import TreeFields, side_by_side
from sapwood.sources import Source, lines
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["read", "write"]


def read(source: Source | Sequence[Source]) -> dict[str, tuple[Tree, ...]]:
    """Read texts with their trees, one ``text<TAB>trees`` per line, as a dictionary.

    White space within a text counts as one blank, and so should who looks it up.

    Examples
    --------
    >>> import io
    >>> {text: len(trees) for text, trees in read(io.StringIO("Why?\\t(S (WRB Why) (. ?))\\n")).items()}
    {'Why?': 1}
    """
    fields = TreeFields()
    texts: list[str] = []
    found: list[NDArray[np.uint32]] = []
    for line in lines(source):
        if not line.text:
            continue
        text, tab, trees = line.text.partition("\t")
        if not tab:
            raise line.fault("expected text<TAB>trees, but the line has no tab")
        texts.append(" ".join(text.split()))
        found.append(fields.read(trees, line, len(text) + 2))
    sizes = [len(field) for field in found]
    every = list(TreeArray._from_arena(fields.arena, np.concatenate([np.zeros(0, dtype=np.uint32), *found])))
    ends = np.cumsum(sizes).tolist()
    return {
        text: tuple(tree for tree in every[end - size : end] if isinstance(tree, Tree))
        for text, end, size in zip(texts, ends, sizes, strict=True)
    }


def write(texts: Mapping[str, Sequence[Tree]], path: str | os.PathLike[str]) -> None:
    """Write texts with their trees, as ``read`` reads them; white space within a text becomes a blank."""
    rows = [f"{' '.join(text.split())}\t{side_by_side(tuple(trees))}\n" for text, trees in texts.items()]
    write_text(path, rows)

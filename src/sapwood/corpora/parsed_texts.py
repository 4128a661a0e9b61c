"""Texts with the trees of their sentences: one ``text<TAB>trees`` per line, as made from the output of any parser."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from sapwood.corpora.tree_pairs import field_of
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import lines
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["read", "write"]

__dir__ = public_names(__name__)


def read(source: Sources) -> dict[str, tuple[Tree, ...]]:
    """Read texts with their trees, one ``text<TAB>trees`` per line, as a dictionary.

    White space within a text counts as one blank, and so should who looks it up.

    Examples
    --------
    >>> import io
    >>> {text: len(trees) for text, trees in read(io.StringIO("Why?\\t(S (WRB Why) (. ?))\\n")).items()}
    {'Why?': 1}
    """
    texts = TreeTexts(several=True)
    names: list[str] = []
    for line in lines(source):
        if not line.text:
            continue
        text, tab, trees = line.text.partition("\t")
        if not tab:
            raise line.fault("expected text<TAB>trees, but the line has no tab")
        names.append(" ".join(text.split()))
        texts.add(trees, line, len(text) + 2)
    return {
        name: trees if isinstance(trees, tuple) else (trees,) for name, trees in zip(names, texts.array(), strict=True)
    }


def write(texts: Mapping[str, Sequence[Tree]], path: str | os.PathLike[str]) -> None:
    """Write texts with their trees, as ``read`` reads them; white space within a text becomes a blank."""
    rows = [f"{' '.join(text.split())}\t{field_of(tuple(trees))}\n" for text, trees in texts.items()]
    write_text(path, rows)

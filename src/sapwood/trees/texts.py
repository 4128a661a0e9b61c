"""Trees in brackets that stand in the lines of a file of another format."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import BracketError
from sapwood.text_files import Line
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import read_into
from sapwood.trees.tree import Tree

__all__ = ["TreeTexts"]


class TreeTexts:
    """Trees that stand in the lines of a file, read many at a time.

    Reading one tree is quick, turning it into a Python object is not, and sharing that work among the trees of a few
    dozen lines makes it several times quicker.

    Parameters
    ----------
    drop_traces : bool
        Whether empty brackets and ``-NONE-`` are left out.
    several : bool
        Whether a text may hold any number of trees side by side, or none; otherwise it is one tree.

    Examples
    --------
    >>> from sapwood.text_files import Line
    >>> texts = TreeTexts()
    >>> number = texts.add("(NP (NN rain))", Line("file", 1, "(NP (NN rain))"), 1)
    >>> print(texts.trees()[number])
    (NP (NN rain))
    """

    def __init__(self, *, drop_traces: bool = False, several: bool = False) -> None:
        self._arena = _core.trees.Arena()
        self._roots: list[NDArray[np.uint32]] = []
        self._drop_traces, self._several = drop_traces, several

    def add(self, text: str, line: Line, column: int) -> int:
        """Take a text in brackets that begins in this column of a line; return its number."""
        options = {"drop_traces": self._drop_traces, "bare_tokens": not self._several}
        try:
            if self._several and not text.strip():
                roots = np.zeros(0, dtype=np.uint32)
            else:
                roots = read_into(self._arena, text.encode("utf-8", "surrogatepass"), line.source, **options)
        except BracketError as fault:
            at, row = fault.column + (column - 1 if fault.line == 1 else 0), line.number + fault.line - 1
            raise BracketError(line.source, row, at, fault.reason, fault.context) from None
        if len(roots) != 1 and not self._several:
            raise line.fault(f"expected one tree here, found {len(roots)}", column)
        self._roots.append(roots)
        return len(self._roots) - 1

    def array(self, chosen: slice = slice(None)) -> TreeArray:
        """Return the trees of the chosen texts as an array; of bags, unless each text is one tree."""
        texts = self._roots[chosen]
        roots = np.concatenate([np.zeros(0, dtype=np.uint32), *texts])
        if all(len(trees) == 1 for trees in texts):
            return TreeArray._from_arena(self._arena, roots)
        return TreeArray._from_arena(self._arena, roots, np.cumsum([len(trees) for trees in texts], dtype=np.uint64))

    def trees(self) -> list[Tree]:
        """Return the trees as objects."""
        return [tree for tree in self.array() if isinstance(tree, Tree)]

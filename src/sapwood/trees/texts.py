"""Trees in brackets that stand in the lines of a file of another format."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood import _core
from sapwood.errors import BracketError
from sapwood.sources import Line
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import read_into
from sapwood.trees.tree import Tree

__all__ = ["TreeTexts"]


class TreeTexts:
    """Trees that stand in the lines of a file, read many at a time.

    Reading one tree is quick, turning it into a Python object is not, and sharing that work among the trees of a few
    dozen lines makes it several times quicker.

    Examples
    --------
    >>> from sapwood.sources import Line
    >>> texts = TreeTexts()
    >>> number = texts.add("(NP (NN rain))", Line("file", 1, "(NP (NN rain))"), 1)
    >>> print(texts.trees()[number])
    (NP (NN rain))
    """

    def __init__(self, *, drop_traces: bool = False) -> None:
        self._arena = _core.trees.Arena()
        self._roots: list[Any] = []
        self._drop_traces = drop_traces

    def add(self, text: str, line: Line, column: int) -> int:
        """Take a tree in brackets that begins in this column of a line; return its number."""
        try:
            data = text.encode("utf-8", "surrogatepass")
            roots = read_into(self._arena, data, line.source, drop_traces=self._drop_traces, bare_tokens=True)
        except BracketError as fault:
            at, row = fault.column + (column - 1 if fault.line == 1 else 0), line.number + fault.line - 1
            raise BracketError(line.source, row, at, fault.reason, fault.context) from None
        if len(roots) != 1:
            raise line.fault(f"expected one tree here, found {len(roots)}", column)
        self._roots.append(roots)
        return len(self._roots) - 1

    def array(self) -> TreeArray:
        """Return the trees as an array."""
        roots = np.concatenate(self._roots) if self._roots else np.zeros(0, dtype=np.uint32)
        return TreeArray._from_arena(self._arena, roots)

    def trees(self) -> list[Tree]:
        """Return the trees as objects."""
        return [tree for tree in self.array() if isinstance(tree, Tree)]

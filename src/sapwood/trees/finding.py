"""Where a pattern is found in trees: methods of ``TreeArray``, and what they return.

Patterns are read by ``patterns`` and looked up natively, in time by the number of nodes and of the pattern's relations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.trees.navigation import Place
from sapwood.trees.patterns import compiled

if TYPE_CHECKING:
    from sapwood.trees.array import TreeArray
    from sapwood.trees.tree import Tree

__all__ = ["Finding", "Matches"]


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """The places where a pattern was found, tree after tree, in each from the root down and from left to right.

    Attributes
    ----------
    source : TreeArray
        What was searched.
    elements : ndarray of int
        For every match, the number of the element.
    subtrees : TreeArray
        The subtree at every match.

    Examples
    --------
    >>> from sapwood import TreeArray
    >>> found = TreeArray(["(S (NP (NN rain)) (VP (VBZ falls)))", "(NP (NN snow))"]).find("NP < NN")
    >>> for element, tree in found:
    ...     print(element, tree)
    0 (NP (NN rain))
    1 (NP (NN snow))
    >>> found.positions()
    [(0,), ()]
    """

    source: TreeArray
    elements: NDArray[np.int64]
    subtrees: TreeArray
    _trees: NDArray[np.int64]
    _places: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[tuple[int, Tree]]:
        return zip(self.elements.tolist(), cast("Iterator[Tree]", iter(self.subtrees)), strict=True)

    def __repr__(self) -> str:
        what = "match" if len(self) == 1 else "matches"
        return f"Matches({len(self):,} {what} in {len(np.unique(self.elements)):,} of {len(self.source):,} elements)"

    def _repr_html_(self) -> str:
        from sapwood.trees.notebook import array_html

        return array_html(repr(self), self.subtrees)

    def positions(self) -> list[Place]:
        """Return where each match stands in its tree: the numbers of the children on the way down from the root."""
        from sapwood.trees.tree import Tree

        found: list[Place] = []
        here, parents, numbers = -1, [0], [0]
        for number, place in zip(self._trees.tolist(), self._places.tolist(), strict=True):
            if number != here:
                here = number
                (tree,) = self.source._arena.objects(self.source._roots[number : number + 1], Tree)
                parents, numbers = _ways_up(tree)
            way = []
            while place:
                way.append(numbers[place])
                place = parents[place]
            found.append(tuple(reversed(way)))
        return found


def _ways_up(tree: Tree) -> tuple[list[int], list[int]]:
    """Return, for every place in pre-order, that of its parent and which child it is."""
    parents: list[int] = []
    numbers: list[int] = []
    stack = [(tree, 0, 0)]
    while stack:
        node, parent, number = stack.pop()
        here = len(parents)
        parents.append(parent)
        numbers.append(number)
        kids = node.children
        stack.extend((kids[k], here, k) for k in range(len(kids) - 1, -1, -1))
    return parents, numbers


class Finding:
    """What ``TreeArray`` has to be searched by patterns."""

    __slots__ = ()

    def find(self, pattern: str) -> Matches:
        """Find every node that matches a pattern, in a subset of the notation of TGrep2 and Tregex.

        Parameters
        ----------
        pattern : str
            A label, then relations: ``NP < DT`` is an NP with a child DT, ``NP << dog`` one with ``dog`` somewhere
            below it, ``NP $.. VP`` one with a later sister VP. The page on patterns lists all relations.

        Returns
        -------
        Matches
            The nodes that match the first label of the pattern.

        Raises
        ------
        ParameterError
            With a caret under the fault, if the pattern cannot be read.

        Examples
        --------
        >>> from sapwood import TreeArray
        >>> X = TreeArray(["(S (NP (DT the) (NN rain)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VP (VBZ falls)))"])
        >>> X.find("NP < (NN < /^r/)")
        Matches(1 match in 1 of 2 elements)
        >>> [str(tree) for tree in X.find("NP !< DT").subtrees]
        ['(NP (NN snow))']
        """
        trees = cast("TreeArray", self)
        program = compiled(pattern) if isinstance(pattern, str) else compiled.__wrapped__(pattern)
        trees._ranges_to_write_out("search it")
        # The tables of a search are as long as the store.
        small = trees._compact()
        arena = small._arena
        table = program.table(_core.places.labels(arena))
        found, places, nodes = _core.places.search(
            arena,
            small._roots,
            np.array(program.steps, dtype=np.int32),
            table,
            np.array(program.required, dtype=np.uint32),
        )
        numbers = found.astype(np.int64)
        elements = numbers if trees._ends is None else np.searchsorted(trees._ends, found, side="right")
        return Matches(trees, elements, type(trees)._from_arena(arena, nodes), numbers, places)

    def contains(self, pattern: str) -> NDArray[np.bool_]:
        """Return which elements have a node that matches a pattern; see ``find``.

        >>> from sapwood import TreeArray
        >>> X = TreeArray(["(S (NP (DT the) (NN rain)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VP (VBZ falls)))"])
        >>> X[X.contains("NP < DT")]
        TreeArray(1 tree, 9 nodes, 9 distinct subtrees)
        """
        held = np.zeros(len(cast("TreeArray", self)), dtype=np.bool_)
        held[self.find(pattern).elements] = True
        return held

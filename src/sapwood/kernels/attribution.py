"""How kernels open themselves to explanation: what a weighted sum of kernel values is made of.

A kernel joins with one method. A kernel whose values are sums over pairs of nodes overrides

    def _attribution(self, X, weights) -> Attribution

and returns an ``Attribution`` that says what each node of an example adds to ``k(example, X) @ weights``. Subclasses of
``NativeTreeKernel`` need not do that: they get ``Differences``, which asks their expansion about every subtree. A
faster one pays off for deep trees. Kernels that return None are shown by their support examples instead. Combinations
of kernels are explained term by term; see ``Kernel.terms``.

Pictures and tables are not here; see ``sapwood.kernels.explain`` and ``sapwood.learn.explain``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.trees.array import TreeArray

if TYPE_CHECKING:
    from sapwood.kernels.base import Expansion

__all__ = ["Attribution", "Differences", "Found", "NativeAttribution", "Searched"]

Matrix = NDArray[np.float64]

# How many table cells a search for fragments may look at: a few seconds of work.
SEARCH_LIMIT = 400_000_000


@dataclass(frozen=True)
class Found:
    """Fragments that a search has found, heaviest first.

    Attributes
    ----------
    fragments : TreeArray
        As trees, whose leaves are words or labels where the fragment is cut off.
    weights : array of float
        What each contributes.
    counts : array of float
        How often the example holds each; empty for a whole model.
    exact : bool
        False if the search gave up before it could rule out heavier ones.
    others : TreeArray, optional
        The fragments of the other tree that each is like, where pairs were asked for and can differ.
    deleted, other_deleted : list of lists of str
        Labels of the children left out; empty if the kernel leaves out none.
    """

    fragments: TreeArray
    weights: Matrix
    counts: Matrix
    exact: bool
    others: TreeArray | None = None
    deleted: Sequence[Sequence[str]] = ()
    other_deleted: Sequence[Sequence[str]] = ()

    @classmethod
    def of(cls, found: _core.explain.Found) -> Found:
        """Take over what the native core has found."""
        arena, roots, others, weights, counts, deleted, other_deleted, exact = found
        trees = TreeArray._from_arena(arena, np.concatenate([roots, others]))
        pairs = trees[len(roots) :] if len(others) else None
        return cls(trees[: len(roots)], weights, counts, exact, pairs, deleted, other_deleted)


class Attribution(ABC):
    """Says where the outputs ``k(example, X) @ weights`` come from, for fixed X and weights."""

    @abstractmethod
    def nodes(self, element: TreeArray) -> Matrix:
        """Return what nodes add to the outputs.

        Parameters
        ----------
        element : TreeArray
            One element.

        Returns
        -------
        array of shape (distinct subtrees, outputs)
            Per distinct subtree, in ascending order of its number in the store, what one occurrence of it adds.
        """

    def heaviest(
        self, combination: Matrix, top: int, element: TreeArray | None = None, *, pairs: bool = False
    ) -> Found | None:
        """Return the fragments of largest absolute weight in a combination of outputs.

        Parameters
        ----------
        combination : array of float
            Factor of each output.
        top : int
            How many fragments at most.
        element : TreeArray, optional
            One element whose score is explained; without it, weights are those of the linear model itself.
        pairs : bool
            Where fragments match without being the same, list each pair on its own instead of the sum over all that
            match a fragment of the element.

        Returns
        -------
        Found or None
            None for kernels whose fragments cannot be searched.
        """
        return None


class NativeAttribution(Attribution):
    """The attribution of a kernel that the native core compiles into a model with weights on distinct subtrees."""

    def __init__(self, model: Any, outputs: int) -> None:
        self._model, self._outputs = model, outputs

    def nodes(self, element: TreeArray) -> Matrix:
        """Walk the element once."""
        result = np.empty((element.distinct_count(), self._outputs))
        _core.explain.attribute(self._model, element._arena, element._as_bags(), result)
        return result

    def heaviest(
        self, combination: Matrix, top: int, element: TreeArray | None = None, *, pairs: bool = False
    ) -> Found | None:
        """Search best first; here fragments match only themselves."""
        return Found.of(
            _core.explain.heaviest(
                self._model,
                np.ascontiguousarray(combination, dtype=np.float64),
                None if element is None else element._arena,
                None if element is None else element._as_bags(),
                top,
                SEARCH_LIMIT,
            )
        )


Search = Callable[[Matrix, int, "TreeArray | None", bool], "_core.explain.Found"]


class Searched(Attribution):
    """The attribution of a kernel whose fragments are searched apart from what nodes add."""

    def __init__(self, by_node: Attribution, search: Search) -> None:
        self._by_node, self._search = by_node, search

    def nodes(self, element: TreeArray) -> Matrix:
        """Ask the attribution that knows nodes."""
        return self._by_node.nodes(element)

    def heaviest(
        self, combination: Matrix, top: int, element: TreeArray | None = None, *, pairs: bool = False
    ) -> Found | None:
        """Search best first."""
        return Found.of(self._search(np.ascontiguousarray(combination, dtype=np.float64), top, element, pairs))


class Differences(Attribution):
    """The attribution of any sum over pairs of nodes: a tree's outputs minus those of its children.

    Costs one evaluation per distinct subtree, which is much for very deep trees.
    """

    def __init__(self, expansion: Expansion) -> None:
        self._expansion = expansion

    def nodes(self, element: TreeArray) -> Matrix:
        """Evaluate every distinct subtree as an element of its own."""
        labels, node_labels, child_ends, children, _ = element._arena.dump(element._roots)
        arena = _core.trees.Arena.load(labels, node_labels, child_ends, children)
        result = self._expansion(element._on(arena, np.arange(len(node_labels), dtype=np.uint32)))
        below = np.zeros_like(result)
        arity = child_ends.astype(np.intp)
        arity[1:] -= arity[:-1].copy()
        parents = np.repeat(np.arange(len(node_labels)), arity)
        np.add.at(below, parents, result[children])
        return np.asarray(result - below)

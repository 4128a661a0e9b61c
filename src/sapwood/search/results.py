"""What a search returns: neighbours with their certificate, pairs, and groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.notebook import HtmlTable

__all__ = ["Group", "Neighbors", "SimilarPairs"]


@dataclass(frozen=True, eq=False)
class Neighbors(HtmlTable):
    """The trees of an index that are most similar to one query, and what is known of all others.

    Iteration gives pairs of a number and a similarity, most similar first.

    Attributes
    ----------
    numbers : array of int
        The numbers of the trees in the index.
    similarities : array of float
        The values of the kernel.
    exact : bool
        Whether it is certain that no other tree of the index belongs here. False only where a time limit ended the
        search.
    bound : float
        No tree that is not listed is more similar than this.
    evaluated, discarded : int
        How many trees the kernel was computed for, and how many were discarded by an upper bound of it.
    """

    numbers: NDArray[np.int64]
    similarities: NDArray[np.float64]
    exact: bool
    bound: float
    evaluated: int
    discarded: int

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: int) -> tuple[int, float]:
        return int(self.numbers[place]), float(self.similarities[place])

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return iter(zip(self.numbers.tolist(), self.similarities.tolist(), strict=True))

    def certificate(self) -> str:
        """Say in a sentence what is certain.

        >>> from sapwood.search import TreeIndex
        >>> TreeIndex(["(A (B c))", "(A (B d))"]).nearest("(A (B c))", 1).certificate()
        'exact: no other tree is above 1; 2 compared, 0 discarded by bounds'
        """
        told = f"no other tree is above {self.bound:.6g}" if self.exact else f"others may reach {self.bound:.6g}"
        return (
            f"{'exact' if self.exact else 'stopped early'}: {told}; {self.evaluated:,} compared, "
            f"{self.discarded:,} discarded by bounds"
        )

    def _summary(self) -> Mapping[str, Any]:
        return {**{f"tree {number}": value for number, value in self}, "certificate": self.certificate()}


@dataclass(frozen=True, eq=False)
class SimilarPairs(HtmlTable):
    """All pairs of trees of an index that reach a similarity, most similar first.

    Iteration gives two numbers, the smaller first, and the similarity.

    Attributes
    ----------
    first, second : array of int
    similarities : array of float
    evaluated : int
        How many pairs the kernel was computed for; all others were discarded by an upper bound.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarities: NDArray[np.float64]
    evaluated: int

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return iter(zip(self.first.tolist(), self.second.tolist(), self.similarities.tolist(), strict=True))

    def groups(self) -> list[Group]:
        """Join pairs that share a tree into groups, largest first.

        The representative of a group is the tree that its pairs make most similar to the others.
        """
        if len(self) == 0:
            return []
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        numbers, places = np.unique(np.concatenate([self.first, self.second]), return_inverse=True)
        left, right = places[: len(self)], places[len(self) :]
        size = len(numbers)
        graph = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(size, size))
        _, component = connected_components(graph, directed=False)
        total = np.bincount(left, self.similarities, size) + np.bincount(right, self.similarities, size)
        order = np.lexsort((numbers, component))
        parts = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
        groups = [Group(int(numbers[part[np.argmax(total[part])]]), tuple(numbers[part].tolist())) for part in parts]
        return sorted(groups, key=lambda group: (-len(group.members), group.members))

    def _summary(self) -> Mapping[str, Any]:
        return {"pairs": len(self), "compared": self.evaluated}


@dataclass(frozen=True)
class Group:
    """Trees that are joined by similar pairs.

    Attributes
    ----------
    representative : int
        The number of the tree that is most similar to the others.
    members : tuple of int
        The numbers of all, ascending.
    """

    representative: int
    members: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.members)

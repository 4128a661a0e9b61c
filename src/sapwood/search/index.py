"""An index of trees: which are most similar to a tree, and which to each other, exactly.

The trees are in a few segments of growing size, so that adding is cheap. How one of them is searched is in
``segments``; what files hold is at the end of this module.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_count, is_number
from sapwood.errors import DataError, ParameterError
from sapwood.files import MAPPED_INDEX, class_in, describe, load
from sapwood.kernels import Kernel, SubsetTree
from sapwood.kernels.explain import KernelExplanation
from sapwood.notebook import HtmlTable
from sapwood.registry import Reader, Writer, register
from sapwood.search.results import Neighbors, SimilarPairs
from sapwood.search.segments import Found, Queries, Segment, searchable
from sapwood.trees.array import Element, TreeArray, concatenate
from sapwood.trees.elements import is_single

__all__ = ["TreeIndex", "load_index", "merge_neighbors"]

# What is similar to nothing is no neighbour.
_ABOVE_ZERO = np.nextafter(0.0, 1.0)


class TreeIndex(HtmlTable):
    """Trees that can be searched for those most similar to others under a normalized tree kernel, without error.

    Trees are numbered in the order in which they are added; removing some changes no number. Like a dictionary, an
    index holds trees by their numbers: ``index[number]``, ``number in index``, ``for number in index``. Save an index
    with ``sapwood.save``, and load it with ``sapwood.load``.

    Parameters
    ----------
    trees : TreeArray or iterable of trees, optional
        What is searched to begin with.
    kernel : Kernel, optional
        A kernel that is normalized; by default ``SubsetTree(0.4).normalized()``. ``Subtree``, ``SubsetTree``,
        ``PartialTree`` and sums of them are quick: ``0.5 * a.normalized() + 0.5 * b.normalized()``, with weights that
        add up to 1, and ``(a + b).normalized()``. Others are computed for every tree, as by ``kernel(queries, trees)``.

    Notes
    -----
    Results are those of comparing everything with everything. Asked for the nearest, the index computes the value of
    every tree, from tables that are prepared once and take some ten nanoseconds per tree. Asked for what is above a
    high similarity, it discards trees whose upper bound is below it: nodes of a tree are grouped by their production
    (by their label for ``PartialTree``, by their subtree for ``Subtree``), and no two trees share more within a group
    than the product of their norms there.

    Examples
    --------
    >>> index = TreeIndex(["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))", "(VP (VB go))"])
    >>> for number, similarity in index.nearest("(NP (DT a) (NN bird))", 2):
    ...     print(f"{similarity:.3f}  {index[number]}")
    0.606  (NP (DT a) (NN dog))
    0.606  (NP (DT a) (NN cat))
    >>> index.remove([0])
    >>> index.add(["(NP (DT a) (NN bird))"])
    array([3])
    >>> index.nearest("(NP (DT a) (NN bird))", 1).numbers
    array([3])
    """

    def __init__(self, trees: TreeArray | Iterable[Any] | None = None, kernel: Kernel | None = None) -> None:
        self._how = searchable(SubsetTree(0.4).normalized() if kernel is None else kernel)
        self._kernel = self._how[0]
        self._segments: list[Segment] = []
        self._pending: list[tuple[TreeArray, NDArray[np.int64]]] = []
        self._next = 0
        self._lock = threading.Lock()
        if trees is not None:
            self.add(trees)

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._kernel.copy()

    def __len__(self) -> int:
        return sum(map(len, self._parts()))

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the trees that are in the index, ascending."""
        return np.sort(np.concatenate([np.zeros(0, np.int64), *(part.numbers[part.kept] for part in self._parts())]))

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers.tolist())

    def __contains__(self, number: object) -> bool:
        return any(number in part.numbers[part.kept] for part in self._parts())

    def __getitem__(self, number: int) -> Element:
        """Return the tree with a number."""
        part, place = self._place(number)
        return part.trees[place]

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [(part.trees[part.kept], part.numbers[part.kept]) for part in self._parts()]
        return _restored, (self._kernel, parts, self._next)

    def __repr__(self) -> str:
        return f"TreeIndex({len(self):,} trees, {self._kernel!r})"

    def _summary(self) -> dict[str, Any]:
        return {"trees": len(self), "kernel": repr(self._kernel)}

    def add(self, trees: TreeArray | Iterable[Any]) -> NDArray[np.int64]:
        """Add trees, and return their numbers."""
        added = TreeArray(trees)
        with self._lock:
            numbers = np.arange(self._next, self._next + len(added))
            self._next += len(added)
            if len(added):
                self._pending.append((added, numbers))
        return numbers

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove the trees with these numbers."""
        if isinstance(numbers, (int, np.integer)):
            raise ParameterError(f"remove takes a list of numbers; write remove([{numbers}]).")
        places = [self._place(number) for number in numbers]
        for part, place in places:
            part.kept[place] = False
        with self._lock:
            # What is mostly gone is made anew, unless it is in a file.
            self._segments = [
                part if part.mapped or 2 * len(part) >= len(part.kept) else part.without_removed()
                for part in self._segments
                if len(part)
            ]

    @overload
    def nearest(
        self, queries: TreeArray | list[Any], k: int = 10, *, at_least: float = 0.0, time_limit: float | None = None
    ) -> list[Neighbors]: ...
    @overload
    def nearest(
        self, queries: Any, k: int = 10, *, at_least: float = 0.0, time_limit: float | None = None
    ) -> Neighbors: ...
    def nearest(self, queries: Any, k: int = 10, *, at_least: float = 0.0, time_limit: float | None = None) -> Any:
        """Find the most similar trees of one tree, or of each of many.

        Trees that share nothing with a query are never listed. Of equally similar trees those with smaller numbers
        come first. Many queries at once share the threads of ``sapwood.options``.

        Parameters
        ----------
        queries : tree, or TreeArray or list of trees
            What to look for.
        k : int
            How many.
        at_least : float
            The smallest similarity, from 0 to 1.
        time_limit : float, optional
            Seconds for all queries together. Where they are over, what was found so far is returned, and its
            certificate says how similar something else can still be.

        Returns
        -------
        Neighbors, or list of Neighbors
        """
        check_count(k, "k")
        return self._search(queries, k, at_least, time_limit)

    def within(self, queries: Any, at_least: float, *, time_limit: float | None = None) -> Any:
        """Find all trees that are at least so similar to one tree, or to each of many.

        See ``nearest`` for the parameters.

        >>> index = TreeIndex(["(A (B c))", "(A (B d))", "(A (C c))"])
        >>> index.within("(A (B c))", 0.3).numbers
        array([0, 1])
        """
        return self._search(queries, 0, at_least, time_limit)

    def pairs(self, at_least: float = 0.8) -> SimilarPairs:
        """Find all pairs of trees that are at least so similar, without comparing everything with everything.

        Examples
        --------
        >>> index = TreeIndex(["(S (NP (NN a)) (VP (VB b)))", "(X y)", "(S (NP (NN a)) (VP (VB b)))"])
        >>> list(index.pairs(0.9))
        [(0, 2, 1.0)]
        >>> index.pairs(0.9).groups()
        [Group(representative=0, members=(0, 2))]
        """
        least = _similarity(at_least)
        whole = self._whole()
        if whole is None:
            return SimilarPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 0)
        first, second, values, evaluated = whole.pairs(least)
        numbers = whole.numbers
        order = np.lexsort((second, first, -values))
        return SimilarPairs(numbers[first[order]], numbers[second[order]], values[order], evaluated)

    def explain(self, query: Any, number: int, *, top: int = 10) -> KernelExplanation:
        """Say why a tree is similar to one of the index: the fragments they share, with weights that add up.

        >>> index = TreeIndex(["(NP (DT a) (NN dog))"], SubsetTree(1.0).normalized())
        >>> print(index.explain("(NP (DT a) (NN cat))", 0))
        SubsetTree(decay=1.0).normalized() = 0.5
              weight  fragment
            0.166667  (DT a)
            0.166667  (NP DT NN)
            0.166667  (NP (DT a) NN)
        """
        return self._kernel.explain(query, self[number], top=top)

    def save_mapped(self, path: str | os.PathLike[str]) -> None:
        """Save the trees with everything that is prepared for the search; see ``load_mapped``.

        Such a file is larger than one of ``sapwood.save``, as large as the index in memory, and is read on machines
        with the same order of bytes. What was removed is not in it.
        """
        from sapwood.search.mapped import write_mapped

        whole = self._whole()
        write_mapped(path, self._kernel, None if whole is None else whole.without_removed(), self._next)

    @classmethod
    def load_mapped(cls, path: str | os.PathLike[str], *, check: bool = True) -> TreeIndex:
        """Open an index that ``save_mapped`` wrote, without reading it into memory.

        The file is mapped: the system reads what a search looks at, keeps it as long as there is room, and shares it
        with all processes that have opened the same file. Nothing is prepared again. Trees that are added are in the
        memory of this process, removed ones are passed over, and the file stays as it is; ``save_mapped`` writes
        another one, to another name or to the same. ``pairs`` reads everything into memory.

        Parameters
        ----------
        path : path
            The file. It must not be written into as long as it is open; to replace it by another one does no harm.
        check : bool
            Whether the file is read once and compared with its digest. Without that it is open at once.

        Notes
        -----
        Unlike a file of ``sapwood.save``, such a file is not safe to open if somebody else may have made or changed
        it: the digest tells damage, not intent. Send others what ``sapwood.save`` writes.

        Examples
        --------
        >>> import tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "index.map")
        >>> TreeIndex(["(A (B c))", "(A (B d))"]).save_mapped(path)
        >>> index = TreeIndex.load_mapped(path)
        >>> index.add(["(A (C e))"])
        array([2])
        >>> index.nearest("(A (B c))", 1).numbers
        array([0])
        """
        from sapwood.search.mapped import read_mapped

        kernel, segment, after = read_mapped(path, check=check)
        index = cls(kernel=kernel)
        index._segments = [] if segment is None else [segment]
        index._next = after
        return index

    def _parts(self) -> list[Segment]:
        """Return the segments, with everything in them that was added."""
        with self._lock:
            self._flush()
            return list(self._segments)

    def _whole(self) -> Segment | None:
        """Return everything as one segment."""
        with self._lock:
            self._flush()
            while len(self._segments) > 1:
                self._join()
            return self._segments[0] if self._segments else None

    def _flush(self) -> None:
        if not self._pending:
            return
        trees = concatenate([added for added, _ in self._pending]) if len(self._pending) > 1 else self._pending[0][0]
        numbers = np.concatenate([numbers for _, numbers in self._pending])
        self._segments.append(Segment(self._how, trees, numbers))
        self._pending = []
        while len(self._segments) > 1 and len(self._segments[-2]) <= 2 * len(self._segments[-1]):
            # What is in a file stays there.
            if self._segments[-2].mapped:
                break
            self._join()

    def _join(self) -> None:
        """Make one segment of the last two."""
        last, before = self._segments[-1], self._segments[-2]
        self._segments[-2:] = [before.merged(last)]

    def _place(self, number: int) -> tuple[Segment, int]:
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
            raise ParameterError(f"expected the number of a tree, got {number!r}.")
        for part in self._parts():
            place = int(np.searchsorted(part.numbers, number))
            if place < len(part.numbers) and part.numbers[place] == number and part.kept[place]:
                return part, place
        raise DataError(f"there is no tree with the number {number} in the index; it holds {len(self):,} trees.")

    def _search(self, queries: Any, k: int, at_least: float, time_limit: float | None) -> Any:
        least = _similarity(at_least)
        if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
            raise ParameterError(f"time_limit must be a number of seconds above 0, got {time_limit!r}.")
        end = float("inf") if time_limit is None else time.monotonic() + time_limit
        single = is_single(queries)
        prepared = Queries(self._how[1], TreeArray([queries] if single else queries))
        parts = self._parts()
        found = [part.search(prepared, k, least, end) for part in parts]
        results = [
            merge_neighbors(
                [_part_of(part, rows[row], k, least) for part, rows in zip(parts, found, strict=True)], k, least
            )
            for row in range(len(prepared.trees))
        ]
        return results[0] if single else results


def load_index(path: str | os.PathLike[str]) -> TreeIndex:
    """Load an index, or map it if the file is of that kind; raise for anything else."""
    if class_in(describe(path)) == MAPPED_INDEX:
        return TreeIndex.load_mapped(path)
    index = load(path)
    if not isinstance(index, TreeIndex):
        raise DataError(f"{path}: holds a {type(index).__name__}, not an index of trees.")
    return index


def _part_of(part: Segment, found: Found, k: int, least: float) -> Neighbors:
    """Return what a segment has for one query."""
    exact = found.rest == 0
    bound = _bound(found.values, k, least) if exact else found.rest
    discarded = len(part) - found.evaluated if exact else 0
    return Neighbors(part.numbers[found.places], found.values, exact, bound, found.evaluated, discarded)


def merge_neighbors(parts: list[Neighbors], k: int, least: float) -> Neighbors:
    """Put together what several places have for one query; ``k`` of 0 stands for all."""
    numbers = np.concatenate([np.zeros(0, np.int64), *(part.numbers for part in parts)])
    values = np.concatenate([np.zeros(0), *(part.similarities for part in parts)])
    order = np.lexsort((numbers, -values))[: k or None]
    bound = _bound(values[order], k, least)
    # Where time was over early, what is left may still be too far away to belong here.
    rest = max((part.bound for part in parts if not part.exact), default=0.0)
    counts = (sum(part.evaluated for part in parts), sum(part.discarded for part in parts))
    exact = rest == 0 or rest < bound
    return Neighbors(numbers[order], values[order], exact, max(rest, bound), *counts)


def _bound(values: NDArray[np.float64], k: int, least: float) -> float:
    if k and len(values) == k:
        return float(values[-1])
    return least if least > _ABOVE_ZERO else 0.0


def _similarity(value: object) -> float:
    if not is_number(value) or not 0 <= value <= 1:
        raise ParameterError(f"at_least must be a number from 0 to 1, got {value!r}; 0.8 finds near-duplicates.")
    return max(float(value), float(_ABOVE_ZERO))


def _restored(kernel: Kernel, parts: list[tuple[TreeArray, NDArray[np.int64]]], after: int) -> TreeIndex:
    """Make an index of trees that have numbers."""
    index = TreeIndex(kernel=kernel)
    index._pending += parts
    index._next = after
    return index


def _write(index: TreeIndex, writer: Writer) -> dict[str, Any]:
    parts = index._parts()
    trees = concatenate([part.trees[part.kept] for part in parts]) if parts else TreeArray([])
    numbers = np.concatenate([np.zeros(0, np.int64), *(part.numbers[part.kept] for part in parts)])
    return {
        "kernel": writer.part(index._kernel),
        "trees": writer.part(trees),
        "numbers": writer.array(numbers),
        "next": index._next,
    }


def _read(data: dict[str, Any], reader: Reader) -> TreeIndex:
    trees = reader.part(data["trees"], TreeArray)
    after = reader.count(data["next"])
    numbers = reader.indices(data["numbers"], max(after, 1), np.int64, count=len(trees))
    if (np.diff(numbers) <= 0).any():
        raise reader.fail("the numbers of its trees are out of order")
    return _restored(reader.part(data["kernel"], Kernel), [(trees, numbers)] if len(trees) else [], after)


register("TreeIndex", TreeIndex, _write, _read)

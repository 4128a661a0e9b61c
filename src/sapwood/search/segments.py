"""A part of an index: trees, prepared for the search under one kernel.

How parts are put together, and what users see of them, is in ``index``.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.errors import ParameterError
from sapwood.kernels import Kernel, PartialTree, SubsetTree, Subtree
from sapwood.kernels.normalization import normalizing_scale
from sapwood.trees.array import TreeArray, concatenate

__all__ = ["Found", "Queries", "Segment", "searchable"]

_NATIVE: dict[type[Any], Any] = {
    Subtree: _core.search.SubtreeTrees,
    SubsetTree: _core.search.SubsetTrees,
    PartialTree: _core.search.PartialTrees,
}
# Reading lists is worth it from so many trees on, and for thresholds that discard much; and only while the lists have
# fewer entries than this share of the trees.
_WORTH_READING = 20_000
_HIGH = 0.5
_SHARE = 0.25


def searchable(kernel: object) -> Any:
    """Return the tree kernel that is normalized, or raise for a kernel that nothing is known of for a search."""
    if not isinstance(kernel, Kernel):
        raise ParameterError(f"kernel must be a kernel, got {type(kernel).__name__}.")
    terms = kernel.terms()
    inner = terms[0].kernel
    if len(terms) != 1 or type(inner) not in _NATIVE or terms[0].view is not None or terms[0].weight != 1.0:
        names = ", ".join(kind.__name__ for kind in _NATIVE)
        raise ParameterError(
            f"{kernel!r} cannot be searched: the index knows how to search under one of {names}, normalized; sums, "
            "products, views and kernels of words are compared with kernel(queries, trees)."
        )
    if not terms[0].self_normalized:
        raise ParameterError(
            f"{kernel!r} is not normalized, so large trees would be near to everything; write {kernel!r}.normalized()."
        )
    return inner


def _has_bounds(kernel: Any) -> bool:
    """Return whether the values of a kernel are bounded group by group; see ``native/search/group_vectors.hpp``."""
    if isinstance(kernel, SubsetTree):
        return kernel.max_depth is None
    return not isinstance(kernel, PartialTree) or (kernel.leaves and kernel.terminal_factor >= 1.0)


class Queries:
    """Trees to look for, as the native core takes them."""

    def __init__(self, kernel: Any, trees: TreeArray) -> None:
        self.trees = trees._compact()
        self.bags = self.trees._as_bags()
        self.scale = normalizing_scale(kernel.diag(self.trees), side="the queries")
        self._kernel = kernel

    def part(self, first: int, last: int) -> Queries:
        """Return some of them."""
        return self if first == 0 and last >= len(self.trees) else Queries(self._kernel, self.trees[first:last])


class Found(NamedTuple):
    """What a segment has for one query: places and values, most similar first, and how they were found.

    ``rest`` is what a tree that is not here can reach if time was over before all were compared; 0 if it was not.
    """

    places: NDArray[np.uint32]
    values: NDArray[np.float64]
    evaluated: int
    rest: float = 0.0


class Segment:
    """Trees with the numbers that users know them by, ascending."""

    def __init__(self, kernel: Any, trees: TreeArray, numbers: NDArray[np.int64]) -> None:
        self.kernel = kernel
        self.trees = trees._compact()
        self.numbers = numbers
        self.kept = np.ones(len(trees), dtype=np.bool_)
        # Not the trees' own: they are large, and not needed afterwards.
        bags = self._bags()
        diagonal = np.empty(len(trees))
        native = kernel._native()
        native.diagonal(self.trees._arena, bags, diagonal, settings.threads())
        scale = normalizing_scale(diagonal)
        grouped = _has_bounds(kernel) and len(trees) > 0
        self.native = _NATIVE[type(kernel)](native, self.trees._arena, bags, scale, grouped, settings.threads())

    def __len__(self) -> int:
        return int(self.kept.sum())

    def _bags(self) -> _core.kernels.Bags:
        return _core.kernels.Bags(self.trees._arena, self.trees._roots, self.trees._ends, settings.threads())

    def merged(self, other: Segment) -> Segment:
        """Return both, without what was removed."""
        trees = concatenate([self.trees[self.kept], other.trees[other.kept]])
        return Segment(self.kernel, trees, np.concatenate([self.numbers[self.kept], other.numbers[other.kept]]))

    def search(self, queries: Queries, count: int, least: float, end: float) -> list[Found]:
        """Find the ``count`` most similar trees of each query that reach ``least``; 0 stands for all of them.

        ``end`` is the time, by ``time.monotonic``, at which to stop.
        """
        found: list[Found | None] = [None] * len(queries.trees)
        if self.native.grouped and least >= _HIGH and len(self.kept) >= _WORTH_READING:
            # A few at a time if there is not all the time in the world.
            step = len(found) if end == float("inf") else 16
            for start in range(0, len(found), max(step, 1)):
                if time.monotonic() < end:
                    chosen = queries.part(start, start + step)
                    found[start : start + step] = self._read_lists(chosen, count, least)
        todo = np.array([row for row, one in enumerate(found) if one is None], dtype=np.int64)
        rows = queries if len(todo) == len(found) else Queries(self.kernel, queries.trees[todo])
        for row, one in zip(todo.tolist(), self._compute(rows, count, least, end) if len(todo) else [], strict=True):
            found[row] = one
        return found  # type: ignore[return-value]

    def _compute(self, queries: Queries, count: int, least: float, end: float) -> list[Found]:
        """Compute the values of all trees, as far as time allows."""
        with settings.progress_bar(len(queries.trees), "Queries") as progress:
            ends, all_places, all_values, all_open = self.native.nearest(
                queries.trees._arena,
                queries.bags,
                queries.scale,
                self.kept,
                count,
                least,
                end - time.monotonic(),
                settings.threads(),
                progress,
            )
        found = []
        for row, (places, values, still_open) in enumerate(
            zip(np.split(all_places, ends[:-1]), np.split(all_values, ends[:-1]), all_open.tolist(), strict=True)
        ):
            if still_open == 0:
                found.append(Found(places, values, len(self)))
                continue
            # Nothing that is not listed has more so far than the last of what is.
            highest = (float(values[-1]) if count and len(values) == count else least) + still_open
            if len(places):
                one = queries.trees[[row] * len(places)]
                values = self.kernel.normalized().pairwise(one, self.trees[places].detach())
                order = np.lexsort((places, -values))
                places, values = places[order], values[order]
            found.append(Found(places, values, len(places), min(1.0, highest)))
        return found

    def _read_lists(self, queries: Queries, count: int, least: float) -> list[Found | None]:
        """Find what bounds do not discard, and compute its values; None where that takes longer than a row."""
        ends, places, _, late = self.native.within(
            queries.trees._arena,
            queries.bags,
            queries.scale,
            self.kept,
            least,
            int(len(self.kept) * _SHARE),
            settings.threads(),
            None,
        )
        rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=np.uint64(0)).astype(np.int64))
        values = np.zeros(0)
        if len(places):
            values = self.kernel.normalized().pairwise(queries.trees[rows], self.trees[places].detach())
        found: list[Found | None] = []
        for row in range(len(ends)):
            span = slice(int(ends[row - 1]) if row else 0, int(ends[row]))
            near = np.flatnonzero(values[span] >= least)
            order = near[np.lexsort((places[span][near], -values[span][near]))][: count or None]
            one = Found(places[span][order], values[span][order], span.stop - span.start)
            found.append(None if late[row] else one)
        return found

    def pairs(self, least: float) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], int]:
        """Find all pairs of trees that reach ``least``; return their places and values, and how many were computed."""
        alone = self.native.undescribed() if self.native.grouped else np.arange(len(self.kept), dtype=np.uint32)
        parts = []
        evaluated = 0
        if self.native.grouped:
            with settings.progress_bar(len(self.kept), "Trees") as progress:
                near, left, evaluated = self.native.pairs(self._bags(), self.kept, least, settings.threads(), progress)
            parts.append(near)
            if len(left[0]):
                values = self.kernel.normalized().pairwise(self.trees[left[0]], self.trees[left[1]])
                parts.append((left[0][values >= least], left[1][values >= least], values[values >= least]))
        described = np.ones(len(self.kept), dtype=np.bool_)
        described[alone] = False
        alone = alone[self.kept[alone]]
        for start in range(0, len(alone), 1000):
            chosen = alone[start : start + 1000]
            found = self.search(Queries(self.kernel, self.trees[chosen]), 0, least, float("inf"))
            evaluated += sum(one.evaluated for one in found)
            first = np.repeat(chosen, [len(one.places) for one in found])
            second = np.concatenate([one.places for one in found])
            values = np.concatenate([one.values for one in found])
            # Of two trees that are both here, each finds the other.
            once = described[second] | (second > first)
            parts.append((np.minimum(first, second)[once], np.maximum(first, second)[once], values[once]))
        firsts, seconds, similarities = (
            np.concatenate([np.zeros(0, dtype), *(part[column] for part in parts)])
            for column, dtype in enumerate((np.uint32, np.uint32, np.float64))
        )
        return firsts.astype(np.uint32), seconds.astype(np.uint32), similarities, evaluated

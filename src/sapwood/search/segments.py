"""A part of an index: trees, prepared for the search under one kernel.

How parts are put together, and what users see of them, is in ``index``.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.errors import ParameterError
from sapwood.kernels import Kernel, PartialTree, SubsetTree, Subtree
from sapwood.kernels.algebra import Named, Normalized
from sapwood.kernels.normalization import Scales
from sapwood.kernels.terms import Term
from sapwood.trees.array import TreeArray, concatenate

__all__ = ["Found", "Queries", "Segment", "Tables", "searchable"]

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
# Values that are computed at a time where they are put together here.
_VALUES = 4_000_000


def searchable(kernel: object) -> tuple[Kernel, list[Term]]:
    """Return a kernel and what it adds up, or raise for one that is not normalized.

    Nothing is listed for a kernel that the native core does not know how to search: its values are computed as they
    are for a Gram matrix.
    """
    if not isinstance(kernel, Kernel):
        raise ParameterError(f"kernel must be a kernel, got {type(kernel).__name__}.")
    if kernel.views():
        raise ParameterError(f"{kernel!r} looks at views, which trees do not have; leave out .on(...).")
    kernel = kernel.copy()
    terms = [term for term in kernel.terms() if term.weight > 0]
    if not _is_normalized(kernel, terms):
        raise ParameterError(
            f"{kernel!r} is not normalized, so large trees would be near to everything; write {kernel.normalized()!r}."
        )
    known = all(type(term.kernel) in _NATIVE for term in terms)
    return kernel, terms if known else []


def _is_normalized(kernel: Kernel, terms: list[Term]) -> bool:
    """Return whether a kernel is normalized as a whole, or a mean of kernels that are."""
    while isinstance(kernel, Named):
        kernel = kernel.kernel
    total = sum(term.weight for term in terms)
    return isinstance(kernel, Normalized) or (abs(total - 1.0) < 1e-9 and all(term.self_normalized for term in terms))


def _has_bounds(term: Term) -> bool:
    """Return whether the values of a term are bounded group by group; see ``native/search/group_vectors.hpp``."""
    kernel: Any = term.kernel
    if not term.self_normalized:
        return False
    if isinstance(kernel, SubsetTree):
        return kernel.max_depth is None
    return not isinstance(kernel, PartialTree) or bool(kernel.leaves and kernel.terminal_factor >= 1.0)


def _bags_and_scales(terms: list[Term], trees: TreeArray) -> tuple[_core.kernels.Bags, list[NDArray[np.float64]]]:
    """Return trees as the native core takes them, and by what each term multiplies them."""
    # Not the trees' own bags: they are large, and not needed afterwards.
    alike = TreeArray._from_arena(trees._arena, trees._roots, trees._ends)
    scales = Scales(alike)
    return alike._as_bags(), [np.sqrt(term.weight) * scales.of(term.norms) for term in terms]


class Queries:
    """Trees to look for, as the native core takes them."""

    def __init__(self, terms: list[Term], trees: TreeArray) -> None:
        self.trees = trees._compact()
        self._terms = terms
        if terms:
            self.bags, self.scales = _bags_and_scales(terms, self.trees)

    def part(self, first: int, last: int) -> Queries:
        """Return some of them."""
        return self if first == 0 and last >= len(self.trees) else Queries(self._terms, self.trees[first:last])


class Found(NamedTuple):
    """What a segment has for one query: places and values, most similar first, and how they were found.

    ``rest`` is what a tree that is not here can reach if time was over before all were compared; 0 if it was not.
    """

    places: NDArray[np.uint32]
    values: NDArray[np.float64]
    evaluated: int
    rest: float = 0.0


Tables = tuple[list[NDArray[np.uint8]], list[int]]
"""What the native core has prepared for one term, as arrays of bytes and numbers that only it understands."""


class Segment:
    """Trees with the numbers that users know them by, ascending.

    ``tables`` are those of all terms where they were prepared before; they stay where they are, and so do the trees.
    """

    def __init__(
        self,
        kernel: tuple[Kernel, list[Term]],
        trees: TreeArray,
        numbers: NDArray[np.int64],
        tables: list[Tables] | None = None,
    ) -> None:
        self.kernel, self._terms = kernel
        self.trees = trees._compact() if tables is None else trees
        self.mapped = tables is not None
        self.numbers = numbers
        self.kept = np.ones(len(trees), dtype=np.bool_)
        # The heaviest of the terms that have bounds says which trees are worth a look.
        bounded = [place for place, term in enumerate(self._terms) if _has_bounds(term) and len(trees)]
        self._lead = max(bounded, key=lambda place: self._terms[place].weight, default=-1)
        # All others together add no more than this, and what rounding takes away.
        others = 1.0 - self._terms[self._lead].weight if bounded else 0.0
        self._others = others + 1e-9 if others > 0 else 0.0
        if tables is not None:
            self._parts = [
                _NATIVE[type(term.kernel)](cast(Any, term.kernel)._native(), self.trees._arena, *parts)
                for term, parts in zip(self._terms, tables, strict=True)
            ]
        elif self._terms:
            bags, scales = _bags_and_scales(self._terms, self.trees)
            self._parts = [
                _NATIVE[type(term.kernel)](
                    cast(Any, term.kernel)._native(),
                    self.trees._arena,
                    bags,
                    scale,
                    place == self._lead,
                    settings.threads(),
                )
                for place, (term, scale) in enumerate(zip(self._terms, scales, strict=True))
            ]

    def __len__(self) -> int:
        return int(self.kept.sum())

    def tables(self) -> list[Tables]:
        """Return what is prepared for the search, without a copy."""
        return [part.parts() for part in self._parts]

    def without_removed(self) -> Segment:
        """Return what is left, made anew if something was removed."""
        if self.kept.all():
            return self
        return Segment((self.kernel, self._terms), self.trees[self.kept].detach(), self.numbers[self.kept])

    def merged(self, other: Segment) -> Segment:
        """Return both, without what was removed."""
        trees = concatenate([self.trees[self.kept], other.trees[other.kept]])
        numbers = np.concatenate([self.numbers[self.kept], other.numbers[other.kept]])
        return Segment((self.kernel, self._terms), trees, numbers)

    def search(self, queries: Queries, count: int, least: float, end: float) -> list[Found]:
        """Find the ``count`` most similar trees of each query that reach ``least``; 0 stands for all of them.

        ``end`` is the time, by ``time.monotonic``, at which to stop.
        """
        found: list[Found | None] = [None] * len(queries.trees)
        if self._lead >= 0 and least - self._others >= _HIGH and len(self.kept) >= _WORTH_READING:
            # A few at a time if there is not all the time in the world.
            step = len(found) if end == float("inf") else 16
            for start in range(0, len(found), max(step, 1)):
                if time.monotonic() < end:
                    chosen = queries.part(start, start + step)
                    found[start : start + step] = self._read_lists(chosen, count, least)
        todo = np.array([row for row, one in enumerate(found) if one is None], dtype=np.int64)
        rows = queries if len(todo) == len(found) else Queries(self._terms, queries.trees[todo])
        compute = self._compute if len(self._terms) == 1 else self._add_up
        for row, one in zip(todo.tolist(), compute(rows, count, least, end) if len(todo) else [], strict=True):
            found[row] = one
        return found  # type: ignore[return-value]

    def _add_up(self, queries: Queries, count: int, least: float, end: float) -> list[Found]:
        """Compute the values of all trees for one query after the other, as long as there is time."""
        found = []
        step = max(1, _VALUES // len(self.kept)) if end == float("inf") else 1
        for start in range(0, len(queries.trees), step):
            if time.monotonic() >= end:
                found.append(Found(np.zeros(0, np.uint32), np.zeros(0), 0, 1.0))
                continue
            for row in self._values(queries.part(start, start + step)):
                places = np.flatnonzero((row >= least) & self.kept)
                if count and len(places) > count:
                    places = places[row[places] >= np.partition(row[places], -count)[-count]]
                order = places[np.lexsort((places, -row[places]))][: count or None].astype(np.uint32)
                found.append(Found(order, row[order], len(self)))
        return found

    def _values(self, queries: Queries) -> NDArray[np.float64]:
        """Return the values of all trees, a row for each query."""
        if not self._terms:
            return np.asarray(self.kernel(queries.trees, self.trees), dtype=np.float64)
        total = np.zeros((len(queries.trees), len(self.kept)))
        for part, scale in zip(self._parts, queries.scales, strict=True):
            ends, places, values, _ = part.nearest(
                queries.trees._arena, queries.bags, scale, self.kept, 0, 0.0, float("inf"), settings.threads(), None
            )
            rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=np.uint64(0)).astype(np.int64))
            total[rows, places] += values
        total[total > 1.0 - 1e-14] = 1.0
        return total

    def _compute(self, queries: Queries, count: int, least: float, end: float) -> list[Found]:
        """Compute the values of all trees, as far as time allows."""
        with settings.progress_bar(len(queries.trees), "Searching", "queries") as progress:
            ends, all_places, all_values, all_open = self._parts[0].nearest(
                queries.trees._arena,
                queries.bags,
                queries.scales[0],
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
                values = self.kernel.pairwise(one, self.trees[places].detach())
                order = np.lexsort((places, -values))
                places, values = places[order], values[order]
            found.append(Found(places, values, len(places), min(1.0, highest)))
        return found

    def _read_lists(self, queries: Queries, count: int, least: float) -> list[Found | None]:
        """Find what bounds do not discard, and compute its values; None where that takes longer than a row."""
        ends, places, _, late = self._parts[self._lead].within(
            queries.trees._arena,
            queries.bags,
            queries.scales[self._lead],
            self.kept,
            least - self._others,
            int(len(self.kept) * _SHARE),
            settings.threads(),
            None,
        )
        rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=np.uint64(0)).astype(np.int64))
        values = np.zeros(0)
        if len(places):
            values = self.kernel.pairwise(queries.trees[rows], self.trees[places].detach())
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
        alone = np.arange(len(self.kept), dtype=np.uint32)
        parts = []
        evaluated = 0
        if self._lead >= 0 and least - self._others > 0:
            lead = self._parts[self._lead]
            alone = lead.undescribed()
            bags = _core.kernels.Bags(self.trees._arena, self.trees._roots, self.trees._ends, settings.threads())
            with settings.progress_bar(len(self.kept), "Comparing", "trees") as progress:
                near, left, evaluated = lead.pairs(bags, self.kept, least - self._others, settings.threads(), progress)
            if self._others > 0:
                left = tuple(np.concatenate(columns) for columns in zip(near, left, strict=True))
            else:
                parts.append(near)
            if len(left[0]):
                values = self.kernel.pairwise(self.trees[left[0]], self.trees[left[1]])
                parts.append((left[0][values >= least], left[1][values >= least], values[values >= least]))
        described = np.ones(len(self.kept), dtype=np.bool_)
        described[alone] = False
        alone = alone[self.kept[alone]]
        for start in range(0, len(alone), 1000):
            chosen = alone[start : start + 1000]
            found = self.search(Queries(self._terms, self.trees[chosen]), 0, least, float("inf"))
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

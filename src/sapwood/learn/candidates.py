"""Sets of candidates with hashed features, and the decisions between them: the input of log-linear models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable

__all__ = ["CandidateSets"]

_Numbers = NDArray[np.uint32]
_Ends = NDArray[np.uint64]
_Arguments = tuple[_Numbers, _Ends, _Ends, _Ends, _Ends, _Numbers, _Numbers, int, int]

_MOST_GROUPS = 32


@dataclass(frozen=True)
class CandidateSets(HtmlTable):
    """Sets of candidates, and the decisions between the candidates of each.

    Parameters
    ----------
    features : ndarray of uint32
        The features of all candidates (rows), one after the other: hashes of whatever they stand for.
    ends : ndarray of uint64, rows × groups
        Where the features of each group of each row end.
    row_ends : ndarray of uint64
        Where the rows of each set end. Every set with a decision has a row.
    role_ends : ndarray of uint64
        Where the decisions of each set end.
    key_ends : ndarray of uint64
        Where the keys of each decision end.
    keys, masks : ndarray of uint32
        The keys of the decisions, and which groups of features each is paired with: bit g stands for group g.
    shared : int
        Which groups have weights shared by all decisions, as a mask.

    Examples
    --------
    One set of two candidates with one feature each, and one decision:

    >>> sets = CandidateSets.of([[[11], [12]]], keys=[[[5]]])
    >>> sets
    CandidateSets(1 sets, 2 candidates, 1 decisions, 2 features)
    """

    features: NDArray[np.uint32]
    ends: NDArray[np.uint64]
    row_ends: NDArray[np.uint64]
    role_ends: NDArray[np.uint64]
    key_ends: NDArray[np.uint64]
    keys: NDArray[np.uint32]
    masks: NDArray[np.uint32]
    shared: int = 1

    def __post_init__(self) -> None:
        if self.ends.ndim != 2 or not 1 <= self.ends.shape[1] <= _MOST_GROUPS:
            raise DataError(f"ends must be rows × groups with 1 to {_MOST_GROUPS} groups, got {self.ends.shape}.")
        for name, kind in _KINDS.items():
            values = getattr(self, name)
            if name != "ends" and values.ndim != 1:
                raise DataError(f"{name} must have one dimension, got {values.ndim}.")
            if values.dtype != kind or not values.flags.c_contiguous:
                raise DataError(f"{name} must be a contiguous array of {np.dtype(kind)}, got {values.dtype}.")
        flat = self.ends.ravel()
        chain = (
            ("ends", flat, len(self.features)),
            ("row_ends", self.row_ends, len(self.ends)),
            ("role_ends", self.role_ends, len(self.key_ends)),
            ("key_ends", self.key_ends, len(self.keys)),
        )
        for name, values, total in chain:
            if (len(values) and int(values[-1]) != total) or (not len(values) and total):
                raise DataError(f"{name} must end at {total}, the number of what it divides.")
            if len(values) > 1 and bool((values[1:] < values[:-1]).any()):
                raise DataError(f"{name} must not descend.")
        if len(self.row_ends) != len(self.role_ends) or len(self.masks) != len(self.keys):
            raise DataError("row_ends and role_ends, and keys and masks, must be equally long.")
        if bool(((self.rows == 0) & (self.decisions > 0)).any()):
            raise DataError("a set has a decision and no candidate; give every set at least one.")

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[Sequence[int]]],
        keys: Sequence[Sequence[Sequence[int]]],
    ) -> CandidateSets:
        """Build sets from lists: ``rows[set][candidate]`` lists features, ``keys[set][decision]`` lists keys."""
        flat = [row for part in rows for row in part]
        decisions = [each for part in keys for each in part]
        return cls(
            np.array([feature for row in flat for feature in row], np.uint32),
            np.cumsum([len(row) for row in flat]).astype(np.uint64).reshape(-1, 1),
            np.cumsum([len(part) for part in rows]).astype(np.uint64),
            np.cumsum([len(part) for part in keys]).astype(np.uint64),
            np.cumsum([len(each) for each in decisions]).astype(np.uint64),
            np.array([key for each in decisions for key in each], np.uint32),
            np.ones(sum(map(len, decisions)), np.uint32),
        )

    @classmethod
    def joined(cls, parts: Sequence[CandidateSets]) -> CandidateSets:
        """Put sets one after the other."""
        if len({(part.shared, part.ends.shape[1]) for part in parts}) != 1:
            raise DataError("only sets with the same groups can be joined, and at least one is needed.")

        def chain(name: str, totals: Callable[[CandidateSets], int]) -> NDArray[np.uint64]:
            start = np.uint64(0)
            made = []
            for part in parts:
                made.append(getattr(part, name) + start)
                start += np.uint64(totals(part))
            return np.concatenate(made)

        return cls(
            np.concatenate([part.features for part in parts]),
            chain("ends", lambda part: len(part.features)),
            chain("row_ends", lambda part: len(part.ends)),
            chain("role_ends", lambda part: len(part.key_ends)),
            chain("key_ends", lambda part: len(part.keys)),
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.masks for part in parts]),
            parts[0].shared,
        )

    def __len__(self) -> int:
        return len(self.row_ends)

    def __repr__(self) -> str:
        return (
            f"CandidateSets({len(self):,} sets, {len(self.ends):,} candidates, {len(self.key_ends):,} decisions, "
            f"{len(self.features):,} features)"
        )

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The number of candidates of each set."""
        return _sizes(self.row_ends)

    @cached_property
    def decisions(self) -> NDArray[np.int64]:
        """The number of decisions of each set."""
        return _sizes(self.role_ends)

    def tables(self, scores: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Cut flat scores into one table of decisions × candidates per set."""
        start = 0
        for rows, decisions in zip(self.rows.tolist(), self.decisions.tolist(), strict=True):
            yield scores[start : start + rows * decisions].reshape(decisions, rows)
            start += rows * decisions

    def features_of(self, number: int, candidate: int) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the features of a candidate of a set, and the group of each."""
        row = (int(self.row_ends[number - 1]) if number else 0) + candidate
        groups = self.ends.shape[1]
        ends = self.ends.ravel()[row * groups : (row + 1) * groups].astype(np.int64)
        begin = int(self.ends.ravel()[row * groups - 1]) if row else 0
        return self.features[begin : int(ends[-1])], np.repeat(np.arange(groups), np.diff(ends, prepend=begin))

    def single_features(self, number: int, decision: int, candidate: int) -> CandidateSets:
        """Make one set in which every feature of a candidate is a candidate of its own, for the same decision."""
        features, groups = self.features_of(number, candidate)
        each = np.zeros((len(features), self.ends.shape[1]), np.uint64)
        each[np.arange(len(features)), groups] = 1
        place = (int(self.role_ends[number - 1]) if number else 0) + decision
        begin, end = (int(self.key_ends[place - 1]) if place else 0), int(self.key_ends[place])
        return CandidateSets(
            np.ascontiguousarray(features),
            np.cumsum(each.ravel()).astype(np.uint64).reshape(each.shape),
            np.array([len(features)], np.uint64),
            np.ones(1, np.uint64),
            np.array([end - begin], np.uint64),
            np.ascontiguousarray(self.keys[begin:end]),
            np.ascontiguousarray(self.masks[begin:end]),
            self.shared,
        )

    def _arguments(self) -> _Arguments:
        ends, groups = self.ends.ravel(), self.ends.shape[1]
        return (
            self.features,
            ends,
            self.row_ends,
            self.role_ends,
            self.key_ends,
            self.keys,
            self.masks,
            self.shared,
            groups,
        )


def _sizes(ends: _Ends) -> NDArray[np.int64]:
    places = np.concatenate([[0], ends]).astype(np.int64)
    return places[1:] - places[:-1]


_KINDS = {
    "features": np.uint32,
    "ends": np.uint64,
    "row_ends": np.uint64,
    "role_ends": np.uint64,
    "key_ends": np.uint64,
    "keys": np.uint32,
    "masks": np.uint32,
}

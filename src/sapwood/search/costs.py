"""What edits cost: prices given as numbers, functions of labels or word similarities, checked and made into tables.

Prices are asked for once per label, or pair of labels, of the trees at hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.checks import is_finite
from sapwood.errors import DataError, ParameterError, TooLargeError
from sapwood.memory import available
from sapwood.words.base import WordSimilarity
from sapwood.words.contextual import mixture

__all__ = [
    "Prices",
    "RenameCosts",
    "check_price",
    "check_rename",
    "different",
    "lacking",
    "prices",
    "rename_costs",
    "whole_scale",
]

Matrix = NDArray[np.float64]

# Denominators of prices that people write: with one of them all become whole numbers, and sums are exact.
_SCALES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 50, 100, 1000)


class RenameCosts(ABC):
    """Costs of renaming that are computed for many labels at once."""

    # Whether a word costs other than an inner node with the same label.
    leaves_apart = False

    @abstractmethod
    def table(
        self, labels: Sequence[str], leaves: NDArray[np.bool_], others: Sequence[str], other_leaves: NDArray[np.bool_]
    ) -> Matrix:
        """Return the cost of every pair of labels; whether each stands on leaves is told too. Equal ones are free."""


class _Called(RenameCosts):
    def __init__(self, function: Callable[[str, str], float]) -> None:
        self.function = function

    def table(
        self, labels: Sequence[str], leaves: NDArray[np.bool_], others: Sequence[str], other_leaves: NDArray[np.bool_]
    ) -> Matrix:
        costs = np.zeros((len(labels), len(others)))
        for row, label in enumerate(labels):
            for column, other in enumerate(others):
                if label != other:
                    costs[row, column] = _priced(self.function(label, other), f"rename({label!r}, {other!r})")
        return costs


class _Similar(RenameCosts):
    leaves_apart = True

    def __init__(self, similarity: WordSimilarity) -> None:
        self.similarity = similarity

    def table(
        self, labels: Sequence[str], leaves: NDArray[np.bool_], others: Sequence[str], other_leaves: NDArray[np.bool_]
    ) -> Matrix:
        costs = different(labels, others)
        rows, columns = np.flatnonzero(leaves).tolist(), np.flatnonzero(other_leaves).tolist()
        if rows and columns:
            similar = self.similarity.matrix([labels[k] for k in rows], [others[k] for k in columns]).toarray()
            if not np.isfinite(similar).all():
                raise DataError(f"{self.similarity!r} gives values that are no numbers; rename needs finite ones.")
            block = np.ix_(rows, columns)
            costs[block] = np.where(costs[block] == 0, 0.0, np.clip(1 - similar, 0.0, 1.0))
        return costs


@dataclass(frozen=True)
class Prices:
    """Prices of the labels of some trees, all times ``scale``.

    Attributes
    ----------
    native : Costs
        As the native core takes them.
    delete, insert : array
        By key of the forest, not scaled.
    rename : array or None
        From each key of the rows to each of the columns, not scaled; None where all pairs cost the same.
    scale : float
        What the native core's results are to be divided by.
    """

    native: _core.edit.Costs
    delete: Matrix
    insert: Matrix
    rename: Matrix | None
    scale: float

    @property
    def symmetric(self) -> bool:
        """Whether prices are the same in both directions, for trees compared with each other."""
        same = np.array_equal(self.delete, self.insert)
        return same and (self.rename is None or np.array_equal(self.rename, self.rename.T))


def different(labels: Sequence[str], others: Sequence[str]) -> Matrix:
    """Return 1 for every pair of labels that differ, else 0."""
    found = np.ones((len(labels), len(others)))
    places: dict[str, list[int]] = {}
    for column, other in enumerate(others):
        places.setdefault(other, []).append(column)
    for row, label in enumerate(labels):
        found[row, places.get(label, [])] = 0
    return found


def check_price(value: object, name: str) -> None:
    """Raise unless the price of deleting or inserting is a number that makes sense, or a function of labels."""
    if not callable(value) and not (is_finite(value) and value >= 0):
        raise ParameterError(
            f"{name} must be a finite number of at least 0 or a function of a label, got {value!r}; 1.0 is usual."
        )


def check_rename(value: object) -> None:
    """Raise unless the price of renaming is a number, a function of two labels or a word similarity."""
    if isinstance(value, WordSimilarity):
        if mixture(value).contextual is not None:
            raise ParameterError("rename cannot compare words in context; use a similarity of words by themselves.")
        return
    if isinstance(value, RenameCosts) or callable(value) or (is_finite(value) and value >= 0):
        return
    raise ParameterError(
        "rename must be a finite number of at least 0, a function of two labels or a word similarity such as "
        f"WordNet(), got {value!r}; 1.0 is usual."
    )


def rename_costs(rename: Any) -> RenameCosts | None:
    """Return what computes the costs of renaming; None for a number."""
    if isinstance(rename, RenameCosts):
        return rename
    if isinstance(rename, WordSimilarity):
        return _Similar(rename)
    return _Called(rename) if callable(rename) else None


def prices(
    rename: Any, insert: Any, delete: Any, forest: _core.edit.Forest, arena: _core.trees.Arena, rows: int
) -> Prices:
    """Look up what edits of these trees cost, the first ``rows`` of them with the others (0: all with each other)."""
    labels, on_leaves = forest.keys(arena)
    leaves = on_leaves.astype(np.bool_)
    removal, insertion = (_by_label(price, labels, name) for price, name in ((delete, "delete"), (insert, "insert")))
    renaming, table = rename_costs(rename), None
    sides = [np.arange(len(labels), dtype=np.uint32)] * 2
    if renaming is not None and labels:
        sides = [forest.used_keys(0, rows or len(forest)), forest.used_keys(rows, len(forest))]
        _check_table(*map(len, sides))
        (names, ends), (others, other_ends) = (([labels[k] for k in keys], leaves[keys]) for keys in sides)
        table = np.ascontiguousarray(renaming.table(names, ends, others, other_ends))
    scale = whole_scale(removal, insertion, np.array([rename]) if renaming is None else table)
    whole = scale is not None
    factor = float(scale or 1)

    def scaled(values: Matrix) -> Matrix:
        return np.rint(values * factor) if whole else values

    places = np.zeros((2, len(labels)), dtype=np.uint32)
    for place, keys in zip(places, sides, strict=True):
        place[keys] = np.arange(len(keys), dtype=np.uint32)
    native = _core.edit.Costs(
        scaled(removal),
        scaled(insertion),
        float(scaled(np.array([rename], dtype=np.float64))[0]) if renaming is None else 0.0,
        None if table is None else scaled(table),
        places[0],
        places[1],
        whole,
        True,
    )
    return Prices(native, removal, insertion, table, factor)


def whole_scale(*values: Matrix | None) -> int | None:
    """Return a small number that makes all values whole, if there is one.

    >>> whole_scale(np.array([1.0, 0.8])), whole_scale(np.array([0.123456]))
    (5, None)
    """
    present = [np.asarray(part, dtype=np.float64).ravel() for part in values if part is not None]
    distinct = np.unique(np.concatenate([np.zeros(0), *present]))
    if len(distinct) > 1000:
        return None
    for scale in _SCALES:
        if np.array_equal(np.rint(distinct * scale) / scale, distinct):
            return scale
    return None


def _by_label(price: Any, labels: Sequence[str], name: str) -> Matrix:
    if not callable(price):
        return np.full(len(labels), float(price))
    return np.array([_priced(price(label), f"{name}({label!r})") for label in labels], dtype=np.float64)


def _priced(value: object, what: str) -> float:
    if not is_finite(value) or value < 0:
        raise ParameterError(f"{what} is {value!r}; costs are finite numbers of at least 0.")
    return float(value)


def lacking(needed: float) -> int | None:
    """Return the bytes that are free if so many are not; None if they are, or nobody knows.

    >>> lacking(1000)
    """
    # Looking takes longer than comparing two small trees.
    free = available() if needed > 1 << 26 else None
    return free if free is not None and needed > 0.9 * free else None


def _check_table(rows: int, columns: int) -> None:
    needed = 3 * 8 * rows * columns
    if (free := lacking(needed)) is not None:
        raise TooLargeError(
            f"the costs of renaming {rows:,} labels to {columns:,} take {needed / 1e9:,.1f} GB, but only "
            f"{free / 1e9:,.1f} GB are free; compare fewer trees at a time, or take one number for rename."
        )

"""Checks that several decoders share: arrays of the right shape and type, and sensible limits.

What a value means is checked where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.checks import check_limit
from sapwood.errors import DataError, ParameterError

__all__ = [
    "NO_PAIRS",
    "Pairs",
    "check_seconds",
    "mask",
    "matrix",
    "native_limit",
    "pairs",
    "spans",
    "triples",
]

Pairs = Sequence[tuple[int, int]] | NDArray[np.integer[Any]]

NO_PAIRS: NDArray[np.int64] = np.zeros((0, 2), np.int64)
_FLOAT = np.dtype(np.float64)
_INT = np.dtype(np.int64)


def matrix(scores: ArrayLike, rows: str, columns: str) -> NDArray[np.float64]:
    """Return scores as a contiguous matrix of floats."""
    if type(scores) is np.ndarray and scores.dtype is _FLOAT and scores.ndim == 2 and scores.flags.c_contiguous:
        return scores
    expected = f"a matrix of numbers, {rows} × {columns}"
    try:
        array = np.asarray(scores)
        if array.size == 0 and array.ndim == 1:
            array = array.reshape(0, 0)
        if array.dtype.kind not in "fiub":
            raise TypeError
        array = np.ascontiguousarray(array, _FLOAT)
    except (TypeError, ValueError):
        raise DataError(f"scores must be {expected}; check that its rows are equally long.") from None
    if array.ndim != 2:
        raise DataError(f"scores must be {expected}, but it has {array.ndim} dimension(s); pass one row per item.")
    return array


def spans(values: ArrayLike) -> NDArray[np.int64]:
    """Return spans as a contiguous array of (first, last) pairs."""
    if type(values) is np.ndarray and values.dtype is _INT and values.ndim == 2 and values.flags.c_contiguous:
        array = values
    else:
        array = _integers(values, "spans", "(first token, last token) pairs")
    if array.ndim != 2 or array.shape[1] != 2:
        raise DataError(f"spans must be (first token, last token) pairs, but its shape is {array.shape}.")
    return array


def pairs(values: Pairs, name: str) -> NDArray[np.int64]:
    """Return pairs of numbers as an array; their range is checked where their meaning is known."""
    if not hasattr(values, "__len__"):
        values = list(values)
    if len(values) == 0:
        return NO_PAIRS
    array = _integers(values, name, "pairs of numbers")
    if array.ndim != 2 or array.shape[1] != 2:
        raise DataError(f"{name} must be pairs of numbers such as [(0, 3)], but its shape is {array.shape}.")
    return array


def triples(values: ArrayLike, name: str, what: str) -> NDArray[np.int64]:
    """Return triples of numbers as an array; their range is checked where their meaning is known."""
    array = _integers(values, name, f"{what} triples")
    if array.size == 0:
        return np.zeros((0, 3), np.int64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise DataError(f"{name} must be {what} triples, but its shape is {array.shape}.")
    return array


def _integers(values: ArrayLike, name: str, expected: str) -> NDArray[np.int64]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"{name} must be {expected}, but its entries differ in length.") from None
    if array.size == 0:
        return NO_PAIRS
    if array.dtype.kind not in "iu":
        raise DataError(f"{name} must be {expected} as integers, but it holds {array.dtype}; convert it first.")
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise DataError(f"{name} holds {int(array.max())}, which is too large for a number of this kind.")
    return np.ascontiguousarray(array, _INT)


def mask(allowed: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    """Return an array of allowed entries as bytes, or None when everything is allowed."""
    if allowed is None:
        return None
    try:
        array = np.asarray(allowed)
    except ValueError:
        raise DataError("allowed must have one entry per score, but its rows differ in length.") from None
    if array.dtype.kind != "b":
        raise DataError(f"allowed must hold True and False, but it holds {array.dtype}; compare or convert it first.")
    if array.shape != shape:
        raise DataError(f"allowed has shape {array.shape}, but scores has {shape}; pass one entry per score.")
    return np.ascontiguousarray(array).view(np.uint8)


def check_seconds(time_limit: float | None) -> float:
    """Return a time limit in seconds; None means there is none."""
    if time_limit is None:
        return math.inf
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)) or not time_limit > 0:
        raise ParameterError(f"time_limit must be a positive number of seconds or None, got {time_limit!r}.")
    return float(time_limit)


def native_limit(value: int | None, name: str, otherwise: int = 2**62) -> int:
    """Return a limit of at least 1 that the native core can hold; None means `otherwise`."""
    limit = check_limit(value, name)
    return otherwise if limit is None else min(limit, 2**62)

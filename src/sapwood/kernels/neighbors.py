"""Distances in the space of a kernel, and the nearest examples by comparing with all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_count
from sapwood.errors import DataError
from sapwood.kernels.data import as_data
from sapwood.trees.elements import is_single

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel

__all__ = ["Neighbors", "distance", "nearest"]

Matrix = NDArray[np.float64]

_CELLS = 1 << 22  # kernel values that are held at a time
# Sums are taken in another order for a value than for the self-kernels; see ``normalization.bound``.
_ROUNDING = 1e-14


class Neighbors(NamedTuple):
    """The nearest examples: where they stand, how far away they are, and their kernel values; nearest first."""

    positions: NDArray[np.intp]
    distances: Matrix
    values: Matrix


def distance(kernel: Kernel, X: Any, Y: Any) -> Any:
    """Return distances; see ``Kernel.distance``."""
    if Y is None and is_single(X):
        raise DataError("distance compares two trees, or arrays; pass Y, or a list of trees.")
    values = kernel(X, Y)
    left = kernel.diag(X)
    right = left if Y is None or Y is X else kernel.diag(Y)
    if np.ndim(values) < 2:
        single = np.asarray(_from_values(np.atleast_1d(values), left, right))
        return single if np.ndim(values) else float(single[0])
    found = _from_values(values, left[:, None], right)
    if right is left:
        np.fill_diagonal(found, 0.0)
    return found


def nearest(kernel: Kernel, query: Any, X: Any, k: int) -> Neighbors:
    """Find the nearest examples; see ``Kernel.nearest``."""
    check_count(k, "k")
    if is_single(X):
        raise DataError("X must be the examples to look among, got a single tree; write [tree].")
    X = as_data(X)
    single = is_single(query)
    asked = as_data([query]) if single else as_data(query)
    left = kernel.diag(asked)[:, None]
    rows = np.arange(asked.shape[0])[:, None]
    positions: Any = np.zeros((asked.shape[0], 0), dtype=np.intp)
    distances, values = np.zeros(positions.shape), np.zeros(positions.shape)
    step = max(1, _CELLS // max(1, asked.shape[0]))
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        found = kernel(asked, block)
        values = np.concatenate([values, found], axis=1)
        distances = np.concatenate([distances, _from_values(found, left, kernel.diag(block))], axis=1)
        here = np.broadcast_to(np.arange(start, start + block.shape[0]), found.shape)
        positions = np.concatenate([positions, here], axis=1)
        # Stable, so that the first of equals stays first.
        best = np.argsort(distances, axis=1, kind="stable")[:, :k]
        positions, distances, values = positions[rows, best], distances[rows, best], values[rows, best]
    found_all = Neighbors(positions, distances, values)
    return Neighbors(*(part[0] for part in found_all)) if single else found_all


def _from_values(values: Matrix, left: Matrix, right: Matrix) -> Matrix:
    # Halves, so that the sum of two large self-kernels is still a number.
    middle = 0.5 * left + 0.5 * right
    squares = middle - values
    squares[squares <= _ROUNDING * np.broadcast_to(middle, squares.shape)] = 0.0
    return np.asarray(np.sqrt(2.0) * np.sqrt(squares))

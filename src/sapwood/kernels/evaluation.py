"""How kernels are evaluated: examples are checked on the way in and values on the way out, and defaults by blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.kernels.data import as_data, join
from sapwood.kernels.finite import check_diagonal, check_finite, check_gram, check_pairs
from sapwood.kernels.memory import require
from sapwood.trees.array import TreeArray
from sapwood.trees.elements import is_single

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel

__all__ = [
    "Expansion",
    "Matrix",
    "changeable",
    "diagonal",
    "diagonal_in_blocks",
    "expansion",
    "expansion_in_blocks",
    "finite_gram",
    "gram",
    "pairs",
    "pairs_in_blocks",
]

Matrix = NDArray[np.float64]
Expansion = Callable[[Any], Matrix]

_BLOCK = 16  # examples whose Gram matrix is computed for its diagonal alone
_CELLS = 1 << 22  # kernel values that an expansion holds at a time


def gram(kernel: Kernel, X: Any, Y: Any) -> Any:
    """Compare arrays, or single trees, with each other; see ``Kernel.__call__``."""
    if is_single(X) and is_single(Y):
        return float(gram(kernel, TreeArray([X]), TreeArray([Y]))[0, 0])
    if is_single(X):
        if Y is None:
            raise DataError("a single tree needs something to be compared with: pass Y, or a list of trees as X.")
        return gram(kernel, TreeArray([X]), Y)[0]
    if is_single(Y):
        return gram(kernel, X, TreeArray([Y]))[:, 0]
    same = Y is None or Y is X
    X = as_data(X)
    Y = None if same else as_data(Y)
    require(X.shape[0], (X if same else Y).shape[0], arrays=kernel._arrays())
    with _without_warnings():
        K = kernel._gram(X, Y)
    if same and kernel.largest_on_diagonal:
        check_diagonal(np.diagonal(K))
    else:
        check_gram(K, square=same)
    return K


def finite_gram(kernel: Kernel, X: Any, Y: Any | None, examples: NDArray[Any] | Sequence[int]) -> Matrix:
    """Compute a block of a matrix; where a value is not finite, raise with the number that its row has outside."""
    with _without_warnings():
        K = kernel._gram(X, Y)
    check_finite(K, examples)
    return K


def diagonal(kernel: Kernel, X: Any) -> Matrix:
    """Compare every element with itself; see ``Kernel.diag``."""
    X = TreeArray([X]) if is_single(X) else as_data(X)
    with _without_warnings():
        values = kernel._diag(X)
    check_diagonal(values)
    return values


def diagonal_in_blocks(kernel: Kernel, X: Any) -> Matrix:
    """Return the diagonal of small Gram matrices."""
    blocks = (X[start : start + _BLOCK] for start in range(0, X.shape[0], _BLOCK))
    return np.concatenate([np.zeros(0), *(np.diagonal(kernel._gram(block, None)) for block in blocks)])


def pairs(kernel: Kernel, X: Any, Y: Any) -> Matrix:
    """Compare elements in the same place; see ``Kernel.pairwise``."""
    joined = as_data(X) if Y is None else join(X, Y)
    if joined.shape[0] % 2:
        raise DataError(
            f"X has {joined.shape[0]} elements, so it has no two halves to compare; pass the partners as Y."
        )
    with _without_warnings():
        values = kernel._pairwise(joined)
    check_pairs(values)
    return values


def pairs_in_blocks(kernel: Kernel, X: Any) -> Matrix:
    """Return the diagonals of small Gram matrices between the halves of X."""
    half = X.shape[0] // 2
    values = np.empty(half)
    for start in range(0, half, _BLOCK):
        end = min(start + _BLOCK, half)
        values[start:end] = np.diagonal(kernel._gram(X[start:end], X[half + start : half + end]))
    return values


def expansion(kernel: Kernel, X: Any, weights: Matrix) -> Expansion:
    """Compile a weighted sum of kernel values; see ``Kernel.expansion``."""
    X = as_data(X)
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != X.shape[0]:
        raise DataError(f"weights must have one row per example, {X.shape[0]} here; got shape {weights.shape}.")
    if not np.isfinite(weights).all():
        row, column = np.argwhere(~np.isfinite(weights))[0]
        raise DataError(f"weights[{row}, {column}] is {weights[row, column]}; expected finite numbers.")
    compiled = kernel._expansion(X, weights)

    def evaluate(Y: Any) -> Matrix:
        with _without_warnings():
            outputs = compiled(as_data(Y))
        check_finite(outputs, what="weighted sum of kernel values")
        return outputs

    return evaluate


def expansion_in_blocks(kernel: Kernel, X: Any, weights: Matrix) -> Expansion:
    """Return the function Y -> k(Y, X) @ weights by way of Gram matrices."""

    def evaluate(Y: Any) -> Matrix:
        result = np.empty((Y.shape[0], weights.shape[1]))
        step = max(1, _CELLS // max(1, X.shape[0]))
        for start in range(0, Y.shape[0], step):
            result[start : start + step] = kernel._gram(Y[start : start + step], X) @ weights
        return result

    return evaluate


def changeable(values: Matrix) -> Matrix:
    """Return values that can be changed in place: copies of integers, and of what belongs to someone else."""
    return np.require(values, np.float64, ["WRITEABLE", "OWNDATA"])


def _without_warnings() -> Any:
    """Keep numpy from warning of values that are too large: they are an error, which names the examples."""
    return np.errstate(over="ignore", invalid="ignore")

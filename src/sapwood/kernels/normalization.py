"""What normalization divides by, and how values are kept within its bounds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.callers import levels_to_user
from sapwood.kernels.data import pick_view
from sapwood.kernels.finite import check_diagonal

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel
    from sapwood.kernels.terms import Norm

__all__ = ["Scales", "bound", "multiply", "normalize", "normalizing_scale"]

Matrix = NDArray[np.float64]

_CELLS = 1 << 23  # values that are normalized at a time


class Scales:
    """Factors by which normalization multiplies examples, computed once per norm.

    Parameters
    ----------
    X : array of examples
    warn : bool
        Whether to warn of examples that share nothing with themselves.
    """

    def __init__(self, X: Any, *, warn: bool = True) -> None:
        self._X, self._warn = X, warn
        self._known: dict[tuple[int, str | None], tuple[Kernel, Matrix]] = {}

    def of(self, norms: Sequence[Norm]) -> Matrix:
        """Return one factor per example, the product over all norms."""
        total: Matrix = np.ones(self._X.shape[0])
        for kernel, view in norms:
            key = (id(kernel), view)
            if key not in self._known:
                diagonal = kernel._diag(self._X if view is None else pick_view(self._X, view))
                # The kernel is kept, too, or another one could get its identity.
                self._known[key] = (kernel, normalizing_scale(diagonal, warn=self._warn))
            total = total * self._known[key][1]
        return total


def normalizing_scale(diagonal: Matrix, *, warn: bool = True, side: str = "") -> Matrix:
    """Return what normalization multiplies examples with these self-kernels by: 0 where the self-kernel is 0."""
    diagonal = np.asarray(diagonal, dtype=np.float64)
    check_diagonal(diagonal, side)
    empty = np.flatnonzero(diagonal <= 0)
    if len(empty) and warn:
        listed = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
        warnings.warn(
            f"{len(empty)} of {len(diagonal)} elements share nothing even with themselves (positions {listed}): "
            "their normalized kernel is 0 with everything. They are usually single leaves, "
            "such as words that nobody has parsed.",
            stacklevel=levels_to_user(),
        )
    scale = np.zeros_like(diagonal)
    np.divide(1.0, np.sqrt(diagonal, where=diagonal > 0, out=np.ones_like(diagonal)), where=diagonal > 0, out=scale)
    return scale


def multiply(values: Matrix, left: Matrix, right: Matrix) -> None:
    """Multiply values by two factors each, joined first, which makes a Gram matrix symmetric to the last bit."""
    if float(left.max(initial=0.0)) * float(right.max(initial=0.0)) < np.inf:
        values *= left * right
        return
    # Somewhere both self-kernels are tiny, and so is the value: there a power of two goes from the factors to it.
    with np.errstate(over="ignore"):
        factors = left * right
    huge = np.isinf(factors)
    shift = 2.0**266
    factors[huge] = ((left / shift) * (right / shift))[huge]
    values[huge] *= shift**2
    values *= factors


def normalize(values: Matrix, left: Matrix, right: Matrix) -> int:
    """Multiply a matrix by one factor per row and column, and keep it in [-1, 1]; return what ``bound`` returns."""
    ready = values.flags.c_contiguous and values.dtype == np.float64
    finite = float(left.max(initial=0.0)) * float(right.max(initial=0.0)) < np.inf
    beyond = 0
    # In blocks, which keeps memory small, and lets Ctrl-C in between.
    rows = max(1, (_CELLS if ready and finite else _CELLS >> 4) // max(values.shape[1], 1))
    for start in range(0, len(values), rows):
        block, factors = values[start : start + rows], left[start : start + rows]
        if ready and finite:
            beyond += _core.kernels.scale_within_one(block, factors, right)
        else:
            multiply(block, factors[:, None], right)
            beyond += bound(block)
    return beyond


def bound(values: Matrix) -> int:
    """Keep normalized values in [-1, 1]; return how many were outside by more than rounding."""
    # Values of equal trees differ from their self-kernels by some twenty units in the last place, since sums are taken
    # in another order.
    one = 1.0 - 1e-14
    beyond = 0
    highest, lowest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    if max(highest, -lowest) > 1.0 + 1e-9:
        beyond = int((np.abs(values) > 1.0 + 1e-9).sum())
    if highest > one:
        np.copyto(values, 1.0, where=values > one)
    if lowest < -one:
        np.copyto(values, -1.0, where=values < -one)
    return beyond

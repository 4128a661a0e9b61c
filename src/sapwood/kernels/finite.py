"""Kernel values, and sums of them, that are too large for a number: which example is the cause, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import KernelError

__all__ = ["check_diagonal", "check_finite", "check_gram", "check_pairs"]


def check_finite(
    values: NDArray[np.float64], examples: NDArray[Any] | Sequence[int] | None = None, what: str = "kernel"
) -> None:
    """Raise if a value is infinite or not a number.

    Parameters
    ----------
    values : array of float
        One value, or one row of kernel values, per example.
    examples : sequence of int, optional
        The numbers of these examples; by default they are counted from 0.
    what : str
        What the values are, such as ``score``.
    """
    if _all_finite(values):
        return
    broken = ~np.isfinite(values)
    if values.ndim == 2:
        # What is too large shows in the columns of all others, but its own self-kernel is the cause.
        own = np.diagonal(broken)
        broken = own if values.shape[0] == values.shape[1] and own.any() else np.any(broken, axis=1)
    row = int(np.flatnonzero(broken)[0])
    _fail(f"the {what} of example {row if examples is None else int(examples[row])}")


def check_gram(K: NDArray[np.float64], *, square: bool) -> None:
    """Raise if a value of k(X), which is square, or of k(X, Y) is not finite; the message names both examples."""
    if _all_finite(K):
        return
    rows, columns = np.nonzero(~np.isfinite(K))
    if square and (rows == columns).any():
        check_diagonal(np.diagonal(K))
    row, column = int(rows[0]), int(columns[0])
    _fail(f"the kernel of example {row} with example {column}" + ("" if square else " of Y"))


def check_diagonal(diagonal: NDArray[np.float64], side: str = "") -> None:
    """Raise if the kernel of an example with itself is not finite; ``side`` is X or Y where there are two."""
    if not _all_finite(diagonal):
        row = int(np.flatnonzero(~np.isfinite(diagonal))[0])
        _fail(f"the kernel of example {row}{side and f' of {side}'} with itself")


def check_pairs(values: NDArray[np.float64]) -> None:
    """Raise if the kernel of an example of X with its partner in Y is not finite."""
    if not _all_finite(values):
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        _fail(f"the kernel of example {row} of X with its partner in Y")


def _all_finite(values: NDArray[np.float64]) -> bool:
    # The sum is the quickest way to see it. It may be too large where no value is.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def _fail(what: str) -> NoReturn:
    raise KernelError(
        f"{what} is not finite: it is too large for a number. Use a smaller decay, limit max_depth, or scale features "
        "down; kernel.normalized() helps only where the kernel of each example with itself is finite."
    )

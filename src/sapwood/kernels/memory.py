"""How much memory a Gram matrix will take, asked before anything is allocated."""

from __future__ import annotations

from sapwood.errors import TooLargeError
from sapwood.memory import available

__all__ = ["require"]


def require(rows: int, columns: int, *, arrays: int = 1) -> None:
    """Raise ``TooLargeError`` if so many float64 arrays of this shape will not fit."""
    needed = arrays * rows * columns * 8
    free = available()
    # Small results are not worth a check, and some systems do not say how much memory is free.
    if needed < 1 << 26 or free is None or needed <= 0.95 * free:
        return
    raise TooLargeError(
        f"a {rows:,} x {columns:,} Gram matrix needs {needed / 1e9:,.1f} GB but only {free / 1e9:,.1f} GB are free. "
        "Instead: compute it in blocks of rows with kernel(X[a:b], X), train on a subset, or describe every example by "
        "its kernel with a few hundred landmarks, sapwood.kernels.LandmarkMap(kernel), and train a linear model on it."
    )

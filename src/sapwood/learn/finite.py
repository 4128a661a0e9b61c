"""Kernel values, and what is added up of them, that are too large for a number: who is to blame, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import KernelError
from sapwood.kernels.base import Matrix

__all__ = ["check_finite"]


def check_finite(values: Matrix, examples: NDArray[Any] | Sequence[int] | None = None, what: str = "kernel") -> None:
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
    broken = ~np.isfinite(values)
    if not broken.any():
        return
    if values.ndim == 2:
        # What is too large shows in the columns of all others, but is to blame itself.
        own = np.diagonal(broken)
        broken = own if values.shape[0] == values.shape[1] and own.any() else np.any(broken, axis=1)
    row = int(np.flatnonzero(broken)[0])
    raise KernelError(
        f"the {what} of example {row if examples is None else int(examples[row])} is not finite; use "
        "kernel.normalized(), lower decay, or scale its features down."
    )

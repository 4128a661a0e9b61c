"""What counts as a number among parameters: Python's and NumPy's real ones, but no truth values."""

from __future__ import annotations

import math
from typing import TypeGuard

import numpy as np

__all__ = ["is_finite", "is_number"]


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a real number; truth values are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number that a float can hold: neither infinite nor NaN, nor too long an integer."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False

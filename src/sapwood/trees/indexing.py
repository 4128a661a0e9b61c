"""Positions in one-dimensional arrays, as NumPy takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.errors import DataError

__all__ = ["as_index"]


def as_index(key: Any, length: int) -> Any:
    """Check a slice, mask or list of positions."""
    if isinstance(key, slice):
        return key
    index = np.asarray(key)
    if index.size == 0 and index.dtype != np.bool_:
        return np.zeros(0, dtype=np.intp)
    if index.ndim != 1 or not (index.dtype == np.bool_ or np.issubdtype(index.dtype, np.integer)):
        raise DataError(f"cannot index trees with {key!r}; use an integer, a slice, a mask or a list of integers.")
    if index.dtype == np.bool_ and len(index) != length:
        raise IndexError(f"the mask has {len(index)} entries, the array {length} trees")
    if index.dtype != np.bool_ and (index.min() < -length or index.max() >= length):
        wrong = index[(index < -length) | (index >= length)][0]
        raise IndexError(f"index {wrong} is out of range for {length} trees")
    return index

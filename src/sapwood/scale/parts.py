"""Streams cut into parts: so many trees at a time, so that nothing ever holds all of them.

A part is what one worker gets at once. What is done with it belongs elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_count
from sapwood.errors import DataError
from sapwood.trees.array import TreeArray

__all__ = ["as_part", "in_parts"]

Part = tuple[TreeArray, NDArray[Any] | None]


def in_parts(trees: Iterable[Any], labels: Iterable[Any] | None = None, *, size: int = 10_000) -> Iterator[Part]:
    """Cut trees, and their labels, into parts.

    Parameters
    ----------
    trees : iterable
        Anything that gives trees one by one, such as a generator; it is read no further than the part in hand.
    labels : iterable, optional
        One label per tree.
    size : int
        How many trees a part has; the last one may have fewer.

    Examples
    --------
    >>> [(len(trees), labels.tolist()) for trees, labels in in_parts(["(A b)", "(A c)", "(A b)"], [1, 0, 1], size=2)]
    [(2, [1, 0]), (1, [1])]
    """
    check_count(size, "size")
    if isinstance(trees, TreeArray) and labels is None:
        for begin in range(0, len(trees), size):
            yield trees[begin : begin + size], None
        return
    source = iter(trees)
    names = None if labels is None else iter(labels)
    count = 0
    while block := list(islice(source, size)):
        count += len(block)
        if names is None:
            yield TreeArray(block), None
            continue
        given = list(islice(names, len(block)))
        if len(given) < len(block):
            raise DataError(f"there are at least {count} trees but only {count - len(block) + len(given)} labels.")
        yield TreeArray(block), np.asarray(given)
    if names is not None and next(names, None) is not None:
        raise DataError(f"there are {count} trees but more labels; give one label per tree.")


def as_part(value: Any) -> Part:
    """Check what is given as a part: trees, or a pair of trees and labels."""
    trees, labels = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    array = TreeArray(trees)
    if labels is None:
        return array, None
    names = np.asarray(labels)
    if names.shape != (len(array),):
        raise DataError(f"a part has {len(array)} trees but labels of shape {names.shape}; give one label per tree.")
    if names.dtype.kind not in "OUbiuf":
        raise DataError(f"labels of type {names.dtype} cannot be stored; use text or numbers.")
    return array, names.astype(str) if names.dtype.kind == "O" else names

"""What tasks on sentences do with their input: check what they learn from, and cut streams into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from sapwood.errors import DataError
from sapwood.trees.tree import Tree

__all__ = ["check_annotated", "in_batches"]

Item = TypeVar("Item")

# Sentences that are parsed together.
_BATCH = 64


def check_annotated(X: Any, kind: type[Item], hint: str) -> list[Item]:
    """Return training data as a list, or raise naming what is not an object of this class.

    >>> check_annotated([0.5, "2"], float, "not text")
    Traceback (most recent call last):
    sapwood.errors.DataError: element 1 is a str; expected a float, not text.
    """
    if isinstance(X, (str, Tree, kind)) or not isinstance(X, Iterable):
        raise DataError(f"expected a list of {kind.__name__}, got one {type(X).__name__}.")
    data = list(X)
    for number, one in enumerate(data):
        if not isinstance(one, kind):
            raise DataError(f"element {number} is a {type(one).__name__}; expected a {kind.__name__}, {hint}.")
    return data


def in_batches(items: Iterable[Item], size: int = _BATCH) -> Iterator[list[Item]]:
    """Cut a stream into lists of this size, the last one perhaps shorter.

    >>> list(in_batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    source = iter(items)
    return iter(lambda: list(islice(source, size)), [])

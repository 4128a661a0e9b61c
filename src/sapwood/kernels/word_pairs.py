"""Which words of two trees carry their similarity: for kernels that look into words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["WordPair", "weigh_pairs"]

# Pairs that are weighed, the most similar first; each takes a kernel value of its own.
_MOST_PAIRS = 2000


@dataclass(frozen=True)
class WordPair:
    """Two words, and what the fragments are worth in which one stands for the other.

    Attributes
    ----------
    first, second : int
        Which leaves of the two trees, from 0.
    words : pair of str
    similarity : float
        σ of the two.
    weight : float
        What the kernel value would lose if the two were not similar at all: the weight of all shared fragments that
        hold both. A fragment with several words counts for each of them, so these weights do not add up to the value.
    view : str, optional
        The view of ``Examples`` they are found in.
    """

    first: int
    second: int
    words: tuple[str, str]
    similarity: float
    weight: float
    view: str | None = None

    def __str__(self) -> str:
        return f"{self.words[0]} ({self.first}) ~ {self.words[1]} ({self.second})"

    def scaled(self, factor: float, view: str | None) -> WordPair:
        """Return the pair as part of a larger kernel."""
        return replace(self, weight=factor * self.weight, view=view)


def weigh_pairs(
    similarities: NDArray[np.float64],
    value: Callable[[NDArray[np.float64]], float],
    words: tuple[list[str], list[str]],
    places: tuple[Any, Any],
) -> list[WordPair]:
    """Take one similarity after the other away, and see what the value loses.

    Parameters
    ----------
    similarities : array of shape (words of the first tree, words of the second)
    value : function
        The kernel value by the similarities of words.
    words, places : pairs of sequences
        The words and the leaves they stand on.
    """
    whole = value(similarities)
    order = np.argsort(-np.abs(similarities), axis=None)[:_MOST_PAIRS]
    found = []
    for row, column in zip(*np.unravel_index(order, similarities.shape), strict=True):
        similar = float(similarities[row, column])
        if similar == 0.0:
            break
        less = similarities.copy()
        less[row, column] = 0.0
        lost = whole - value(less)
        if abs(lost) > 1e-12 * abs(whole):
            pair = words[0][row], words[1][column]
            found.append(WordPair(int(places[0][row]), int(places[1][column]), pair, similar, lost))
    return found

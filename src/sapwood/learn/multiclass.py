"""Several classes by way of two: one class against the rest ("ovr"), or one against one with votes ("ovo").

Outputs are one column per binary problem. Two classes are one problem, in which the second class is positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels.base import Matrix

__all__ = ["SCHEMES", "TwoClasses", "binary_problems", "class_scores", "output_count", "score_combination"]

SCHEMES = ("ovr", "ovo")


class TwoClasses(NamedTuple):
    """A binary problem: positions of its examples, which of them are on the positive side, and a name."""

    rows: NDArray[np.intp]
    positive: NDArray[np.bool_]
    name: str


def output_count(classes: int, scheme: str) -> int:
    """Return how many binary problems there are."""
    if classes == 2:
        return 1
    return classes * (classes - 1) // 2 if scheme == "ovo" else classes


def binary_problems(targets: NDArray[np.intp], names: list[Any], scheme: str) -> Iterator[TwoClasses]:
    """Divide the classification of examples, whose classes are numbers, into problems of two classes."""
    if scheme == "ovo" and len(names) > 2:
        for first, second in combinations(range(len(names)), 2):
            rows = np.flatnonzero((targets == first) | (targets == second))
            yield TwoClasses(rows, targets[rows] == first, f"{names[first]!r} against {names[second]!r}")
    else:
        for number in [1] if len(names) == 2 else range(len(names)):
            yield TwoClasses(np.arange(len(targets)), targets == number, f"{names[number]!r}")


def class_scores(outputs: Matrix, classes: int, scheme: str) -> Matrix:
    """Return one score per example and class, or one per example for two classes.

    Votes count first; a share below one half orders equal votes by confidence.
    """
    if classes == 2:
        return outputs[:, 0]
    if scheme == "ovr":
        return outputs
    votes = np.zeros((len(outputs), classes))
    confidence = np.zeros_like(votes)
    for column, (first, second) in enumerate(combinations(range(classes), 2)):
        margin = outputs[:, column]
        votes[:, first] += margin > 0
        votes[:, second] += margin <= 0
        confidence[:, first] += margin
        confidence[:, second] -= margin
    return np.asarray(votes + confidence / (3 * (np.abs(confidence) + 1)))


def score_combination(chosen: int, classes: int, scheme: str) -> Matrix:
    """Return the factor of each output in the score of a class; with "ovo", the sum of its margins."""
    if classes == 2:
        return np.array([1.0 if chosen == 1 else -1.0])
    if scheme == "ovr":
        return np.asarray(np.eye(classes)[chosen])
    return np.array([float(one == chosen) - float(other == chosen) for one, other in combinations(range(classes), 2)])

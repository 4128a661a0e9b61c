"""How often the wrong tree of a forest is chosen, in all and per word class, and the choice to be beaten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.parse.forests import FOOT_CLASSES, word_classes
from sapwood.parse.incremental import Forests

__all__ = ["AttachmentErrors", "choices", "evaluate", "frequency_utility"]


@dataclass(frozen=True)
class AttachmentErrors(HtmlTable):
    """Errors over forests.

    Attributes
    ----------
    forests, wrong : dict of str to int
        Forests per word class, and those whose right tree is not ranked strictly first (L₁ of eq. 8).
    pairs, wrong_pairs : int
        Pairs of the right tree and another one, and those in which the other one is not worse (eq. 14).
    """

    forests: dict[str, int]
    wrong: dict[str, int]
    pairs: int
    wrong_pairs: int

    @property
    def error(self) -> float:
        """The share of wrong forests."""
        total = sum(self.forests.values())
        return sum(self.wrong.values()) / total if total else float("nan")

    @property
    def pair_error(self) -> float:
        """The share of wrong pairs."""
        return self.wrong_pairs / self.pairs if self.pairs else float("nan")

    def of(self, word_class: str) -> float:
        """Return the share of wrong forests of one class; NaN if it has none."""
        count = self.forests.get(word_class, 0)
        return self.wrong.get(word_class, 0) / count if count else float("nan")

    def __add__(self, other: AttachmentErrors) -> AttachmentErrors:
        names = {**self.forests, **other.forests}
        return AttachmentErrors(
            {name: self.forests.get(name, 0) + other.forests.get(name, 0) for name in names},
            {name: self.wrong.get(name, 0) + other.wrong.get(name, 0) for name in names},
            self.pairs + other.pairs,
            self.wrong_pairs + other.wrong_pairs,
        )


def evaluate(
    forests: Forests, utility: NDArray[np.float64], classes: Mapping[str, Iterable[str]] = FOOT_CLASSES
) -> AttachmentErrors:
    """Count the errors of a choice by utility.

    Parameters
    ----------
    forests : Forests
        What there is to choose from. A forest without the right tree counts as an error.
    utility : array of float, shape (trees,)
        How good each tree is thought to be. Another tree with the same utility as the right one is an error: who knows
        nothing is never right by luck.
    classes : mapping of str to iterable of str
        Tags per word class.

    Examples
    --------
    >>> from sapwood.parse.incremental import ConnectionPaths
    >>> trees = ["(S (NP PRP) (VP VBD (NP NN) (PP IN)))", "(S (NP PRP) (VP VBD (NP NN (PP IN))))"]
    >>> forests = ConnectionPaths.from_trees(trees).forests(trees)
    >>> result = evaluate(forests, forests.depth.astype(float))
    >>> result.error, result.of("preposition"), result.wrong_pairs
    (0.5, 0.5, 1)
    """
    if len(utility) != len(forests.trees):
        raise DataError(f"there are {len(forests.trees)} trees but {len(utility)} utilities; expected one each.")
    if np.isnan(utility).any():
        raise DataError(f"the utility of tree {int(np.isnan(utility).argmax())} is NaN; every tree needs a number.")
    names = word_classes(forests.feet, classes)
    counts = {name: 0 for name in (*classes, "other")}
    wrong = dict(counts)
    if not len(forests):
        return AttachmentErrors(counts, wrong, 0, 0)
    begins = forests.ends - forests.sizes
    known = forests.gold >= 0
    right = np.where(known, utility[np.minimum(begins + np.maximum(forests.gold, 0), len(utility) - 1)], -np.inf)
    # The right tree itself is one of those that are not worse than it.
    rivals = np.add.reduceat(utility >= np.repeat(right, forests.sizes), begins) - known
    for name, failed in zip(names.tolist(), (rivals > 0).tolist(), strict=True):
        counts[name] += 1
        wrong[name] += failed
    return AttachmentErrors(counts, wrong, int((forests.sizes - 1)[known].sum()), int(rivals[known].sum()))


def choices(forests: Forests, utility: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each forest the tree of highest utility, counted within the forest; the first of equals."""
    if len(utility) != len(forests.trees):
        raise DataError(f"there are {len(forests.trees)} trees but {len(utility)} utilities; expected one each.")
    begins = (forests.ends - forests.sizes).tolist()
    return np.array(
        [int(np.argmax(utility[begin:end])) for begin, end in zip(begins, forests.ends.tolist(), strict=True)],
        dtype=np.int64,
    )


def frequency_utility(forests: Forests, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Prefer the path seen most often, and of its anchors the lowest: what any learner should beat.

    Parameters
    ----------
    forests : Forests
        What there is to choose from.
    counts : array of float
        ``ConnectionPaths.counts`` of the grammar that made them.
    """
    if not len(forests.trees):
        return np.zeros(0)
    if np.ndim(counts) != 1 or (len(counts) and int(forests.path.max()) >= len(counts)):
        raise DataError("counts must be those of the grammar that made the forests: one number per path.")
    seen = np.where(forests.path >= 0, counts[np.maximum(forests.path, 0)] if len(counts) else 0.0, 0.0)
    utility: NDArray[np.float64] = seen + forests.depth / (1.0 + forests.depth.max())
    return utility

"""Scores of predicted labels: accuracy, and F1 summed over decisions (micro-F1), with the counts of every class.

For single figures scikit-learn has ``accuracy_score`` and ``f1_score``; here are the counts, which tables are made of.
Labels may be anything that can be compared and hashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from sapwood.errors import DataError
from sapwood.metrics.counts import Counts
from sapwood.notebook import HtmlTable

__all__ = ["LabelScores", "score_labels"]


@dataclass(frozen=True)
class LabelScores(HtmlTable):
    """Accuracy, micro-F1 and the counts of every class.

    Attributes
    ----------
    count : int
        Labels compared.
    accuracy : float
        Share of right labels, the ignored classes included.
    micro : Counts
        Counts summed over the classes that are not ignored.
    classes : dict
        The counts per class, ignored ones included.
    """

    count: int
    accuracy: float
    micro: Counts
    classes: dict[Any, Counts]


def score_labels(
    gold: Iterable[Hashable], predicted: Iterable[Hashable], *, ignore: Collection[Hashable] = ()
) -> LabelScores:
    """Compare predicted labels with gold ones.

    Parameters
    ----------
    gold, predicted : iterables of labels
        In the same order, equally many.
    ignore : collection of labels
        Classes that micro-F1 leaves out, such as "no role". Without any, micro precision, recall and F1 all equal the
        accuracy.

    Examples
    --------
    >>> scores = score_labels(["NUM", "LOC", "NONE", "HUM"], ["NUM", "HUM", "HUM", "HUM"], ignore=["NONE"])
    >>> scores.accuracy, scores.micro.precision, round(scores.micro.recall, 3)
    (0.5, 0.5, 0.667)
    """
    pairs = _pairs(gold, predicted)
    correct = Counter(label for label, guess in pairs if label == guess)
    golds, guesses = Counter(label for label, _ in pairs), Counter(guess for _, guess in pairs)
    labels = sorted(golds.keys() | guesses.keys(), key=lambda label: (str(type(label)), str(label)))
    classes = {label: Counts(correct[label], guesses[label], golds[label]) for label in labels}
    counted = [score for label, score in classes.items() if label not in set(ignore)]
    return LabelScores(len(pairs), correct.total() / len(pairs), sum(counted, Counts(0, 0, 0)), classes)


def _pairs(gold: Iterable[Hashable], predicted: Iterable[Hashable]) -> list[tuple[Hashable, Hashable]]:
    golds, guesses = _listed(gold), _listed(predicted)
    if len(golds) != len(guesses):
        raise DataError(f"there are {len(golds)} gold labels but {len(guesses)} predicted ones; expected equally many.")
    if not golds:
        raise DataError("there is no label to score; pass at least one pair.")
    return list(zip(golds, guesses, strict=True))


def _listed(labels: Iterable[Hashable]) -> list[Hashable]:
    # NumPy scalars and Python values of the same content must meet in the counts.
    return [label.item() if hasattr(label, "item") else label for label in labels]

"""Scores of predicted labels: accuracy, and F1 summed over decisions (micro-F1), with a table per class.

Labels may be anything that can be compared and hashed. Scores of trees, rankings and spans live in modules of their
own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable

__all__ = ["ClassScore", "LabelScores", "accuracy", "micro_f1", "score_labels"]


@dataclass(frozen=True)
class ClassScore(HtmlTable):
    """The counts of one class: predicted rightly, predicted, in the gold standard."""

    correct: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """Rightly predicted among predicted; 0 if it was never predicted."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Rightly predicted among gold; 0 if the gold standard lacks it."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0


@dataclass(frozen=True)
class LabelScores(HtmlTable):
    """Accuracy, micro-F1 and the counts of every class.

    Attributes
    ----------
    count : int
        Labels compared.
    accuracy : float
        Share of right labels, the ignored classes included.
    micro : ClassScore
        Counts summed over the classes that are not ignored.
    classes : dict
        The counts per class, ignored ones included.
    """

    count: int
    accuracy: float
    micro: ClassScore
    classes: dict[Any, ClassScore]


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
    classes = {label: ClassScore(correct[label], guesses[label], golds[label]) for label in labels}
    counted = [score for label, score in classes.items() if label not in set(ignore)]
    micro = ClassScore(
        sum(score.correct for score in counted),
        sum(score.predicted for score in counted),
        sum(score.gold for score in counted),
    )
    return LabelScores(len(pairs), correct.total() / len(pairs), micro, classes)


def accuracy(gold: Iterable[Hashable], predicted: Iterable[Hashable]) -> float:
    """Return the share of right labels.

    >>> accuracy(["NUM", "LOC"], ["NUM", "HUM"])
    0.5
    """
    return score_labels(gold, predicted).accuracy


def micro_f1(gold: Iterable[Hashable], predicted: Iterable[Hashable], *, ignore: Collection[Hashable] = ()) -> float:
    """Return F1 summed over all decisions but those of the ignored classes; see ``score_labels``.

    >>> micro_f1(["A0", "NONE", "A1"], ["A0", "A1", "NONE"], ignore=["NONE"])
    0.5
    """
    return score_labels(gold, predicted, ignore=ignore).micro.f1


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

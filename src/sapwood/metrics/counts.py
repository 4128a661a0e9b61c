"""What was right, what was predicted and what there is: the counts behind precision, recall and F1."""

from __future__ import annotations

from dataclasses import dataclass

from sapwood.notebook import HtmlTable

__all__ = ["Counts"]


@dataclass(frozen=True)
class Counts(HtmlTable):
    """Counts of one class, or of several together; points where items are not worth the same.

    Attributes
    ----------
    correct, predicted, gold : float
        Predicted rightly, predicted at all, in the gold standard.

    Examples
    --------
    >>> score = Counts(1, 2, 2) + Counts(1, 2, 1)
    >>> score.precision, round(score.recall, 3), round(score.f1, 3)
    (0.5, 0.667, 0.571)
    """

    correct: float
    predicted: float
    gold: float

    @property
    def precision(self) -> float:
        """Right among predicted; 0 if nothing was predicted."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Right among gold; 0 if the gold standard has nothing."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.correct + other.correct, self.predicted + other.predicted, self.gold + other.gold)

"""Words as they are meant where they stand: similarity of two occurrences by the vectors that trees carry on leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sapwood.checks import check_amount
from sapwood.errors import DataError, ParameterError
from sapwood.words.base import Comparison, WordScaled, WordSimilarity, WordSum

__all__ = ["Contextual", "Mixture", "mixture"]


class Contextual(WordSimilarity):
    """Similarity of two occurrences of words, by the vectors on the leaves of trees (``TreeArray.with_vectors``).

    With c the cosine of the two vectors, σ is exp(sharpness · (c − 1)): 1 for equal directions, less for others, never
    negative. Without a sharpness it is c itself. Both are positive semi-definite; a cosine cut off at 0 would not be. A
    word whose vector is zero is 1 with itself and 0 with all others.

    It can be weighted and added to a dictionary: ``0.5 * Contextual() + 0.5 * WordNet()``.

    Parameters
    ----------
    sharpness : float, optional
        How fast similarity falls with the angle, at most 60; None keeps the cosine.

    Examples
    --------
    >>> import sapwood as sw
    >>> trees = sw.TreeArray(["(NN bank)", "(NN bank)", "(NN shore)"]).with_vectors([[1, 0], [0, 1], [0.6, 0.8]])
    >>> sw.kernels.SemanticSubsetTree(Contextual(sharpness=None), decay=1.0)(trees).round(3)
    array([[1. , 0. , 0.6],
           [0. , 1. , 0.8],
           [0.6, 0.8, 1. ]])
    """

    def __init__(self, *, sharpness: float | None = 4.0) -> None:
        if sharpness is not None:
            check_amount(sharpness, "sharpness")
            if not 0 < sharpness <= 60:
                raise ParameterError(f"sharpness must be None or a number in (0, 60], got {sharpness!r}.")
        self.sharpness = sharpness

    @property
    def is_psd(self) -> bool:
        """Always True: dot products of vectors are, and so are exponentials of them."""
        return True

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Raise: words have no vectors outside of their sentences."""
        raise DataError(
            f"{self!r} compares words where they stand, by the vectors on the leaves of trees, and not words alone; "
            "use it in SemanticSubsetTree or SmoothedPartialTree."
        )


class Mixture(NamedTuple):
    """A similarity as a sum: a dictionary, if there is one, and a weight times what context says."""

    dictionary: WordSimilarity | None
    weight: float
    contextual: Contextual | None


def mixture(similarity: WordSimilarity) -> Mixture:
    """Take a sum apart; raise where words in context are inside of anything but weights and sums.

    >>> mixture(0.5 * Contextual()).weight
    0.5
    """
    match similarity:
        case Contextual():
            return Mixture(None, 1.0, similarity)
        case WordScaled():
            inner = mixture(similarity.similarity)
            dictionary = None if inner.dictionary is None else similarity.weight * inner.dictionary
            return Mixture(dictionary, float(similarity.weight) * inner.weight, inner.contextual)
        case WordSum():
            return _sum(mixture(similarity.first), mixture(similarity.second))
    if _holds_context(similarity):
        raise ParameterError(
            "Contextual can be weighted and added to other similarities, but not be part of a "
            f"{type(similarity).__name__}."
        )
    return Mixture(similarity, 0.0, None)


def _sum(first: Mixture, second: Mixture) -> Mixture:
    both = [one.contextual for one in (first, second) if one.contextual is not None]
    if len(both) == 2 and both[0] != both[1]:
        raise ParameterError("a sum of similarities can hold Contextual with one sharpness only.")
    parts = [one.dictionary for one in (first, second) if one.dictionary is not None]
    dictionary = WordSum(parts[0], parts[1]) if len(parts) == 2 else parts[0] if parts else None
    return Mixture(dictionary, first.weight + second.weight, both[0] if both else None)


def _holds_context(value: Any) -> bool:
    if isinstance(value, Contextual):
        return True
    return isinstance(value, WordSimilarity) and any(_holds_context(part) for part in value._arguments().values())

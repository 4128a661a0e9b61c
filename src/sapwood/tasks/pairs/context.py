"""How far two sentences mean the same by the vectors of their words in context: means, and each word's best partner.

No trees here. Cosines are taken between the vectors that an encoder gives to words where they stand, so that any word
can be the partner of any other, and a word that both sentences have may be meant in two ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.tasks.pairs.lexical import Rarity, is_word

__all__ = ["CONTEXT_NAMES", "context_features"]

Matrix = NDArray[np.float64]
# The leaves of a sentence and their vectors, one row each.
Encoded = tuple[Sequence[str], NDArray[Any]]

CONTEXT_NAMES = (
    "mean",
    "rare_mean",
    "unshared_mean",
    "aligned",
    "rare_aligned",
    "rare_less_aligned",
    "rarest_unaligned",
    "unaligned",
    "mutual",
    "shared_words",
)
"""What is measured of every pair, in this order; 1 means the same, but 0 does for the two with *unaligned* in them.

``mean``, ``rare_mean`` and ``unshared_mean`` are cosines of mean vectors: of all leaves; of words by their rarity; and
of words by their rarity that the other sentence does not have. ``aligned`` and ``rare_aligned`` are the mean cosine of
a word and its best partner, plain and by rarity, over both directions; ``rare_less_aligned`` is that of the direction
in which it is less. ``rarest_unaligned`` is the largest rarity · (1 − cosine), ``unaligned`` the share of words, by
rarity, without a partner of cosine 0.7. ``mutual`` is the share of words that are the best partner of their best
partner, and ``shared_words`` the mean cosine of words that both sentences have.
"""

_PARTNERS = 0.7


def context_features(first: Sequence[Encoded], second: Sequence[Encoded], rarity: Rarity) -> Matrix:
    """Measure every pair of sentences, given by leaves and vectors: one column per entry of ``CONTEXT_NAMES``.

    >>> bank = ["the", "bank"], np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> shore = ["shore"], np.array([[0.6, 0.8]])
    >>> row = context_features([bank], [shore], Rarity.learn([["the", "bank"], ["the", "shore"]]))[0]
    >>> round(row[CONTEXT_NAMES.index("aligned")].item(), 3)  # (0.6 + 0.8)/2 one way, 0.8 the other
    0.75
    """
    result = np.zeros((len(first), len(CONTEXT_NAMES)))
    for row, pair in enumerate(zip(first, second, strict=True)):
        a, b = (_Sentence(*sentence, rarity) for sentence in pair)
        # A sentence without words is 0 with everything.
        if a.words and b.words:
            result[row] = _measure(a, b)
    return result


class _Sentence:
    """The words of a sentence in lower case, how rare they are, their vectors, and the mean of all leaves."""

    def __init__(self, leaves: Sequence[str], vectors: NDArray[Any], rarity: Rarity) -> None:
        places = [at for at, leaf in enumerate(leaves) if is_word(leaf)]
        self.words = [leaves[at].lower() for at in places]
        self.weights = np.array([rarity[word] for word in self.words])
        vectors = vectors.astype(np.float64)
        self.vectors = vectors[places]
        self.mean = _unit(vectors.sum(axis=0))

    def weighted_mean(self, chosen: Any = slice(None)) -> Matrix:
        """Return the direction of the mean of some words by rarity; 0 for none."""
        return _unit(self.weights[chosen] @ self.vectors[chosen])


def _measure(a: _Sentence, b: _Sentence) -> tuple[float, ...]:
    cosines = _unit(a.vectors) @ _unit(b.vectors).T
    # The best partners of the words of a, then of b.
    best_a, best_b = cosines.max(axis=1), cosines.max(axis=0)
    best, weights = np.concatenate([best_a, best_b]), np.concatenate([a.weights, b.weights])
    by_rarity = [side @ one.weights / one.weights.sum() for side, one in ((best_a, a), (best_b, b))]
    mutual = (cosines == best_a[:, None]) & (cosines == best_b)
    same = np.array([[word == other for other in b.words] for word in a.words])
    only_a, only_b = ~same.any(axis=1), ~same.any(axis=0)
    unshared = a.weighted_mean(only_a) @ b.weighted_mean(only_b) if only_a.any() or only_b.any() else 1.0
    return (
        float(a.mean @ b.mean),
        float(a.weighted_mean() @ b.weighted_mean()),
        float(unshared),
        float(best_a.mean() + best_b.mean()) / 2,
        float(sum(by_rarity)) / 2,
        float(min(by_rarity)),
        float((weights * (1.0 - best)).max()),
        float(weights[best < _PARTNERS].sum() / weights.sum()),
        float(mutual.any(axis=1).sum() + mutual.any(axis=0).sum()) / len(best),
        float(cosines[same].mean()) if same.any() else 0.0,
    )


def _unit(vectors: Matrix) -> Matrix:
    """Return vectors at length 1, and zeros as they are."""
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))

"""Losses of rankings: is the best element of each group among the first r, and how often is a worse one preferred?

A group is the set of alternatives for one sentence. Both losses are those of Menchetti et al. (2005), eqs. 8 and
13-14. How good the chosen parses are is the business of ``parseval``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable

__all__ = ["RankingScores", "score_ranking"]


@dataclass(frozen=True, eq=False)
class RankingScores(HtmlTable):
    """Ranking losses over all groups.

    Attributes
    ----------
    groups : int
        Groups scored.
    setwise : dict of int to float
        L_r for each r asked for: the share of groups whose best element is not among the first r.
    pairwise : float
        The share of pairs (best element, worse element) in which the worse one is preferred.
    pairs, wrong_pairs : int
        Those pairs, and how many of them are wrong (eq. 14 counts the latter).
    ranks : array of int
        The rank of the best element of each group, in order of appearance.
    """

    groups: int
    setwise: dict[int, float]
    pairwise: float
    pairs: int
    wrong_pairs: int
    ranks: NDArray[np.int64] = field(repr=False)

    @property
    def mean_rank(self) -> float:
        """The mean rank of the best element."""
        return float(np.mean(self.ranks))


def score_ranking(relevance: Any, scores: Any, *, groups: Any, at: Sequence[int] = (1, 2, 3, 5, 10)) -> RankingScores:
    """Score a ranking of alternatives.

    Parameters
    ----------
    relevance : array of float, shape (n,)
        How good each element truly is; larger is better. Several best elements of a group count as equally good.
    scores : array of float, shape (n,)
        How good the model thinks it is (its utility); larger is better.
    groups : array, shape (n,)
        Which group each element belongs to.
    at : sequence of int
        The r for which L_r is wanted.

    Notes
    -----
    The rank of an element is the number of elements of its group with at least its score (the paper's Heaviside
    function has h(0) = 1): a tie counts against the model, so a model that scores everything alike is never right by
    luck. Among several best elements, the one ranked highest counts, and they do not count against each other.

    Examples
    --------
    >>> result = score_ranking([3, 1, 2, 0, 5], [0.9, 0.1, 0.95, 0.3, 0.2], groups=[7, 7, 7, 8, 8], at=(1, 2))
    >>> result.setwise, result.wrong_pairs, result.pairs
    ({1: 1.0, 2: 0.0}, 2, 3)
    """
    for rank in at:
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
            raise ParameterError(f"at must hold integers of at least 1, got {rank!r}.")
    ranks, wrong, pairs = _ranks(relevance, scores, groups)
    return RankingScores(
        groups=len(ranks),
        setwise={rank: float(np.mean(ranks > rank)) for rank in at},
        pairwise=wrong / pairs if pairs else 0.0,
        pairs=pairs,
        wrong_pairs=wrong,
        ranks=ranks,
    )


def _ranks(relevance: Any, scores: Any, groups: Any) -> tuple[NDArray[np.int64], int, int]:
    truth, guess = _numbers(relevance, "relevance"), _numbers(scores, "scores")
    members: dict[Any, list[int]] = {}
    if not isinstance(groups, Iterable):
        raise DataError(f"groups must say for each element which group it belongs to, got {groups!r}.")
    listed = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if not len(truth) == len(guess) == len(listed):
        raise DataError(
            f"relevance has {len(truth)} elements, scores {len(guess)} and groups {len(listed)}; expected equally many."
        )
    for index, group in enumerate(listed):
        members.setdefault(group, []).append(index)
    if not members:
        raise DataError("there is nothing to rank; pass at least one group.")
    ranks, wrong, pairs = [], 0, 0
    for indices in members.values():
        best = truth[indices] == truth[indices].max()
        top, others = guess[indices][best].max(), guess[indices][~best]
        ranks.append(1 + int(np.sum(others >= top)))
        # A pair is wrong unless the best element is strictly preferred, in line with the ranks.
        wrong += int(np.sum(others >= top))
        pairs += len(others)
    return np.array(ranks, dtype=np.int64), wrong, pairs


def _numbers(values: Any, name: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise DataError(f"{name} must be one number per element, got an array of shape {array.shape}.")
    if np.isnan(array).any():
        raise DataError(f"{name} holds NaN at index {int(np.isnan(array).argmax())}; every element needs a number.")
    return array

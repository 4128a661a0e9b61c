"""Groups of alternatives: which rows compete with each other, checks of their relevance, and what all rankers answer.

How utilities are learnt belongs to the rankers; losses are in ``sapwood.metrics.ranking``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sapwood.errors import DataError
from sapwood.fitting import SequenceInput
from sapwood.kernels.base import Matrix
from sapwood.kernels.data import as_data
from sapwood.metrics.ranking import score_ranking

__all__ = ["Groups", "RankerMixin", "add_up", "check_relevance", "from_ranks", "make_groups", "softmax_in_groups"]


@dataclass(frozen=True)
class Groups:
    """Rows by group, whatever their order in the data.

    Attributes
    ----------
    rows : array of int
        Positions of the rows, group after group; groups by their first row, rows of a group in their own order.
    ends : array of int
        Where each group ends in ``rows``.
    """

    rows: NDArray[np.intp]
    ends: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def begins(self) -> NDArray[np.intp]:
        """Where each group begins in ``rows``."""
        return np.concatenate([np.zeros(1, dtype=np.intp), self.ends[:-1]]) if len(self.ends) else self.ends

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many rows each group has."""
        return self.ends - self.begins

    def numbers(self) -> NDArray[np.intp]:
        """Return the number of the group of each entry of ``rows``."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def select(self, chosen: NDArray[np.intp]) -> Groups:
        """Return some of the groups, in the given order."""
        begins = self.begins
        parts = [self.rows[begins[g] : self.ends[g]] for g in chosen.tolist()]
        ends = np.cumsum([len(part) for part in parts], dtype=np.intp)
        return Groups(np.concatenate(parts) if parts else self.rows[:0], ends)

    def instructive(self, relevance: Matrix) -> NDArray[np.intp]:
        """Return the numbers of the groups in which something is better than something else."""
        if not len(self):
            return np.zeros(0, dtype=np.intp)
        values, begins = relevance[self.rows], self.begins
        return np.flatnonzero(np.maximum.reduceat(values, begins) > np.minimum.reduceat(values, begins))


def make_groups(groups: Any, count: int) -> Groups:
    """Check which group each of ``count`` rows belongs to; rows of a group need not stand together."""
    if groups is None:
        raise DataError(
            "a ranker needs groups: pass groups= with one entry per row that says which rows compete with each other. "
            "In cross-validation, route them: set_fit_request(groups=True), set_score_request(groups=True)."
        )
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise DataError(f"groups must say for each row which group it belongs to, got {groups!r}.")
    listed = groups if isinstance(groups, np.ndarray) else np.asarray(_as_list(groups))
    if listed.ndim != 1:
        raise DataError(f"groups must have one entry per row, got shape {listed.shape}.")
    if len(listed) != count:
        raise DataError(f"X has {count} examples but groups has {len(listed)} entries; they must be the same.")
    if listed.dtype.kind == "f" and np.isnan(listed).any():
        raise DataError(f"groups[{int(np.flatnonzero(np.isnan(listed))[0])}] is NaN; every row needs a group.")
    try:
        _, first, inverse = np.unique(listed, return_index=True, return_inverse=True)
    except TypeError:
        # Names of several kinds cannot be sorted, but they can be looked up.
        seen: dict[Any, int] = {}
        inverse = np.array([seen.setdefault(name, len(seen)) for name in listed.tolist()], dtype=np.intp)
        first = np.arange(len(seen))
    place = np.empty(len(first), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(first))
    number = place[inverse]
    rows = np.argsort(number, kind="stable")
    return Groups(rows, np.cumsum(np.bincount(number, minlength=len(first)), dtype=np.intp))


def _as_list(groups: Any) -> Any:
    return groups.to_numpy() if hasattr(groups, "to_numpy") else list(groups)


def check_relevance(y: Any, count: int) -> Matrix:
    """Check the relevance of rows: one finite number each."""
    if y is None:
        raise DataError("fit needs targets: pass y with the relevance of each row; larger is better.")
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("y must be numbers: the relevance of each row, larger is better. See from_ranks.") from None
    if values.ndim != 1:
        raise DataError(f"y must have one dimension, got shape {values.shape}.")
    if len(values) != count:
        raise DataError(f"X has {count} examples but y has {len(values)} entries; they must be the same.")
    if not np.isfinite(values).all():
        raise DataError(f"y[{int(np.flatnonzero(~np.isfinite(values))[0])}] is NaN or infinite.")
    if not len(values):
        raise DataError("there is nothing to train on: X has no examples.")
    return values


def learnable_groups(X: Any, y: Any, groups: Any, *, required: bool = True) -> tuple[Matrix, Groups, int]:
    """Return the relevance of rows, the groups with rows of different relevance, and how many others there are."""
    relevance = check_relevance(y, X.shape[0])
    made = make_groups(groups, X.shape[0])
    useful = made.instructive(relevance)
    if required and not len(useful):
        raise DataError(
            "no group has rows of different relevance, so there is nothing to learn: y must be larger for the better "
            "rows of a group."
        )
    return relevance, made.select(useful), len(made) - len(useful)


def from_ranks(ranks: Any) -> Matrix:
    """Turn ranks, 1 for the best, into relevance, larger for better.

    Parameters
    ----------
    ranks : array of numbers
        Rank of each row in its group; smaller is better.

    Examples
    --------
    >>> from_ranks([1, 2, 3, 2, 1])
    array([2., 1., 0., 1., 2.])
    """
    values = np.asarray(ranks, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise DataError("ranks must be one finite number per row.")
    return values.max() - values if len(values) else values


def softmax_in_groups(scores: Matrix, groups: Groups) -> Matrix:
    """Return for each row the probability that it is the best of its group."""
    result = np.empty_like(scores)
    if not len(scores):
        return result
    ordered, begins, number = scores[groups.rows], groups.begins, groups.numbers()
    weights = np.exp(ordered - np.maximum.reduceat(ordered, begins)[number])
    result[groups.rows] = weights / np.add.reduceat(weights, begins)[number]
    return result


class RankerMixin(SequenceInput, ABC):
    """What every ranker answers once it can score rows with ``decision_function``."""

    @abstractmethod
    def decision_function(self, X: Any) -> Matrix:
        """Return the utility of each row; larger is better."""

    def predict(self, X: Any, groups: Any = None) -> NDArray[np.intp]:
        """Return the best row of each group.

        Parameters
        ----------
        X : TreeArray, Examples or list of trees
            Alternatives of one or more groups.
        groups : array
            The group of each row.

        Returns
        -------
        array of int
            One position in X per group, in order of the groups' first rows, so that ``X[ranker.predict(X, groups)]``
            are the chosen alternatives. Of equal utilities the first one wins.
        """
        check_is_fitted(self)
        X = as_data(X)
        made = make_groups(groups, X.shape[0])
        scores = self.decision_function(X)[made.rows]
        if not len(made):
            return np.zeros(0, dtype=np.intp)
        top = scores == np.maximum.reduceat(scores, made.begins)[made.numbers()]
        places = np.flatnonzero(top)
        _, first = np.unique(made.numbers()[places], return_index=True)
        return np.asarray(made.rows[places[first]])

    def predict_rank(self, X: Any, groups: Any = None) -> NDArray[np.intp]:
        """Return the rank of each row in its group, 1 for the best.

        The rank is the number of rows of the group with at least the same utility, so rows with equal utilities share
        the worse rank.
        """
        X = as_data(X)
        made = make_groups(groups, X.shape[0])
        scores, number = self.decision_function(X)[made.rows], made.numbers()
        order = np.lexsort((-scores, number))
        # In this order, a run of equal utilities in a group ends where the next entry differs.
        last = np.ones(len(order), dtype=bool)
        last[:-1] = (np.diff(number[order]) != 0) | (np.diff(scores[order]) != 0)
        ends = np.flatnonzero(last)
        run = np.searchsorted(ends, np.arange(len(order)))
        ranks = np.empty(len(order), dtype=np.intp)
        ranks[made.rows[order]] = ends[run] - made.begins[number[order]] + 1 if len(order) else 0
        return ranks

    def score(self, X: Any, y: Any, groups: Any = None) -> float:
        """Return 1 - L₁: the share of groups whose best row is ranked first; a tie with a worse row is an error."""
        X = as_data(X)
        relevance = check_relevance(y, X.shape[0])
        made = make_groups(groups, X.shape[0])
        scores = self.decision_function(X)[made.rows]
        return 1.0 - score_ranking(relevance[made.rows], scores, groups=made.numbers(), at=(1,)).setwise[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def add_up(rows: Any, weights: Any, count: int) -> Matrix:
    """Return the sum of the weights of each of ``count`` rows, added in the given order."""
    return np.asarray(np.bincount(np.asarray(rows, dtype=np.intp), weights, count), dtype=np.float64)

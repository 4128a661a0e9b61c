"""Log-linear models that choose one candidate of a set: softmax over the candidates, with an L2 penalty.

Several decisions may be between the same candidates (the roles of a frame choose from the spans of a sentence). A
feature has a weight shared by all decisions and one for each key of a decision, found by hashing the pair, so that the
product of features and keys is never stored. What the features are belongs to the tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood import settings
from sapwood._core import loglinear as _native
from sapwood.checks import check_amount, check_choice, check_count
from sapwood.errors import DataError, TooLargeError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.learn.parameters import check_seed
from sapwood.memory import available
from sapwood.notebook import HtmlTable
from sapwood.registry import Reader, Writer, register

__all__ = ["CandidateSets", "LogLinear"]

_Numbers = NDArray[np.uint32]
_Ends = NDArray[np.uint64]
_Arguments = tuple[_Numbers, _Ends, _Ends, _Ends, _Ends, _Numbers, _Numbers, int, int]

_MOST_GROUPS = 32
# L-BFGS keeps a dozen dense vectors of 64-bit numbers; beyond this table they take gigabytes.
_MOST_BITS_LBFGS = 22


@dataclass(frozen=True)
class CandidateSets(HtmlTable):
    """Sets of candidates, and the decisions between the candidates of each.

    Parameters
    ----------
    features : ndarray of uint32
        The features of all candidates (rows), one after the other: hashes of whatever they stand for.
    ends : ndarray of uint64, rows × groups
        Where the features of each group of each row end.
    row_ends : ndarray of uint64
        Where the rows of each set end. Every set with a decision has a row.
    role_ends : ndarray of uint64
        Where the decisions of each set end.
    key_ends : ndarray of uint64
        Where the keys of each decision end.
    keys, masks : ndarray of uint32
        The keys of the decisions, and which groups of features each is paired with: bit g stands for group g.
    shared : int
        Which groups have weights shared by all decisions, as a mask.

    Examples
    --------
    One set of two candidates with one feature each, and one decision:

    >>> sets = CandidateSets.of([[[11], [12]]], keys=[[[5]]])
    >>> sets
    CandidateSets(1 sets, 2 candidates, 1 decisions, 2 features)
    """

    features: NDArray[np.uint32]
    ends: NDArray[np.uint64]
    row_ends: NDArray[np.uint64]
    role_ends: NDArray[np.uint64]
    key_ends: NDArray[np.uint64]
    keys: NDArray[np.uint32]
    masks: NDArray[np.uint32]
    shared: int = 1

    def __post_init__(self) -> None:
        if self.ends.ndim != 2 or not 1 <= self.ends.shape[1] <= _MOST_GROUPS:
            raise DataError(f"ends must be rows × groups with 1 to {_MOST_GROUPS} groups, got {self.ends.shape}.")
        for name, kind in _KINDS.items():
            values = getattr(self, name)
            if name != "ends" and values.ndim != 1:
                raise DataError(f"{name} must have one dimension, got {values.ndim}.")
            if values.dtype != kind or not values.flags.c_contiguous:
                raise DataError(f"{name} must be a contiguous array of {np.dtype(kind)}, got {values.dtype}.")
        flat = self.ends.ravel()
        chain = (
            ("ends", flat, len(self.features)),
            ("row_ends", self.row_ends, len(self.ends)),
            ("role_ends", self.role_ends, len(self.key_ends)),
            ("key_ends", self.key_ends, len(self.keys)),
        )
        for name, values, total in chain:
            if (len(values) and int(values[-1]) != total) or (not len(values) and total):
                raise DataError(f"{name} must end at {total}, the number of what it divides.")
            if len(values) > 1 and bool((values[1:] < values[:-1]).any()):
                raise DataError(f"{name} must not descend.")
        if len(self.row_ends) != len(self.role_ends) or len(self.masks) != len(self.keys):
            raise DataError("row_ends and role_ends, and keys and masks, must be equally long.")
        if bool(((self.rows == 0) & (self.decisions > 0)).any()):
            raise DataError("a set has a decision and no candidate; give every set at least one.")

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[Sequence[int]]],
        keys: Sequence[Sequence[Sequence[int]]],
    ) -> CandidateSets:
        """Build sets from lists: ``rows[set][candidate]`` lists features, ``keys[set][decision]`` lists keys."""
        flat = [row for part in rows for row in part]
        decisions = [each for part in keys for each in part]
        return cls(
            np.array([feature for row in flat for feature in row], np.uint32),
            np.cumsum([len(row) for row in flat]).astype(np.uint64).reshape(-1, 1),
            np.cumsum([len(part) for part in rows]).astype(np.uint64),
            np.cumsum([len(part) for part in keys]).astype(np.uint64),
            np.cumsum([len(each) for each in decisions]).astype(np.uint64),
            np.array([key for each in decisions for key in each], np.uint32),
            np.ones(sum(map(len, decisions)), np.uint32),
        )

    @classmethod
    def joined(cls, parts: Sequence[CandidateSets]) -> CandidateSets:
        """Put sets one after the other."""
        if len({(part.shared, part.ends.shape[1]) for part in parts}) != 1:
            raise DataError("only sets with the same groups can be joined, and at least one is needed.")

        def chain(name: str, totals: Callable[[CandidateSets], int]) -> NDArray[np.uint64]:
            start = np.uint64(0)
            made = []
            for part in parts:
                made.append(getattr(part, name) + start)
                start += np.uint64(totals(part))
            return np.concatenate(made)

        return cls(
            np.concatenate([part.features for part in parts]),
            chain("ends", lambda part: len(part.features)),
            chain("row_ends", lambda part: len(part.ends)),
            chain("role_ends", lambda part: len(part.key_ends)),
            chain("key_ends", lambda part: len(part.keys)),
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.masks for part in parts]),
            parts[0].shared,
        )

    def __len__(self) -> int:
        return len(self.row_ends)

    def __repr__(self) -> str:
        return (
            f"CandidateSets({len(self):,} sets, {len(self.ends):,} candidates, {len(self.key_ends):,} decisions, "
            f"{len(self.features):,} features)"
        )

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The number of candidates of each set."""
        return _sizes(self.row_ends)

    @cached_property
    def decisions(self) -> NDArray[np.int64]:
        """The number of decisions of each set."""
        return _sizes(self.role_ends)

    def tables(self, scores: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Cut flat scores into one table of decisions × candidates per set."""
        start = 0
        for rows, decisions in zip(self.rows.tolist(), self.decisions.tolist(), strict=True):
            yield scores[start : start + rows * decisions].reshape(decisions, rows)
            start += rows * decisions

    def _arguments(self) -> _Arguments:
        ends, groups = self.ends.ravel(), self.ends.shape[1]
        return (
            self.features,
            ends,
            self.row_ends,
            self.role_ends,
            self.key_ends,
            self.keys,
            self.masks,
            self.shared,
            groups,
        )


def _sizes(ends: _Ends) -> NDArray[np.int64]:
    places = np.concatenate([[0], ends]).astype(np.int64)
    return places[1:] - places[:-1]


_KINDS = {
    "features": np.uint32,
    "ends": np.uint64,
    "row_ends": np.uint64,
    "role_ends": np.uint64,
    "key_ends": np.uint64,
    "keys": np.uint32,
    "masks": np.uint32,
}


class LogLinear(SequenceInput, BaseEstimator):
    """A log-linear model over candidate sets.

    Minimises the sum of the negative log-probabilities of the right candidates plus λ times the squared length of the
    weights.

    Parameters
    ----------
    alpha : float
        λ.
    solver : {"adagrad", "lbfgs"}
        ``adagrad`` goes through the sets a few times and suits any size; ``lbfgs`` (SciPy) finds the optimum of small
        problems.
    bits : int
        The table has two to this power of weights; pairs of feature and key that fall on the same place share one.
    learning_rate : float
        η of AdaGrad.
    epochs : int
        Passes of AdaGrad over the data; iterations of L-BFGS are limited to fifty times as many.
    batch_size : int
        Sets whose gradients AdaGrad adds up before it moves the weights.
    prune : float
        Weights that end up smaller than this become 0, so that model files hold only those that matter.
    random_state : int, RandomState or None
        Seed of the order in which AdaGrad sees the sets. The result depends on nothing else, and not on threads.

    Attributes
    ----------
    weights_ : ndarray of float32
        The table.
    losses_ : list of float
        The loss seen during each epoch, without the penalty; for L-BFGS the final loss alone.

    Examples
    --------
    >>> sets = CandidateSets.of([[[1], [2]], [[2], [1]]], keys=[[[5]], [[5]]])
    >>> model = LogLinear(alpha=0.1, bits=8).fit(sets, [0, 1])
    >>> [int(table.argmax()) for table in sets.tables(model.decision_function(sets))]
    [0, 1]
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        solver: str = "adagrad",
        bits: int = 20,
        learning_rate: float = 0.1,
        epochs: int = 10,
        batch_size: int = 8,
        prune: float = 0.0,
        random_state: Any = 0,
    ) -> None:
        self.alpha, self.solver, self.bits, self.learning_rate = alpha, solver, bits, learning_rate
        self.epochs, self.batch_size, self.prune, self.random_state = epochs, batch_size, prune, random_state

    @all_or_nothing
    def fit(
        self, X: CandidateSets, y: ArrayLike, *, after_epoch: Callable[[LogLinear], bool | None] | None = None
    ) -> LogLinear:
        """Learn weights.

        Parameters
        ----------
        X : CandidateSets
            What there is to choose from.
        y : array-like of int
            For each decision the number, within its set, of the right candidate.
        after_epoch : callable, optional
            Called with the model after each epoch of AdaGrad, for example to measure it; returning True ends training.
        """
        self._check()
        seed = check_seed(self.random_state)
        right = self._right(X, y)
        if self.solver == "lbfgs":
            return self._fit_lbfgs(X, right)
        size = 1 << self.bits
        free = available()
        # Weights, sums of squares, when each was last moved, and the gradient: four bytes each.
        if free is not None and 16 * size > max(1 << 26, int(0.95 * free)):
            raise TooLargeError(
                f"training 2^{self.bits} weights needs {16 * size / 1e9:,.1f} GB but only {free / 1e9:,.1f} GB are "
                "free; use fewer bits."
            )
        weights, squares = np.zeros(size, np.float32), np.zeros(size, np.float32)
        moved = np.zeros(size, np.uint32)
        generator = np.random.Generator(np.random.PCG64(seed))
        batches = max(1, math.ceil(len(X) / self.batch_size))
        decay = 2.0 * self.alpha / batches
        step = 0
        self.losses_: list[float] = []
        for _ in range(self.epochs):
            order = generator.permutation(len(X)).astype(np.uint64)
            with settings.progress_bar(len(X), "train") as progress:
                loss, step = _native.adagrad_epoch(
                    *X._arguments(), right, order, weights, squares, moved, step, self.bits, self.learning_rate, decay,
                    _NEGLIGIBLE, self.batch_size, settings.threads(), progress,
                )  # fmt: skip
            _native.adagrad_settle(weights, squares, moved, step, self.bits, self.learning_rate, decay)
            self.losses_.append(loss)
            self.weights_ = weights
            if after_epoch is not None and after_epoch(self):
                break
        weights[np.abs(weights) < self.prune] = 0.0
        self.weights_ = weights
        return self

    def decision_function(self, X: CandidateSets) -> NDArray[np.float64]:
        """Return the score of every candidate in every decision, flat; ``X.tables`` cuts it into sets."""
        check_is_fitted(self, "weights_")
        if not isinstance(X, CandidateSets):
            raise DataError(f"expected CandidateSets, got {type(X).__name__}.")
        out = np.zeros(int((X.rows * X.decisions).sum()))
        with settings.progress_bar(len(X), "score") as progress:
            _native.score(*X._arguments(), self.weights_, self.bits, out, settings.threads(), progress)
        return out

    def objective(self, X: CandidateSets, y: ArrayLike) -> float:
        """Return what training minimises, for these weights on these data."""
        check_is_fitted(self, "weights_")
        weights = self.weights_.astype(np.float64)
        arguments = X._arguments()
        loss: float = _native.loss_and_gradient(
            *arguments, self._right(X, y), weights, self.bits, np.zeros_like(weights)
        )
        return loss + self.alpha * float(weights @ weights)

    def _fit_lbfgs(self, X: CandidateSets, right: NDArray[np.uint32]) -> LogLinear:
        from scipy.optimize import minimize

        if self.bits > _MOST_BITS_LBFGS:
            raise TooLargeError(
                f"L-BFGS on a table of 2^{self.bits} weights needs more memory than it is worth; use at most "
                f'bits={_MOST_BITS_LBFGS}, or solver="adagrad".'
            )
        arguments = X._arguments()

        def function(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            gradient = np.zeros_like(weights)
            loss = _native.loss_and_gradient(*arguments, right, weights, self.bits, gradient)
            return loss + self.alpha * float(weights @ weights), gradient + 2.0 * self.alpha * weights

        start = np.zeros(1 << self.bits)
        options = {"maxiter": 50 * self.epochs, "ftol": 1e-12, "gtol": 1e-6, "maxcor": 6}
        found = minimize(function, start, jac=True, method="L-BFGS-B", options=options)
        self.weights_ = np.where(np.abs(found.x) < self.prune, 0.0, found.x).astype(np.float32)
        self.losses_ = [float(found.fun) - self.alpha * float(found.x @ found.x)]
        return self

    def _check(self) -> None:
        check_choice(self.solver, "solver", ("adagrad", "lbfgs"))
        for name, low, high in (("bits", 4, 30), ("epochs", 1, 10_000), ("batch_size", 1, 1 << 20)):
            check_count(getattr(self, name), name, low, high)
        for name in ("alpha", "learning_rate", "prune"):
            check_amount(getattr(self, name), name, zero=name != "learning_rate")

    @staticmethod
    def _right(X: CandidateSets, y: ArrayLike) -> NDArray[np.uint32]:
        if not isinstance(X, CandidateSets):
            raise DataError(f"X must be CandidateSets, got {type(X).__name__}.")
        given = np.asarray(y)
        if given.shape != (len(X.key_ends),):
            raise DataError(f"y must name one candidate for each of {len(X.key_ends)} decisions; it has {given.shape}.")
        limits = np.repeat(X.rows, X.decisions)
        if given.size and (given.dtype.kind not in "iu" or bool(((given < 0) | (given >= limits)).any())):
            raise DataError("y must hold numbers of candidates within their sets, counted from 0.")
        return np.ascontiguousarray(given, np.uint32)


# Slopes below this move no weight: after the first epoch that is most candidates.
_NEGLIGIBLE = 1e-5


def _write(model: LogLinear, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model, "weights_")
    # Most places of the table are empty, and files are for keeping.
    places = np.flatnonzero(model.weights_).astype(np.uint32)
    return {
        "params": writer.parameters(model),
        "places": writer.array(places),
        "weights": writer.array(model.weights_[places]),
        "losses": model.losses_,
    }


def _read(data: dict[str, Any], reader: Reader) -> LogLinear:
    model: LogLinear = reader.make(LogLinear, data)
    model.weights_ = reader.zeros((1 << model.bits,), np.float32)
    places = reader.indices(data["places"], len(model.weights_))
    model.weights_[places] = reader.finite(data["weights"], places.shape, np.float32)
    model.losses_ = [reader.number(loss) for loss in data["losses"]]
    return model


register("LogLinear", LogLinear, _write, _read)

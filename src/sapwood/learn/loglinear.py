"""Log-linear models that choose one candidate of a set: softmax over the candidates, with an L2 penalty.

Several decisions may be between the same candidates (the roles of a frame choose from the spans of a sentence). A
feature has a weight shared by all decisions and one for each key of a decision, found by hashing the pair, so that the
product of features and keys is never stored. What the features are belongs to the tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood import settings
from sapwood._core import loglinear as _native
from sapwood.checks import check_amount, check_choice, check_count, check_seed
from sapwood.errors import DataError, TooLargeError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.learn.candidates import CandidateSets
from sapwood.memory import available
from sapwood.packing import Grid
from sapwood.registry import Reader, Writer, register

__all__ = ["LogLinear"]

# L-BFGS keeps a dozen dense vectors of 64-bit numbers; beyond this table they take gigabytes.
_MOST_BITS_LBFGS = 22


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
        for epoch in range(self.epochs):
            order = generator.permutation(len(X)).astype(np.uint64)
            what = f"Training, epoch {epoch + 1} of {self.epochs}"
            with settings.progress_bar(len(X), what, "examples") as progress:
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
        with settings.progress_bar(len(X), "Scores", "examples") as progress:
            _native.score(*X._arguments(), self.weights_, self.bits, out, settings.threads(), progress)
        return out

    def contributions(self, X: CandidateSets, number: int, decision: int, candidate: int) -> NDArray[np.float64]:
        """Return what each feature of a candidate adds to its score in one decision, in the order of ``X.features``.

        Parameters
        ----------
        X : CandidateSets
            Sets of candidates.
        number, decision, candidate : int
            Which set, which of its decisions and which of its candidates, each counted from 0.
        """
        return self.decision_function(X.single_features(number, decision, candidate))

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
        done = 0
        # It may end long before the last iteration that it is allowed.
        with settings.progress_bar(0, "Training", "iterations") as progress:

            def count(_: NDArray[np.float64]) -> None:
                nonlocal done
                done += 1
                if progress is not None:
                    progress(done)

            found = minimize(function, start, jac=True, method="L-BFGS-B", options=options, callback=count)
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


# How compact files round weights: those below half a step, which is most of them, decide little and are left out.
_GRID = Grid(127)
# Slopes below this move no weight: after the first epoch that is most candidates.
_NEGLIGIBLE = 1e-5


def _write(model: LogLinear, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model, "weights_")
    # Most places of the table are empty, and files are for keeping.
    weights = writer.rounded(model.weights_, _GRID)
    places = np.flatnonzero(weights).astype(np.uint32)
    return {
        "params": writer.parameters(model),
        "places": writer.array(places),
        "weights": writer.weights(weights[places], _GRID),
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

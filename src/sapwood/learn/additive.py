"""A logistic model in which every feature acts through a curve of its own: bent where needed, a plain sum all the same.

It takes plain matrices of numbers. What the features mean is the business of whoever makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_amount, check_count
from sapwood.errors import DataError
from sapwood.fitting import all_or_nothing
from sapwood.learn.targets import check_classes
from sapwood.registry import Reader, Writer

__all__ = ["AdditiveLogistic", "penalty_path", "read_additive", "write_additive"]

Matrix = NDArray[np.float64]

_ARRAYS = ("centre_", "spread_", "coef_", "means_", "importances_")


class AdditiveLogistic(ClassifierMixin, BaseEstimator):
    """Logistic regression on piecewise linear curves, one per feature.

    A feature enters with its standardised value and with hat functions at quantiles of its training values; all weights
    are penalised alike. Decisions are sums over features, so each can be explained exactly.

    Parameters
    ----------
    C : float
        Inverse of the strength of the penalty.
    knots : int
        Most knots of a curve; 1 makes all curves straight lines.
    class_weight : dict, "balanced" or None
        Factors per class.

    Attributes
    ----------
    classes_ : array of two labels, sorted
    importances_ : array
        Per feature, the standard deviation of its contributions to the training examples.
    base_ : float
        The mean decision about the training examples.

    Examples
    --------
    >>> X = np.linspace(-1, 1, 41)[:, None]
    >>> model = AdditiveLogistic(C=10.0).fit(X, abs(X[:, 0]) > 0.5)  # no straight line can do this
    >>> model.predict([[-0.9], [0.0], [0.9]])
    array([ True, False,  True])
    """

    classes_: NDArray[Any]
    centre_: Matrix
    spread_: Matrix
    knots_: list[Matrix]
    coef_: Matrix
    intercept_: float
    means_: Matrix
    importances_: Matrix

    def __init__(self, *, C: float = 0.1, knots: int = 6, class_weight: dict[Any, float] | str | None = None) -> None:
        self.C = C
        self.knots = knots
        self.class_weight = class_weight

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Train on a matrix of features and two kinds of labels."""
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, near: AdditiveLogistic | None = None) -> Self:
        """Train, beginning with the weights of another model of the same data."""
        self._check()
        values = _matrix(X)
        self.classes_, targets = check_classes(len(values), y)
        if len(self.classes_) != 2:
            shown = ", ".join(map(repr, self.classes_.tolist()[:5]))
            raise DataError(f"y must have two classes, such as same and different, but it has {shown}.")
        self.centre_ = values.mean(axis=0)
        spread = values.std(axis=0)
        # What is the same for all examples but for rounding says nothing.
        self.spread_ = np.where(spread > 1e-9, spread, np.inf)
        quantiles = np.linspace(0.0, 1.0, self.knots) if self.knots > 2 else np.zeros(0)
        self.knots_ = [
            _apart(np.quantile(column, quantiles), 1e-9 * width)
            if np.isfinite(width) and len(quantiles)
            else np.zeros(0)
            for column, width in zip(values.T, self.spread_, strict=True)
        ]
        basis, owners = self._basis(values)
        # Newton's method: the columns of one feature are far from independent, which gradients take long to sort out.
        solver = LogisticRegression(C=self.C, solver="newton-cholesky", max_iter=500, class_weight=self.class_weight)
        if near is not None:
            solver.set_params(warm_start=True)
            solver.coef_, solver.intercept_ = near.coef_[None], np.array([near.intercept_])
        solver.fit(basis, self.classes_[targets])
        self.coef_, self.intercept_ = solver.coef_[0].astype(np.float64), float(solver.intercept_[0])
        added = self._added(basis, owners)
        self.means_ = added.mean(axis=0)
        self.importances_ = added.std(axis=0)
        return self

    @property
    def base_(self) -> float:
        """The mean decision about the training examples."""
        return self.intercept_ + float(self.means_.sum())

    def decision_function(self, X: Any) -> Matrix:
        """Return the log-odds of the second class."""
        check_is_fitted(self)
        basis, _ = self._basis(self._checked(X))
        return np.asarray(basis @ self.coef_ + self.intercept_)

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of both classes."""
        from scipy.special import expit

        decisions = self.decision_function(X)
        return np.column_stack([expit(-decisions), expit(decisions)])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable label."""
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(np.intp)])

    def contributions(self, X: Any) -> Matrix:
        """Return what each feature adds to each decision, beyond the mean: with ``base_`` they add up to it."""
        check_is_fitted(self)
        basis, owners = self._basis(self._checked(X))
        return np.asarray(self._added(basis, owners) - self.means_)

    def _checked(self, X: Any) -> Matrix:
        values = _matrix(X)
        if values.shape[1] != len(self.centre_):
            raise DataError(f"X has {values.shape[1]} features, but the model was trained on {len(self.centre_)}.")
        return values

    def _basis(self, values: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
        """Return standardised values and hat functions, and to which feature each column belongs."""
        columns = [(values - self.centre_) / self.spread_]
        owners = [np.arange(values.shape[1])]
        for number, knots in enumerate(self.knots_):
            if len(knots) < 3:
                continue  # two knots are a straight line, which is there already
            identity = np.eye(len(knots))
            columns.append(np.column_stack([np.interp(values[:, number], knots, hat) for hat in identity]))
            owners.append(np.full(len(knots), number))
        return np.hstack(columns), np.concatenate(owners)

    def _added(self, basis: Matrix, owners: NDArray[np.intp]) -> Matrix:
        added = np.zeros((len(self.centre_), len(basis)))
        np.add.at(added, owners, (basis * self.coef_).T)
        return added.T

    def _check(self) -> None:
        check_amount(self.C, "C", zero=False)
        check_count(self.knots, "knots")


def _apart(knots: Matrix, least: float) -> Matrix:
    """Return ascending knots without those that only rounding tells apart: between them a curve would be a cliff."""
    keep = [0]
    for place in range(1, len(knots)):
        if knots[place] - knots[keep[-1]] > least:
            keep.append(place)
    return knots[keep]


def penalty_path(X: Any, y: Any, strengths: Iterable[float]) -> Iterator[AdditiveLogistic]:
    """Yield a model for every C, trained when it is asked for and beginning with the weights of the one before.

    For neighbouring values of C that is several times as fast as training each by itself.

    >>> X = np.linspace(-1, 1, 41)[:, None]
    >>> [model.C for model in penalty_path(X, X[:, 0] > 0, (0.1, 1.0))]
    [0.1, 1.0]
    """
    model: AdditiveLogistic | None = None
    for C in strengths:
        model = AdditiveLogistic(C=C)._fit(X, y, model)
        yield model


def _matrix(X: Any) -> Matrix:
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("X must be a matrix of numbers, one row per example.") from None
    if values.ndim != 2 or not values.shape[1]:
        raise DataError(f"X must have two dimensions (rows, features), got shape {values.shape}.")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise DataError(f"row {row} has a feature that is NaN or infinite; fill or drop it first.")
    return values


def write_additive(model: AdditiveLogistic, writer: Writer) -> dict[str, Any]:
    """Describe a fitted model for a model file."""
    arrays = {name: getattr(model, name) for name in _ARRAYS}
    arrays["spread_"] = np.where(np.isfinite(model.spread_), model.spread_, 0.0)
    return {
        "params": writer.parameters(model),
        **writer.labels(model.classes_),
        "arrays": {name: writer.array(values) for name, values in arrays.items()},
        "knots": writer.array(np.concatenate([np.zeros(0), *model.knots_])),
        "knot_ends": writer.array(np.cumsum([len(knots) for knots in model.knots_], dtype=np.int64)),
        "intercept": model.intercept_,
    }


def read_additive(data: dict[str, Any], count: int, reader: Reader) -> AdditiveLogistic:
    """Rebuild what ``write_additive`` has described, a model of so many features."""
    model: AdditiveLogistic = reader.make(AdditiveLogistic, data)
    model.classes_ = reader.labels(data)
    if len(model.classes_) != 2:
        raise reader.fail("it does not have two classes")
    knots = reader.finite(data["knots"], (None,))
    ends = reader.offsets(data["knot_ends"], len(knots), np.int64, count=count).tolist()
    model.knots_ = [knots[begin:end] for begin, end in pairwise([0, *ends])]
    weights = count + sum(len(each) for each in model.knots_ if len(each) > 2)
    for name in _ARRAYS:
        setattr(model, name, reader.finite(data["arrays"][name], (weights if name == "coef_" else count,)))
    model.spread_ = np.where(model.spread_ > 0, model.spread_, np.inf)
    model.intercept_ = reader.number(data["intercept"])
    return model

"""Probabilities from margins, by scaling that is fitted to margins of examples which a model was not trained on.

``held_out_margins`` gets such margins from models that are trained on all examples but a fold, ``calibrate`` fits the
scaling, and ``HasProbabilities`` gives classifiers their ``predict_proba``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_choice
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Matrix
from sapwood.layouts import Field
from sapwood.registry import Reader, Writer

__all__ = [
    "CALIBRATION",
    "Calibration",
    "HasProbabilities",
    "available_where",
    "calibrate",
    "check_fitting",
    "check_probability",
    "held_out_margins",
    "normalized_rows",
]

METHODS = ("sigmoid", "temperature", "isotonic")
_FOLDS = 5
# Isotonic regression learns a step function, which takes this many examples to be worth trying.
_ENOUGH_FOR_STEPS = 1000


@dataclass(frozen=True)
class Calibration:
    """How margins become probabilities.

    Attributes
    ----------
    method : {"sigmoid", "temperature", "isotonic"}
        ``1 / (1 + exp(a * margin + b))`` per class (Platt), ``softmax(a * margins)``, or an increasing broken line per
        class. What classes have by themselves is divided by the sum over classes.
    points : array of shape (n, 2)
        a and b of each class, or a, or the corners of the lines.
    ends : array of int
        Where the rows of each class end.
    """

    method: str
    points: Matrix
    ends: NDArray[np.int64]

    def probabilities(self, margins: Matrix) -> Matrix:
        """Return one column per class; margins have one too, or one dimension for two classes."""
        if self.method == "temperature":
            return np.asarray(softmax(float(self.points[0, 0]) * _logits(margins), axis=1))
        columns = margins[:, None] if margins.ndim == 1 else margins
        found = np.empty_like(columns)
        for column, points in enumerate(np.split(self.points, self.ends[:-1])):
            if self.method == "sigmoid":
                found[:, column] = expit(-(points[0, 0] * columns[:, column] + points[0, 1]))
            else:
                found[:, column] = np.interp(columns[:, column], points[:, 0], points[:, 1])
        return np.column_stack([1.0 - found[:, 0], found[:, 0]]) if margins.ndim == 1 else normalized_rows(found)


def normalized_rows(values: Matrix) -> Matrix:
    """Divide rows by their sums; a row of zeros becomes the same value everywhere."""
    totals = values.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(values, totals, where=totals > 0, out=np.full_like(values, 1.0 / values.shape[1])))


def calibrate(
    margins: Matrix, targets: NDArray[np.intp], weights: Matrix | None = None, method: str | bool = True
) -> Calibration:
    """Fit the scaling of margins that models have of examples which they were not trained on.

    Parameters
    ----------
    margins : array of shape (n,) or (n, classes)
    targets : array of int
        The number of each example's class.
    weights : array of float, optional
        What each example counts.
    method : {"sigmoid", "temperature", "isotonic"} or True
        True takes the method with the least log loss in cross-validation on the margins; isotonic regression is among
        them from 1,000 examples on.
    """
    weights = np.ones(len(targets)) if weights is None else weights
    if method is True:
        tried = METHODS if len(targets) >= _ENOUGH_FOR_STEPS else METHODS[:2]
        losses = [_held_out_loss(margins, targets, weights, name) for name in tried]
        method = tried[int(np.argmin(losses))]
    if method == "temperature":
        return Calibration("temperature", np.array([[_temperature(margins, targets, weights), 0.0]]), np.array([1]))
    columns = margins[:, None] if margins.ndim == 1 else margins
    found = []
    for column in range(columns.shape[1]):
        positive = targets == (1 if margins.ndim == 1 else column)
        fit = _sigmoid if method == "sigmoid" else _steps
        found.append(fit(columns[:, column], positive, weights))
    return Calibration(str(method), np.concatenate(found), np.cumsum([len(one) for one in found]))


def held_out_margins(
    make: Callable[[], Any],
    take: Callable[[Any, NDArray[np.intp], NDArray[np.intp]], Any],
    X: Any,
    labels: NDArray[Any],
    classes: NDArray[Any],
    weights: Matrix | None = None,
) -> Matrix:
    """Return margins of all examples by models that were trained on the other four fifths.

    Parameters
    ----------
    make : callable
        Makes an unfitted classifier.
    take : callable
        Takes X, the rows that are wanted and those of training; returns the examples.
    X : examples
    labels, classes : arrays
        The label of each example, and the different labels, sorted.
    weights : array of float, optional
        The sample weights of training.

    Notes
    -----
    A class that a fold of training lacks has the margin -1 there, which is what an SVM without it would say.
    """
    numbers = np.searchsorted(classes, labels)
    counts = np.bincount(numbers, minlength=len(classes))
    if len(classes) == 2 and counts.min() < 2:
        raise DataError(
            f"probabilities are learnt from examples that are left out of training, but the class "
            f"{classes[counts.argmin()].item()!r} has only one; give more, or leave probability=False."
        )
    margins = np.full((len(labels), len(classes)), -1.0)
    for rest, held in _folds(numbers):
        further = {} if weights is None else {"sample_weight": weights[rest]}
        model = make().fit(take(X, rest, rest), labels[rest], **further)
        margins[np.ix_(held, np.searchsorted(classes, model.classes_))] = _logits(
            model.decision_function(take(X, held, rest))
        )
    return margins[:, 1] if len(classes) == 2 else margins


def check_probability(value: Any) -> None:
    """Raise unless the parameter ``probability`` says whether to learn probabilities, or how."""
    if not isinstance(value, (bool, np.bool_)):
        if not isinstance(value, str):
            raise ParameterError(f"probability must be True, False or one of {', '.join(METHODS)}, got {value!r}.")
        check_choice(value, "probability", METHODS)


def _wants(model: Any) -> None:
    if not model.probability:
        raise AttributeError(
            f"this {type(model).__name__} has no probabilities: set probability=True and fit it again. Training then "
            "takes about five times as long."
        )


class available_where:  # noqa: N801, a decorator
    """Decorator of methods that an object has or not: as scikit-learn's ``available_if``, whose error says no reason.

    Parameters
    ----------
    check : callable
        Takes the object, and raises an AttributeError that says what to do where it has no such method.
    """

    def __init__(self, check: Callable[[Any], object]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> available_where:
        """Take the method."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self._method
        self._check(instance)
        return MethodType(self._method, instance)


class HasProbabilities:
    """Mixin of classifiers with margins and the parameter ``probability``."""

    probability: bool | str
    calibration_: Any

    @available_where(_wants)
    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class for each example; needs ``probability=True``.

        They come from margins of training examples that were left out of training in turns, five times. The most
        probable class is in rare cases not the one that ``predict`` returns, as margins are scaled class by class.
        """
        check_is_fitted(self)
        if self.calibration_ is None:
            raise ParameterError("probability was set after training; fit again to get probabilities.")
        margins = self.decision_function(X)  # type: ignore[attr-defined]
        return np.asarray(self.calibration_.probabilities(margins))

    @available_where(_wants)
    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the logarithms of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


def _logits(margins: Matrix) -> Matrix:
    return np.column_stack([-margins, margins]) if margins.ndim == 1 else margins


def _folds(numbers: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Divide examples five times; without shuffling, so that copies that stand side by side often stay together."""
    from sklearn.model_selection import StratifiedKFold

    most = int(np.bincount(numbers).max())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(StratifiedKFold(max(2, min(_FOLDS, most))).split(np.zeros(len(numbers)), numbers))


def _held_out_loss(margins: Matrix, targets: NDArray[np.intp], weights: Matrix, method: str) -> float:
    total = 0.0
    for rest, held in _folds(targets):
        found = calibrate(margins[rest], targets[rest], weights[rest], method).probabilities(margins[held])
        chosen = np.maximum(found[np.arange(len(held)), targets[held]], 1e-15)
        total -= float(weights[held] @ np.log(chosen))
    return total


def _sigmoid(margins: Matrix, positive: NDArray[np.bool_], weights: Matrix) -> Matrix:
    """Fit Platt's a and b by Newton's method, with his targets that keep a little away from 0 and 1."""
    ones, zeros = float(weights[positive].sum()), float(weights[~positive].sum())
    wanted = np.where(positive, (ones + 1.0) / (ones + 2.0), 1.0 / (zeros + 2.0))
    scale = float(np.abs(margins).max(initial=0.0)) or 1.0
    design = np.column_stack([margins / scale, np.ones(len(margins))])

    def loss(at: Matrix) -> float:
        z = design @ at
        return float(weights @ (np.logaddexp(0.0, z) - (1.0 - wanted) * z))

    at = np.array([0.0, np.log((zeros + 1.0) / (ones + 1.0))])
    value = loss(at)
    for _ in range(100):
        p = expit(design @ at)
        gradient = design.T @ (weights * (p - 1.0 + wanted))
        hessian = design.T @ ((weights * p * (1.0 - p))[:, None] * design) + 1e-12 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while (new := loss(at - size * step)) > value - 1e-4 * size * float(gradient @ step) and size > 1e-10:
            size /= 2.0
        if size <= 1e-10:
            break
        at, value = at - size * step, new
        if float(np.abs(gradient).max()) < 1e-9 * len(margins):
            break
    return np.array([[at[0] / scale, at[1]]])


def _temperature(margins: Matrix, targets: NDArray[np.intp], weights: Matrix) -> float:
    """Return the factor of the margins with the least log loss, which is convex in it."""
    logits = _logits(margins)
    scale = float(np.abs(logits).max(initial=0.0)) or 1.0
    rows = np.arange(len(targets))

    def loss(exponent: float) -> float:
        return -float(weights @ log_softmax(np.exp(exponent) / scale * logits, axis=1)[rows, targets])

    found = minimize_scalar(loss, bounds=(-10.0, 10.0), method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x) / scale)


def _steps(margins: Matrix, positive: NDArray[np.bool_], weights: Matrix) -> Matrix:
    from sklearn.isotonic import IsotonicRegression

    model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    model.fit(margins, positive.astype(np.float64), sample_weight=weights)
    return np.column_stack([model.X_thresholds_, model.y_thresholds_])


def _write(value: Calibration | None, writer: Writer) -> Any:
    if value is None:
        return None
    return {"method": value.method, "points": writer.array(value.points), "ends": writer.array(value.ends)}


def _read(data: Any, reader: Reader) -> Calibration | None:
    if data is None:
        return None
    check_choice(data["method"], "method", METHODS)
    points = reader.finite(data["points"], (None, 2))
    return Calibration(data["method"], points, reader.offsets(data["ends"], len(points), np.int64, empty=False))


CALIBRATION = Field(_write, _read, absent=None)
"""How files hold ``calibration_``."""


def check_fitting(model: Any, reader: Reader) -> None:
    """Refuse a file whose scaling is not for the classes of its model."""
    check_probability(model.probability)
    found = model.calibration_
    columns = 1 if len(model.classes_) == 2 else len(model.classes_)
    if bool(model.probability) and found is None:
        raise reader.fail("it has no scaling of margins to probabilities")
    if found is None:
        return
    right = 1 if found.method == "temperature" else columns
    single = found.method == "isotonic" or len(found.points) == right
    ordered = found.method != "isotonic" or all(
        (np.diff(part[:, 0]) >= 0).all() and (part[:, 1] >= 0).all() and (part[:, 1] <= 1).all()
        for part in np.split(found.points, found.ends[:-1])
    )
    if len(found.ends) != right or not single or not ordered:
        raise reader.fail("its scaling of margins does not fit its classes")

"""Checks of targets: labels, values and weights of examples, with messages that name the entry at fault."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from sapwood.checks import is_finite
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Matrix
from sapwood.trees.convert import is_missing

__all__ = ["check_class_weight", "check_classes", "check_labels", "check_values", "check_weights"]


def check_labels(count: int, y: Any) -> NDArray[Any]:
    """Return the labels of so many examples as an array.

    >>> check_labels(2, ["rise", "fall"]).tolist()
    ['rise', 'fall']
    >>> check_labels(2, ["rise", float("nan")])
    Traceback (most recent call last):
    sapwood.errors.DataError: y[1] is nan, which is no label; fill it in or drop the example.
    """
    values = y.to_numpy() if hasattr(y, "to_numpy") else y
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise _not_flat(values.shape)
    # An array would make text of whatever stands beside text.
    if isinstance(values, (list, tuple)) or getattr(getattr(values, "dtype", None), "kind", "") == "O":
        _check_kinds(values)
    labels = _one_each(count, values)
    if labels.dtype.kind == "O":
        labels = np.array(labels.tolist())  # plain numbers and text, if all of them are
    if labels.dtype.kind == "S":
        raise DataError(f"y[0] is {labels[0]!r}: labels must be text or numbers; decode bytes first.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise _no_label(int(np.flatnonzero(np.isnan(labels))[0]), np.nan)
    if labels.dtype.kind in "biuU":
        return labels  # classes in any case
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise DataError(f"y does not hold classes: {error}") from None
    return labels


def check_classes(count: int, y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes among the labels of so many examples, at least two, and the number of each example's class.

    >>> check_classes(3, ["rise", "fall", "rise"])
    (array(['fall', 'rise'], dtype='<U4'), array([1, 0, 1]))
    """
    classes, numbers = np.unique(check_labels(count, y), return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"y has only the class {classes.tolist()[0]!r}; a classifier needs at least two.")
    return classes, numbers


def check_values(count: int, y: Any, classifier: str) -> Matrix:
    """Return the values of so many examples, which must be finite; the classifier is for those who have labels."""
    values = _one_each(count, y)
    if values.dtype.kind in "UScmMV":
        raise DataError(f"y must be real numbers for regression, got {values.dtype}; for labels use {classifier}.")
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"y must be real numbers for regression; for labels use {classifier}.") from None
    if not np.isfinite(numbers).all():
        raise DataError(f"y[{int(np.flatnonzero(~np.isfinite(numbers))[0])}] is NaN or infinite.")
    return numbers


def check_weights(count: int, weights: Any) -> Matrix:
    """Return the weights of so many examples; 1 each where there are none."""
    if weights is None:
        return np.ones(count)
    try:
        result = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"sample_weight must be {count} finite numbers of at least 0.") from None
    if result.shape != (count,) or not np.isfinite(result).all() or (result < 0).any():
        raise DataError(f"sample_weight must be {count} finite numbers of at least 0.")
    if not result.any():
        raise DataError("sample_weight is 0 for all examples, so that none is left to train on.")
    return result


def check_class_weight(weights: Any, classes: NDArray[Any]) -> None:
    """Raise unless factors per class are a dict of numbers, "balanced" or None, and name classes that there are."""
    if weights is None or (isinstance(weights, str) and weights == "balanced"):
        return
    if not isinstance(weights, dict):
        raise ParameterError(f"class_weight must be a dict, 'balanced' or None, got {weights!r}.")
    unknown = [label for label in weights if label not in classes]
    # A fold may lack a class; a name that is misspelt leaves another class without its weight.
    if unknown and any(label not in weights for label in classes.tolist()):
        raise ParameterError(f"class_weight names {unknown[0]!r}, but y has only {classes.tolist()}.")
    for label, factor in weights.items():
        if not is_finite(factor) or factor < 0:
            raise ParameterError(f"class_weight[{label!r}] must be a finite number of at least 0, got {factor!r}.")


def _one_each(count: int, y: Any) -> NDArray[Any]:
    if y is None:
        raise DataError("fit needs targets: pass y with one entry per example.")
    targets = np.asarray(y)
    if targets.ndim != 1:
        raise _not_flat(targets.shape)
    if len(targets) != count:
        raise DataError(f"X has {count} examples but y has {len(targets)} entries; they must be the same.")
    if not count:
        raise DataError("there is nothing to train on: X has no examples.")
    return targets


def _check_kinds(values: Any) -> None:
    firsts: dict[bool, int] = {}  # the first entry that is text, and the first that is not
    for number, value in enumerate(values):
        if is_missing(value):
            raise _no_label(number, value)
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "shape", None) != ():
            raise DataError(
                f"y[{number}] is {value!r}, but y must have one dimension: one text or number per example; join the "
                "parts of a label to one text."
            )
        firsts.setdefault(isinstance(value, str), number)
    if len(firsts) == 2:
        text, other = firsts[True], firsts[False]
        raise DataError(
            f"y mixes text and other values: y[{text}] is {values[text]!r} and y[{other}] is {values[other]!r}; "
            "make all of them text or all of them numbers."
        )


def _not_flat(shape: tuple[int, ...]) -> DataError:
    return DataError(f"y must have one dimension, got shape {shape}; pass one label or value per example.")


def _no_label(number: int, value: object) -> DataError:
    return DataError(f"y[{number}] is {value!r}, which is no label; fill it in or drop the example.")

"""Recursive models in model files: their parameters, vocabulary, scaling and weights, each checked on the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sapwood.errors import ParameterError
from sapwood.learn.parameters import stored
from sapwood.learn.recursive import RecursiveClassifier, RecursiveRanker, RecursiveRegressor
from sapwood.learn.recursive_training import Scaling
from sapwood.registry import Reader, Writer, plain_value, register

__all__: list[str] = []


def _write(model: Any, writer: Writer) -> dict[str, Any]:
    check_is_fitted(model)
    params = dict(model.get_params(deep=False))
    data: dict[str, Any] = {
        "params": stored(params),
        "labels": model.labels_,
        "weights": writer.array(model.weights_),
        "shift": writer.array(model.scaling_.shift),
        "scale": writer.array(model.scaling_.scale),
        "epochs": model.n_iter_,
        "losses": [float(value) for value in model.loss_curve_],
        "errors": [float(value) for value in model.validation_curve_],
    }
    if isinstance(model, RecursiveRanker):
        data["skipped"] = model.skipped_groups_
    if isinstance(model, RecursiveRegressor):
        data["target"] = [model.target_shift_, model.target_scale_]
    if isinstance(model, RecursiveClassifier):
        if model.classes_.dtype.kind not in "OUbiuf":
            raise ParameterError(f"labels of type {model.classes_.dtype} cannot be saved; use text or numbers.")
        data["classes"] = [plain_value(label) for label in model.classes_.tolist()]
        data["classes_kind"] = model.classes_.dtype.str if model.classes_.dtype.kind != "O" else "O"
    return data


def _reader_of(kind: type[Any]) -> Callable[[dict[str, Any], Reader], Any]:
    def read(data: dict[str, Any], reader: Reader) -> Any:
        model = kind(**data["params"])
        model._check()
        model.labels_ = [str(label) for label in data["labels"]]
        if len(set(model.labels_)) != len(model.labels_):
            raise reader.fail("a label occurs twice")
        model.weights_ = reader.array(data["weights"], np.dtype(model.dtype), 1)
        shift, scale = reader.array(data["shift"], np.float64, 1), reader.array(data["scale"], np.float64, 1)
        if shift.shape != scale.shape or not (np.isfinite(shift).all() and (scale > 0).all()):
            raise reader.fail("the scaling of extra inputs is not one")
        model.scaling_ = Scaling(shift, scale)
        model.n_iter_ = int(data["epochs"])
        model.loss_curve_ = [float(value) for value in data["losses"]]
        model.validation_curve_ = [float(value) for value in data["errors"]]
        if kind is RecursiveRanker:
            model.skipped_groups_ = int(data["skipped"])
        if kind is RecursiveRegressor:
            model.target_shift_, model.target_scale_ = map(float, data["target"])
        if kind is RecursiveClassifier:
            model.classes_ = np.array(data["classes"], dtype=np.dtype(data["classes_kind"]))
            if len(model.classes_) < 2:
                raise reader.fail("it has fewer than two classes")
        # The weights must fit the shape; the rest would read past their end.
        stride = (model.units + 7) // 8 * 8
        rows = 1 + len(model.labels_) + model.max_outdegree * model.units + model._width()
        if len(model.weights_) != rows * stride + model._width() * (len(shift) + 1):
            raise reader.fail("the weights do not fit the network")
        if not np.isfinite(model.weights_).all():
            raise reader.fail("a weight is not finite")
        return model

    return read


for _kind in (RecursiveRanker, RecursiveClassifier, RecursiveRegressor):
    register(_kind.__name__, _kind, _write, _reader_of(_kind))

"""scikit-learn's own wrappers in model files: pipelines, frozen and calibrated estimators made of Sapwood's.

What else scikit-learn has is for joblib; ``sapwood.registry`` says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, _CalibratedClassifier, _SigmoidCalibration, _TemperatureScaling
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sapwood.errors import ParameterError
from sapwood.registry import Reader, Writer, register

__all__: list[str] = []


def _exact(value: Any, kind: type[Any]) -> None:
    """Refuse subclasses, of which a file would hold less than there is."""
    if type(value) is not kind:
        raise ParameterError(f"{type(value).__name__} objects cannot be saved; use joblib.dump(model, path) instead.")


def _write_pipeline(value: Pipeline, writer: Writer) -> dict[str, Any]:
    _exact(value, Pipeline)
    steps = [[name, None if step in (None, "passthrough") else writer.part(step)] for name, step in value.steps]
    return {"steps": steps}


def _read_pipeline(data: dict[str, Any], reader: Reader) -> Pipeline:
    names = reader.texts([name for name, _ in data["steps"]])
    steps = ["passthrough" if step is None else reader.part(step) for _, step in data["steps"]]
    if not steps or len(set(names)) != len(names) or any("__" in name for name in names):
        raise reader.fail("the steps of the pipeline have no names, or the same ones")
    wanted = ["transform"] * (len(steps) - 1) + ["fit"]
    if not all(step == "passthrough" or hasattr(step, each) for step, each in zip(steps, wanted, strict=True)):
        raise reader.fail("a step of the pipeline is no estimator, or transforms nothing")
    return Pipeline(list(zip(names, steps, strict=True)))


def _write_frozen(value: FrozenEstimator, writer: Writer) -> dict[str, Any]:
    _exact(value, FrozenEstimator)
    return {"estimator": writer.part(value.estimator)}


def _read_frozen(data: dict[str, Any], reader: Reader) -> FrozenEstimator:
    estimator = reader.part(data["estimator"])
    if not hasattr(estimator, "fit"):
        raise reader.fail("it freezes what is no estimator")
    return FrozenEstimator(estimator)


def _write_calibrated(value: CalibratedClassifierCV, writer: Writer) -> dict[str, Any]:
    _exact(value, CalibratedClassifierCV)
    check_is_fitted(value)
    return {
        "method": value.method,
        "ensemble": value.ensemble if isinstance(value.ensemble, str) else bool(value.ensemble),
        **writer.labels(value.classes_),
        "members": [
            {
                "estimator": writer.part(one.estimator),
                "scalings": [writer.array(_scaling(each)) for each in one.calibrators],
            }
            for one in value.calibrated_classifiers_
        ],
    }


def _scaling(each: Any) -> Any:
    """Return what a calibrator has learnt as an array: a and b, a temperature, or the corners of a line."""
    if isinstance(each, _SigmoidCalibration):
        return np.array([[each.a_, each.b_]], dtype=np.float64)
    if isinstance(each, IsotonicRegression):
        return np.column_stack([each.X_thresholds_, each.y_thresholds_]).astype(np.float64)
    return np.array([[float(np.asarray(each.beta_).reshape(())), 0.0]])


def _read_calibrated(data: dict[str, Any], reader: Reader) -> CalibratedClassifierCV:
    classes = reader.labels(data)
    members = []
    for one in data["members"]:
        estimator = reader.part(one["estimator"])
        found = getattr(estimator, "classes_", None)
        # For temperatures, scikit-learn trains on the numbers of the classes.
        known = set(range(len(classes)) if data["method"] == "temperature" else classes.tolist())
        if found is None or not set(np.asarray(found).tolist()) <= known:
            raise reader.fail("it scales what is no classifier of its classes")
        values = [reader.finite(name, (None, 2)) for name in one["scalings"]]
        count = 1 if data["method"] == "temperature" or len(found) == 2 else len(found)
        if len(values) != count or not all(map(len, values)):
            raise reader.fail("its scalings do not fit its classes")
        scalings = [_rebuilt(data["method"], each) for each in values]
        members.append(_CalibratedClassifier(estimator, scalings, classes=classes, method=data["method"]))
    if not members:
        raise reader.fail("it has no classifiers")
    ensemble = data["ensemble"] if data["ensemble"] in (True, False, "auto") else "auto"
    model = CalibratedClassifierCV(members[0].estimator, method=data["method"], ensemble=ensemble)
    model.calibrated_classifiers_, model.classes_ = members, classes
    return model


def _rebuilt(method: str, values: Any) -> Any:
    if method == "isotonic":
        return IsotonicRegression(out_of_bounds="clip").fit(values[:, 0], values[:, 1])
    if method == "sigmoid":
        made = _SigmoidCalibration()
        made.a_, made.b_ = float(values[0, 0]), float(values[0, 1])
        return made
    if method != "temperature":
        raise ParameterError(f"there is no method of scaling called {method!r}")
    scaled = _TemperatureScaling()
    scaled.beta_ = float(values[0, 0])
    return scaled


register("Pipeline", Pipeline, _write_pipeline, _read_pipeline)
register("FrozenEstimator", FrozenEstimator, _write_frozen, _read_frozen)
register("CalibratedClassifierCV", CalibratedClassifierCV, _write_calibrated, _read_calibrated)

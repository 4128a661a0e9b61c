"""Kernel machines in model files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sapwood.errors import ParameterError
from sapwood.learn.parameters import stored
from sapwood.learn.svm import KernelSVC, KernelSVR
from sapwood.registry import Reader, Writer, plain_value, register
from sapwood.trees.store import read_view, write_view

__all__: list[str] = []


def _write_machine(machine: Any, writer: Writer) -> dict[str, Any]:
    check_is_fitted(machine)
    params: dict[str, Any] = dict(machine.get_params(deep=False))
    kernel = params.pop("kernel")
    weights: Any = params.get("class_weight")
    if isinstance(weights, dict):
        # JSON would turn every key into text, so the pairs are listed.
        params["class_weight"] = [[plain_value(label), float(factor)] for label, factor in weights.items()]
    data: dict[str, Any] = {
        "params": stored(params),
        "kernel": None if kernel is None else writer.part(kernel),
        "fitted_kernel": writer.part(machine.kernel_),
        "support": writer.array(machine.support_.astype(np.int64)),
        "examples": write_view(machine.support_examples_, writer),
        "dual_coef": writer.array(machine.dual_coef_),
        "intercept": writer.array(machine.intercept_),
    }
    if isinstance(machine, KernelSVC):
        if machine.classes_.dtype.kind not in "OUbiuf":
            raise ParameterError(f"labels of type {machine.classes_.dtype} cannot be saved; use text or numbers.")
        data["classes"] = [plain_value(label) for label in machine.classes_.tolist()]
        data["classes_kind"] = machine.classes_.dtype.str if machine.classes_.dtype.kind != "O" else "O"
    return data


def _reader_of(kind: type[Any]) -> Callable[[dict[str, Any], Reader], Any]:
    def read(data: dict[str, Any], reader: Reader) -> Any:
        params = dict(data["params"])
        if isinstance(params.get("class_weight"), list):
            params["class_weight"] = dict(params["class_weight"])
        machine = kind(None if data["kernel"] is None else reader.part(data["kernel"]), **params)
        machine.kernel_ = reader.part(data["fitted_kernel"])
        support = reader.array(data["support"], np.int64, 1).astype(np.intp)
        coefficients = reader.array(data["dual_coef"], np.float64, 2)
        intercept = reader.array(data["intercept"], np.float64, 1)
        examples = read_view(data["examples"], reader)
        outputs = 1
        if kind is KernelSVC:
            machine.classes_ = np.array(data["classes"], dtype=np.dtype(data["classes_kind"]))
            count = len(machine.classes_)
            if count < 2:
                raise reader.fail("it has fewer than two classes")
            pairs = machine.multi_class == "ovo"
            outputs = 1 if count == 2 else count * (count - 1) // 2 if pairs else count
        if (
            coefficients.shape != (examples.shape[0], outputs)
            or len(support) != examples.shape[0]
            or len(intercept) != outputs
        ):
            raise reader.fail("the weights do not fit the support examples")
        if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
            raise reader.fail("a weight is not finite")
        machine.support_, machine.support_examples_ = support, examples
        machine.dual_coef_, machine.intercept_ = coefficients, intercept
        return machine

    return read


register("KernelSVC", KernelSVC, _write_machine, _reader_of(KernelSVC))
register("KernelSVR", KernelSVR, _write_machine, _reader_of(KernelSVR))

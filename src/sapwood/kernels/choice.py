"""The kernel that an estimator is given, or its own where it is given none."""

from __future__ import annotations

from typing import Any, Self

from sapwood.errors import ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.kernels.base import Kernel
from sapwood.kernels.expression import parse_kernel
from sapwood.kernels.given import FunctionKernel, Precomputed
from sapwood.kernels.syntactic import SubsetTree
from sapwood.layouts import Field
from sapwood.registry import Reader, Writer

__all__ = ["KERNEL", "ChoosesKernel", "check_kernel"]


def check_kernel(value: Any) -> Kernel:
    """Return the kernel that a value stands for: itself, an expression, a matrix of values or a function; or raise.

    >>> check_kernel("SubsetTree(decay=0.3).normalized()")
    SubsetTree(decay=0.3).normalized()
    """
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str) and value == "precomputed":
        return Precomputed()
    reason = ""
    if isinstance(value, str):
        try:
            return parse_kernel(value)
        except ParameterError as error:
            reason = f"; {error}"
    elif isinstance(value, type) and issubclass(value, Kernel):
        reason = f"; write {value.__name__}(...), with brackets."
    elif callable(value):
        return FunctionKernel(value)
    raise ParameterError(
        "kernel must be a kernel such as SubsetTree(decay=0.4).normalized(), its expression as text, 'precomputed' or "
        f"a function of two arrays, got {value!r}{reason}"
    )


def _write(value: Any, writer: Writer) -> Any:
    return value if value is None or isinstance(value, str) else writer.part(check_kernel(value))


def _read(data: Any, reader: Reader) -> Any:
    if data is None:
        return None
    # Text is read when the estimator is fitted again; until then nothing depends on it.
    return data if isinstance(data, str) else reader.part(data, Kernel)


KERNEL = Field(_write, _read)
"""How files hold the parameter ``kernel``."""


class ChoosesKernel:
    """What estimators share whose parameter ``kernel`` may be None; stands before BaseEstimator among the bases."""

    kernel: Any
    # Whether examples may be rows of a matrix of kernel values.
    _takes_precomputed = False

    def _default_kernel(self) -> Kernel:
        return SubsetTree().normalized()

    def _chosen_kernel(self) -> Kernel:
        kernel = check_kernel(self._default_kernel() if self.kernel is None else self.kernel)
        if isinstance(kernel, Precomputed) and not self._takes_precomputed:
            raise ParameterError(
                f"{type(self).__name__} compares examples itself, so its kernel must be one that can; a matrix of "
                "values ('precomputed') is for KernelSVC and KernelSVR."
            )
        return kernel

    @all_or_nothing
    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; those of the default kernel, too, which then takes its place.

        A value that is refused changes nothing.
        """
        if any(name.startswith("kernel__") for name in params):
            kernel = params.get("kernel", self.kernel)
            params["kernel"] = self._default_kernel() if kernel is None else check_kernel(kernel)
        super().set_params(**params)  # type: ignore[misc]
        return self

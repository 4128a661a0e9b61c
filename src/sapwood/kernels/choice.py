"""The kernel that an estimator is given, or its own where it is given none."""

from __future__ import annotations

from typing import Any, Self

from sapwood.errors import ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.kernels.base import Kernel
from sapwood.kernels.syntactic import SubsetTree

__all__ = ["ChoosesKernel", "check_kernel"]


def check_kernel(value: Any) -> Kernel:
    """Return a value that is a kernel, or raise."""
    if isinstance(value, Kernel):
        return value
    raise ParameterError(
        f"kernel must be a kernel such as SubsetTree(decay=0.4).normalized(), got {value!r}; "
        "sapwood.kernels.parse_kernel reads one from text."
    )


class ChoosesKernel:
    """What estimators share whose parameter ``kernel`` may be None; stands before BaseEstimator among the bases."""

    kernel: Kernel | None

    def _default_kernel(self) -> Kernel:
        return SubsetTree().normalized()

    def _chosen_kernel(self) -> Kernel:
        return check_kernel(self._default_kernel() if self.kernel is None else self.kernel)

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

"""What support vector classification and regression share: kernel, support examples, compiled prediction, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import MOST, check_amount
from sapwood.fitting import SequenceInput
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.choice import KERNEL, ChoosesKernel
from sapwood.kernels.data import as_data
from sapwood.kernels.given import Precomputed
from sapwood.layouts import Field, array_of, part_of, register_estimator
from sapwood.learn.explain import CompiledExplanation
from sapwood.learn.parameters import check_iterations
from sapwood.registry import Reader
from sapwood.trees.store import VIEW

__all__ = ["KernelModel", "register_kernel_model"]


class KernelModel(ChoosesKernel, SequenceInput, BaseEstimator):
    """What classification and regression share: the Gram matrix, the support examples and the expansion."""

    C: float
    tol: float
    max_iter: int
    memory_limit: float | None
    kernel_: Kernel
    support_: NDArray[np.intp]
    support_examples_: Any
    dual_coef_: Matrix
    intercept_: Matrix
    _compiled: Callable[[Any], Matrix] | None = None
    _explaining: CompiledExplanation | None = None
    _compiled_names = ("_compiled", "_explaining")
    _takes_precomputed = True

    def _check_solver(self) -> None:
        """Check what both estimators hand to a solver."""
        for name in ("C", "tol"):
            check_amount(getattr(self, name), name, zero=False)
        if self.memory_limit is not None:
            check_amount(self.memory_limit, "memory_limit", zero=False)
        check_iterations(self.max_iter, "max_iter")

    def _most_iterations(self) -> int:
        """Return the limit as scikit-learn's solver takes it; nobody waits for that many iterations."""
        return min(int(self.max_iter), MOST)

    def _cache_megabytes(self) -> float:
        """Return the cache of scikit-learn's solver."""
        return 200.0 if self.memory_limit is None else float(self.memory_limit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed"):
            # Splits then take columns as well as rows.
            tags.input_tags.pairwise = tags.input_tags.two_d_array = True
            tags.input_tags.one_d_array = False
        return tags

    def _bind(self, X: Any) -> Kernel:
        self.kernel_ = self._chosen_kernel().bind(X)
        return self.kernel_

    def _keep(self, X: Any, support: NDArray[np.intp], coefficients: Matrix, intercept: Matrix) -> None:
        """Store the solution: rows of ``coefficients`` belong to the support, columns to the outputs."""
        self.support_ = support
        self.support_examples_ = self.kernel_._kept(X, support)
        self.dual_coef_ = np.ascontiguousarray(coefficients)
        self.intercept_ = intercept
        self._compiled = None
        self._explaining = None

    def _outputs(self, X: Any) -> Matrix:
        check_is_fitted(self)
        X = as_data(X)
        if self._compiled is None:
            self._compiled = self.kernel_.expansion(self.support_examples_, self.dual_coef_)
        return self._compiled(X) + self.intercept_

    def _explainer(self) -> CompiledExplanation:
        check_is_fitted(self)
        if self._explaining is None:
            self._explaining = CompiledExplanation(self.kernel_, self.support_examples_, self.support_, self.dual_coef_)
        return self._explaining


def register_kernel_model(
    kind: type[KernelModel], fitted: dict[str, Field], outputs: Callable[[Any, Reader], int]
) -> None:
    """Make a model storable by what it has learnt beyond the support, and by how many outputs it must have."""

    def check_shapes(model: KernelModel, reader: Reader) -> None:
        count, examples = outputs(model, reader), model.support_examples_.shape[0]
        fits = model.dual_coef_.shape == (examples, count) and len(model.support_) == examples
        if not fits or len(model.intercept_) != count:
            raise reader.fail("the weights do not fit the support examples")

    support = {
        "kernel_": part_of(Kernel).at("fitted_kernel"),
        "support_": array_of(np.int64),
        "support_examples_": VIEW.at("examples"),
        "dual_coef_": array_of(np.float64, 2),
        "intercept_": array_of(np.float64),
    }
    register_estimator(kind, parameters={"kernel": KERNEL}, fitted={**support, **fitted}, finish=check_shapes)

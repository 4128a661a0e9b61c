"""Support vector regression on any kernel, by scikit-learn's solver (libsvm)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.svm import SVR

from sapwood.checks import check_amount
from sapwood.fitting import all_or_nothing
from sapwood.interrupts import leave_behind
from sapwood.kernels.base import Matrix
from sapwood.kernels.data import as_data
from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.kernel_model import KernelModel, register_kernel_model
from sapwood.learn.targets import check_values, check_weights

__all__ = ["KernelSVR"]


class KernelSVR(RegressorMixin, KernelModel):
    """Support vector regression on trees, or on anything that a kernel compares.

    Parameters
    ----------
    kernel : Kernel, str or callable, optional
        By default ``SubsetTree(decay=0.4).normalized()``; otherwise as for ``KernelSVC``.
    C : float
        Regularization: the cost of an error beyond epsilon.
    epsilon : float
        Errors up to this size cost nothing.
    tol, max_iter, memory_limit
        As for ``KernelSVC``.

    Examples
    --------
    >>> import sapwood as sw
    >>> trees = sw.TreeArray(["(NP (NN dog))", "(NP (JJ big) (NN dog))", "(NP (JJ big) (JJ old) (NN dog))"])
    >>> model = KernelSVR(C=10.0).fit(trees, [1.0, 2.0, 3.0])
    >>> bool(model.predict(trees)[0] < model.predict(trees)[2])
    True
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = -1,
        memory_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on examples and their target values."""
        self._check_solver()
        check_amount(self.epsilon, "epsilon")
        X = as_data(X)
        targets = check_values(X.shape[0], y, "KernelSVC")
        weights = check_weights(len(targets), sample_weight)
        K = self._bind(X)(X)
        solver = SVR(
            kernel="precomputed",
            C=self.C,
            epsilon=self.epsilon,
            tol=self.tol,
            max_iter=self._most_iterations(),
            cache_size=self._cache_megabytes(),
        )
        # libsvm leaves examples without weight out, and then numbers the support as if they had never been there.
        used = np.flatnonzero(weights)
        block = K if len(used) == len(K) else np.ascontiguousarray(K[np.ix_(used, used)])
        solution = leave_behind(lambda: solver.fit(block, targets[used], sample_weight=weights[used]))
        self._keep(X, used[solution.support_], solution.dual_coef_.T, solution.intercept_.astype(np.float64))
        return self

    def predict(self, X: Any) -> Matrix:
        """Return the predicted value of each example."""
        return self._outputs(X)[:, 0]

    def explain(self, example: Any, *, top: int = 10) -> Explanation:
        """Say which nodes and fragments of a tree the predicted value comes from; see ``KernelSVC.explain``."""
        return self._explainer().explain(example, None, np.ones(1), self.intercept_, top)

    def fragments(self, *, top: int = 20) -> ModelFragments:
        """Return the fragments with the largest weights."""
        return self._explainer().fragments(None, np.ones(1), top)


register_kernel_model(KernelSVR, {}, lambda model, reader: 1)

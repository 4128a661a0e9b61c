"""Kernels whose values come from the user: a matrix that is known already, or a function.

Estimators make them of ``kernel="precomputed"`` and of callables; see ``choice``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse

from sapwood.checks import check_count
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Kernel, Matrix

__all__ = ["FunctionKernel", "Precomputed"]


class Precomputed(Kernel):
    """Values that are known: each row of X holds an example's values with all training examples.

    What training keeps of an example is its position, so X is compared with positions in a column.

    Parameters
    ----------
    size : int, optional
        How many training examples there are; ``bind`` sets it.

    Examples
    --------
    >>> k = Precomputed().bind([[2.0, 1.0], [1.0, 3.0]])
    >>> k([[2.0, 1.0], [1.0, 3.0]], [[1.0]])
    array([[1.],
           [3.]])
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size
        self._validate()

    def _validate(self) -> None:
        if self.size is not None:
            check_count(self.size, "size")

    def _bind(self, X: Any) -> Kernel:
        return Precomputed(len(self._square(X)))

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        if Y is None:
            return self._square(X)
        if not isinstance(Y, np.ndarray) or Y.ndim != 2 or Y.shape[1] != 1:
            raise DataError(
                "known values are compared with positions of training examples; with others there is nothing to "
                "compare. To combine matrices, add or multiply them before training."
            )
        return self._against_all(X)[:, Y[:, 0].astype(np.intp)]

    def _diag(self, X: Any) -> Matrix:
        return np.diagonal(self._square(X)).copy()

    def _kept(self, X: Any, rows: Any) -> Any:
        return np.asarray(rows, dtype=np.float64)[:, None]

    def _square(self, X: Any) -> Matrix:
        values = self._table(X)
        if values.shape[0] != values.shape[1]:
            raise DataError(
                f"with kernel='precomputed', training expects a square matrix, one row and one column per example; "
                f"got shape {values.shape}."
            )
        return values

    def _table(self, X: Any) -> Matrix:
        if not (isinstance(X, np.ndarray) or sparse.issparse(X)) or X.dtype == object:
            raise DataError(
                f"with kernel='precomputed', expected a matrix of kernel values, got {type(X).__name__}; pass "
                "kernel(X), and kernel(X_new, X) to predict, or the kernel itself in place of 'precomputed'."
            )
        return np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)

    def _against_all(self, X: Any) -> Matrix:
        values = self._table(X)
        if self.size is not None and values.shape[1] != self.size:
            raise DataError(
                f"X has {values.shape[1]} columns; with kernel='precomputed', expected the kernel values with all "
                f"{self.size} training examples."
            )
        return values


class FunctionKernel(Kernel):
    """A function of two arrays of examples as a kernel: what estimators make of a callable.

    Parameters
    ----------
    function : callable
        Takes X and Y and returns the matrix of values, as scikit-learn's ``SVC(kernel=function)`` wants it.

    Examples
    --------
    >>> def same_size(X, Y):
    ...     return [[float(len(x.leaves()) == len(y.leaves())) for y in Y] for x in X]
    >>> FunctionKernel(same_size)(["(a b c)", "(a b)"], ["(d e)"])
    array([[0.],
           [1.]])
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function
        self._validate()

    def _validate(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"function must be callable, got {self.function!r}.")

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        Y = X if Y is None else Y
        wanted = (X.shape[0], Y.shape[0])
        try:
            values = np.array(self.function(X, Y), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"the kernel function {self.function!r} failed on two arrays of examples: {error}"
            ) from error
        if values.shape != wanted:
            raise DataError(
                f"the kernel function {self.function!r} returned shape {values.shape}; expected {wanted}, one row per "
                "example of X and one column per example of Y. If f compares two trees, pass "
                "lambda X, Y: [[f(x, y) for y in Y] for x in X]."
            )
        if np.isnan(values).any():
            row, column = np.argwhere(np.isnan(values))[0]
            raise DataError(
                f"the kernel function {self.function!r} returned no number (nan) for example {row} of X and example "
                f"{column} of Y; return a number for every pair, such as 0 where there is nothing in common."
            )
        return values

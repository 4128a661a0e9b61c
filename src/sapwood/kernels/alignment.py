"""How well Gram matrices fit targets: centred alignment, and the weights of a sum that have the most of it.

After Cortes, Mohri & Rostamizadeh, "Algorithms for learning kernels based on centered alignment", JMLR 13, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.utils.multiclass import type_of_target

from sapwood.errors import DataError

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel

__all__ = ["aligned_weights", "alignment", "centred", "kernel_alignment", "target_columns"]

Matrix = NDArray[np.float64]


def kernel_alignment(kernel: Kernel, X: Any, y: Any) -> float:
    """Return the alignment of a kernel with targets; see ``Kernel.alignment``."""
    K = kernel.bind(X)(X)
    return alignment(centred(K), target_columns(len(K), y))


def target_columns(count: int, y: Any) -> Matrix:
    """Return centred columns whose products are the Gram matrix of targets: one per class, or the numbers."""
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if values.ndim != 1 or len(values) != count:
        raise DataError(f"y must have one label or number for each of {count} examples, got shape {values.shape}.")
    if values.dtype.kind not in "UObiuf" or (values.dtype.kind == "f" and not np.isfinite(values).all()):
        raise DataError("y must be labels or finite numbers.")
    if values.dtype.kind == "O":
        values = values.astype(str)
    if values.dtype.kind == "f" and type_of_target(values) == "continuous":
        columns = values[:, None].astype(np.float64)
    else:
        columns = (values[:, None] == np.unique(values)).astype(np.float64)
    columns = columns - columns.mean(axis=0)
    if not np.abs(columns).max(initial=0.0) > 0:
        raise DataError("y has the same target everywhere, so nothing can be aligned with it.")
    return np.asarray(columns, dtype=np.float64)


def centred(K: Matrix) -> Matrix:
    """Return a Gram matrix of the same examples around their mean."""
    means = K.mean(axis=0)
    return np.asarray(K - means - means[:, None] + means.mean())


def alignment(K: Matrix, columns: Matrix) -> float:
    """Return the cosine between a centred Gram matrix and that of targets; 0 if all examples are the same to it."""
    norm = float(la.norm(K)) * float(la.norm(columns.T @ columns))
    return _inner(K, columns) / norm if norm > 0 else 0.0


def aligned_weights(grams: Sequence[Matrix], columns: Matrix) -> Matrix:
    """Return weights of at least 0, which add up to 1, of the sum of centred matrices with the most alignment.

    The best direction solves a quadratic problem in as many variables as there are matrices.
    """
    wanted = np.array([_inner(K, columns) for K in grams])
    products = np.array([[float(np.vdot(one, other)) for other in grams] for one in grams])
    sizes = np.sqrt(np.maximum(np.diagonal(products), 1e-300))
    scaled = products / np.outer(sizes, sizes) + 1e-10 * np.eye(len(grams))
    lower = la.cholesky(scaled, lower=True)
    shares = nnls(lower.T, la.solve_triangular(lower, wanted / sizes, lower=True))[0]
    # What is left of the ridge, which only keeps equal matrices from being a problem, is no weight.
    shares[shares < 1e-6 * shares.max()] = 0.0
    found = shares / sizes
    total = float(found.sum())
    # Where nothing is aligned at all, all weigh the same.
    return found / total if total > 0 else np.full(len(grams), 1.0 / len(grams))


def _inner(K: Matrix, columns: Matrix) -> float:
    return float(np.vdot(K @ columns, columns))

"""Making a symmetric table of similarities positive semi-definite, once and for a whole vocabulary.

Pairwise measures on a taxonomy, or tables filled by hand, need not be kernels. Repairing a block of training by test
words on its own would give other values than repairing the whole, so the repair is done on the matrix of all words
and its result is kept as vectors, whose products are the repaired similarities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import DataError, ParameterError
from sapwood.interrupts import leave_behind
from sapwood.words.vectors import Vectors

__all__ = ["repair", "smallest_eigenvalue"]

# A dense eigenvalue problem of this size takes seconds.
_LARGEST_DENSE = 2000


def repair(words: list[str], matrix: Any, *, method: str = "clip") -> Vectors:
    """Return vectors whose products are the nearest positive semi-definite similarities.

    Parameters
    ----------
    words : list of str
        The vocabulary: all words that will ever be compared. Others follow the rule for unknown words.
    matrix : array of shape (len(words), len(words))
        Symmetric similarities.
    method : {"clip", "shift"}
        ``"clip"`` sets negative eigenvalues to 0, which changes values least; ``"shift"`` adds the smallest one to the
        diagonal, which keeps all similarities of different words.

    Examples
    --------
    >>> broken = [[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]]
    >>> fixed = repair(["a", "b", "c"], broken, method="shift")
    >>> round(fixed("a", "b"), 6), round(fixed("a", "c"), 6), fixed("a", "a") > 1
    (0.9, 0.0, True)
    """
    if method not in ("clip", "shift"):
        raise ParameterError(f'method must be "clip" or "shift", got {method!r}.')
    values = np.asarray(matrix, dtype=np.float64)
    if values.shape != (len(words), len(words)):
        raise DataError(f"the matrix has shape {values.shape}; expected one row and column for {len(words)} words.")
    if not np.isfinite(values).all():
        raise DataError("the matrix holds NaN or infinite similarities.")
    if not np.allclose(values, values.T, rtol=1e-9, atol=1e-12):
        raise DataError("the matrix is not symmetric.")
    eigenvalues, basis = leave_behind(lambda: np.linalg.eigh((values + values.T) / 2))
    if method == "shift" and len(words):
        eigenvalues = eigenvalues - min(0.0, eigenvalues[0])
    kept = eigenvalues > 1e-14 * max(1.0, float(eigenvalues[-1])) if len(words) else np.zeros(0, dtype=bool)
    return Vectors(words, basis[:, kept] * np.sqrt(eigenvalues[kept]), measure="dot")


def smallest_eigenvalue(matrix: sparse.csr_array) -> float:
    """Return the smallest eigenvalue of a sparse symmetric matrix; of a large one an estimate, never too small."""
    if matrix.shape[0] == 0:
        return 0.0
    count, label = sparse.csgraph.connected_components(matrix, directed=False)
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label, minlength=count))
    smallest = np.inf
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        block = matrix[order[begin:end]][:, order[begin:end]]
        smallest = min(smallest, _smallest_of_block(block))
    return float(smallest)


def _smallest_of_block(block: sparse.csr_array) -> float:
    if block.shape[0] <= 2:
        dense: NDArray[np.float64] = block.toarray()
        return float(np.linalg.eigvalsh(dense)[0])
    # A row whose diagonal outweighs the rest bounds its eigenvalues from below (Gershgorin).
    diagonal = block.diagonal()
    bound = float((2 * diagonal - np.asarray(abs(block).sum(axis=1)).ravel()).min())
    if bound >= 0:
        return bound
    if block.shape[0] <= _LARGEST_DENSE:
        return float(np.linalg.eigvalsh(block.toarray())[0])
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    start = np.random.default_rng(0).standard_normal(block.shape[0])
    try:
        found = eigsh(block, k=1, which="SA", v0=start, tol=1e-4, maxiter=500, return_eigenvectors=False)
        return float(found[0])
    except ArpackNoConvergence:
        # The value of any vector lies above the smallest eigenvalue, so a negative one is proof enough.
        values = np.asarray([float(start @ (block @ start)) / float(start @ start)])
        return float(values.min())

"""What kernels take as examples: turning whatever a user passes into arrays, and joining arrays to pairs.

What is done with them belongs to the kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from sapwood.errors import DataError
from sapwood.trees.array import TreeArray, concatenate
from sapwood.trees.arrow import unpacked
from sapwood.trees.elements import is_single
from sapwood.trees.examples import Examples
from sapwood.trees.views import as_view

__all__ = ["as_data", "detached", "end_to_end", "join", "pick_view"]


def as_data(X: Any) -> Any:
    """Turn whatever a user passes as examples into something with a shape that can be sliced."""
    if isinstance(X, (TreeArray, Examples)):
        return X
    X = unpacked(X)
    if isinstance(X, TreeArray):
        return X
    if is_single(X):
        raise DataError("expected a list of trees, got a single tree; write [tree].")
    if isinstance(X, (list, tuple)) and not X:
        return TreeArray([])
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2 and X.shape[1] == 1:
        # What scikit-learn's ensembles make of trees, and a frame with a single column.
        return as_data(X[:, 0])
    if isinstance(X, (list, tuple, np.ndarray)) or sparse.issparse(X) or hasattr(X, "to_numpy"):
        view = as_view(X, "X")
        # Nothing tells of what an empty array of objects is empty; no trees are no rows to every kernel.
        return TreeArray([]) if view.shape == (0,) else view
    raise DataError(
        f"expected a TreeArray, Examples, a list of trees, a matrix or a list of dictionaries; got {type(X).__name__}."
    )


def join(X: Any, Y: Any) -> Any:
    """Put two arrays of the same length and kind end to end, as ``Kernel.pairwise`` takes them.

    >>> join(["(NP (NN dog))"], ["(NP (NN cat))"])
    TreeArray(2 trees, 6 nodes, 6 distinct subtrees)
    """
    if is_single(X) and is_single(Y):
        return TreeArray([X, Y])
    if is_single(X) or is_single(Y):
        raise DataError("compare one tree with one tree, or arrays with arrays; wrap a single tree in a list.")
    X, Y = as_data(X), as_data(Y)
    if X.shape[0] != Y.shape[0]:
        raise DataError(f"X has {X.shape[0]} elements and Y has {Y.shape[0]}; each needs a partner in the same place.")
    return end_to_end(X, Y)


def end_to_end(first: Any, second: Any, names: tuple[str, str] = ("X", "Y")) -> Any:
    """Put examples of the same kind end to end; the names are what messages call them."""
    one, other = names
    if isinstance(first, TreeArray) and isinstance(second, TreeArray):
        return concatenate([first._compact(), second._compact()])
    if isinstance(first, Examples) and isinstance(second, Examples):
        if set(first.views) != set(second.views):
            raise DataError(
                f"{one} has the views {', '.join(first.views)} and {other} {', '.join(second.views)}; they must be the "
                "same."
            )
        return Examples(**{view: end_to_end(first[view], second[view], names) for view in first.views})
    if isinstance(first, (TreeArray, Examples)) or isinstance(second, (TreeArray, Examples)):
        raise DataError(
            f"{one} is a {type(first).__name__} and {other} a {type(second).__name__}; they must be of the same kind."
        )
    dictionaries = [isinstance(side, np.ndarray) and side.dtype == object for side in (first, second)]
    if any(dictionaries):
        if not all(dictionaries):
            raise DataError("one side has dictionaries and the other a matrix; use the same kind of features on both.")
        return np.concatenate([first, second])
    if first.shape[1] != second.shape[1]:
        raise DataError(
            f"{one} has {first.shape[1]} features but {other} has {second.shape[1]}; they must be the same."
        )
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack([sparse.csr_array(first), sparse.csr_array(second)], format="csr")
    return np.concatenate([first, second])


def detached(X: Any, rows: Any) -> Any:
    """Return some rows on their own; a view of trees would keep the store of all of them alive."""
    chosen = X[rows]
    return chosen.detach() if hasattr(chosen, "detach") else chosen


def pick_view(X: Any, view: str) -> Any:
    """Return one view of examples."""
    if not isinstance(X, Examples):
        raise DataError(f"the kernel is on the view {view!r}, so it needs Examples, not {type(X).__name__}.")
    return X[view]

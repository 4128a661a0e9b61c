"""Gram matrices of many arguments, from those of the few distinct trees behind them.

Arguments share their paths and constituents: a hundred thousand arguments have a few thousand different paths. Each
view's kernel is computed once between distinct trees, kept on disk if a folder is given, and put together for any
mixture and any price of errors.
"""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.errors import DataError
from sapwood.kernels.base import Kernel
from sapwood.learn.solver.smo import BinaryProblem, solve_prepared
from sapwood.learn.solver.tables import prepare_gram
from sapwood.trees.array import TreeArray, concatenate
from sapwood.writing import atomic_write

__all__ = ["DistinctGram", "OneVersusRest", "mixed"]

Matrix = NDArray[np.float32]


class DistinctGram:
    """The normalised kernel of one view between training and other examples, over distinct trees.

    Parameters
    ----------
    kernel : Kernel
        A kernel of trees, or of feature vectors; it is normalised here.
    train, other : TreeArray, or list of feature dictionaries
        The view of training and of other examples.
    cache : Path, optional
        A folder in which matrices are kept, under a name made from the kernel and the trees.
    """

    def __init__(self, kernel: Kernel, train: Any, other: Any, *, cache: Path | None = None) -> None:
        normal = kernel.normalized()
        self.distinct = 0
        if not isinstance(train, TreeArray):
            self._rows = np.arange(len(train))
            self._columns = np.arange(len(train))
            self._others = np.arange(len(other))
            self._square, self._wide = _kept(normal, train, other, cache, "")
            self.distinct = len(train)
            return
        both = concatenate([train, other])
        roots = both._roots
        known, numbers = np.unique(roots[: len(train)], return_inverse=True)
        new, new_numbers = np.unique(roots[len(train) :], return_inverse=True)
        self._rows = self._columns = numbers
        self._others = new_numbers
        self.distinct = len(known)
        trees = TreeArray._from_arena(both._arena, known)
        others = TreeArray._from_arena(both._arena, new)
        key = hashlib.sha256(repr(normal).encode())
        for part in (trees, others):
            for text in part.to_strings(escape=True):
                key.update(text.encode())
                key.update(b"\n")
        self._square, self._wide = _kept(normal, trees, others, cache, key.hexdigest()[:24])

    def train(self) -> Matrix:
        """Return the matrix between training examples."""
        return self._square[np.ix_(self._rows, self._columns)]

    def other(self) -> Matrix:
        """Return the matrix between other examples and training examples."""
        return self._wide[np.ix_(self._others, self._columns)]


def _kept(kernel: Kernel, train: Any, other: Any, cache: Path | None, key: str) -> tuple[Matrix, Matrix]:
    path = None if cache is None or not key else cache / f"gram-{key}.npz"
    if path is not None and path.exists():
        try:
            with np.load(path) as held:
                square, wide = held["square"], held["wide"]
            if square.shape == (len(train), len(train)) and wide.shape == (len(other), len(train)):
                return square, wide
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            # A damaged file is no reason to stop: what it held can be computed again.
            pass
    square = np.asarray(kernel(train), dtype=np.float32)
    wide = np.asarray(kernel(other, train), dtype=np.float32)
    if path is not None:
        import io

        buffer = io.BytesIO()
        np.savez(buffer, square=square, wide=wide)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, buffer.getvalue())
        except OSError as error:
            # Hours of work are not thrown away because they could not be kept.
            warnings.warn(f"the Gram matrix is not kept on disk: {error}", RuntimeWarning, stacklevel=2)
    return square, wide


def mixed(parts: Sequence[tuple[float, DistinctGram]]) -> tuple[Matrix, Matrix]:
    """Add up views by weight: the matrices between training examples, and between others and them."""
    if not parts:
        raise DataError("nothing to mix; pass at least one view.")
    square = np.float32(parts[0][0]) * parts[0][1].train()
    wide = np.float32(parts[0][0]) * parts[0][1].other()
    for weight, part in parts[1:]:
        square += np.float32(weight) * part.train()
        wide += np.float32(weight) * part.other()
    return square, wide


class OneVersusRest:
    """One SVM per class on a Gram matrix that is there already.

    Parameters
    ----------
    C : float
        Price of a training error.
    """

    def __init__(self, C: float = 2.4) -> None:
        self.C = C

    def fit(self, K: NDArray[Any], y: NDArray[Any]) -> OneVersusRest:
        """Train on the matrix between training examples."""
        self.classes, numbers = np.unique(y, return_inverse=True)
        costs = np.full(len(y), float(self.C))
        problems = [
            BinaryProblem(np.flatnonzero(numbers == number), np.flatnonzero(numbers != number), costs, str(name))
            for number, name in enumerate(self.classes)
        ]
        found = solve_prepared(prepare_gram(K, settings.threads()), problems)
        self._support, self._weights, self._bias = found.support, found.weights, found.biases
        return self

    def predict(self, K: NDArray[Any]) -> NDArray[Any]:
        """Return the class with the largest margin for each row of the matrix between others and training examples."""
        return np.asarray(self.classes[(K[:, self._support] @ self._weights + self._bias).argmax(axis=1)])

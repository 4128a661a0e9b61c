"""Kernels on flat features: matrices, sparse matrices, or dictionaries from feature names to values.

Dictionaries are lined up by feature name; text values are one-hot. Of trees only the leaves are known here, as bags of
words.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.checks import check_amount, check_count, is_finite
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Expansion, Kernel, Matrix
from sapwood.kernels.semantic import check_similarity
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples
from sapwood.words.base import WordSimilarity

__all__ = ["RBF", "Linear", "Polynomial", "vectors"]


class FlatKernel(Kernel):
    """A kernel that is a function of the dot product of two feature vectors."""

    @abstractmethod
    def _map(self, products: Matrix, left: Any, right: Any) -> Matrix:
        """Turn dot products into kernel values, in place if possible.

        Parameters
        ----------
        products : array
            Of all rows of one side with all of the other, or of pairs of rows.
        left, right : matrices
            The rows; for pairs, as many as there are products.
        """

    def _comparable(self, X: Any) -> Any:
        return _line_up(self, X)[0]

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        if Y is None:
            (left,) = _line_up(self, X)
            right = left
        else:
            left, right = _line_up(self, X, Y)
        if left.shape[1] != right.shape[1]:
            raise DataError(f"X has {left.shape[1]} features but Y has {right.shape[1]}; they must be the same.")
        if not sparse.issparse(left) and not sparse.issparse(right):
            return self._map(np.ascontiguousarray(left @ right.T, dtype=np.float64), left, right)
        # The product of sparse matrices is far from sparse, so it is made dense right away.
        products = np.empty((left.shape[0], right.shape[0]))
        _core.smo.dot_products(*vectors(left), *vectors(right), int(left.shape[1]), products, settings.threads())
        return self._map(products, left, right)

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        """Line the features of X up once, not again for every block of rows."""
        if not X.shape[0]:
            return _nothing(weights)
        features = _Features(self, X)
        if not sparse.issparse(features.matrix):
            return super()._expansion(X, weights)

        def evaluate(Y: Any) -> Matrix:
            rows = features.of(Y)
            result = np.empty((rows.shape[0], weights.shape[1]))
            step = max(1, (1 << 25) // max(1, features.matrix.shape[0]))
            for start in range(0, len(result), step):
                result[start : start + step] = self._gram(rows[start : start + step], features.matrix) @ weights
            return result

        return evaluate

    def _diag(self, X: Any) -> Matrix:
        (rows,) = _line_up(self, X)
        return self._map(_row_products(rows, rows), rows, rows)

    def _pairwise(self, X: Any) -> Matrix:
        (rows,) = _line_up(self, X)
        half = rows.shape[0] // 2
        return self._map(_half_products(rows, rows), rows[:half], rows[half:])


class Linear(FlatKernel):
    """The dot product of two feature vectors; with ``words``, the semantic bag of words.

    Parameters
    ----------
    words : WordSimilarity, optional
        S: features are words, and two bags of words x and y compare as x'Sy. Bags are dictionaries from words to
        counts, or trees, whose leaves are counted. It is a kernel if the similarity is positive semi-definite.

    Examples
    --------
    >>> Linear()([{"word": "dog", "length": 2.0}], [{"word": "dog", "length": 1.0}])
    array([[3.]])
    >>> from sapwood.words import Table
    >>> Linear(words=Table({("nation", "country"): 0.9}))("(NP (DT a) (NN nation))", "(NP (DT a) (NN country))")
    1.9
    """

    def __init__(self, words: WordSimilarity | None = None) -> None:
        self.words = words
        self._validate()

    def _validate(self) -> None:
        if self.words is not None:
            check_similarity(self.words, "words")

    def _bind(self, X: Any) -> Kernel:
        if self.words is None:
            return self
        bound = self.words.bind(lambda: _documents(self, X))
        return self if bound is self.words else Linear(words=bound)

    def _dot_form(self) -> tuple[float, float, int] | None:
        return (1.0, 0.0, 1) if self.words is None else None

    def _comparable(self, X: Any) -> Any:
        return super()._comparable(X) if self.words is None else X

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        if self.words is None:
            return super()._gram(X, Y)
        columns, vocabulary = _bags(self, X if Y is None else Y)
        comparison = self.words.against(vocabulary)
        rows, row_words = (columns, vocabulary) if Y is None else _bags(self, X)
        products = (rows @ comparison.left(row_words)) @ (columns @ comparison.right).T
        K = np.ascontiguousarray(products.toarray(), dtype=np.float64)
        # Both triangles are sums of the same numbers in different order.
        return (K + K.T) / 2 if Y is None else K

    def _diag(self, X: Any) -> Matrix:
        return super()._diag(X) if self.words is None else _row_products(*self._sides(X))

    def _pairwise(self, X: Any) -> Matrix:
        return super()._pairwise(X) if self.words is None else _half_products(*self._sides(X))

    def _pairwise_and_diag(self, X: Any) -> tuple[Matrix, Matrix]:
        if self.words is None:
            return super()._pairwise_and_diag(X)
        sides = self._sides(X)
        return _half_products(*sides), _row_products(*sides)

    def _sides(self, X: Any) -> tuple[Any, Any]:
        """Return X twice, as the left and the right side of comparisons of bags of words."""
        assert self.words is not None
        rows, vocabulary = _bags(self, X)
        comparison = self.words.against(vocabulary)
        right = rows @ comparison.right
        return right if comparison.symmetric else rows @ comparison.left(vocabulary), right

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        """Sum the weights up per feature (or per feature of the words) once, so that evaluation is one product."""
        if not X.shape[0]:
            return _nothing(weights)
        if self.words is not None:
            columns, vocabulary = _bags(self, X)
            comparison = self.words.against(vocabulary)
            totals = (columns @ comparison.right).T @ weights

            def compare(Y: Any) -> Matrix:
                rows, row_words = _bags(self, Y)
                return np.asarray((rows @ comparison.left(row_words)) @ totals)

            return compare
        features = _Features(self, X)
        totals = np.asarray(features.matrix.T @ weights)
        return lambda Y: np.asarray(features.of(Y) @ totals)

    def _map(self, products: Matrix, left: Any, right: Any) -> Matrix:
        return products

    def __repr__(self) -> str:
        return "Linear()" if self.words is None else f"Linear(words={self.words!r})"


class Polynomial(FlatKernel):
    """A power of the dot product plus a constant: (scale·⟨x, y⟩ + constant)^degree.

    Parameters
    ----------
    degree : int
        The power d.
    constant : float
        What is added before; with 1, features count alone as well as in groups of up to d.
    scale : float
        Factor of the dot product.

    Examples
    --------
    >>> Polynomial(degree=2)([{"a": 1, "b": 1}], [{"a": 1, "b": 1}])
    array([[9.]])
    """

    def __init__(self, degree: int = 2, constant: float = 1.0, scale: float = 1.0) -> None:
        self.degree, self.constant, self.scale = degree, constant, scale
        self._validate()

    def _validate(self) -> None:
        check_count(self.degree, "degree", most=None)
        check_amount(self.constant, "constant")
        check_amount(self.scale, "scale", zero=False)

    def _dot_form(self) -> tuple[float, float, int]:
        return float(self.scale), float(self.constant), int(self.degree)

    def _map(self, products: Matrix, left: Any, right: Any) -> Matrix:
        products *= self.scale
        products += self.constant
        return np.power(products, self.degree, out=products)


class RBF(FlatKernel):
    """The radial basis function of two feature vectors: exp(-γ·‖x - y‖²), for vectors of words, sentences or anything.

    Parameters
    ----------
    gamma : float or "scale"
        γ: how fast the kernel falls with distance. "scale" is 1 / (columns · variance) of the training data, as in
        scikit-learn's SVC; such a kernel has to be bound, which estimators do when they are fitted.

    Examples
    --------
    >>> float(RBF(gamma=0.5)(np.zeros((1, 3)), np.ones((1, 3)))[0, 0].round(4))
    0.2231
    >>> from sapwood.kernels import SubsetTree
    >>> 0.3 * SubsetTree().normalized().on("tree") + 0.7 * RBF().on("vector")
    0.3 * SubsetTree(decay=0.4).normalized().on('tree') + 0.7 * RBF(gamma='scale').on('vector')
    """

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma
        self._validate()

    def _validate(self) -> None:
        if self.gamma != "scale":
            if isinstance(self.gamma, str):
                raise ParameterError(f"gamma must be a number or 'scale', got {self.gamma!r}.")
            check_amount(self.gamma, "gamma", zero=False)

    def _bind(self, X: Any) -> Kernel:
        if self.gamma != "scale":
            return self
        (rows,) = _line_up(self, X)
        count = rows.shape[0] * rows.shape[1]
        squares = float(_row_products(rows, rows).sum())
        variance = squares / count - (float(rows.sum()) / count) ** 2 if count else 0.0
        return RBF(1.0 / (rows.shape[1] * variance) if variance > 0 else 1.0)

    def _map(self, products: Matrix, left: Any, right: Any) -> Matrix:
        if isinstance(self.gamma, str):
            raise ParameterError(
                "RBF(gamma='scale') takes its width from training data; use kernel.bind(X) first, or give a number."
            )
        ours, theirs = _row_products(left, left), _row_products(right, right)
        products *= -2.0
        products += ours + theirs if products.ndim == 1 else ours[:, None] + theirs
        # What rounding has left of the distance of a row to itself may be below zero.
        np.maximum(products, 0.0, out=products)
        if products.ndim == 2 and left is right:
            np.fill_diagonal(products, 0.0)
        products *= -self.gamma
        return np.exp(products, out=products)


class _Features:
    """Examples as a matrix, and any others with the same columns."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        self._kernel, self._X = kernel, X
        self._known: dict[str, int] | None = {} if _is_dictionaries(X) else None
        (self.matrix,) = _line_up(kernel, X) if self._known is None else _matrices((X,), self._known)

    def of(self, Y: Any) -> Any:
        """Return other examples as a matrix with these columns."""
        if not Y.shape[0]:
            return self.matrix[:0]
        if self._known is not None and _is_dictionaries(Y):
            # Features that none of the examples has come after the known ones, and match nothing.
            (rows,) = _matrices((Y,), dict(self._known))
            return rows[:, : self.matrix.shape[1]]
        rows, _ = _line_up(self._kernel, Y, self._X[:1])
        width = self.matrix.shape[1]
        if rows.shape[1] != width:
            raise DataError(f"X has {rows.shape[1]} features but Y has {width}; they must be the same.")
        return rows


def _is_dictionaries(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype == object


def _nothing(weights: Matrix) -> Expansion:
    """Return the expansion of no examples."""
    return lambda Y: np.zeros((Y.shape[0], weights.shape[1]))


def _line_up(kernel: Kernel, *sides: Any) -> list[Any]:
    """Check the sides and return them as matrices with the same columns."""
    sides = _without_empty_lists(sides)
    for side in sides:
        if isinstance(side, (Examples, TreeArray)):
            what = f"Examples with the views {', '.join(side.views)}" if isinstance(side, Examples) else "trees"
            raise DataError(f"{kernel!r} compares feature vectors, but it got {what}; say which view with .on(name).")
    dictionaries = [_is_dictionaries(side) for side in sides]
    if all(dictionaries):
        return _matrices(sides)
    if any(dictionaries):
        raise DataError("one side has dictionaries and the other a matrix; use the same kind of features on both.")
    for side in sides:
        values = side.data if sparse.issparse(side) else side
        if values.dtype.kind not in "biuf":
            raise DataError(f"features must be real numbers, got an array of type {values.dtype}.")
        if not np.isfinite(values).all():
            row = _first_broken_row(side)
            raise DataError(f"row {row} has a feature that is NaN or infinite; fill or drop it first.")
    return [side.astype(np.float64) for side in sides]


def _without_empty_lists(sides: tuple[Any, ...]) -> tuple[Any, ...]:
    """Take an empty list, which ``as_data`` has taken for trees, for no rows of whatever stands on the other side."""
    if not any(isinstance(side, TreeArray) and not len(side) for side in sides):
        return sides
    widths = [side.shape[1] for side in sides if not isinstance(side, (Examples, TreeArray)) and side.ndim == 2]
    nothing = np.zeros((0, widths[0])) if widths else np.empty(0, dtype=object)
    return tuple(nothing if isinstance(side, TreeArray) and not len(side) else side for side in sides)


def vectors(matrix: Any) -> tuple[Any, Any, Any]:
    """Return the ends, features and values of the rows, as the native core takes them: no feature twice in a row."""
    rows = sparse.csr_array(matrix, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows.indptr[1:].astype(np.uint64), rows.indices.astype(np.uint32), np.ascontiguousarray(rows.data)


def _row_products(left: Any, right: Any) -> Matrix:
    """Multiply the rows of one matrix with those of another, one by one."""
    products = left.multiply(right) if sparse.issparse(left) else left * right
    return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()


def _half_products(left: Any, right: Any) -> Matrix:
    """Multiply the first half of the rows of one matrix with the second half of those of the other."""
    half = left.shape[0] // 2
    return _row_products(left[:half], right[half:])


def _bags(kernel: Kernel, X: Any) -> tuple[sparse.csr_array, list[str]]:
    """Return word counts, one row per example, and the words of the columns."""
    if isinstance(X, TreeArray):
        words, numbers, ends = X._leaf_numbers()
        counts = sparse.csr_array(
            (np.ones(len(numbers)), numbers.astype(np.int64), np.concatenate([[0], ends.astype(np.int64)])),
            shape=(len(X), len(words)),
        )
        counts.sum_duplicates()
        return counts, words
    if not _is_dictionaries(X):
        what = f"Examples with the views {', '.join(X.views)}" if isinstance(X, Examples) else "a matrix"
        raise DataError(
            f"{kernel!r} compares bags of words, but it got {what}; give trees or dictionaries from words to counts, "
            "or say which view with .on(name)."
        )
    for number, row in enumerate(X):
        for word, value in row.items() if isinstance(row, Mapping) else ():
            if not isinstance(word, str) or not word or isinstance(value, str):
                raise DataError(f"row {number}: {word!r}: {value!r} is no count of a word.")
    columns: dict[str, int] = {}
    (matrix,) = _matrices((X,), columns)
    return matrix[:, : len(columns)], list(columns)


def _documents(kernel: Kernel, X: Any) -> list[list[str]]:
    if isinstance(X, TreeArray):
        return X.leaves()
    counts, vocabulary = _bags(kernel, X)
    return [
        [vocabulary[k] for k, count in zip(row.indices, row.data, strict=True) for _ in range(max(1, round(count)))]
        for row in (counts[[number]] for number in range(counts.shape[0]))
    ]


def _first_broken_row(matrix: Any) -> int:
    if sparse.issparse(matrix):
        entries = matrix.tocoo()
        return int(entries.row[~np.isfinite(entries.data)].min())
    return int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])


def _matrices(sides: tuple[NDArray[np.object_], ...], columns: dict[str, int] | None = None) -> list[sparse.csr_array]:
    columns = {} if columns is None else columns
    parts = []
    for side in sides:
        indices: list[int] = []
        values: list[float] = []
        ends = [0]
        for number, row in enumerate(side):
            if not isinstance(row, Mapping):
                raise DataError(f"row {number} is a {type(row).__name__}; expected a dictionary of features.")
            for name, value in row.items():
                key, weight = _feature(name, value, number)
                indices.append(columns.setdefault(key, len(columns)))
                values.append(weight)
            ends.append(len(indices))
        parts.append((values, indices, ends))
    width = max(1, len(columns))
    matrices = [
        sparse.csr_array((np.array(values, dtype=np.float64), indices, ends), shape=(len(ends) - 1, width))
        for values, indices, ends in parts
    ]
    for matrix in matrices:
        # {"word": "dog"} and {"word=dog": 1} are the same feature.
        matrix.sum_duplicates()
    return matrices


def _feature(name: object, value: object, row: int) -> tuple[str, float]:
    if isinstance(value, str):
        return f"{name}={value}", 1.0
    if value is None:
        return f"{name}", 0.0
    if not is_finite(value) and not isinstance(value, (bool, np.bool_)):
        raise DataError(f"row {row}: the feature {name!r} is {value!r}; expected a finite number or text.")
    return str(name), float(value)

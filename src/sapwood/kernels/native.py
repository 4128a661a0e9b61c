"""Tree kernels that the native core computes: how trees, and whatever a kernel knows of them, get there and back.

A kernel names its native object (``_native``) and, where it looks at more than trees, what is prepared of the columns
once, so that any rows can be compared with them (``Columns``). Parameters and formulas are those of the kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood import _core, settings
from sapwood.checks import is_number
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.attribution import SEARCH_LIMIT, Attribution, Differences, Searched
from sapwood.kernels.base import Expansion, Kernel, Matrix
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Columns", "NativeTreeKernel", "check_decay", "native_limit"]

Arguments = tuple[Any, ...]


class Columns:
    """The trees of the columns, as the native core takes them, and any rows against them.

    Attributes
    ----------
    trees : TreeArray
    side : tuple
        The arguments that describe the trees.
    right : tuple
        The arguments that rows are compared with, beyond the trees.
    """

    right: Arguments = ()

    def __init__(self, trees: TreeArray) -> None:
        self.trees = trees
        self.side: Arguments = (trees._arena, trees._as_bags())

    def rows(self, trees: TreeArray) -> tuple[Arguments, Arguments]:
        """Return the arguments that describe rows, and those that compare them with the columns."""
        return (self.side if trees is self.trees else (trees._arena, trees._as_bags())), ()

    def links(self, trees: TreeArray) -> _core.grammar.WordLinks | None:
        """Return which words of rows are like which of the columns, pair by pair, for a search of fragments."""
        return None


class NativeTreeKernel(Kernel):
    """A kernel whose values are sums over pairs of subtrees, computed by the native core."""

    @abstractmethod
    def _native(self) -> Any:
        """Return the native kernel."""

    def _columns(self, trees: TreeArray) -> Columns:
        """Prepare the columns of comparisons."""
        return Columns(trees)

    def _trees(self, X: Any) -> TreeArray:
        """Return examples as trees, or say what else they are."""
        if isinstance(X, TreeArray):
            return X._compact()
        if isinstance(X, Examples):
            raise DataError(
                f"{self!r} compares trees, but it got Examples with the views {', '.join(X.views)}; "
                f"say which one with .on({X.views[0]!r})."
            )
        raise DataError(
            f"{self!r} compares trees, but it got {type(X).__name__}; for numbers take Linear(), Polynomial() or "
            "RBF(), or put trees and numbers into Examples."
        )

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        rows = self._trees(X)
        columns = self._columns(rows if Y is None else self._trees(Y))
        side, left = columns.rows(rows)
        K = np.empty((len(rows), len(columns.trees)))
        with settings.progress_bar(len(rows), "Gram matrix", "rows") as progress:
            self._fill(side, left, columns, Y is None, K, settings.threads(), progress)
        return K

    def _fill(self, side: Arguments, left: Arguments, columns: Columns, symmetric: bool, *into: Any) -> None:
        """Compute a matrix; of a symmetric one the native core computes one half."""
        self._native().gram(*side, *(_nothing(side) if symmetric else columns.side), *left, *into)

    def _diag(self, X: Any) -> Matrix:
        return self._self_values(self._columns(self._trees(X)))

    def _pairwise(self, X: Any) -> Matrix:
        return self._pair_values(self._columns(self._trees(X)))

    def _pairwise_and_diag(self, X: Any) -> tuple[Matrix, Matrix]:
        columns = self._columns(self._trees(X))
        return self._pair_values(columns), self._self_values(columns)

    def _self_values(self, columns: Columns) -> Matrix:
        values = np.empty(len(columns.trees))
        side, left = columns.rows(columns.trees)
        self._native().diagonal(*side, *left, *columns.right, values, settings.threads())
        return values

    def _pair_values(self, columns: Columns) -> Matrix:
        values = np.empty(len(columns.trees) // 2)
        side, left = columns.rows(columns.trees)
        with settings.progress_bar(len(values), "Pairs", "pairs") as progress:
            self._native().pairs(*side, *left, *columns.right, values, settings.threads(), progress)
        return values

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        return self._expand(self._columns(self._trees(X)), weights)

    def _expand(self, columns: Columns, weights: Matrix) -> Expansion:
        model = self._native().model(*columns.side, *columns.right, np.ascontiguousarray(weights))

        def evaluate(Y: Any) -> Matrix:
            rows = self._trees(Y)
            side, left = columns.rows(rows)
            result = np.empty((len(rows), weights.shape[1]))
            with settings.progress_bar(len(rows), "Scores", "trees") as progress:
                model.evaluate(*side, *left, result, settings.threads(), progress)
            return result

        return evaluate

    def _native_rows(self, X: Any, Y: Any, factors: Matrix, cache_bytes: int) -> Any:
        """Define ``_rows``, for kernels whose native object has rows that are computed when asked for."""
        rows, columns = self._trees(X), self._columns(self._trees(Y))
        side, left = columns.rows(rows)
        return self._native().rows(*side, *columns.side, *left, factors, cache_bytes)

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        return Differences(self._expansion(X, weights))

    def _searched(self, X: Any, weights: Matrix) -> Attribution:
        """Define ``_attribution``, for kernels whose native object searches fragments."""
        columns = self._columns(self._trees(X))
        by_node = Differences(self._expand(columns, weights))
        return search_fragments(self._native(), columns, weights, by_node)


def search_fragments(native: Any, columns: Columns, weights: Matrix, by_node: Attribution) -> Attribution:
    """Return an attribution that searches the fragments of a native kernel, and asks another about nodes."""
    model = native.fragments(*columns.side, np.ascontiguousarray(weights))

    def search(combination: Matrix, top: int, element: TreeArray | None, pairs: bool) -> _core.explain.Found:
        found: _core.explain.Found = model.heaviest(
            combination,
            *(_nothing(columns.side) if element is None else columns.rows(element)[0]),
            columns.links(columns.trees if element is None else element),
            pairs,
            top,
            SEARCH_LIMIT,
        )
        return found

    return Searched(by_node, search)


def check_decay(value: object, name: str) -> None:
    """Raise unless a decay is a number in (0, 1]."""
    if not is_number(value) or not 0 < value <= 1:
        raise ParameterError(f"{name} must be a number in (0, 1], got {value!r}; 0.4 is a common choice.")


def native_limit(value: int | None) -> int:
    """Return a limit as the native core takes it: 0 means none, and nothing there comes near 2^31."""
    return 0 if value is None or value >= 1 << 31 else int(value)


def _nothing(arguments: Sequence[Any]) -> Arguments:
    return (None,) * len(arguments)

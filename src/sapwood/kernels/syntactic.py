"""The three syntactic tree kernels: subtrees, subset trees and partial trees.

Here are their parameters and checks; the arithmetic is native. Kernels that look into words or grammars belong to
modules of their own.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from sapwood import _core, settings
from sapwood.checks import check_amount, check_flag, check_limit, is_number
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.attribution import SEARCH_LIMIT, Attribution, Differences, NativeAttribution, Searched
from sapwood.kernels.base import Expansion, Kernel, Matrix
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["PartialTree", "SubsetTree", "Subtree", "TreeKernel"]


class TreeKernel(Kernel):
    """A kernel whose values are sums over pairs of subtrees, computed by the native core."""

    @abstractmethod
    def _native(self) -> _core.kernels.NativeKernel: ...

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        rows = _trees(X, self)
        columns = None if Y is None else _trees(Y, self)
        K = np.empty((len(rows), len(rows if columns is None else columns)))
        with settings.progress_bar(len(rows), "Gram matrix") as progress:
            self._native().gram(
                rows._arena,
                rows._as_bags(),
                None if columns is None else columns._arena,
                None if columns is None else columns._as_bags(),
                K,
                settings.threads(),
                progress,
            )
        return K

    def _diag(self, X: Any) -> Matrix:
        rows = _trees(X, self)
        diagonal = np.empty(len(rows))
        self._native().diagonal(rows._arena, rows._as_bags(), diagonal, settings.threads())
        return diagonal

    def _pairwise(self, X: Any) -> Matrix:
        trees = _trees(X, self)
        values = np.empty(len(trees) // 2)
        with settings.progress_bar(len(values), "Pairs") as progress:
            self._native().pairs(trees._arena, trees._as_bags(), values, settings.threads(), progress)
        return values

    def _expansion(self, X: Any, weights: Matrix) -> Expansion:
        support = _trees(X, self)
        scorer = self._native().scorer(support._arena, support._as_bags(), np.ascontiguousarray(weights))

        def evaluate(Y: Any) -> Matrix:
            rows = _trees(Y, self)
            result = np.empty((len(rows), weights.shape[1]))
            with settings.progress_bar(len(rows), "Scores") as progress:
                scorer.evaluate(rows._arena, rows._roots, rows._ends, result, settings.threads(), progress)
            return result

        return evaluate

    def _rows(self, X: Any, Y: Any, factors: Matrix, cache_bytes: int) -> Any:
        rows, columns = _trees(X, self), _trees(Y, self)
        return self._native().rows(
            rows._arena, rows._as_bags(), columns._arena, columns._as_bags(), factors, cache_bytes
        )

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        return Differences(self._expansion(X, weights))

    def _compile(self, X: Any, weights: Matrix) -> Attribution:
        """Return the attribution that the native core has for the kernels of this module."""
        support = _trees(X, self)
        model = self._native().model(support._arena, support._as_bags(), np.ascontiguousarray(weights))
        return NativeAttribution(model, weights.shape[1])


class Subtree(TreeKernel):
    """The subtree kernel (ST): complete subtrees that two trees share.

    Each pair of identical complete subtrees adds ``decay`` to the power of its number of internal nodes.

    Parameters
    ----------
    decay : float
        λ, in (0, 1]: how much a larger subtree counts relative to a smaller one.

    Examples
    --------
    >>> Subtree(decay=1.0)("(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))")
    1.0
    """

    never_negative = True
    compares_words_by_equality = True

    def __init__(self, decay: float = 0.4) -> None:
        self.decay = decay
        self._validate()

    def _validate(self) -> None:
        check_decay(self.decay, "decay")

    def _native(self) -> _core.kernels.NativeKernel:
        return _core.kernels.Subtree(float(self.decay))

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        return self._compile(X, weights)


class SubsetTree(TreeKernel):
    """The subset-tree kernel (SST): fragments that never split a production.

    Two nodes with the same production share λ·∏(1 + what their children share); nodes with different productions
    share nothing; bare leaves are no fragments.

    Parameters
    ----------
    decay : float
        λ, in (0, 1]: each production of a fragment multiplies its weight by this.
    bag_of_words : bool
        Whether each pair of equal leaves adds λ.
    max_depth : int, optional
        Largest height of a fragment: 1 counts single productions only. None sets no limit.

    Examples
    --------
    >>> SubsetTree(decay=1.0)("(NP (DT a) (NN dog))", "(NP (DT a) (NN dog))")
    6.0
    >>> SubsetTree(decay=1.0, max_depth=1)("(NP (DT a) (NN dog))", "(NP (DT a) (NN dog))")
    3.0
    """

    never_negative = True
    compares_words_by_equality = True

    def __init__(self, decay: float = 0.4, bag_of_words: bool = False, max_depth: int | None = None) -> None:
        self.decay = decay
        self.bag_of_words = bag_of_words
        self.max_depth = max_depth
        self._validate()

    def _validate(self) -> None:
        check_decay(self.decay, "decay")
        check_limit(self.max_depth, "max_depth")
        check_flag(self.bag_of_words, "bag_of_words")

    def _native(self) -> _core.kernels.NativeKernel:
        return _core.kernels.Subset(float(self.decay), bool(self.bag_of_words), _limit(self.max_depth))

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        return self._compile(X, weights)


class PartialTree(TreeKernel):
    """The partial-tree kernel (PTK): fragments that may leave out children.

    Two internal nodes with the same label share μ·(λ² + Σ λ^gaps·∏ what the chosen children share), summed over all
    equally long sequences of their children.

    Parameters
    ----------
    decay : float
        λ, in (0, 1]: the price of children left out between chosen ones.
    depth_decay : float
        μ, in (0, 1]: the price of each further level.
    max_subsequence : int, optional
        Longest sequence of children; None sets no limit. SVM-Light-TK stops at 5.
    leaves : bool
        Whether leaves count; with False a pair with a leaf counts 0.
    terminal_factor : float
        Weight of a pair of equal leaves. Below 1 the kernel is not positive semi-definite where a label is a leaf in
        one tree and an internal node in another, since such a pair always counts 1.

    Examples
    --------
    >>> PartialTree(decay=1.0, depth_decay=1.0)("(NP DT NN)", "(NP DT JJ NN)")
    6.0
    """

    never_negative = True
    compares_words_by_equality = True
    leaves_out_children = True

    def __init__(
        self,
        decay: float = 0.4,
        depth_decay: float = 0.4,
        max_subsequence: int | None = None,
        leaves: bool = True,
        terminal_factor: float = 1.0,
    ) -> None:
        self.decay = decay
        self.depth_decay = depth_decay
        self.max_subsequence = max_subsequence
        self.leaves = leaves
        self.terminal_factor = terminal_factor
        self._validate()

    def _validate(self) -> None:
        check_decay(self.decay, "decay")
        check_decay(self.depth_decay, "depth_decay")
        check_limit(self.max_subsequence, "max_subsequence")
        check_flag(self.leaves, "leaves")
        check_amount(self.terminal_factor, "terminal_factor")

    def _native(self) -> _core.kernels.NativeKernel:
        return _core.kernels.Partial(
            float(self.decay),
            float(self.depth_decay),
            _limit(self.max_subsequence),
            bool(self.leaves),
            float(self.terminal_factor),
        )

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        compiled = self._compile(X, weights)
        if self.terminal_factor == 1.0 or not self.leaves:
            return compiled
        # With another factor, what a leaf of a fragment weighs depends on what it meets: the search is that of the
        # smoothed kernel, only without words.
        native = _core.semantic.Smoothed(
            float(self.decay), float(self.depth_decay), _limit(self.max_subsequence), float(self.terminal_factor), True
        )
        support = _trees(X, self)
        model = native.fragments(support._arena, support._as_bags(), _no_words(support), np.ascontiguousarray(weights))
        nothing = np.empty(0, dtype=np.uint32)
        links = _core.grammar.WordLinks(nothing, np.empty(0, dtype=np.uint64), nothing, np.empty(0))

        def search(combination: Matrix, top: int, element: TreeArray | None, pairs: bool) -> _core.explain.Found:
            return model.heaviest(
                combination,
                None if element is None else element._arena,
                None if element is None else element._as_bags(),
                None if element is None else _no_words(element),
                links,
                False,
                top,
                SEARCH_LIMIT,
            )

        return Searched(compiled, search)


def check_decay(value: object, name: str) -> None:
    """Raise unless a decay is a number in (0, 1]."""
    if not is_number(value) or not 0 < value <= 1:
        raise ParameterError(f"{name} must be a number in (0, 1], got {value!r}; 0.4 is a common choice.")


def _limit(value: int | None) -> int:
    # 0 means no limit to the native core, and nothing there comes near 2^31.
    return 0 if value is None or value >= 1 << 31 else int(value)


def _no_words(trees: TreeArray) -> _core.semantic.Vocabulary:
    labels = _core.semantic.Vocabulary.of_labels(trees._arena, trees._as_bags(), True)
    return labels.only(np.zeros(len(labels), dtype=np.bool_))


def _trees(X: Any, kernel: Kernel) -> TreeArray:
    if isinstance(X, TreeArray):
        return X._compact()
    if isinstance(X, Examples):
        raise DataError(
            f"{kernel!r} compares trees, but it got Examples with the views {', '.join(X.views)}; "
            f"say which one with .on({X.views[0]!r})."
        )
    raise DataError(f"{kernel!r} compares trees, but it got {type(X).__name__}.")

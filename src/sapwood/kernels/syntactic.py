"""The three syntactic tree kernels: subtrees, subset trees and partial trees.

Here are their parameters and checks; the arithmetic is native. Kernels that look into words or grammars belong to
modules of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood import _core, settings
from sapwood.checks import check_amount, check_flag, check_limit
from sapwood.kernels.attribution import Attribution, NativeAttribution
from sapwood.kernels.base import Expansion, Matrix
from sapwood.kernels.native import Arguments, Columns, NativeTreeKernel, check_decay, native_limit, search_fragments
from sapwood.trees.array import TreeArray

__all__ = ["PartialTree", "SubsetTree", "Subtree", "TreeKernel"]


class TreeKernel(NativeTreeKernel):
    """One of the kernels of this module, which compare labels for equality."""

    def _expand(self, columns: Columns, weights: Matrix) -> Expansion:
        # An index of what the support trees share, which a few rows can be looked up in.
        scorer = self._native().scorer(*columns.side, np.ascontiguousarray(weights))

        def evaluate(Y: Any) -> Matrix:
            rows = self._trees(Y)
            result = np.empty((len(rows), weights.shape[1]))
            with settings.progress_bar(len(rows), "Scores", "trees") as progress:
                scorer.evaluate(rows._arena, rows._roots, rows._ends, result, settings.threads(), progress)
            return result

        return evaluate

    _rows = NativeTreeKernel._native_rows

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        support = Columns(self._trees(X))
        return NativeAttribution(self._native().model(*support.side, np.ascontiguousarray(weights)), weights.shape[1])


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

    largest_on_diagonal = never_negative = True
    compares_words_by_equality = True

    def __init__(self, decay: float = 0.4) -> None:
        self.decay = decay
        self._validate()

    def _validate(self) -> None:
        check_decay(self.decay, "decay")

    def _native(self) -> _core.kernels.NativeKernel:
        return _core.kernels.Subtree(float(self.decay))


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

    largest_on_diagonal = never_negative = True
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
        return _core.kernels.Subset(float(self.decay), bool(self.bag_of_words), native_limit(self.max_depth))


class PartialTree(TreeKernel):
    """The partial-tree kernel (PTK): fragments that may leave out children.

    Two internal nodes with the same label share μ·(λ² + Σ λ^gaps·∏ what the chosen children share), summed over all
    equally long sequences of their children.

    Parameters
    ----------
    decay : float
        λ, in (0, 1]: the penalty for each child left out between chosen ones.
    depth_decay : float
        μ, in (0, 1]: the penalty for each further level.
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

    largest_on_diagonal = never_negative = True
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
            native_limit(self.max_subsequence),
            bool(self.leaves),
            float(self.terminal_factor),
        )

    def _attribution(self, X: Any, weights: Matrix) -> Attribution | None:
        compiled = super()._attribution(X, weights)
        if compiled is None or self.terminal_factor == 1.0 or not self.leaves:
            return compiled
        # With another factor, what a leaf of a fragment weighs depends on what it meets: the search is that of the
        # smoothed kernel, only without words.
        native = _core.semantic.Smoothed(
            float(self.decay),
            float(self.depth_decay),
            native_limit(self.max_subsequence),
            float(self.terminal_factor),
            True,
        )
        return search_fragments(native, _WithoutWords(self._trees(X)), weights, compiled)


class _WithoutWords(Columns):
    """Trees as kernels of words take them, none of whose labels is a word."""

    def __init__(self, trees: TreeArray) -> None:
        super().__init__(trees)
        self.side = self.rows(trees)[0]

    def rows(self, trees: TreeArray) -> tuple[Arguments, Arguments]:
        labels = _core.semantic.Vocabulary.of_labels(trees._arena, trees._as_bags(), True)
        return (trees._arena, trees._as_bags(), labels.only(np.zeros(len(labels), dtype=np.bool_))), ()

    def links(self, trees: TreeArray) -> _core.grammar.WordLinks:
        nothing = np.empty(0, dtype=np.uint32)
        return _core.grammar.WordLinks(nothing, np.empty(0, dtype=np.uint64), nothing, np.empty(0))

"""Which words of some trees are like which words of others, pair by pair, as the native core takes it.

Gram matrices of semantic kernels never list pairs of words; explanations do, and so does the grammar-driven kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import DataError, TooLargeError
from sapwood.words.base import Comparison

__all__ = ["WordLinker", "check_pairs", "pack_links"]

# More pairs of words than this take gigabytes and minutes to search.
_MOST_PAIRS = 30_000_000
# Above this share of entries a plain matrix is faster than a sparse one.
_DENSE = 0.2

Labels = NDArray[np.uint32]


class WordLinker:
    """Compares any words with those of fixed columns, whose features are prepared once, when first asked for."""

    def __init__(self, comparison: Comparison, labels: Labels) -> None:
        self._comparison, self._labels = comparison, labels

    @cached_property
    def _right(self) -> Any:
        right = self._comparison.right
        dense = right.nnz > _DENSE * right.shape[0] * right.shape[1]
        return np.ascontiguousarray(right.toarray().T) if dense else sparse.csr_array(right.T)

    def __call__(self, labels: Labels, words: Sequence[str], *, check: bool = True) -> _core.grammar.WordLinks:
        """Return the pairs that are not 0; with ``check`` only if there are not too many for a search."""
        left = self._comparison.left(list(words))
        if check:
            self._check(left)
        similar = sparse.csr_array(left @ self._right, dtype=np.float64)
        if not np.isfinite(similar.data).all():
            raise DataError("two words have a similarity that is NaN or infinite; repair it first.")
        return pack_links(labels, self._labels, similar)

    def _check(self, left: sparse.csr_array) -> None:
        pairs = float(left.shape[0]) * float(self._right.shape[1])
        if sparse.issparse(self._right):
            by_feature = np.bincount(left.indices, minlength=left.shape[1])
            pairs = min(pairs, float(by_feature @ np.diff(self._right.indptr)))
        check_pairs(left.shape[0], self._right.shape[1], pairs)


def check_pairs(words: int, others: int, pairs: float | None = None) -> None:
    """Raise if more words are similar than a search can look at; without a number, all may be."""
    pairs = float(words) * float(others) if pairs is None else pairs
    if pairs > _MOST_PAIRS:
        raise TooLargeError(
            f"{words:,} words are to be compared with {others:,}, up to {pairs:,.0f} pairs, and fragments can be "
            f"searched with at most {_MOST_PAIRS:,}. Explain single decisions instead of the whole model, or use a "
            "similarity in which fewer words are similar."
        )


def pack_links(labels: Labels, other_labels: Labels, similar: sparse.csr_array) -> _core.grammar.WordLinks:
    """Hand a matrix over; its rows and columns are words, given by the numbers of their labels."""
    similar.eliminate_zeros()
    return _core.grammar.WordLinks(
        labels, similar.indptr[1:].astype(np.uint64), np.ascontiguousarray(other_labels[similar.indices]), similar.data
    )

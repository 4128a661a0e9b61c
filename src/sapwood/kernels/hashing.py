"""Fragments as features without a vocabulary: columns are hashes, so nothing is learnt and data may come in a stream.

What fragments are, and how they are counted, belongs to ``sapwood.kernels.maps``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import murmurhash3_32

from sapwood.checks import check_count, check_limit
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.kernels.maps import FragmentMap, as_trees
from sapwood.kernels.native import check_decay
from sapwood.layouts import register_estimator
from sapwood.trees.array import TreeArray

__all__ = ["HashedFragmentMap"]

# Trees whose fragments are listed together; what they share is hashed once.
_BLOCK = 512


class HashedFragmentMap(TransformerMixin, SequenceInput, BaseEstimator):
    """Trees as counts of fragments that keep productions whole, in columns chosen by a hash.

    ``fit`` learns nothing, so trees can be transformed as they come, by many processes. Fragments that fall into
    the same column are added with signs of their own, so that dot products are right on average.

    Parameters
    ----------
    decay : float
        λ, in (0, 1], of ``SubsetTree``: one occurrence of a fragment of n productions counts √λ^n.
    max_size : int
        Most productions in a fragment.
    max_depth : int, optional
        Largest height of a fragment; None sets no limit.
    n_features : int
        Number of columns. The more, the fewer fragments share one.
    max_fragments : int
        More distinct fragments than this in a block of 512 trees are an error.

    Examples
    --------
    >>> from sapwood.kernels import HashedFragmentMap, SubsetTree
    >>> trees = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"]
    >>> V = HashedFragmentMap(decay=0.25).transform(trees)
    >>> V.shape
    (2, 262144)
    >>> bool(np.allclose((V @ V.T).toarray(), SubsetTree(decay=0.25)(trees)))
    True
    """

    def __init__(
        self,
        decay: float = 0.4,
        *,
        max_size: int = 4,
        max_depth: int | None = None,
        n_features: int = 2**18,
        max_fragments: int = 1_000_000,
    ) -> None:
        self.decay = decay
        self.max_size = max_size
        self.max_depth = max_depth
        self.n_features = n_features
        self.max_fragments = max_fragments

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters."""
        self._check()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters."""
        return self.fit(X)

    def transform(self, X: Any) -> sparse.csr_array:
        """Count fragments and add them up by column.

        Parameters
        ----------
        X : TreeArray or list of trees
            What to count in.

        Returns
        -------
        csr_array of shape (len(X), n_features)
        """
        self._check()
        trees = as_trees(X)
        blocks = [self._block(trees[begin : begin + _BLOCK]) for begin in range(0, len(trees), _BLOCK)]
        blocks = blocks or [sparse.csr_array((0, self.n_features), dtype=np.float64)]
        result = sparse.csr_array(sparse.vstack(blocks, format="csr"))
        # scikit-learn's linear models take 32-bit indices only.
        if result.nnz < 2**31:
            result.indices, result.indptr = result.indices.astype(np.int32), result.indptr.astype(np.int32)
        return result

    def _block(self, trees: TreeArray) -> sparse.csr_array:
        listing = FragmentMap(
            self.decay, max_size=self.max_size, max_depth=self.max_depth, max_fragments=self.max_fragments
        )
        fragments = listing._frequent(trees._compact())
        if not len(fragments):
            return sparse.csr_array((len(trees), self.n_features), dtype=np.float64)
        listing._keep(fragments)
        counts = listing.transform(trees)
        hashes = np.array([murmurhash3_32(name, positive=True) for name in listing.get_feature_names_out()])
        # The lowest bit is the sign, the others the column.
        signs = np.where(hashes & 1, 1.0, -1.0)
        columns = (hashes >> 1) % self.n_features
        # Column by column: multiplying with a matrix would take memory for every column there is.
        folded = sparse.csr_array(
            (counts.data * signs[counts.indices], columns[counts.indices], counts.indptr),
            shape=(len(trees), self.n_features),
        )
        folded.sum_duplicates()
        return folded

    def _check(self) -> None:
        check_decay(self.decay, "decay")
        check_count(self.max_size, "max_size", most=None)
        check_count(self.n_features, "n_features", most=2**30)
        check_count(self.max_fragments, "max_fragments", most=None)
        check_limit(self.max_depth, "max_depth")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


register_estimator(HashedFragmentMap)

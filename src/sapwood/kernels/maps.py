"""Explicit feature maps: trees as sparse vectors whose dot product is a tree kernel, or close to one.

They are scikit-learn transformers for data too large for a Gram matrix, and for models whose weights can be read. Their
vocabulary is a ``TreeArray``; enumeration and counting are native, scores of fragments are in ``selection``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sapwood import _core
from sapwood.checks import check_count, check_limit
from sapwood.errors import DataError, ParameterError, TooLargeError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.kernels.data import as_data
from sapwood.kernels.native import check_decay, native_limit
from sapwood.kernels.selection import chi_squared, hold_head, hold_label, information_gain, internal_labels
from sapwood.layouts import Field, array_of, part_of, register_estimator
from sapwood.registry import Reader, Writer, plain_value
from sapwood.trees.array import TreeArray
from sapwood.trees.grammar_store import head_table_parameters
from sapwood.trees.heads import HeadTable

__all__ = ["FragmentMap", "SubtreeMap", "as_trees"]

Matrix = NDArray[np.float64]

_SCORES = {"chi2": chi_squared, "information_gain": information_gain}
# Names longer than this in total would fill memory without anybody reading them.
_MOST_NAMED_NODES = 200_000_000


class _TreeMap(TransformerMixin, SequenceInput, BaseEstimator, ABC):
    """What both maps share: a vocabulary of trees with a weight each, and counting."""

    decay: float
    fragments_: TreeArray
    weights_: Matrix
    _vocabulary: _core.explain.Vocabulary | None = None
    _compiled_names = ("_vocabulary",)

    def _keep(self, fragments: TreeArray) -> None:
        sizes, _ = _core.explain.measure(fragments._arena, fragments._roots)
        self.fragments_ = fragments
        self.weights_ = np.sqrt(float(self.decay)) ** sizes
        self._vocabulary = None

    @abstractmethod
    def _compile(self) -> _core.explain.Vocabulary: ...

    def _counts(self, X: TreeArray) -> sparse.csr_array:
        if self._vocabulary is None:
            self._vocabulary = self._compile()
        ends, columns, counts = self._vocabulary.count(X._arena, X._as_bags())
        # scikit-learn's linear models take 32-bit indices only.
        index = np.int32 if len(counts) < 2**31 else np.int64
        return sparse.csr_array(
            (counts, columns.astype(index), ends.astype(index)), shape=(len(X), len(self.fragments_))
        )

    def transform(self, X: Any) -> sparse.csr_array:
        """Count the vocabulary in trees and weigh the counts.

        Parameters
        ----------
        X : TreeArray or list of trees
            What to count in.

        Returns
        -------
        csr_array of shape (len(X), vocabulary)
        """
        check_is_fitted(self)
        result = self._counts(as_trees(X))
        result.data *= self.weights_[result.indices]
        return result

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the columns' fragments in bracket notation; labels that brackets cannot hold are escaped.

        A leaf of a fragment is a word, or a label where the fragment is cut off.
        """
        check_is_fitted(self)
        sizes, _ = _core.explain.measure(self.fragments_._arena, self.fragments_._roots)
        nodes = float(sizes.sum())
        if nodes > _MOST_NAMED_NODES:
            raise TooLargeError(
                f"the names of all columns would spell out {nodes:,.0f} nodes; look at single ones in fragments_."
            )
        return np.array(self.fragments_.to_strings(escape=True), dtype=object)


class SubtreeMap(_TreeMap):
    """Trees as counts of their complete subtrees; dot products are the subtree kernel, exactly.

    Parameters
    ----------
    decay : float
        λ, in (0, 1], of ``Subtree``: a subtree with n internal nodes weighs √λ^n.
    min_df : int
        How many training trees must hold a subtree. With 1, dot products with training trees are the kernel exactly.

    Attributes
    ----------
    fragments_ : TreeArray
        The subtree of each column.
    weights_ : array of float
        The weight of one occurrence.

    Examples
    --------
    >>> from sapwood.kernels import Subtree, SubtreeMap
    >>> trees = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"]
    >>> mapped = SubtreeMap(decay=0.25).fit(trees)
    >>> mapped.get_feature_names_out().tolist()
    ['(DT a)', '(NN dog)', '(NP (DT a) (NN dog))', '(NN cat)', '(NP (DT a) (NN cat))']
    >>> V = mapped.transform(trees)
    >>> bool(np.allclose((V @ V.T).toarray(), Subtree(decay=0.25)(trees)))
    True
    """

    def __init__(self, decay: float = 0.4, *, min_df: int = 1) -> None:
        self.decay = decay
        self.min_df = min_df

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Collect the distinct subtrees of the training trees."""
        self._check()
        X = _training_trees(X)
        roots = _core.explain.frequent_subtrees(X._arena, X._as_bags(), _count(self.min_df))
        # On a store of their own: those of the training trees may be many times as large, and can be freed then.
        self._keep(_found(TreeArray._from_arena(X._arena, roots)).detach())
        return self

    def _check(self) -> None:
        check_decay(self.decay, "decay")
        check_count(self.min_df, "min_df", most=None)

    def _compile(self) -> _core.explain.Vocabulary:
        return _core.explain.SubtreeVocabulary(self.fragments_._arena, self.fragments_._roots)


class FragmentMap(_TreeMap):
    """Trees as counts of fragments that keep productions whole; with all fragments, the subset-tree kernel exactly.

    A column is worth √λ^size per occurrence, where the size of a fragment is its number of productions. Divide rows by
    their norm with ``sklearn.preprocessing.Normalizer`` for the normalised kernel.

    Parameters
    ----------
    decay : float
        λ, in (0, 1], of ``SubsetTree``.
    max_size : int, optional
        Most productions in a fragment; None sets no limit.
    max_depth : int, optional
        Largest height of a fragment: 1 means single productions. As in ``SubsetTree``.
    min_df : int
        How many training trees must hold a fragment.
    select : {"chi2", "information_gain"}, optional
        Keep the fragments whose presence says most about the class, by Pearson's χ² or by information gain.
    n_fragments : int, optional
        How many fragments to keep: those with the best score, or those that most training trees hold where ``select``
        is None. None keeps all.
    holds : str or callable, optional
        Keep only fragments with a node whose label fits: a pattern such as ``"*-ARG"``, or a function of labels.
    heads : callable or mapping, optional
        Keep only fragments that reach the head word of their root. Takes a label and the labels of the children, and
        gives the position of the head child.
    max_fragments : int
        More frequent fragments than this are an error, before constraints and selection.

    Attributes
    ----------
    fragments_ : TreeArray
        The fragment of each column, best first if there was a selection.
    weights_ : array of float
        The weight of one occurrence.
    scores_ : array of float
        With ``select`` the score of each column, else the number of training trees that hold it.

    Examples
    --------
    >>> from sapwood.kernels import FragmentMap, SubsetTree
    >>> trees = ["(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"]
    >>> everything = FragmentMap(decay=0.25).fit(trees)
    >>> V = everything.transform(trees)
    >>> bool(np.allclose((V @ V.T).toarray(), SubsetTree(decay=0.25)(trees)))
    True
    >>> FragmentMap(min_df=2).fit(trees).get_feature_names_out().tolist()
    ['(DT a)', '(NP DT NN)', '(NP (DT a) NN)']
    """

    scores_: Matrix

    def __init__(
        self,
        decay: float = 0.4,
        *,
        max_size: int | None = None,
        max_depth: int | None = None,
        min_df: int = 1,
        select: str | None = None,
        n_fragments: int | None = None,
        holds: str | Callable[[str], bool] | None = None,
        heads: Callable[[str, tuple[str, ...]], int] | Mapping[tuple[str, tuple[str, ...]], int] | None = None,
        max_fragments: int = 1_000_000,
    ) -> None:
        self.decay = decay
        self.max_size = max_size
        self.max_depth = max_depth
        self.min_df = min_df
        self.select = select
        self.n_fragments = n_fragments
        self.holds = holds
        self.heads = heads
        self.max_fragments = max_fragments

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the fragments of the training trees and choose among them.

        Parameters
        ----------
        X : TreeArray or list of trees
            Training trees.
        y : array of labels, optional
            Needed with ``select``.
        """
        self._check()
        X = _training_trees(X)
        classes = self._classes(X, y)
        fragments = self._frequent(X)
        kept = np.ones(len(fragments), dtype=bool)
        if self.holds is not None:
            kept &= hold_label(fragments, self.holds)
        if self.heads is not None:
            kept &= hold_head(fragments, self.heads, internal_labels(X))
        fragments = _found(fragments[kept])
        self._keep(fragments)
        present = self._counts(X)
        present.data[:] = 1.0
        if classes is None:
            self.scores_ = np.asarray(present.sum(axis=0), dtype=np.float64).ravel()
        else:
            names, numbers = np.unique(classes, return_inverse=True)
            sides = sparse.csr_array((np.ones(len(X)), (numbers, np.arange(len(X)))), shape=(len(names), len(X)))
            assert self.select is not None
            self.scores_ = _SCORES[self.select]((sides @ present).toarray(), sides.sum(axis=1))
        if self.n_fragments is not None or self.select is not None:
            # Among equals the smaller fragment comes first: it says the same more simply.
            order = np.lexsort((-self.weights_, -self.scores_))[: self.n_fragments]
            self.scores_ = self.scores_[order]
            self._keep(fragments[order])
        return self

    def _check(self) -> None:
        check_decay(self.decay, "decay")
        for name in ("max_size", "max_depth", "n_fragments"):
            check_limit(getattr(self, name), name)
        for name in ("min_df", "max_fragments"):
            check_count(getattr(self, name), name, most=None)
        if self.select is not None and self.select not in _SCORES:
            raise ParameterError(f"select must be None or one of {', '.join(map(repr, _SCORES))}, got {self.select!r}.")

    def _classes(self, X: TreeArray, y: Any) -> NDArray[Any] | None:
        if self.select is None:
            return None
        if y is None:
            raise DataError(f"select={self.select!r} needs classes: pass y with one label per tree.")
        classes = np.asarray(y)
        if classes.shape != (len(X),):
            raise DataError(f"X has {len(X)} trees but y has shape {classes.shape}; expected one label per tree.")
        return classes

    def _frequent(self, X: TreeArray) -> TreeArray:
        try:
            arena, roots = _core.explain.frequent_fragments(
                X._arena,
                X._as_bags(),
                _count(self.min_df),
                native_limit(self.max_size),
                native_limit(self.max_depth),
                _count(self.max_fragments),
            )
        except _core.explain.TooManyFragmentsError:
            raise TooLargeError(
                f"the trees hold more than {self.max_fragments:,} fragments; limit them with max_size, max_depth or "
                "min_df, such as FragmentMap(max_size=4, min_df=2), or raise max_fragments."
            ) from None
        return TreeArray._from_arena(arena, roots)

    def _compile(self) -> _core.explain.Vocabulary:
        try:
            return _core.explain.FragmentVocabulary(self.fragments_._arena, self.fragments_._roots)
        except _core.explain.TooManyFragmentsError:
            raise TooLargeError(
                "the fragments of the map repeat subtrees over and over, and counting them would take more memory than "
                "any treebank needs; fit the map anew with max_size or max_depth."
            ) from None


def as_trees(X: Any) -> TreeArray:
    """Return trees as an array, or say what else they are."""
    trees = as_data(X)
    if not isinstance(trees, TreeArray):
        raise DataError(f"expected trees, got {type(trees).__name__}; of Examples pass one view, such as E['tree'].")
    return trees


def _training_trees(X: Any) -> TreeArray:
    trees = as_trees(X)
    if not len(trees):
        raise DataError("there is nothing to learn fragments from: X has no trees.")
    return trees


def _found(fragments: TreeArray) -> TreeArray:
    if not len(fragments):
        raise DataError(
            "no fragment of the training trees fits: they are single leaves, or min_df, holds or heads leave none."
        )
    return fragments


def _count(value: int) -> int:
    # Nothing that the native core counts comes near what it cannot hold.
    return int(min(value, 1 << 62))


def _write_heads(heads: Any, writer: Writer) -> Any:
    if isinstance(heads, HeadTable):
        return {"table": head_table_parameters(heads)}
    if isinstance(heads, Mapping):
        return {"mapping": [[left, list(right), int(head)] for (left, right), head in heads.items()]}
    return plain_value(heads, "heads")


def _read_heads(data: Any, reader: Reader) -> Any:
    if data is None:
        return None
    if "table" in data:
        return HeadTable(**data["table"])
    return {(left, tuple(right)): head for left, right, head in data["mapping"]}


def _check_fragments(mapped: _TreeMap, reader: Reader) -> None:
    fragments = mapped.fragments_
    if fragments.has_bags or not len(fragments):
        raise reader.fail("the fragments of a map are not trees")
    if _core.explain.measure(fragments._arena, fragments._roots)[0].min() < 1:
        raise reader.fail("a fragment is a single leaf")
    if isinstance(mapped, FragmentMap) and len(mapped.scores_) != len(fragments):
        raise reader.fail("the scores do not fit the fragments")
    mapped._keep(fragments)


register_estimator(SubtreeMap, fitted={"fragments_": part_of(TreeArray)}, finish=_check_fragments)
register_estimator(
    FragmentMap,
    parameters={"heads": Field(_write_heads, _read_heads)},
    fitted={"fragments_": part_of(TreeArray), "scores_": array_of(np.float64)},
    finish=_check_fragments,
)

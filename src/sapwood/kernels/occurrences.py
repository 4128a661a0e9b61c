"""Words in context: trees whose leaves are occurrences of words, and how those are compared and explained.

The native core knows words by their labels. So a word that has a vector where it stands gets a label of its own, which
ends in the number of that vector; whoever shows such trees takes the number off again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import DataError
from sapwood.kernels.attribution import Attribution, Found, Matrix
from sapwood.trees.array import TreeArray
from sapwood.trees.leaf_vectors import LeafVectors
from sapwood.trees.transforms import map_leaves
from sapwood.words.base import Comparison
from sapwood.words.contextual import Mixture
from sapwood.words.table import Table

__all__ = ["InContext", "OccurrenceComparison", "Occurrences", "split_occurrences", "words_of"]

# The separator of ``native/kernels/occurrences.hpp``.
_SEPARATOR = "\x1f"
# Rows of vectors that are looked at together.
_BLOCK = 8_192


class Occurrences(TreeArray):
    """Trees whose words are occurrences; the rows of their vectors are in their labels."""

    __slots__ = ()

    @classmethod
    def of(
        cls, trees: TreeArray, vocabulary: _core.semantic.Vocabulary, under_preterminals: bool, *, every: bool = False
    ) -> Occurrences:
        """Number the words of trees by their vectors, or by their places where trees have none.

        Words whose vector is zero have no number, and are the same word wherever they stand, unless ``every`` one is to
        be numbered.
        """
        vectors = trees._vectors
        if vectors is None:
            sizes = trees._leaf_counts()
            begins = (np.cumsum(sizes) - sizes).astype(np.uint64)
            vectors = LeafVectors(np.ones((int(sizes.sum()), 1), dtype=np.float16), begins)
        known = np.ones(len(vectors.matrix), dtype=np.bool_)
        if not every:
            # Slices share a matrix, of which they may hold little.
            rows = np.unique(vectors.rows(trees._leaf_counts()))
            known[rows] = _known(vectors.matrix, rows)
        arena, roots = vocabulary.occurrences(trees._arena, trees._roots, vectors.begins, known, under_preterminals)
        made = cls._from_arena(arena, roots, trees._ends, vectors)
        assert isinstance(made, Occurrences)
        return made

    def _on(self, arena: _core.trees.Arena, roots: NDArray[np.uint32]) -> TreeArray:
        return type(self)._from_arena(arena, roots, None, self._vectors)


def _known(matrix: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which vectors, among some rows of a matrix, are not zero."""
    known = np.empty(len(rows), dtype=np.bool_)
    for begin in range(0, len(rows), _BLOCK):
        known[begin : begin + _BLOCK] = matrix[rows[begin : begin + _BLOCK]].any(axis=1)
    return known


def split_occurrences(labels: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of occurrences and the rows of their vectors, -1 for none."""
    parts = [label.rpartition(_SEPARATOR) for label in labels]
    rows = np.array([int(row) if row else -1 for _, _, row in parts], dtype=np.int64)
    return [word for word, _, _ in parts], rows


def words_of(trees: TreeArray) -> TreeArray:
    """Return trees with words again."""
    return TreeArray(map_leaves(trees, lambda label: label.rpartition(_SEPARATOR)[0] or label))


class OccurrenceComparison:
    """Any occurrences against fixed ones, by their vectors and by a dictionary.

    Parameters
    ----------
    measure : Mixture
        What is compared.
    labels : list of str
        The labels of the occurrences in the columns.
    matrix : array
        Their vectors.
    """

    def __init__(self, measure: Mixture, labels: Sequence[str], matrix: NDArray[Any]) -> None:
        self._measure = measure
        words, rows = _words_and_vectors(labels, matrix)
        self._width = matrix.shape[1]
        # A word without a vector is like itself.
        self._bare = Table({}).against(words)
        self._dictionary: Comparison | None = None if measure.dictionary is None else measure.dictionary.against(words)
        dictionary = [] if self._dictionary is None else [self._dictionary.right]
        self._right = self._pack(dictionary, self._bare.right, rows, matrix)
        self.right = _features(self._right, measure)
        # Words without a dictionary are what they are on either side.
        self.symmetric = self._dictionary is None or self._dictionary.symmetric

    def left(self, labels: Sequence[str], matrix: NDArray[Any]) -> _core.semantic.WordFeatures:
        """Return the features of other occurrences."""
        return _features(self._left(labels, matrix), self._measure)

    def similarities(self, labels: Sequence[str], matrix: NDArray[Any]) -> sparse.csr_array:
        """Return how similar other occurrences are to those of the columns, pair by pair."""
        (left, own), (right, others) = self._left(labels, matrix), self._right
        cosines = own @ others.T
        contextual = self._measure.contextual
        assert contextual is not None
        if contextual.sharpness is not None:
            known = np.logical_and.outer(own.any(axis=1), others.any(axis=1))
            cosines = np.where(known, np.exp(np.float32(contextual.sharpness) * (cosines - np.float32(1.0))), 0.0)
        return sparse.csr_array((left @ right.T).toarray() + self._measure.weight * cosines.astype(np.float64))

    def _left(self, labels: Sequence[str], matrix: NDArray[Any]) -> tuple[sparse.csr_array, NDArray[np.float32]]:
        if matrix.shape[1] != self._width:
            raise _other_width(matrix.shape[1], self._width)
        words, rows = _words_and_vectors(labels, matrix)
        dictionary = [] if self._dictionary is None else [self._dictionary.left(words)]
        return self._pack(dictionary, self._bare.left(words), rows, matrix)

    def _pack(
        self, dictionary: list[sparse.csr_array], bare: sparse.csr_array, rows: NDArray[np.int64], matrix: NDArray[Any]
    ) -> tuple[sparse.csr_array, NDArray[np.float32]]:
        lengths = np.diff(bare.indptr) * (rows < 0)
        kept = np.repeat(rows < 0, np.diff(bare.indptr))
        ends = np.concatenate([[0], np.cumsum(lengths)])
        # Half of the weight on either side.
        weights = bare.data[kept] * np.sqrt(self._measure.weight)
        alone = sparse.csr_array((weights, bare.indices[kept], ends), shape=bare.shape)
        return sparse.csr_array(sparse.hstack([*dictionary, alone], format="csr")), _unit_rows(matrix, rows)


def _words_and_vectors(labels: Sequence[str], matrix: NDArray[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of occurrences and the rows of their vectors, -1 where a vector is zero."""
    words, rows = split_occurrences(labels)
    numbered = np.flatnonzero(rows >= 0)
    rows[numbered[~_known(matrix, rows[numbered])]] = -1
    return words, rows


def _unit_rows(matrix: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return some rows at length 1, and zeros for the row -1."""
    found = np.zeros((len(rows), matrix.shape[1]), dtype=np.float32)
    known = np.flatnonzero(rows >= 0)
    for begin in range(0, len(known), _BLOCK):
        some = known[begin : begin + _BLOCK]
        values = matrix[rows[some]].astype(np.float32, copy=False)
        # Divided twice, so that squares of numbers of any size stay finite.
        values /= np.abs(values).max(axis=1, initial=0.0, keepdims=True) + np.float32(1e-45)
        found[some] = values / np.linalg.norm(values, axis=1, keepdims=True)
    return found


def _features(packed: tuple[sparse.csr_array, NDArray[np.float32]], measure: Mixture) -> _core.semantic.WordFeatures:
    matrix, vectors = packed
    assert measure.contextual is not None
    return _core.semantic.WordFeatures(
        matrix.indptr[1:].astype(np.uint64),
        matrix.indices.astype(np.uint32),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
        vectors,
        measure.weight,
        measure.contextual.sharpness or 0.0,
    )


def _other_width(found: int, expected: int) -> DataError:
    return DataError(
        f"the vectors on the leaves have {found} numbers, those that they are compared with {expected}; encode both "
        "with the same encoder and settings."
    )


class InContext(Attribution):
    """The attribution of a kernel over occurrences, told in words.

    Parameters
    ----------
    inner : Attribution
        Of the kernel over occurrences.
    number : function
        Makes occurrences of an element.
    """

    def __init__(self, inner: Attribution, number: Callable[[TreeArray], Occurrences]) -> None:
        self._inner, self._number = inner, number

    def nodes(self, element: TreeArray) -> Matrix:
        """Return the mean over the occurrences of each distinct subtree."""
        occurrences = self._number(element)
        values = self._inner.nodes(occurrences)
        labels, node_labels, child_ends, children, roots = occurrences._arena.dump(occurrences._roots)
        begins = np.concatenate([[0], child_ends[:-1]]).astype(np.int64)
        counts = np.bincount(roots, minlength=len(node_labels)).astype(np.float64)
        # Children come before their parents.
        for node in range(len(node_labels) - 1, -1, -1):
            np.add.at(counts, children[begins[node] : int(child_ends[node])], counts[node])
        words = [label.rpartition(_SEPARATOR)[0] or label for label in labels]
        numbers = element._arena.copy().build(words, node_labels, child_ends, children)
        _, places = np.unique(numbers, return_inverse=True)
        sums = np.zeros((int(places.max(initial=-1)) + 1, values.shape[1]))
        np.add.at(sums, places, counts[:, None] * values)
        return np.asarray(sums / np.bincount(places, weights=counts)[:, None])

    def heaviest(
        self, combination: Matrix, top: int, element: TreeArray | None = None, *, pairs: bool = False
    ) -> Found | None:
        """Search fragments of occurrences, and tell them in words."""
        found = self._inner.heaviest(combination, top, None if element is None else self._number(element), pairs=pairs)
        if found is None:
            return None
        others = None if found.others is None else words_of(found.others)
        return replace(found, fragments=words_of(found.fragments), others=others)

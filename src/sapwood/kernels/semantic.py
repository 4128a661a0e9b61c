"""Tree kernels that look into words: syntactic structure must match, words need only be similar.

Here are their parameters, their checks, and how the words of trees are turned into feature vectors for the native core.
Word similarities are in ``sapwood.words``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sparse

from sapwood import _core
from sapwood.checks import check_amount, check_limit
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.attribution import Attribution, Matrix
from sapwood.kernels.base import Kernel
from sapwood.kernels.links import WordLinker, check_pairs, pack_links
from sapwood.kernels.native import Arguments, Columns, NativeTreeKernel, check_decay, native_limit
from sapwood.kernels.occurrences import InContext, OccurrenceComparison, Occurrences, split_occurrences
from sapwood.kernels.word_pairs import WordPair, weigh_pairs
from sapwood.trees.array import TreeArray
from sapwood.words.base import WordSimilarity
from sapwood.words.contextual import mixture

__all__ = ["PENN_PHRASES", "SemanticSubsetTree", "SmoothedPartialTree"]

PENN_PHRASES = (
    "ADJP",
    "ADVP",
    "CONJP",
    "FRAG",
    "INTJ",
    "LST",
    "NAC",
    "NML",
    "NP",
    "NX",
    "PP",
    "PRN",
    "PRT",
    "QP",
    "ROOT",
    "RRC",
    "S",
    "S1",
    "SBAR",
    "SBARQ",
    "SINV",
    "SQ",
    "TOP",
    "UCP",
    "VP",
    "WHADJP",
    "WHADVP",
    "WHNP",
    "WHPP",
    "X",
)
"""Labels of phrases and clauses in the Penn Treebank: a leaf under one of these is a cut-off phrase, not a word."""


class SemanticKernel(NativeTreeKernel):
    """A tree kernel with a word similarity."""

    similarity: WordSimilarity
    # Which leaves are words: those under pre-terminals, or all.
    _under_preterminals: bool

    @abstractmethod
    def _native(self) -> _core.semantic.WordKernel: ...

    @abstractmethod
    def _vocabulary(self, trees: TreeArray) -> _core.semantic.Vocabulary:
        """Return the words to be compared by similarity."""

    def _validate(self) -> None:
        check_similarity(self.similarity, "similarity")
        mixture(self.similarity)

    @property
    def in_context(self) -> bool:
        """Whether words are compared by the vectors that they have where they stand."""
        return mixture(self.similarity).contextual is not None

    def _bind(self, X: Any) -> Kernel:
        bound = self.similarity.bind(super()._trees(X).leaves)
        return self if bound is self.similarity else type(self)(**{**self.get_params(deep=False), "similarity": bound})

    def _trees(self, X: Any) -> TreeArray:
        trees = super()._trees(X)
        return self._occurrences(trees) if self.in_context else trees

    def _occurrences(self, trees: TreeArray) -> Occurrences:
        """Return trees whose words are occurrences."""
        if isinstance(trees, Occurrences):
            return trees
        if trees._vectors is None:
            raise DataError(
                f"{self!r} compares words by the vectors on the leaves of trees, and these trees have none; give them "
                "some with trees.with_vectors(encoder.encode_batch(trees.leaves()))."
            )
        return Occurrences.of(trees, self._spelled(trees), self._under_preterminals)

    @abstractmethod
    def _spelled(self, trees: TreeArray) -> _core.semantic.Vocabulary:
        """Return the words of trees, whatever a similarity knows of them."""

    def _columns(self, trees: TreeArray) -> Columns:
        return _OccurrenceColumns(self, trees) if isinstance(trees, Occurrences) else _Words(self, trees)

    def _fill(self, side: Arguments, left: Arguments, columns: Columns, symmetric: bool, *into: Any) -> None:
        native = self._native()
        if symmetric:
            native.gram(*side, *left, *columns.right, *into)
        else:
            native.between(*side, *left, *columns.side, *columns.right, *into)

    def _word_pairs(self, left: Any, right: Any) -> list[WordPair]:
        sides = [NativeTreeKernel._trees(self, X).detach() for X in (left, right)]
        first, second = (
            Occurrences.of(trees, self._spelled(trees), self._under_preterminals, every=True) for trees in sides
        )
        vocabularies = [self._spelled(trees) for trees in (first, second)]
        labels = [one.words(trees._arena) for one, trees in zip(vocabularies, (first, second), strict=True)]
        (words, rows), (others, columns) = map(split_occurrences, labels)
        if self.in_context:
            assert first._vectors is not None
            assert second._vectors is not None
            comparison = OccurrenceComparison(mixture(self.similarity), labels[1], second._vectors.matrix)
            similar = comparison.similarities(labels[0], first._vectors.matrix).toarray()
        else:
            similar = self.similarity.matrix(words, others).toarray()
        native = self._native()
        # One feature per word on the left, so that the features on the right are the similarities themselves.
        own = _pack(sparse.csr_array(np.eye(len(words))))

        def value(similarities: Matrix) -> float:
            K = np.empty((1, 1))
            side = (first._arena, first._as_bags(), vocabularies[0], own)
            other = (second._arena, second._as_bags(), vocabularies[1], _pack(sparse.csr_array(similarities.T)))
            native.between(*side, *other, K, 1, None)
            return float(K[0, 0])

        return weigh_pairs(similar, value, (words, others), (rows, columns))

    def _attribution(self, X: Any, weights: Matrix) -> Attribution:
        found = self._searched(X, weights)
        return InContext(found, self._occurrences) if self.in_context else found


class SemanticSubsetTree(SemanticKernel):
    """The semantic syntactic tree kernel (SSTK): subset trees whose words need only be similar.

    Two pre-terminals with the same label share λ·α·σ(word, word); other nodes with the same production share
    λ·∏(1 + what their children share). With σ = 1 for equal words and 0 for others, and α = 1, it is ``SubsetTree``. It
    is a kernel if the similarity is positive semi-definite.

    Parameters
    ----------
    similarity : WordSimilarity
        σ, such as ``Table``, ``WordNet``, ``Latent`` or ``Vectors``. Values above 1 are taken as they are. With
        ``Contextual``, trees need vectors on their leaves.
    decay : float
        λ, in (0, 1]: each production of a fragment multiplies its weight by this.
    leaf_weight : float
        α, at least 0: each word of a fragment multiplies its weight by this.
    phrasal_labels : tuple of str
        Labels that are never pre-terminals: a single leaf under one of them is a cut-off phrase and matches exactly.
        Function tags, indices and marks (``NP-SBJ-1``) are ignored.

    Examples
    --------
    >>> from sapwood.words import Table
    >>> kernel = SemanticSubsetTree(Table({("nation", "country"): 0.5}), decay=1.0)
    >>> kernel("(NP (DT a) (NN nation))", "(NP (DT a) (NN country))")
    4.5
    >>> kernel("(NP (DT a) (NN nation))", "(NP (DT a) (NN dog))")
    3.0
    """

    def __init__(
        self,
        similarity: WordSimilarity,
        *,
        decay: float = 0.4,
        leaf_weight: float = 1.0,
        phrasal_labels: tuple[str, ...] = PENN_PHRASES,
    ) -> None:
        self.similarity = similarity
        self.decay = decay
        self.leaf_weight = leaf_weight
        self.phrasal_labels = phrasal_labels
        self._validate()

    def _validate(self) -> None:
        super()._validate()
        check_decay(self.decay, "decay")
        check_amount(self.leaf_weight, "leaf_weight")
        labels = self.phrasal_labels
        if isinstance(labels, str) or not all(isinstance(label, str) and label for label in labels):
            raise ParameterError(f"phrasal_labels must be a tuple of labels, got {labels!r}.")

    def _native(self) -> _core.semantic.WordKernel:
        return _core.semantic.Semantic(float(self.decay), float(self.leaf_weight))

    _under_preterminals = True

    def _spelled(self, trees: TreeArray) -> _core.semantic.Vocabulary:
        return _core.semantic.Vocabulary.under_preterminals(trees._arena, trees._as_bags(), list(self.phrasal_labels))

    _vocabulary = _spelled


class SmoothedPartialTree(SemanticKernel):
    """The smoothed partial-tree kernel (SPTK): partial trees whose words need only be similar.

    As ``PartialTree``, but two words share σ(word, word) times what equal labels would share. A label that the
    similarity does not know matches itself only.

    Parameters
    ----------
    similarity : WordSimilarity
        σ; positive semi-definite for a kernel. For labels such as ``LEX##dog::n`` use ``Tagged``.
    decay : float
        λ, in (0, 1]: the penalty for each child left out between chosen ones.
    depth_decay : float
        μ, in (0, 1]: the penalty for each further level.
    max_subsequence : int, optional
        Longest sequence of children; None sets no limit.
    terminal_factor : float
        Weight of a pair of leaves. At least 1 for a kernel, if labels stand on leaves in some trees and inside others.
    lexical : {"leaves", "all"}
        Which nodes are words: known labels of leaves, or of any node, as in lexical-centred dependency trees. With
        ``"leaves"`` a known word on a leaf never matches an internal node.

    Examples
    --------
    >>> from sapwood.words import Table
    >>> kernel = SmoothedPartialTree(Table({("nation", "country"): 0.5}), decay=1.0, depth_decay=1.0)
    >>> kernel("(NN nation)", "(NN country)"), kernel("(NN nation)", "(NN nation)")
    (2.0, 3.0)
    """

    leaves_out_children = True

    def __init__(
        self,
        similarity: WordSimilarity,
        *,
        decay: float = 0.4,
        depth_decay: float = 0.4,
        max_subsequence: int | None = None,
        terminal_factor: float = 1.0,
        lexical: str = "leaves",
    ) -> None:
        self.similarity = similarity
        self.decay = decay
        self.depth_decay = depth_decay
        self.max_subsequence = max_subsequence
        self.terminal_factor = terminal_factor
        self.lexical = lexical
        self._validate()

    def _validate(self) -> None:
        super()._validate()
        check_decay(self.decay, "decay")
        check_decay(self.depth_decay, "depth_decay")
        check_limit(self.max_subsequence, "max_subsequence")
        check_amount(self.terminal_factor, "terminal_factor")
        if self.lexical not in ("leaves", "all"):
            raise ParameterError(f'lexical must be "leaves" or "all", got {self.lexical!r}.')
        if self.lexical == "all" and self.in_context:
            raise ParameterError('lexical must be "leaves" with Contextual: only leaves have vectors.')

    def _native(self) -> _core.semantic.WordKernel:
        return _core.semantic.Smoothed(
            float(self.decay),
            float(self.depth_decay),
            native_limit(self.max_subsequence),
            float(self.terminal_factor),
            self.lexical == "leaves",
        )

    _under_preterminals = False

    def _word_pairs(self, left: Any, right: Any) -> list[WordPair]:
        # With words inside of trees there is no telling which is where.
        return super()._word_pairs(left, right) if self.lexical == "leaves" else []

    def _spelled(self, trees: TreeArray) -> _core.semantic.Vocabulary:
        return _core.semantic.Vocabulary.of_labels(trees._arena, trees._as_bags(), self.lexical == "leaves")

    def _vocabulary(self, trees: TreeArray) -> _core.semantic.Vocabulary:
        labels = self._spelled(trees)
        if isinstance(trees, Occurrences):
            return labels
        return labels.only(self.similarity.covers(labels.words(trees._arena)))


class _Words(Columns):
    """The words of the columns as feature vectors, and any words against them."""

    def __init__(self, kernel: SemanticKernel, trees: TreeArray) -> None:
        super().__init__(trees)
        self._kernel = kernel
        self._kinds: dict[str, int] = {}
        vocabulary = kernel._vocabulary(trees)
        words = vocabulary.words(trees._arena)
        kinds = [self._kinds.setdefault(kind, len(self._kinds)) for kind in kernel.similarity.kinds(words)]
        self._own = vocabulary.in_kinds(np.array(kinds, dtype=np.uint32))
        self._comparison = kernel.similarity.against(words)
        self._links = WordLinker(self._comparison, self._own.labels())
        self.side = (*self.side, self._own)
        self.right = (_pack(self._comparison.right),)

    def rows(self, trees: TreeArray) -> tuple[Arguments, Arguments]:
        if trees is self.trees and self._comparison.symmetric:
            return self.side, self.right
        vocabulary = self._vocabulary(trees)
        left = self._comparison.left(vocabulary.words(trees._arena))
        return (trees._arena, trees._as_bags(), vocabulary), (_pack(left),)

    def links(self, trees: TreeArray) -> _core.grammar.WordLinks:
        vocabulary = self._vocabulary(trees)
        return self._links(vocabulary.labels(), vocabulary.words(trees._arena))

    def _vocabulary(self, trees: TreeArray) -> _core.semantic.Vocabulary:
        """Return the words of trees, in the kinds of the columns."""
        if trees is self.trees:
            return self._own
        vocabulary = self._kernel._vocabulary(trees)
        none = len(self._kinds)
        kinds = [self._kinds.get(kind, none) for kind in self._kernel.similarity.kinds(vocabulary.words(trees._arena))]
        return vocabulary.in_kinds(np.array(kinds, dtype=np.uint32))


class _OccurrenceColumns(Columns):
    """The occurrences of words in the columns, and any others against them."""

    def __init__(self, kernel: SemanticKernel, trees: Occurrences) -> None:
        super().__init__(trees)
        self._kernel = kernel
        self._own = kernel._vocabulary(trees)
        self._comparison = OccurrenceComparison(mixture(kernel.similarity), *self._described(trees, self._own))
        self.side = (*self.side, self._own)
        self.right = (self._comparison.right,)

    def rows(self, trees: TreeArray) -> tuple[Arguments, Arguments]:
        if trees is self.trees and self._comparison.symmetric:
            return self.side, self.right
        vocabulary = self._vocabulary(trees)
        left = self._comparison.left(*self._described(trees, vocabulary))
        return (trees._arena, trees._as_bags(), vocabulary), (left,)

    def links(self, trees: TreeArray) -> _core.grammar.WordLinks:
        vocabulary = self._vocabulary(trees)
        check_pairs(len(vocabulary), len(self._own))
        similar = self._comparison.similarities(*self._described(trees, vocabulary))
        return pack_links(vocabulary.labels(), self._own.labels(), similar)

    def _vocabulary(self, trees: TreeArray) -> _core.semantic.Vocabulary:
        return self._own if trees is self.trees else self._kernel._vocabulary(trees)

    def _described(self, trees: TreeArray, vocabulary: _core.semantic.Vocabulary) -> tuple[list[str], Any]:
        assert trees._vectors is not None
        return vocabulary.words(trees._arena), trees._vectors.matrix


def _pack(matrix: sparse.csr_array) -> _core.semantic.WordFeatures:
    return _core.semantic.WordFeatures(
        matrix.indptr[1:].astype(np.uint64),
        matrix.indices.astype(np.uint32),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
    )


def check_similarity(value: object, name: str) -> None:
    """Raise unless a parameter is a word similarity."""
    if not isinstance(value, WordSimilarity):
        raise ParameterError(
            f"{name} must be a word similarity from sapwood.words, such as Table({{('nation', 'country'): 0.9}}) or "
            f"WordNet(); got {value!r}."
        )

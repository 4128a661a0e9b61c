"""How similar two words are: what every source of similarity can do, and how sources are combined.

A similarity σ is a function of two words. Every source here writes it as a dot product of sparse feature vectors, one
kind for the left word and one for the right (most sources use the same for both), so that a whole vocabulary is
compared by one sparse product and native kernels need nothing else. Words that a source does not know are 1 with
themselves and 0 with everything else. Particular sources live in modules of their own.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.checks import check_amount
from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable

__all__ = ["Comparison", "Source", "WordProduct", "WordScaled", "WordSimilarity", "WordSum", "as_words"]


class Comparison:
    """Any words against one vocabulary.

    Attributes
    ----------
    right : csr_array
        One row of features per word of the vocabulary.
    symmetric : bool
        Whether the vocabulary itself has the same features on the left.
    """

    def __init__(
        self,
        right: sparse.csr_array,
        left: Callable[[list[str]], sparse.csr_array],
        *,
        symmetric: bool = False,
    ) -> None:
        # Features that no word of the vocabulary has cannot contribute, and there may be billions of them (pairs of
        # concepts); the others are numbered anew.
        self._used, numbers = np.unique(right.indices, return_inverse=True)
        self.right = sparse.csr_array((right.data, numbers, right.indptr), shape=(right.shape[0], len(self._used)))
        self._left = left
        self.symmetric = symmetric

    def left(self, words: Sequence[str]) -> sparse.csr_array:
        """Return rows of features such that ``left(words) @ right.T`` holds the similarities."""
        return self._compress(self._left(as_words(words)))

    def _compress(self, matrix: sparse.csr_array) -> sparse.csr_array:
        at = np.searchsorted(self._used, matrix.indices)
        kept = at < len(self._used)
        kept[kept] = self._used[at[kept]] == matrix.indices[kept]
        ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
        return sparse.csr_array((matrix.data[kept], at[kept], ends), shape=(matrix.shape[0], len(self._used)))


class WordSimilarity(HtmlTable, ABC):
    """Base of all word similarities: σ of two words, of two vocabularies, and ``+ *`` between similarities.

    Similarities are values: they do not change once made.
    """

    def __call__(self, first: str, second: str) -> float:
        """Return σ of two words."""
        return float(self.matrix([first], [second])[0, 0])

    def matrix(self, words: Sequence[str], others: Sequence[str] | None = None) -> sparse.csr_array:
        """Return σ of all words with all others, or with each other, as a sparse matrix.

        Parameters
        ----------
        words, others : sequence of str
            Two vocabularies. Words may hold any characters.

        Returns
        -------
        csr_array of float64, shape (len(words), len(others))
        """
        words = as_words(words)
        comparison = self.against(words if others is None else as_words(others))
        product = (comparison.left(words) @ comparison.right.T).tocsr()
        product.sort_indices()
        return product

    @abstractmethod
    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""

    @property
    @abstractmethod
    def is_psd(self) -> bool:
        """Whether every similarity matrix is positive semi-definite, so that kernels built on it are kernels."""

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return per word False if it is 1 with itself and 0 with everything else, True if that is not sure."""
        return np.ones(len(as_words(words)), dtype=np.bool_)

    def kinds(self, words: Sequence[str]) -> list[str]:
        """Return a name per word such that words with different names are 0 with each other.

        Kernels need not compare such words. One name for all, as here, is always right.
        """
        return [""] * len(words)

    def bind(self, documents: Callable[[], list[list[str]]]) -> WordSimilarity:
        """Return the similarity with everything learnt that it takes from training documents; most learn nothing."""
        return self

    def __add__(self, other: WordSimilarity) -> WordSimilarity:
        return WordSum(self, other) if isinstance(other, WordSimilarity) else NotImplemented

    def __mul__(self, other: WordSimilarity | float) -> WordSimilarity:
        return WordProduct(self, other) if isinstance(other, WordSimilarity) else WordScaled(other, self)

    def __rmul__(self, other: float) -> WordSimilarity:
        return WordScaled(other, self)

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments that make another similarity like this one."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        shown = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, name)
            if parameter.default is inspect.Parameter.empty:
                shown.append(repr(value))
            elif not shown or value != parameter.default:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented if not isinstance(other, WordSimilarity) else False
        assert isinstance(other, WordSimilarity)
        return self is other or _same(tuple(self._arguments().values()), tuple(other._arguments().values()))

    __hash__ = None  # type: ignore[assignment]

    # Values need no copies; scikit-learn's clone asks for many.
    def __copy__(self) -> WordSimilarity:
        return self

    def __deepcopy__(self, memo: object) -> WordSimilarity:
        return self


class Source(WordSimilarity):
    """A similarity given by one sparse feature vector per known word; unknown words follow the default rule."""

    @abstractmethod
    def _features(self, words: list[str]) -> sparse.csr_array:
        """Return a row per word, always of the same width; a row without stored entries is an unknown word."""

    def _right_features(self, words: list[str]) -> sparse.csr_array:
        """Return the same for words on the right; override both this and ``_symmetric`` if they differ."""
        return self._features(words)

    _symmetric = True

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return which words the source knows."""
        known: NDArray[np.bool_] = np.diff(self._features(as_words(words)).indptr) > 0
        return known

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        vocabulary = as_words(vocabulary)
        right = self._right_features(vocabulary)
        own: dict[str, int] = {}
        for row in np.flatnonzero(np.diff(right.indptr) == 0).tolist():
            own.setdefault(vocabulary[row], len(own))
        return Comparison(
            _with_identity(right, vocabulary, own),
            lambda words: _with_identity(self._features(words), words, own),
            symmetric=self._symmetric,
        )


def _with_identity(features: sparse.csr_array, words: list[str], own: dict[str, int]) -> sparse.csr_array:
    """Append one column per unknown word, so that it is like itself and nothing else."""
    empty = np.diff(features.indptr) == 0
    columns = [own[words[row]] for row in np.flatnonzero(empty).tolist() if words[row] in own]
    rows = [row for row in np.flatnonzero(empty).tolist() if words[row] in own]
    identity = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(words), len(own)), dtype=np.float64)
    return sparse.hstack([features, identity], format="csr")


class _Pair(WordSimilarity):
    """A similarity made of two others."""

    def __init__(self, first: WordSimilarity, second: WordSimilarity) -> None:
        for name, part in (("first", first), ("second", second)):
            if not isinstance(part, WordSimilarity):
                raise ParameterError(f"{name} must be a word similarity such as Table or WordNet, got {part!r}.")
        self.first, self.second = first, second

    @property
    def is_psd(self) -> bool:
        """Whether both parts are positive semi-definite; then so is the combination."""
        return self.first.is_psd and self.second.is_psd

    def bind(self, documents: Callable[[], list[list[str]]]) -> WordSimilarity:
        """Return the combination of the bound parts."""
        return type(self)(self.first.bind(documents), self.second.bind(documents))


class WordSum(_Pair):
    """The sum of two similarities; written ``a + b``.

    A word that neither part knows is 2 with itself; weights that add up to 1 keep it at 1.

    Examples
    --------
    >>> from sapwood.words import Table
    >>> mixed = 0.5 * Table({("nation", "country"): 0.8}) + 0.5 * Table({("nation", "state"): 0.4})
    >>> mixed("nation", "country"), mixed("nation", "state"), mixed("dog", "dog")
    (0.4, 0.2, 1.0)
    """

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        first, second = self.first.against(vocabulary), self.second.against(vocabulary)
        return Comparison(
            sparse.hstack([first.right, second.right], format="csr"),
            lambda words: sparse.hstack([first.left(words), second.left(words)], format="csr"),
            symmetric=first.symmetric and second.symmetric,
        )


class WordProduct(_Pair):
    """The product of two similarities, word pair by word pair; written ``a * b``."""

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        first, second = self.first.against(vocabulary), self.second.against(vocabulary)
        return Comparison(
            row_products(first.right, second.right),
            lambda words: row_products(first.left(words), second.left(words)),
            symmetric=first.symmetric and second.symmetric,
        )

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return which words some part knows."""
        return self.first.covers(words) | self.second.covers(words)


class WordScaled(WordSimilarity):
    """A similarity times a number; written ``weight * similarity``."""

    def __init__(self, weight: float, similarity: WordSimilarity) -> None:
        check_amount(weight, "the weight of a similarity")
        if not isinstance(similarity, WordSimilarity):
            raise ParameterError(f"similarity must be a word similarity such as Table or WordNet, got {similarity!r}.")
        self.weight, self.similarity = weight, similarity

    @property
    def is_psd(self) -> bool:
        """Whether the scaled similarity is positive semi-definite."""
        return self.similarity.is_psd

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        inner = self.similarity.against(vocabulary)
        return Comparison(sparse.csr_array(inner.right * float(self.weight)), inner.left)

    def kinds(self, words: Sequence[str]) -> list[str]:
        """Return the kinds of the similarity that is scaled."""
        return self.similarity.kinds(words)

    def bind(self, documents: Callable[[], list[list[str]]]) -> WordSimilarity:
        """Return the bound similarity, scaled."""
        return WordScaled(self.weight, self.similarity.bind(documents))


def row_products(a: sparse.csr_array, b: sparse.csr_array) -> sparse.csr_array:
    """Multiply all features of a row of one matrix with all of the same row of the other."""
    sizes_a, sizes_b = np.diff(a.indptr), np.diff(b.indptr)
    sizes = sizes_a.astype(np.int64) * sizes_b
    ends = np.concatenate([[0], np.cumsum(sizes)])
    row = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(ends[-1]) - ends[:-1][row]
    at_a = a.indptr[:-1][row] + within // np.maximum(sizes_b[row], 1)
    at_b = b.indptr[:-1][row] + within % np.maximum(sizes_b[row], 1)
    columns = a.indices[at_a].astype(np.int64) * b.shape[1] + b.indices[at_b]
    return sparse.csr_array((a.data[at_a] * b.data[at_b], columns, ends), shape=(len(sizes), a.shape[1] * b.shape[1]))


def as_words(words: Sequence[str]) -> list[str]:
    """Check a vocabulary."""
    if isinstance(words, str):
        raise DataError(f"expected a list of words, got the single word {words!r}; write [{words!r}].")
    result = list(words)
    for position, word in enumerate(result):
        if not isinstance(word, str) or not word:
            raise DataError(f"word {position} is {word!r}; words are text that is not empty.")
    return result


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b or np.array_equal(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)

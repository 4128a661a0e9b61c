"""Latent semantics: words are similar if they occur in the same documents (LSI)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse

from sapwood.checks import check_count, check_flag
from sapwood.errors import DataError, ParameterError
from sapwood.interrupts import leave_behind
from sapwood.words.base import Comparison, WordSimilarity, as_words
from sapwood.words.vectors import Vectors

__all__ = ["Latent"]


class Latent(WordSimilarity):
    """Latent semantic indexing: words as rows of U_k in the truncated decomposition M = U Σ V' of term counts.

    Parameters
    ----------
    documents : iterable of documents, optional
        Each a list of words, or text to be split at white space. Without documents the words of the training trees are
        learnt from, one document per example, when an estimator is fitted or ``kernel.bind(X)`` is called.
    dimensions : int
        k: how many of the largest singular values are kept; at most the number of documents and words.
    normalized : bool
        Whether the cosine of two rows is taken rather than their dot product.
    random_state : int
        Seed of scikit-learn's randomized decomposition.

    Examples
    --------
    >>> latent = Latent(["dog cat pet", "dog pet", "cat pet", "bond share", "share price bond"], dimensions=2)
    >>> latent("dog", "cat") > 0.9, abs(latent("dog", "bond")) < 0.1
    (True, True)
    """

    def __init__(
        self,
        documents: Iterable[str | Sequence[str]] | None = None,
        *,
        dimensions: int = 100,
        normalized: bool = True,
        random_state: int = 0,
    ) -> None:
        if isinstance(documents, str):
            raise ParameterError("documents must be a list of documents, got one text; write [text].")
        self.documents = None if documents is None else tuple(_document(text) for text in documents)
        self.dimensions, self.normalized, self.random_state = dimensions, normalized, random_state
        check_count(dimensions, "dimensions")
        check_flag(normalized, "normalized")
        self._learnt: Vectors | None = None

    @property
    def is_psd(self) -> bool:
        """Always True: dot products of rows are."""
        return True

    def vectors(self) -> Vectors:
        """Return the words with their latent vectors."""
        if self._learnt is None:
            if self.documents is None:
                raise ParameterError(
                    "this Latent has no documents to learn from; give it some, fit an estimator, or use "
                    "kernel.bind(X) to learn from the words of trees."
                )
            self._learnt = self._learn(self.documents)
        return self._learnt

    def bind(self, documents: Callable[[], list[list[str]]]) -> WordSimilarity:
        """Return the learnt vectors; the documents given at the start come before those of the training trees."""
        if self.documents is not None:
            return self.vectors()
        return self._learn([tuple(document) for document in documents()])

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        return self.vectors().against(vocabulary)

    def covers(self, words: Sequence[str]) -> Any:
        """Return which words occur in the documents."""
        return self.vectors().covers(words)

    def _learn(self, documents: Sequence[Sequence[str]]) -> Vectors:
        from sklearn.decomposition import TruncatedSVD

        columns: dict[str, int] = {}
        numbers = [[columns.setdefault(word, len(columns)) for word in document] for document in documents]
        if not columns:
            raise DataError("the documents hold no words; latent semantics cannot be learnt from them.")
        terms = np.concatenate([np.array(row, dtype=np.int64) for row in numbers])
        places = np.repeat(np.arange(len(numbers)), [len(row) for row in numbers])
        # scikit-learn wants at least two columns; an empty one changes nothing.
        shape = (len(columns), max(2, len(numbers)))
        counts = sparse.csr_array((np.ones(len(terms)), (terms, places)), shape=shape)
        counts.sum_duplicates()
        kept = int(min(self.dimensions, len(columns), len(numbers)))
        if isinstance(self.random_state, int) and not 0 <= self.random_state < 2**32:
            raise ParameterError(f"random_state must be from 0 to 4,294,967,295, got {self.random_state}.")
        decomposition = TruncatedSVD(kept, n_iter=10, random_state=self.random_state)
        # It also reports explained variances, which are 0/0 for words that always occur together.
        with np.errstate(invalid="ignore", divide="ignore"):
            rows = leave_behind(lambda: decomposition.fit_transform(sparse.csr_matrix(counts)))
        scales = decomposition.singular_values_
        real = scales > 1e-10 * scales[0]
        measure = "cosine" if self.normalized else "dot"
        return Vectors(list(columns), rows[:, real] / scales[real], measure=measure)

    def __repr__(self) -> str:
        shown = [] if self.documents is None else [_shown(self.documents)]
        shown.append(f"dimensions={self.dimensions!r}")
        shown += [] if self.normalized else ["normalized=False"]
        shown += [] if self.random_state == 0 else [f"random_state={self.random_state!r}"]
        return f"Latent({', '.join(shown)})"


def _document(document: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(document.split()) if isinstance(document, str) else tuple(as_words(document))


def _shown(documents: tuple[tuple[str, ...], ...]) -> str:
    if sum(map(len, documents)) > 50:
        return f"<{len(documents):,} documents>"
    return repr([list(document) for document in documents])

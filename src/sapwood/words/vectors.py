"""Words as dense vectors: embeddings from files, gensim or NumPy; similarity is the cosine or the dot product."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike, NDArray

from sapwood.errors import DataError, ParameterError
from sapwood.text_files import lines
from sapwood.words.base import Source, as_words

__all__ = ["Vectors"]

# No vectors have a million numbers.
_DIGITS = 6


class Vectors(Source):
    """Words as points in a vector space.

    Cosines may be negative; they are kept, because cutting them off would make the similarity no kernel.

    Parameters
    ----------
    words : sequence of str
        The known words, each once.
    matrix : array of shape (len(words), dimensions)
        Their vectors. A word whose vector is zero counts as unknown.
    measure : {"cosine", "dot"}
        Whether vectors are scaled to length 1 first.

    Examples
    --------
    >>> vectors = Vectors(["dog", "cat", "car"], [[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> round(vectors("dog", "cat"), 4), vectors("dog", "car"), vectors("zebra", "zebra")
    (0.7071, 0.0, 1.0)
    """

    def __init__(self, words: Sequence[str], matrix: ArrayLike, *, measure: str = "cosine") -> None:
        if measure not in ("cosine", "dot"):
            raise ParameterError(f'measure must be "cosine" or "dot", got {measure!r}.')
        self.words = tuple(as_words(words))
        self.measure = measure
        values = np.array(matrix, dtype=np.float64)
        if values.ndim != 2 or len(values) != len(self.words):
            raise DataError(
                f"the matrix has shape {values.shape}; expected one row for each of {len(self.words)} words."
            )
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise DataError(f"the vector of {self.words[row]!r} holds NaN or infinite numbers.")
        self._rows = {word: row for row, word in enumerate(self.words)}
        if len(self._rows) != len(self.words):
            twice = next(word for row, word in enumerate(self.words) if self._rows[word] != row)
            raise DataError(f"{twice!r} has two vectors; keep one.")
        self.vectors: NDArray[np.float64] = values
        lengths = np.linalg.norm(values, axis=1)
        self._known = lengths > 0
        if measure == "cosine":
            values = values / np.where(self._known, lengths, 1.0)[:, None]
        self._scaled = values
        self._scaled.setflags(write=False)
        self.vectors.setflags(write=False)

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        words: Iterable[str] | None = None,
        measure: str = "cosine",
        encoding: str = "utf-8",
    ) -> Vectors:
        """Read vectors in the text format of word2vec or GloVe, plain or compressed.

        Parameters
        ----------
        path : path
            One word per line with its numbers, separated by spaces or tabs; a first line with two counts is skipped.
            Words may hold spaces.
        words : iterable of str, optional
            Keep only these.
        """
        wanted = None if words is None else frozenset(words)
        found: dict[str, NDArray[np.float64]] = {}
        width = 0
        for line in lines(path, encoding=encoding):
            if not line.text.strip():
                continue
            # Other white space, such as no-break spaces, may be part of a word.
            parts = re.split("[ \t]+", line.text.strip(" \t\r"))
            if line.number == 1 and len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts):
                width = int(parts[1][:_DIGITS])
                if len(parts[1]) > _DIGITS:
                    raise line.fault(f"vectors of {parts[1][:20]}… numbers; this is no file of vectors")
                continue
            if not width:
                width = len(parts) - 1
            if len(parts) <= width or width < 1:
                raise line.fault(f"expected a word and {max(width, 1)} numbers, got {len(parts)} fields")
            word = " ".join(parts[:-width])
            if (wanted is None or word in wanted) and word not in found:
                try:
                    found[word] = np.array(parts[-width:], dtype=np.float64)
                except ValueError as error:
                    raise line.fault(f"the vector of {word!r} cannot be read ({error})") from None
        return cls(list(found), np.array(list(found.values())).reshape(len(found), width), measure=measure)

    @classmethod
    def from_gensim(cls, keyed_vectors: Any, *, words: Iterable[str] | None = None, measure: str = "cosine") -> Vectors:
        """Take over gensim's ``KeyedVectors``, or anything with ``index_to_key`` and ``vectors``."""
        if not hasattr(keyed_vectors, "index_to_key") or not hasattr(keyed_vectors, "vectors"):
            raise ParameterError(
                f"expected gensim's KeyedVectors (model.wv of a Word2Vec model), got {type(keyed_vectors).__name__}."
            )
        keys = list(keyed_vectors.index_to_key)
        if words is None:
            return cls(keys, keyed_vectors.vectors, measure=measure)
        wanted = frozenset(words)
        rows = [row for row, key in enumerate(keys) if key in wanted]
        return cls([keys[row] for row in rows], np.asarray(keyed_vectors.vectors)[rows], measure=measure)

    @property
    def is_psd(self) -> bool:
        """Always True: dot products of vectors are."""
        return True

    def _features(self, words: list[str]) -> sparse.csr_array:
        rows = np.array([self._rows.get(word, -1) for word in words], dtype=np.int64)
        known = rows >= 0
        known[known] = self._known[rows[known]]
        width = self._scaled.shape[1]
        data = self._scaled[rows[known]]
        ends = np.concatenate([[0], np.cumsum(known) * width]).astype(np.int64)
        columns = np.tile(np.arange(width), len(data))
        return sparse.csr_array((data.ravel(), columns, ends), shape=(len(words), width))

    def _arguments(self) -> dict[str, Any]:
        return {"words": self.words, "matrix": self.vectors, "measure": self.measure}

    def __repr__(self) -> str:
        return f"Vectors(<{len(self.words):,} words, {self.vectors.shape[1]} dimensions>, measure={self.measure!r})"

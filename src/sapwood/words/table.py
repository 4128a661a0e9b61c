"""Similarities that somebody wrote down: one number per pair of words."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sparse

from sapwood.checks import is_finite
from sapwood.errors import ParameterError
from sapwood.text_files import lines
from sapwood.words.base import Source
from sapwood.words.repair import smallest_eigenvalue

__all__ = ["SimilarityWarning", "Table"]

_LONGEST_REPR = 50


class SimilarityWarning(UserWarning):
    """A word similarity is not positive semi-definite, so that what is built on it may be no kernel."""


class Table(Source):
    """Similarities given pair by pair.

    Parameters
    ----------
    entries : mapping from pairs of words to numbers
        Each holds for both orders. A word is 1 with itself unless the table says otherwise; other pairs are 0.

    Raises
    ------
    ParameterError
        If two entries for the same pair differ, or a value is negative or not finite.

    Warns
    -----
    SimilarityWarning
        If the table is not positive semi-definite, with its smallest eigenvalue. ``repaired`` makes it so.

    Examples
    --------
    >>> table = Table({("nation", "country"): 0.9})
    >>> table("country", "nation"), table("nation", "nation"), table("nation", "dog")
    (0.9, 1.0, 0.0)
    >>> table.is_psd
    True
    """

    def __init__(self, entries: Mapping[tuple[str, str], float]) -> None:
        if not isinstance(entries, Mapping):
            raise ParameterError(
                f'a Table takes a dictionary such as {{("nation", "country"): 0.9}}, got {type(entries).__name__}.'
            )
        self.entries = dict(entries)
        self._words: dict[str, int] = {}
        self._matrix = self._fill()
        self._smallest = smallest_eigenvalue(self._matrix)
        if not self.is_psd:
            warnings.warn(
                f"the table is not positive semi-definite: its smallest eigenvalue is {self._smallest:.4g}. Kernels "
                "built on it may be no kernels; lower the similarities, add the missing ones, or use table.repaired().",
                SimilarityWarning,
                stacklevel=2,
            )

    @classmethod
    def from_ppdb(
        cls, path: str | Path, *, similarity: float = 0.9, words: Sequence[str] | None = None, encoding: str = "utf-8"
    ) -> Table:
        """Read paraphrase pairs: one pair per line, its two words separated by a tab.

        Parameters
        ----------
        path : path
            A file such as NLTK's ``ppdb-1.0-xxxl-lexical.extended.synonyms.uniquepairs``. Further columns are ignored.
        similarity : float
            The similarity of each pair.
        words : sequence of str, optional
            Keep only pairs of these words. Recommended: whole paraphrase files have millions of pairs.
        """
        wanted = None if words is None else frozenset(words)
        entries: dict[tuple[str, str], float] = {}
        for line in lines(path, encoding=encoding):
            if not line.text.strip():
                continue
            parts = line.text.split("\t")
            if len(parts) < 2 or not parts[0] or not parts[1]:
                raise line.fault(f"expected two words separated by a tab, got {line.text!r}")
            first, second = parts[0], parts[1]
            if first != second and (wanted is None or (first in wanted and second in wanted)):
                entries[min(first, second), max(first, second)] = similarity
        return cls(entries)

    def repaired(self, *, method: str = "clip") -> Source:
        """Return the nearest similarity of the same words that is positive semi-definite; see ``repair``."""
        from sapwood.words.repair import repair

        return repair(list(self._words), self._matrix.toarray(), method=method)

    @property
    def is_psd(self) -> bool:
        """Whether the table is positive semi-definite; the default values outside of it always are."""
        return self._smallest >= -1e-10

    def _fill(self) -> sparse.csr_array:
        values: dict[tuple[int, int], float] = {}
        for pair, value in self.entries.items():
            first, second = _pair(pair)
            if not is_finite(value) or value < 0:
                raise ParameterError(
                    f"the similarity of {first!r} and {second!r} is {value!r}; expected a finite number of at least 0. "
                    "For similarities that may be negative give Vectors whose products they are."
                )
            i = self._words.setdefault(first, len(self._words))
            j = self._words.setdefault(second, len(self._words))
            if values.setdefault((i, j), float(value)) != float(value):
                raise ParameterError(
                    f"the table gives {first!r} and {second!r} two similarities, {values[i, j]!r} and {value!r}; "
                    "entries hold for both orders, so keep one."
                )
            values[j, i] = float(value)
        for i in range(len(self._words)):
            values.setdefault((i, i), 1.0)
        size = len(self._words)
        rows, columns = (np.array([pair[k] for pair in values], dtype=np.int64) for k in (0, 1))
        # Built by hand: a stored 0 on the diagonal keeps a word known.
        order = np.lexsort((columns, rows))
        ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))]) if size else np.zeros(1, np.int64)
        data = np.fromiter(values.values(), dtype=np.float64, count=len(values))
        return sparse.csr_array((data[order], columns[order], ends), shape=(size, size))

    def _features(self, words: list[str]) -> sparse.csr_array:
        known = [self._words.get(word, -1) for word in words]
        counts = [self._matrix.indptr[i + 1] - self._matrix.indptr[i] if i >= 0 else 0 for i in known]
        rows = [slice(self._matrix.indptr[i], self._matrix.indptr[i + 1]) for i in known if i >= 0]
        data = np.concatenate([self._matrix.data[row] for row in rows]) if rows else np.zeros(0)
        columns = np.concatenate([self._matrix.indices[row] for row in rows]) if rows else np.zeros(0, np.int64)
        ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return sparse.csr_array((data, columns, ends), shape=(len(words), len(self._words)))

    _symmetric = False

    def _right_features(self, words: list[str]) -> sparse.csr_array:
        known = np.array([self._words.get(word, -1) for word in words], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(known >= 0)]).astype(np.int64)
        columns = known[known >= 0]
        return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(words), len(self._words)))

    def __repr__(self) -> str:
        if len(self.entries) > _LONGEST_REPR:
            return f"Table(<{len(self.entries):,} entries>)"
        return f"Table({self.entries!r})"


def _pair(pair: object) -> tuple[str, str]:
    if isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(word, str) and word for word in pair):
        return pair
    raise ParameterError(f"{pair!r} is no pair of words; the keys of a Table look like ('nation', 'country').")

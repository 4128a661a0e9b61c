"""Words that are written in another form in the trees than in the source of their similarity."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.checks import check_share
from sapwood.errors import ParameterError
from sapwood.words.base import Comparison, WordSimilarity, as_words, row_products
from sapwood.words.lemmas import singular

__all__ = ["Folded", "Inflected", "Tagged"]

# Present and past of the verbs that agree in more than an ending, and the article before a vowel.
_AGREEING = {
    **dict.fromkeys(("am", "are", "is", "'re", "'m"), "is"),
    **dict.fromkeys(("was", "were"), "was"),
    **dict.fromkeys(("has", "have", "'ve"), "has"),
    **dict.fromkeys(("a", "an"), "a"),
    **dict.fromkeys(("this", "these"), "this"),
    **dict.fromkeys(("that", "those"), "that"),
    **dict.fromkeys(("person", "people"), "person"),
    **dict.fromkeys(("child", "children"), "child"),
}


class _Form(WordSimilarity):
    """A similarity seen through another form of its words."""

    def __init__(self, similarity: WordSimilarity) -> None:
        if not isinstance(similarity, WordSimilarity):
            raise ParameterError(f"similarity must be a word similarity such as Table or WordNet, got {similarity!r}.")
        self.similarity = similarity

    @property
    def is_psd(self) -> bool:
        """Whether the similarity underneath is positive semi-definite; then so is this one."""
        return self.similarity.is_psd


class Folded(_Form):
    """A similarity that ignores case: words are looked up in lower case, known or not.

    Examples
    --------
    >>> from sapwood.words import Table
    >>> Folded(Table({("nation", "country"): 0.9}))("Nation", "country")
    0.9
    """

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        inner = self.similarity.against([word.lower() for word in as_words(vocabulary)])
        return Comparison(
            inner.right, lambda words: inner.left([word.lower() for word in words]), symmetric=inner.symmetric
        )

    def bind(self, documents: Callable[[], list[list[str]]]) -> WordSimilarity:
        """Return the similarity bound to the documents in lower case."""
        return Folded(self.similarity.bind(lambda: [[word.lower() for word in text] for text in documents()]))


class Inflected(WordSimilarity):
    """English words that differ in number or agreement only, such as ``do`` and ``does`` or ``city`` and ``cities``.

    A word loses its ending for the plural or the third person, case is ignored, and a few irregular words are listed;
    tense is kept. It is positive semi-definite.

    Parameters
    ----------
    strength : float
        How similar such words are, in [0, 1]; a word is 1 with itself.

    Examples
    --------
    >>> forms = Inflected(0.8)
    >>> [round(forms(*pair), 3) for pair in (("do", "does"), ("City", "cities"), ("walk", "walked"), ("is", "Is"))]
    [0.8, 0.8, 0.0, 1.0]
    """

    def __init__(self, strength: float = 0.8) -> None:
        check_share(strength, "strength")
        self.strength = float(strength)

    @property
    def is_psd(self) -> bool:
        """True: it is a dot product of what words have in common."""
        return True

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        names = _written_and_uninflected(as_words(vocabulary))
        columns = {name: column for column, name in enumerate(dict.fromkeys(names))}
        return Comparison(
            self._rows(names, columns),
            lambda others: self._rows(_written_and_uninflected(others), columns),
            symmetric=True,
        )

    def _rows(self, names: list[str], columns: dict[str, int]) -> sparse.csr_array:
        found = np.fromiter((columns.get(name, -1) for name in names), dtype=np.int64, count=len(names))
        weights = np.tile([(1.0 - self.strength) ** 0.5, self.strength**0.5], len(names) // 2)
        known = (found >= 0) & (weights > 0)
        ends = np.cumsum(known)[1::2]
        rows = sparse.csr_array(
            (weights[known], found[known], np.concatenate([[0], ends])), shape=(len(ends), max(1, len(columns)))
        )
        rows.sort_indices()
        return rows


def _written_and_uninflected(words: Sequence[str]) -> list[str]:
    """Return two names for every word, one after the other: of the word, and of what it is without its ending."""
    lowered = [word.lower() for word in words]
    return [name for word in lowered for name in (f"word {word}", f"form {_uninflected(word)}")]


def _uninflected(word: str) -> str:
    return _AGREEING.get(word) or singular(word)


class Tagged(_Form):
    """A similarity of words written with their part of speech, such as ``dog::n`` or ``LEX##dog::n``.

    Words with the same tag are as similar as the words before it; words with different tags are 0 with each other.
    Labels that are not of that form are like themselves only.

    Parameters
    ----------
    similarity : WordSimilarity
        Of the words without tags.
    separator : str
        What stands between word and tag; the last one counts.
    prefix : str
        What stands before the word.

    Examples
    --------
    >>> from sapwood.words import Table
    >>> tagged = Tagged(Table({("work", "job"): 0.8}))
    >>> tagged("work::n", "job::n"), tagged("work::v", "job::n"), tagged("POS##NN", "POS##NN")
    (0.8, 0.0, 1.0)
    """

    def __init__(self, similarity: WordSimilarity, *, separator: str = "::", prefix: str = "") -> None:
        super().__init__(similarity)
        for name, value in (("separator", separator), ("prefix", prefix)):
            if not isinstance(value, str) or (name == "separator" and not value):
                raise ParameterError(f"{name} must be text, got {value!r}.")
        self.separator, self.prefix = separator, prefix

    def covers(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return which words have the form."""
        return np.array([self._split(word) is not None for word in as_words(words)], dtype=np.bool_)

    def kinds(self, words: Sequence[str]) -> list[str]:
        """Return the tags; every label without the form is a kind of its own."""
        return [self._mark(word, self._split(word)) for word in words]

    def against(self, vocabulary: Sequence[str]) -> Comparison:
        """Prepare comparisons of any words with this vocabulary."""
        parts = [self._split(word) for word in as_words(vocabulary)]
        inner = self.similarity.against([part[0] for part in parts if part])
        marks: dict[str, int] = {}
        for word, part in zip(vocabulary, parts, strict=True):
            marks.setdefault(self._mark(word, part), len(marks))
        width = inner.right.shape[1]
        right = self._combine(list(vocabulary), parts, inner.right, marks, width)
        return Comparison(right, lambda words: self._left(words, inner, marks, width), symmetric=inner.symmetric)

    def bind(self, documents: Callable[[], list[list[str]]]) -> WordSimilarity:
        """Return the similarity bound to the documents without tags."""

        def plain() -> list[list[str]]:
            return [[part[0] for word in text if (part := self._split(word))] for text in documents()]

        return Tagged(self.similarity.bind(plain), separator=self.separator, prefix=self.prefix)

    def _split(self, word: str) -> tuple[str, str] | None:
        if not word.startswith(self.prefix):
            return None
        lemma, found, tag = word[len(self.prefix) :].rpartition(self.separator)
        return (lemma, tag) if found and lemma else None

    @staticmethod
    def _mark(word: str, part: tuple[str, str] | None) -> str:
        # What two words must have in common: the tag, or everything.
        return f"tag {part[1]}" if part else f"label {word}"

    def _left(self, words: list[str], inner: Comparison, marks: dict[str, int], width: int) -> sparse.csr_array:
        parts = [self._split(word) for word in words]
        return self._combine(words, parts, inner.left([part[0] for part in parts if part]), marks, width)

    def _combine(
        self,
        words: list[str],
        parts: list[tuple[str, str] | None],
        features: sparse.csr_array,
        marks: dict[str, int],
        width: int,
    ) -> sparse.csr_array:
        found = np.array([marks.get(self._mark(word, part), -1) for word, part in zip(words, parts, strict=True)])
        found = found.astype(np.int64)
        ends = np.concatenate([[0], np.cumsum(found >= 0)])
        one_hot = sparse.csr_array((np.ones(ends[-1]), found[found >= 0], ends), shape=(len(words), max(1, len(marks))))
        # Labels without the form get one feature of their own after those of the words.
        sizes = np.ones(len(words), dtype=np.int64)
        plain = np.array([part is None for part in parts], dtype=np.bool_)
        sizes[~plain] = np.diff(features.indptr)
        spread = np.concatenate([[0], np.cumsum(sizes)])
        columns = np.full(spread[-1], width, dtype=np.int64)
        data = np.ones(spread[-1])
        inside = np.repeat(~plain, sizes)
        columns[inside], data[inside] = features.indices, features.data
        return row_products(one_hot, sparse.csr_array((data, columns, spread), shape=(len(words), width + 1)))

"""What a parser sees of a word without an encoder: the word, pieces of it, and its shape."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["WordFeatures", "word_shape"]

# Letters of a piece of a word, and where pieces are kept at most.
_PIECE_LENGTHS = (1, 2, 3, 4)
_CACHED = 1 << 16
# Longer words are seen by their ends only.
_LONGEST = 40


def word_shape(word: str) -> str:
    """Return the shape of a word: its kinds of characters, runs taken as one.

    >>> word_shape("McDonald's"), word_shape("3.5"), word_shape("U.S."), word_shape("the")
    ('AaAa.a', '0.0', 'A.A.', 'a')
    """
    shape: list[str] = []
    for character in word[:_LONGEST]:
        if character.isdigit():
            kind = "0"
        elif character.isalpha():
            kind = "A" if character.isupper() else "a"
        else:
            kind = "-" if character == "-" else "."
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape[:8])


@dataclass
class WordFeatures:
    """Numbers of words, of shapes and of pieces; pieces are hashed, so that every word has some.

    Attributes
    ----------
    words, shapes : dict
        From text to its number; 0 is for what is not known.
    buckets : int
        Numbers that pieces are hashed to.
    """

    words: dict[str, int]
    shapes: dict[str, int]
    buckets: int
    _known: dict[str, tuple[int, int, tuple[int, ...]]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], *, min_count: int, buckets: int) -> WordFeatures:
        """Collect the words and shapes that are not rare."""
        words: Counter[str] = Counter()
        shapes: Counter[str] = Counter()
        for sentence in sentences:
            words.update(word.lower() for word in sentence)
            shapes.update(word_shape(word) for word in sentence)
        return cls(_numbered(words, min_count), _numbered(shapes, 5), buckets)

    def joined(self, other: WordFeatures) -> WordFeatures:
        """Add the words and shapes of another table behind one's own; the number of buckets stays."""
        words, shapes = (
            {text: number for number, text in enumerate(dict.fromkeys([*mine, *theirs]), 1)}
            for mine, theirs in ((self.words, other.words), (self.shapes, other.shapes))
        )
        return WordFeatures(words, shapes, self.buckets)

    def of_word(self, word: str) -> tuple[int, int, tuple[int, ...]]:
        """Return the number of a word, of its shape, and of its pieces."""
        found = self._known.get(word)
        if found is None:
            lower = word.lower()
            number = self.words.get(lower, 0)
            found = number, self.shapes.get(word_shape(word), 0), self._pieces(lower)
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[word] = found
        return found

    def arrays(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], list[tuple[int, ...]]]:
        """Return the numbers of many words, of their shapes, and of the pieces of each."""
        rows = [self.of_word(word) for word in words]
        return np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), [row[2] for row in rows]

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST:
            word = word[: _LONGEST // 2] + word[-_LONGEST // 2 :]
        marked = f"<{word}>"
        found = {
            marked[at : at + length]
            for length in _PIECE_LENGTHS
            for at in range(len(marked) - length + 1)
            if length > 2 or at == 0 or at + length == len(marked)
        }
        return tuple(sorted({zlib.crc32(piece.encode()) % self.buckets for piece in found}))


def _numbered(counts: Counter[str], least: int) -> dict[str, int]:
    kept = sorted(text for text, count in counts.items() if count >= least)
    return {text: number for number, text in enumerate(kept, 1)}

"""How far two sentences use the same words: sets, sequences, characters, rare words, lengths. No trees here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEXICAL_NAMES", "Rarity", "is_word", "lexical_features", "words_of"]

LEXICAL_NAMES = (
    "jaccard",
    "containment",
    "bigrams",
    "trigrams",
    "characters",
    "tfidf_cosine",
    "idf_jaccard",
    "rarest_unshared",
    "edit_similarity",
    "common_subsequence",
    "common_prefix",
    "common_suffix",
    "length_difference",
    "length_ratio",
    "shorter_length",
    "numbers",
    "names",
    "negation_difference",
    "empty",
)
"""What is measured of every pair, in this order; 1 means the same for all that are shares."""

_NEGATIONS = frozenset(("not", "n't", "no", "never", "none", "nobody", "nothing", "without", "cannot"))


def words_of(leaves: Sequence[str]) -> list[str]:
    """Return the words among leaves: what holds a letter or a digit and is no bracket or trace.

    >>> words_of(["What", "is", "-LRB-", "n't", "3.5", "?"])
    ['What', 'is', "n't", '3.5']
    """
    return [leaf for leaf in leaves if is_word(leaf)]


def is_word(leaf: str) -> bool:
    """Whether a leaf holds a letter or a digit and is no bracket or trace.

    >>> is_word("n't"), is_word("-NONE-")
    (True, False)
    """
    code = len(leaf) > 2 and leaf[0] == leaf[-1] == "-" and leaf[1:-1].isupper()
    return not code and any(map(str.isalnum, leaf))


class Rarity:
    """How rare words are, from the number of training sentences with each word and that of all sentences.

    >>> rarity = Rarity.learn([["the", "dog"], ["the", "cat"]])
    >>> rarity["the"] < rarity["dog"] < rarity["zebra"]
    True
    """

    def __init__(self, counts: dict[str, int], sentences: int) -> None:
        self.counts, self.sentences = counts, sentences
        self._known = {word: self._weight(count) for word, count in counts.items()}
        self._unknown = self._weight(0)

    @classmethod
    def learn(cls, sentences: Sequence[Sequence[str]]) -> Rarity:
        """Count words that are in lower case already."""
        counts: Counter[str] = Counter()
        for words in sentences:
            counts.update(set(words))
        return cls(dict(counts), len(sentences))

    def _weight(self, count: int) -> float:
        return math.log((1 + self.sentences) / (1 + count)) + 1.0

    def __getitem__(self, word: str) -> float:
        return self._known.get(word, self._unknown)


def lexical_features(
    first: Sequence[Sequence[str]], second: Sequence[Sequence[str]], rarity: Rarity
) -> NDArray[np.float64]:
    """Measure every pair of sentences, given by their words: one column per entry of ``LEXICAL_NAMES``.

    >>> row = lexical_features([["a", "red", "car"]], [["a", "car"]], Rarity.learn([["a", "car"]]))[0]
    >>> [round(value, 2) for value in row[:2].tolist()]
    [0.67, 1.0]
    """
    result = np.zeros((len(first), len(LEXICAL_NAMES)))
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        result[row] = _measure(list(a), list(b), rarity)
    return result


def _measure(written_a: list[str], written_b: list[str], rarity: Rarity) -> tuple[float, ...]:
    a, b = [word.lower() for word in written_a], [word.lower() for word in written_b]
    if not a or not b:
        # Nothing can be said of a sentence without words but that it has none, and how long the other is.
        neutral = dict.fromkeys(LEXICAL_NAMES, 0.0)
        neutral |= {"length_difference": float(abs(len(a) - len(b))), "empty": 1.0}
        return tuple(neutral.values())
    words_a, words_b = set(a), set(b)
    shared = words_a & words_b
    apart = words_a ^ words_b
    weight_shared = math.fsum(sorted(rarity[word] for word in shared))
    weight_apart = math.fsum(sorted(rarity[word] for word in apart))
    prefix = _common_prefix(a, b)
    suffix = _common_prefix(a[::-1], b[::-1])
    longer, shorter = max(len(a), len(b)), min(len(a), len(b))
    return (
        len(shared) / len(words_a | words_b),
        len(shared) / min(len(words_a), len(words_b)),
        _dice(_grams(a, 2), _grams(b, 2)),
        _dice(_grams(a, 3), _grams(b, 3)),
        _dice(_grams(f" {' '.join(a)} ", 3), _grams(f" {' '.join(b)} ", 3)),
        _cosine(a, b, rarity),
        weight_shared / (weight_shared + weight_apart),
        max((rarity[word] for word in apart), default=0.0),
        1.0 - edit_distance(a, b) / longer,
        2.0 * common_subsequence(a, b) / (len(a) + len(b)),
        prefix / shorter,
        suffix / shorter,
        float(longer - shorter),
        shorter / longer,
        float(shorter),
        _overlap(a, b, lambda word: any(map(str.isdigit, word))),
        _overlap(written_a[1:], written_b[1:], lambda word: word[0].isupper()),
        float(abs(_count(a) - _count(b))),
        0.0,
    )


def _grams(items: Sequence[str], size: int) -> Counter[Hashable]:
    return Counter(zip(*(items[k:] for k in range(size)), strict=False))


def _dice(a: Counter[Hashable], b: Counter[Hashable]) -> float:
    total = a.total() + b.total()
    return 2.0 * (a & b).total() / total if total else 0.0


def _cosine(a: list[str], b: list[str], rarity: Rarity) -> float:
    one = {word: count * rarity[word] for word, count in Counter(a).items()}
    other = {word: count * rarity[word] for word, count in Counter(b).items()}
    product = math.fsum(weight * other[word] for word, weight in one.items() if word in other)
    lengths = [math.fsum(weight * weight for weight in each.values()) for each in (one, other)]
    return product / math.sqrt(lengths[0] * lengths[1])


def _overlap(a: list[str], b: list[str], wanted: Callable[[str], bool]) -> float:
    """Return the share of words of a kind that both have; 1 if neither has any."""
    one, other = {word.lower() for word in a if wanted(word)}, {word.lower() for word in b if wanted(word)}
    return len(one & other) / len(one | other) if one or other else 1.0


def _count(words: list[str]) -> int:
    return sum(word in _NEGATIONS for word in words)


def _common_prefix(a: list[str], b: list[str]) -> int:
    length = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        length += 1
    return length


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return how many insertions, deletions and substitutions turn one sequence into the other.

    A row of the table is two whole numbers, whose bits say where it goes up and down (Myers 1999), so that the cost is
    one step per element of ``b``.

    >>> edit_distance("kitten", "sitting")
    3
    """
    if not a:
        return len(b)
    places = _places(a)
    everywhere, last = (1 << len(a)) - 1, 1 << len(a) - 1
    up, down, distance = everywhere, 0, len(a)
    for item in b:
        here = places.get(item, 0)
        vertical = here | down
        across = (((here & up) + up) ^ up) | here
        rises, falls = down | ~(across | up), up & across
        distance += bool(rises & last) - bool(falls & last)
        rises = rises << 1 | 1
        falls <<= 1
        up = (falls | ~(vertical | rises)) & everywhere
        down = rises & vertical & everywhere
    return distance


def common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence, by bits as in ``edit_distance``.

    >>> common_subsequence("kitten", "sitting")
    4
    """
    places = _places(a)
    everywhere = (1 << len(a)) - 1
    row = everywhere
    for item in b:
        matched = row & places.get(item, 0)
        row = ((row + matched) | (row - matched)) & everywhere
    return len(a) - row.bit_count()


def _places(items: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the positions of each item as the bits of a number."""
    places: dict[Hashable, int] = {}
    for position, item in enumerate(items):
        places[item] = places.get(item, 0) | 1 << position
    return places

"""How likely a word is under a tag: counts for words that were seen, classes of spelling for the others.

The probability of a tag given a word is estimated, backing off from the word to ever vaguer classes of its spelling,
and turned round. Words are looked at one by one; what surrounds them belongs to the grammar.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sapwood.parse.annotation import bare_symbol
from sapwood.parse.estimation import backed_off
from sapwood.penn import BRACKETS

__all__ = ["Lexicon", "spelling_classes"]

# The vaguest classes: letters, digits, both, neither; with or without a hyphen.
_KINDS = frozenset(kind + hyphen for kind in ("a", "9", "9a", "?") for hyphen in ("", "-"))
# Treebanks spell square and curly brackets either by their own names or as round ones.
_PENN = {sign: (name, f"-{name[1]}RB-") for sign, name in BRACKETS.items()} | {'"': ("``", "''")}

# Symbols of words that are kept for when a word comes again; some 100 bytes each.
_CACHED = 200_000


def spelling_classes(word: str, first: bool) -> tuple[str, ...]:
    """Return the classes of a word by its spelling, from vague to precise.

    >>> spelling_classes("Re-opened", False)
    ('a-', 'a-Xx', 'a-Xx~d', 'a-Xx~ed', 'a-Xx~ned')
    """
    has_digit = any(c.isdigit() for c in word)
    has_letter = any(c.isalpha() for c in word)
    kind = ("9a" if has_letter else "9") if has_digit else "a" if has_letter else "?"
    if "-" in word[1:]:
        kind += "-"
    shape = kind
    if has_letter:
        if word[0].isupper():
            shape += "XX" if word.isupper() and len(word) > 1 else "Xx"
            if first:
                shape += "^"
        elif not word.islower():
            shape += "xX"
        else:
            shape += "x"
        if "." in word:
            shape += "."
    chain = [kind, shape]
    if has_letter and not has_digit:
        low = word.lower()
        chain += [f"{shape}~{low[-size:]}" for size in (1, 2, 3) if len(low) >= size + 1]
    return tuple(chain)


class Lexicon:
    """Weights of tags for words.

    Parameters
    ----------
    known, spelling, split : float
        How many observations a vaguer estimate is worth: behind a word that was seen, behind a class of spelling, and
        for how a tag's symbols share a word.
    rare : int
        Words seen at most this often teach what unseen words are like.
    closed : int
        Words seen at least this often have no tags but those they were seen with.
    """

    def __init__(
        self, *, known: float = 1.0, spelling: float = 1.0, split: float = 5.0, rare: int = 3, closed: int = 50
    ) -> None:
        self.known, self.spelling, self.split, self.rare, self.closed = known, spelling, split, rare, closed
        self.words: dict[str, dict[str, int]] = {}
        self.classes: dict[str, dict[str, int]] = {}
        self.symbols: dict[str, int] = {}

    def fit(self, sentences: Iterable[Sequence[tuple[str, str]]]) -> Lexicon:
        """Count words with their symbols; a symbol is a tag with its parent and marks."""
        words: dict[str, Counter[str]] = defaultdict(Counter)
        initial: Counter[tuple[str, str]] = Counter()
        symbols: Counter[str] = Counter()
        for sentence in sentences:
            for position, (word, symbol) in enumerate(sentence):
                words[word][symbol] += 1
                symbols[symbol] += 1
                if position == 0:
                    initial[word, symbol] += 1
        self.words = {word: dict(counts) for word, counts in words.items()}
        self.symbols = dict(symbols)
        classes: dict[str, Counter[str]] = defaultdict(Counter)
        for word, counts in words.items():
            if sum(counts.values()) <= self.rare:
                for symbol, count in counts.items():
                    at_start = initial[word, symbol]
                    for first, times in ((True, at_start), (False, count - at_start)):
                        if times:
                            for name in spelling_classes(word, first):
                                classes[name][bare_symbol(symbol)] += times
        if not classes:
            for counts in words.values():
                for symbol, count in counts.items():
                    classes["a"][bare_symbol(symbol)] += count
        self.classes = {name: dict(counts) for name, counts in classes.items()}
        self.prepare()
        return self

    def parameters(self) -> dict[str, Any]:
        """Return what the lexicon was made with."""
        return {name: getattr(self, name) for name in ("known", "spelling", "split", "rare", "closed")}

    def prepare(self) -> None:
        """Work out what follows from the counts."""
        self._total = sum(self.symbols.values())
        self._by_tag: dict[str, dict[str, float]] = defaultdict(dict)
        for symbol, count in self.symbols.items():
            self._by_tag[bare_symbol(symbol)][symbol] = count
        self._tags = {tag: sum(counts.values()) for tag, counts in self._by_tag.items()}
        # For a word that belongs to no class at all: how often tags are on rare words.
        rare: Counter[str] = Counter()
        for name, row in self.classes.items():
            if name in _KINDS:
                rare.update(row)
        self._vague = {tag: count / sum(rare.values()) for tag, count in rare.items()}
        self._cache: dict[tuple[str, bool], list[tuple[str, float]]] = {}
        self._cached = 0

    def unseen(self, word: str, first: bool) -> dict[str, float]:
        """Return the probabilities of tags for a word of this spelling."""
        rows = (self.classes.get(name) for name in spelling_classes(word, first))
        return backed_off(rows, self.spelling) or self._vague

    def tags(self, word: str, first: bool) -> list[tuple[str, float]]:
        """Return the symbols that a word may have, with log P(word | symbol) up to the frequency of the word itself."""
        key = (word, first)
        found = self._cache.get(key)
        if found is None:
            found = self._tags_of(word, first)
            # Counted by symbols: an unseen word of a large grammar has hundreds of them.
            self._cached += len(found)
            if self._cached > _CACHED:
                self._cache.clear()
                self._cached = len(found)
            self._cache[key] = found
        return found

    def _tags_of(self, word: str, first: bool) -> list[tuple[str, float]]:
        counts = Counter(self.words.get(word, {}))
        if not counts:
            # Signs as people write them, where the treebank has them in Penn spelling.
            for penn in _PENN.get(word, ()):
                counts.update(self.words.get(penn, {}))
        low = word.lower()
        if first and low != word:
            # At the start of a sentence a capital says little.
            counts.update(self.words.get(low, {}))
        seen = sum(counts.values())
        by_tag: Counter[str] = Counter()
        for symbol, count in counts.items():
            by_tag[bare_symbol(symbol)] += count
        # Signs that were seen have no other tags, nor have words that were seen often.
        closed = seen >= self.closed or (seen > 0 and not any(c.isalnum() for c in word))
        guess = {} if closed else self.unseen(word, first)
        doubt = 0.0 if closed else self.known
        frequency = max(seen, 0.5) / self._total
        result = []
        for tag in guess.keys() | by_tag.keys():
            tag_probability = (by_tag[tag] + doubt * guess.get(tag, 0.0)) / (seen + doubt)
            if tag_probability < 1e-7:
                continue
            for symbol, times in self._by_tag[tag].items():
                share = (counts[symbol] + self.split * times / self._tags[tag]) / (by_tag[tag] + self.split)
                probability = tag_probability * share * frequency * self._total / times
                result.append((symbol, math.log(probability)))
        result.sort()
        return result

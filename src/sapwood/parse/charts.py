"""A grammar with its lexicon, and the charts that the native core fills with them.

What to do where a sentence has no parse or its chart is too large is decided by ``pcfg``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.parse.annotation import bare_symbol
from sapwood.parse.estimation import GrammarTables
from sapwood.parse.lexicon import Lexicon
from sapwood.trees.array import TreeArray
from sapwood.trees.nbest import NBest

__all__ = ["COVERED", "NOTHING", "PARSED", "PIECE_WEIGHT", "ChartParser"]

PARSED, COVERED, NOTHING, _TOO_LARGE = range(4)
"""How a chart ended: with parses, with pieces that cover the sentence, with nothing, or beyond its memory."""

PIECE_WEIGHT = -20.0
"""The weight of each piece where a sentence has to be covered by several: large pieces win over likely ones."""

# Several derivations may give one tree, so some more are looked at than trees are asked for.
_SPARE = 3
# The tag is right because it was given, however unlikely the word made it.
_GIVEN_TAG = -10.0

Tags = Sequence[Sequence[str] | None]


class ChartParser:
    """Fills charts by one grammar.

    Parameters
    ----------
    tables : GrammarTables
        The grammar.
    lexicon : Lexicon
        The words.
    """

    def __init__(self, tables: GrammarTables, lexicon: Lexicon) -> None:
        self.tables, self.lexicon = tables, lexicon
        self._rules = _core.parse.Rules(**tables.arrays, root=tables.root)
        self._numbers = {name: number for number, name in enumerate(tables.names)}

    def __reduce__(self) -> tuple[Any, ...]:
        # The native rules are made anew from the tables.
        return ChartParser, (self.tables, self.lexicon)

    def parse(
        self, texts: list[list[str]], tags: Tags, n: int, *, beam: float, memory: int, cover: bool, progress: Any
    ) -> list[tuple[int, NBest, int]]:
        """Return per sentence how its chart ended, its n best parses, and how many bytes the chart took.

        Parameters
        ----------
        texts : list of lists of str
            The words.
        tags : sequence
            Per sentence the tags of its words, or None.
        n : int
            How many parses.
        beam : float
            Symbols of a span this much below the best are left out.
        memory : int
            Bytes that a chart may take.
        cover : bool
            Whether to put the best row of constituents under one node where there is no parse.
        progress : callable or None
            Takes the number of sentences done.
        """
        labels = self.tables.labels
        arena, roots, ends, weights, outcomes, sizes = _core.parse.parse_batch(
            self._rules,
            labels,
            *self._packed(texts, tags),
            [word for words in texts for word in words],
            n,
            1 if n == 1 else _SPARE * n + 10,
            beam,
            memory,
            [labels.index(label) for label in self.tables.cover] if cover else [],
            PIECE_WEIGHT,
            settings.threads(),
            progress,
        )
        trees, begin = TreeArray._from_arena(arena, roots), 0
        found = []
        for end, outcome, size in zip(ends.tolist(), outcomes.tolist(), sizes, strict=True):
            found.append((outcome, NBest(trees[begin:end], weights[begin:end].copy()), int(size)))
            begin = end
        return found

    def forest(self, words: list[str], *, beam: float, memory: int) -> _core.parse.Forest | None:
        """Return all derivations of a sentence; None where its chart is too large. Parameters as in ``parse``."""
        _, tag_ends, symbols, weights = self._packed([words], [None])
        return _core.parse.forest(self._rules, tag_ends, symbols, weights, beam, memory)

    def inside(self, texts: list[list[str]], *, memory: int, progress: Any) -> NDArray[np.float64]:
        """Return the log-probability of all parses of each sentence together; NaN where the chart is too large."""
        packed = self._packed(texts, [None] * len(texts))
        return _core.parse.inside(self._rules, *packed, memory, settings.threads(), progress)

    def _packed(
        self, texts: list[list[str]], tags: Tags
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]:
        """Return where sentences end, where the symbols of each word end, the symbols and their weights."""
        sentence_ends, tag_ends, symbols, weights = [], [], [], []
        for words, given in zip(texts, tags, strict=True):
            for position, word in enumerate(words):
                for number, weight in self._symbols(word, position == 0, None if given is None else given[position]):
                    symbols.append(number)
                    weights.append(weight)
                tag_ends.append(len(symbols))
            sentence_ends.append(len(tag_ends))
        return (
            np.array(sentence_ends, dtype=np.uint64),
            np.array(tag_ends, dtype=np.uint64),
            np.array(symbols, dtype=np.uint32),
            np.array(weights, dtype=np.float64),
        )

    def _symbols(self, word: str, first: bool, tag: str | None) -> list[tuple[int, float]]:
        """Return the symbols of a word with their weights; those of one tag if it is given."""
        numbers = self._numbers
        found = [(numbers[name], weight) for name, weight in self.lexicon.tags(word, first) if name in numbers]
        if tag is None:
            return found
        names = self.tables.names
        chosen = [(number, weight) for number, weight in found if bare_symbol(names[number]) == tag]
        known = (name for name in self.lexicon.symbols if bare_symbol(name) == tag and name in numbers)
        return chosen or [(numbers[name], _GIVEN_TAG) for name in known]

"""The chart of a grammar: all derivations of one sentence that were not pruned."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.checks import check_count, check_seed
from sapwood.parse.chart import ParseChart
from sapwood.parse.charts import ChartParser
from sapwood.parse.spans.labels import SpanVocabulary
from sapwood.trees.array import TreeArray
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["GrammarChart"]

# Derivations whose trees are compared at least: the tree of the best one need not be the most probable tree.
_DERIVATIONS = 50


class GrammarChart(ParseChart):
    """All derivations of a sentence by a grammar.

    Symbols know more than trees show (parents, marks, which child is the head), so a tree may have several derivations.
    The probability of a tree, of a constituent or of a tag is that of all its derivations together. What the beam has
    pruned counts for nothing: with ``beam=None`` the chart is that of the whole grammar.

    Parameters
    ----------
    words : tuple of str
        The sentence.
    model : ChartParser
        The grammar.
    wrapper : str or None
        The label over every sentence.
    how : str
        ``"parser"``, or ``"fallback"`` where only the plainer grammar has a parse.
    beam, memory
        As for ``ChartParser.forest``.
    forest : native forest, optional
        What ``ChartParser.forest`` gave.
    """

    def __init__(
        self,
        words: tuple[str, ...],
        model: ChartParser,
        wrapper: str | None,
        how: str,
        beam: float,
        memory: int,
        forest: _core.parse.Forest | None = None,
    ) -> None:
        self.words, self.how = words, how
        self._model, self._wrapper, self._limits = model, wrapper, (beam, memory)
        made = model.forest(list(words), beam=beam, memory=memory) if forest is None else forest
        assert made is not None
        self._forest = made

    def __reduce__(self) -> tuple[Any, ...]:
        # The native forest is made anew from the grammar.
        return GrammarChart, (self.words, self._model, self._wrapper, self.how, *self._limits)

    def nbest(self, n: int = 30) -> NBest:
        """Return the most probable trees with their log-probabilities, best first.

        They are chosen among the trees of the best derivations, ``3 * n + 10`` or 50 of them: no method finds the most
        probable trees of such a grammar for certain.
        """
        check_count(n, "n", most=100_000)
        labels = self._model.tables.labels
        arena, roots, weights = self._forest.trees(labels, self._texts, int(n), max(_DERIVATIONS, 3 * int(n) + 10))
        return NBest(TreeArray._from_arena(arena, roots), weights - self._forest.total, how=self.how)

    def entropy(self) -> float:
        """Return how unsure the parser is of the derivation, in bits; that of the tree is at most as large."""
        return self._found[3] / math.log(2.0)

    def sample(self, n: int = 1, *, random_state: Any = None) -> list[Tree]:
        """Draw trees by their probability."""
        check_count(n, "n")
        seed = check_seed(random_state) % 2**64
        arena, roots, _ = self._forest.samples(self._model.tables.labels, self._texts, int(n), seed)
        return [tree for tree in TreeArray._from_arena(arena, roots) if isinstance(tree, Tree)]

    def log_probability(self, tree: Tree | str) -> float:
        """Return the natural logarithm of the probability of a tree of these words; -inf for one that cannot be."""
        numbers = {label: number for number, label in enumerate(self._model.tables.labels)}
        labels: list[int] = []
        children: list[int] = []
        words = 0
        order = self._cleaned(tree).postorder()
        for node in order:
            if node.label not in numbers:
                return float("-inf")
            if node.word is not None:
                labels.append(words)
                children.append(0)
                words += 1
            labels.append(numbers[node.label])
            children.append(len(node.children) or 1)
        if self._wrapper is not None:
            labels.append(numbers[self._wrapper])
            children.append(1)
        return self._forest.weight(np.array(labels, np.uint32), np.array(children, np.uint32)) - self._forest.total

    @cached_property
    def _texts(self) -> list[str]:
        return [str(word) for word in self.words]

    @cached_property
    def _found(self) -> tuple[list[list[int]], NDArray[np.uint32], NDArray[np.float64], float]:
        lists, spans, shares, entropy = self._forest.marginals()
        return lists, spans.reshape(-1, 3), shares, entropy

    @cached_property
    def _rows(self) -> list[tuple[int, int, tuple[str, ...], str, float]]:
        """Begin, end, chain of labels, tag (of a single word, else empty) and probability."""
        labels, count = self._model.tables.labels, len(self.words)
        lists, spans, shares, _ = self._found
        rows = []
        for (begin, end, number), share in zip(spans.tolist(), shares.tolist(), strict=True):
            names = tuple(labels[label] for label in lists[number])
            if self._wrapper is not None and end - begin == count and names[0] == self._wrapper:
                names = names[1:]
            tag = names[-1] if end - begin == 1 else ""
            rows.append((begin, end, names[:-1] if tag else names, tag, share))
        return rows

    @cached_property
    def vocabulary(self) -> SpanVocabulary:  # type: ignore[override]  # an attribute that is worked out
        """The labels and tags that the trees of this chart have."""
        chains = sorted({chain for _, _, chain, _, _ in self._rows if chain})
        tags = sorted({tag for _, _, _, tag, _ in self._rows if tag})
        return SpanVocabulary(tuple(chains), tuple(tags), self._wrapper or "")

    def _shares(self) -> tuple[NDArray[Any], NDArray[Any]]:
        chains = {chain: number for number, chain in enumerate(self.vocabulary.chains)}
        tags = {tag: number for number, tag in enumerate(self.vocabulary.tags)}
        count = len(self.words)
        spans = np.zeros((count * (count + 1) // 2, len(chains)))
        words = np.zeros((count, len(tags)))
        for begin, end, chain, tag, share in self._rows:
            if chain:
                spans[end * (end - 1) // 2 + begin, chains[chain]] += share
            if tag:
                words[begin, tags[tag]] += share
        return spans, words

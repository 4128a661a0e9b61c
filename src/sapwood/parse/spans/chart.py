"""The chart of a span parser: the scores of one sentence, and what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sapwood import _core
from sapwood.checks import check_count
from sapwood.errors import DataError
from sapwood.parse.annotation import clean
from sapwood.parse.chart import Constituent, ParseChart, log_softmax
from sapwood.parse.spans.decoding import build_trees
from sapwood.parse.spans.labels import SpanVocabulary, span_sentence
from sapwood.trees.array import TreeArray
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["SpanChart"]


class SpanChart(ParseChart):
    """The scores that a span parser gives the spans and words of a sentence.

    Parameters
    ----------
    words : tuple of str
        The sentence.
    spans, tags : arrays
        Scores of labels, span by span, and of tags, word by word.
    vocabulary : SpanVocabulary
        What the scores stand for.
    """

    def __init__(
        self,
        words: tuple[str, ...],
        spans: NDArray[np.float32],
        tags: NDArray[np.float32],
        vocabulary: SpanVocabulary,
    ) -> None:
        self.words = words
        self.vocabulary = vocabulary
        self._spans, self._tags = spans, tags
        self._lengths = np.array([len(words)], dtype=np.uint64)
        self._labels = len(vocabulary.chains)

    def _best_tags(self) -> float:
        return float(log_softmax(self._tags).max(axis=1).sum())

    def _trees(self, found: Any) -> TreeArray:
        return build_trees([self.words], self._tags, self.vocabulary, found)

    def _summed(self) -> tuple[float, NDArray[np.float32]]:
        totals, shares = _core.spans.marginals(self._lengths, self._spans, self._labels, 1, None)
        return float(totals[0]), shares.reshape(-1, self._labels)

    def nbest(self, n: int = 30) -> NBest:
        """Return the most probable trees with their log-probabilities, best first; tags are the best ones."""
        check_count(n, "n", most=10_000)
        found = _core.spans.best_trees(self._lengths, self._spans, self._labels, int(n), 1, None)
        return NBest(self._trees(found), found[3] - self._summed()[0] + self._best_tags())

    def constituents(self, least: float = 0.01) -> list[Constituent]:
        """Return the constituents of at least this probability, those of the whole sentence first."""
        _, shares = self._summed()
        sums: dict[tuple[int, int, str], float] = {}
        end = begin = 0
        for row in shares:
            begin += 1
            if begin >= end:
                begin, end = 0, end + 1
            for number in np.flatnonzero(row > min(least, 1e-4) / 8):
                for label in self.vocabulary.chains[number]:
                    key = begin, end, label
                    sums[key] = sums.get(key, 0.0) + float(row[number])
        kept = [Constituent(*key, min(1.0, value)) for key, value in sums.items() if value >= least]
        return sorted(kept, key=lambda one: (one.begin - one.end, one.begin, -one.probability))

    def tags(self, least: float = 0.01) -> list[Constituent]:
        """Return the parts of speech of at least this probability, word by word, the most probable first."""
        shares = np.exp(log_softmax(self._tags))
        return [
            Constituent(word, word + 1, self.vocabulary.tags[number], float(row[number]))
            for word, row in enumerate(shares)
            for number in np.argsort(-row, kind="stable")
            if row[number] >= least
        ]

    def entropy(self) -> float:
        """Return how unsure the parser is of the tree, in bits; tags are not counted."""
        total, shares = self._summed()
        scores = self._spans.reshape(-1, self._labels).astype(np.float64)
        return max(0.0, (total - float((shares * scores).sum())) / float(np.log(2.0)))

    def sample(self, n: int = 1, *, random_state: Any = None) -> list[Tree]:
        """Draw trees by their probability; tags are the best ones."""
        check_count(n, "n")
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        found = _core.spans.sample_trees(self._lengths, self._spans, self._labels, int(n), seed, 1, None)
        return [tree for tree in self._trees(found) if isinstance(tree, Tree)]

    def log_probability(self, tree: Tree | str) -> float:
        """Return the natural logarithm of the probability of a tree and its tags; -inf for one that cannot be."""
        given = Tree.fromstring(tree) if isinstance(tree, str) else tree
        one = span_sentence(clean(given, 0)[1])
        if one.words != self.words:
            raise DataError("the tree has other words than the sentence of the chart.")
        numbers = {chain: number for number, chain in enumerate(self.vocabulary.chains)}
        places = {tag: number for number, tag in enumerate(self.vocabulary.tags)}
        whole = bool(one.spans) and one.spans[-1][:2] == (0, len(self.words))
        if (
            not whole
            or any(chain not in numbers for _, _, chain in one.spans)
            or any(tag not in places for tag in one.tags)
        ):
            return float("-inf")
        scores = self._spans.reshape(-1, self._labels)
        total = sum(float(scores[end * (end - 1) // 2 + begin, numbers[chain]]) for begin, end, chain in one.spans)
        rows = log_softmax(self._tags)
        return total - self._summed()[0] + float(sum(rows[at, places[tag]] for at, tag in enumerate(one.tags)))

    def minimum_risk(self) -> Tree:
        """Return the tree with the fewest expected errors: constituents too many or too few."""
        _, shares = self._summed()
        sizes = np.array([len(chain) for chain in self.vocabulary.chains], dtype=np.float32)
        # A constituent is worth having if it is right more often than not.
        gains = ((shares - np.float32(0.5)) * sizes).astype(np.float32).reshape(-1)
        found = _core.spans.best_trees(self._lengths, gains, self._labels, 1, 1, None)
        tree = self._trees(found)[0]
        assert isinstance(tree, Tree)
        return tree

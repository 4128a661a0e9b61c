"""The chart of a span parser: the scores of one sentence, and what they say."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from sapwood import _core
from sapwood.checks import check_count, check_seed
from sapwood.parse.chart import ParseChart
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
        self._count = len(vocabulary.chains)

    @cached_property
    def _log_tags(self) -> NDArray[np.float64]:
        return np.asarray(log_softmax(self._tags.astype(np.float64), axis=1))

    def _best_tags(self) -> float:
        return float(self._log_tags.max(axis=1).sum())

    def _trees(self, found: Any) -> TreeArray:
        return build_trees([self.words], self._tags, self.vocabulary, found)

    @cached_property
    def _summed(self) -> tuple[float, NDArray[np.float32]]:
        totals, shares = _core.spans.marginals(self._lengths, self._spans, self._count, 1, None)
        return float(totals[0]), shares.reshape(-1, self._count)

    def _shares(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._summed[1], np.exp(self._log_tags)

    def nbest(self, n: int = 30) -> NBest:
        """Return the most probable trees with their log-probabilities, best first; tags are the best ones."""
        check_count(n, "n", most=10_000)
        found = _core.spans.best_trees(self._lengths, self._spans, self._count, int(n), 1, None)
        return NBest(self._trees(found), found[3] - self._summed[0] + self._best_tags())

    def entropy(self) -> float:
        """Return how unsure the parser is of the tree, in bits; tags are not counted."""
        total, shares = self._summed
        scores = self._spans.reshape(-1, self._count).astype(np.float64)
        return max(0.0, (total - float((shares * scores).sum())) / float(np.log(2.0)))

    def sample(self, n: int = 1, *, random_state: Any = None) -> list[Tree]:
        """Draw trees by their probability; tags are the best ones."""
        check_count(n, "n")
        seed = check_seed(random_state) % 2**64
        found = _core.spans.sample_trees(self._lengths, self._spans, self._count, int(n), seed, 1, None)
        return [tree for tree in self._trees(found) if isinstance(tree, Tree)]

    def log_probability(self, tree: Tree | str) -> float:
        """Return the natural logarithm of the probability of a tree and its tags; -inf for one that cannot be."""
        one = span_sentence(self._cleaned(tree))
        numbers = {chain: number for number, chain in enumerate(self.vocabulary.chains)}
        places = {tag: number for number, tag in enumerate(self.vocabulary.tags)}
        whole = bool(one.spans) and one.spans[-1][:2] == (0, len(self.words))
        if (
            not whole
            or any(chain not in numbers for _, _, chain in one.spans)
            or any(tag not in places for tag in one.tags)
        ):
            return float("-inf")
        scores = self._spans.reshape(-1, self._count)
        total = sum(float(scores[end * (end - 1) // 2 + begin, numbers[chain]]) for begin, end, chain in one.spans)
        rows = self._log_tags
        return total - self._summed[0] + float(sum(rows[at, places[tag]] for at, tag in enumerate(one.tags)))

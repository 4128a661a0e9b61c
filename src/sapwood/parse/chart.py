"""What a chart can say about a sentence: the best trees, how probable each constituent is, samples.

``ParseChart`` is what every parser with a chart gives; how the numbers come about belongs to the parser.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.draw.picture import Picture
from sapwood.draw.svg import probable_svg
from sapwood.draw.text import probable_outline
from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.parse.annotation import Constituent as TrainingNode
from sapwood.parse.annotation import clean
from sapwood.parse.spans.decoding import minimum_risk_trees
from sapwood.parse.spans.labels import SpanVocabulary
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["Constituent", "ParseChart", "spans_of"]


@dataclass(frozen=True, order=True)
class Constituent(HtmlTable):
    """A labeled span of words and its probability.

    Attributes
    ----------
    begin, end : int
        Positions between words: the span holds ``words[begin:end]``.
    label : str
        Its label; a tag, for the parts of speech of words.
    probability : float
        The share of all trees of the sentence, by their weight, that have it.
    """

    begin: int
    end: int
    label: str
    probability: float


class ParseChart(ABC):
    """All trees of a sentence with their probabilities.

    Probabilities are those of trees given the words, so those of all trees that the chart holds add up to 1.

    Attributes
    ----------
    words : tuple of str
        The sentence.
    vocabulary : SpanVocabulary
        The labels and tags that its trees may have.
    """

    words: tuple[str, ...]
    vocabulary: SpanVocabulary

    @abstractmethod
    def _shares(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the probabilities of chains of labels, span by span, and of tags, word by word."""

    @abstractmethod
    def nbest(self, n: int = 30) -> NBest:
        """Return the most probable trees with their log-probabilities, best first."""

    @abstractmethod
    def entropy(self) -> float:
        """Return how unsure the parser is of the tree, in bits; 0 where only one is possible."""

    @abstractmethod
    def sample(self, n: int = 1, *, random_state: Any = None) -> list[Tree]:
        """Draw trees by their probability."""

    @abstractmethod
    def log_probability(self, tree: Tree | str) -> float:
        """Return the natural logarithm of the probability of a tree of these words; -inf for one that cannot be."""

    def best(self) -> Tree:
        """Return the most probable tree."""
        tree = self.nbest(1).parses[0]
        assert isinstance(tree, Tree)
        return tree

    def constituents(self, least: float = 0.01) -> list[Constituent]:
        """Return the constituents of at least this probability, those of the whole sentence first."""
        shares, labels = self._label_shares, self.vocabulary.labels
        begins, ends = _spans(len(self.words))
        found = [
            Constituent(int(begins[row]), int(ends[row]), labels[column], float(shares[row, column]))
            for row, column in zip(*np.nonzero(shares >= max(least, 1e-12)), strict=True)
        ]
        found.sort(key=lambda one: (one.begin - one.end, one.begin, -one.probability))
        wrapper = self.vocabulary.wrapper
        return [Constituent(0, len(self.words), wrapper, 1.0), *found] if wrapper else found

    def tags(self, least: float = 0.01) -> list[Constituent]:
        """Return the parts of speech of at least this probability, word by word, the most probable first."""
        return [
            Constituent(word, word + 1, self.vocabulary.tags[number], float(row[number]))
            for word, row in enumerate(self._marginals[1])
            for number in np.argsort(-row, kind="stable")
            if row[number] >= max(least, 1e-12)
        ]

    def minimum_risk(self) -> Tree:
        """Return the tree with the fewest expected errors: constituents too many or too few.

        It is put together from probable constituents, and need not be a probable tree.
        """
        chains, tags = self._marginals
        vocabulary = self.vocabulary
        best = [vocabulary.tags[number] for number in tags.argmax(axis=1)]
        if len(self.words) == 1:
            row = chains[0] if chains.size else np.zeros(0)
            at = int(row.argmax()) if row.size and row.max() >= 1 - row.sum() else None
            tree = Tree(best[0], [self.words[0]])
            for label in reversed(() if at is None else vocabulary.chains[at]):
                tree = Tree(label, [tree])
            return Tree(vocabulary.wrapper, [tree]) if vocabulary.wrapper else tree
        (tree,) = minimum_risk_trees([self.words], chains, tags, vocabulary)
        return tree

    def probabilities(self, tree: Tree) -> dict[tuple[int, int, str], float]:
        """Return the probability of each constituent of a tree by begin, end and label; tags are no constituents."""
        shares = self._label_shares
        column = {label: at for at, label in enumerate(self.vocabulary.labels)}
        found = {}
        for begin, end, label in spans_of(tree):
            known = label in column and end <= len(self.words)
            share = float(shares[end * (end - 1) // 2 + begin, column[label]]) if known else 0.0
            whole = label == self.vocabulary.wrapper and end - begin == len(self.words)
            found[begin, end, label] = 1.0 if whole else share
        return found

    def svg(self, tree: Tree | None = None) -> Picture:
        """Draw a tree, by default the best one, faint where it is not sure, with the probabilities of those nodes."""
        drawn = self.best() if tree is None else tree
        return probable_svg(drawn, self.node_probabilities(drawn))

    def text(self, tree: Tree | None = None, *, width: int = 80) -> str:
        """Draw a tree, by default the best one, as an outline with the probabilities of nodes that are not sure."""
        drawn = self.best() if tree is None else tree
        return probable_outline(drawn, self.node_probabilities(drawn), width=width)

    def _repr_html_(self) -> str:
        return str(self.svg())

    def node_probabilities(self, tree: Tree) -> list[float]:
        """Return the probabilities of all nodes of a tree in pre-order; words are certain."""
        if tree.leaves() != self.words:
            raise DataError("the tree has other words than the sentence of the chart.")
        constituents = self.probabilities(tree)
        tags = {tag: number for number, tag in enumerate(self.vocabulary.tags)}
        found: list[float] = []
        begin = 0
        stack = [tree]
        while stack:
            node = stack.pop()
            stack.extend(reversed(node.children))
            if node.is_leaf:
                found.append(1.0)
                begin += 1
            elif len(node.children) == 1 and node.children[0].is_leaf:
                found.append(float(self._marginals[1][begin, tags[node.label]]) if node.label in tags else 0.0)
            else:
                found.append(constituents[begin, begin + len(node.leaves()), node.label])
        return found

    def to_dict(self, least: float = 0.01) -> dict[str, Any]:
        """Return all of it as plain values, for JSON."""
        plain = [[[one.begin, one.end, one.label, round(one.probability, 6)] for one in some]
                 for some in (self.constituents(least), self.tags(least))]  # fmt: skip
        return {
            "words": list(self.words),
            "tree": str(self.best()),
            "constituents": plain[0],
            "tags": plain[1],
            "entropy": self.entropy(),
        }

    @cached_property
    def _marginals(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._shares()

    @cached_property
    def _label_shares(self) -> NDArray[Any]:
        """The probabilities of labels, span by span."""
        names = self.vocabulary.names
        has_label = np.zeros((len(names), len(self.vocabulary.labels)), np.float32)
        for chain, numbers in enumerate(names):
            has_label[chain, numbers] = 1.0
        return np.minimum(1.0, self._marginals[0] @ has_label)

    def _cleaned(self, tree: Tree | str) -> TrainingNode:
        """Return a tree as parsers learn it, or say that it has other words."""
        root = clean(Tree.fromstring(tree) if isinstance(tree, str) else tree, 0)[1]
        if tuple(node.word for node in root.postorder() if node.word is not None) != self.words:
            raise DataError("the tree has other words than the sentence of the chart.")
        return root


def spans_of(tree: Tree) -> list[tuple[int, int, str]]:
    """Return begin, end and label of every node above the tags of a tree, children before parents."""
    found: list[tuple[int, int, str]] = []
    starts: list[tuple[int, int]] = []
    position = 0
    stack: list[tuple[Tree, bool]] = [(tree, False)]
    while stack:
        node, done = stack.pop()
        if node.is_leaf:
            starts.append((position, position + 1))
            position += 1
        elif not done:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
        else:
            below = starts[len(starts) - len(node.children) :]
            del starts[len(starts) - len(node.children) :]
            starts.append((below[0][0], below[-1][1]))
            if not (len(node.children) == 1 and node.children[0].is_leaf):
                found.append((below[0][0], below[-1][1], node.label))
    return found


def _spans(words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return begin and end of all spans, in the order of the native core."""
    begins = np.concatenate([np.arange(end) for end in range(1, words + 1)] or [np.zeros(0, np.int64)])
    return begins, np.repeat(np.arange(1, words + 1), np.arange(1, words + 1))

"""What a chart can say about a sentence: the best trees, how probable each constituent is, samples.

``ParseChart`` is what every parser with a chart gives; how the numbers come about belongs to the parser.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.notebook import HtmlTable
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["Constituent", "ParseChart"]


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

    Attributes
    ----------
    words : tuple of str
        The sentence.
    """

    words: tuple[str, ...]

    @abstractmethod
    def nbest(self, n: int = 30) -> NBest:
        """Return the most probable trees with their log-probabilities, best first."""

    @abstractmethod
    def constituents(self, least: float = 0.01) -> list[Constituent]:
        """Return the constituents of at least this probability, those of the whole sentence first."""

    @abstractmethod
    def tags(self, least: float = 0.01) -> list[Constituent]:
        """Return the parts of speech of at least this probability, word by word, the most probable first."""

    @abstractmethod
    def entropy(self) -> float:
        """Return how unsure the parser is of the tree, in bits; 0 where only one is possible."""

    @abstractmethod
    def sample(self, n: int = 1, *, random_state: Any = None) -> list[Tree]:
        """Draw trees by their probability."""

    @abstractmethod
    def log_probability(self, tree: Tree | str) -> float:
        """Return the natural logarithm of the probability of a tree of these words; -inf for one that cannot be."""

    @abstractmethod
    def minimum_risk(self) -> Tree:
        """Return the tree with the fewest expected errors: constituents too many or too few."""

    def best(self) -> Tree:
        """Return the most probable tree."""
        tree = self.nbest(1).parses[0]
        assert isinstance(tree, Tree)
        return tree

    def probabilities(self, tree: Tree) -> dict[tuple[int, int, str], float]:
        """Return the probability of each constituent of a tree by begin, end and label."""
        known = {(one.begin, one.end, one.label): one.probability for one in self.constituents(0.0)}
        return {span: known.get(span, 0.0) for span in spans_of(tree)}

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


def log_softmax(rows: Any) -> Any:
    """Return the logarithms of probabilities, row by row, in double precision."""
    values = np.asarray(rows, dtype=np.float64)
    top = values.max(axis=-1, keepdims=True)
    return values - top - np.log(np.exp(values - top).sum(axis=-1, keepdims=True))

"""Trees as labeled spans: a chain of nodes over the same words is one label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.parse.annotation import Constituent
from sapwood.parse.tokenizing import is_emoji

__all__ = ["SpanSentence", "SpanVocabulary", "span_sentence"]

Chain = tuple[str, ...]
_NO_WORD = "NFP"
# What no other tag is worth.
_SURE = np.float32(100)


@dataclass(frozen=True)
class SpanSentence:
    """A training tree: words, tags, and the spans that carry labels, children before parents."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    spans: tuple[tuple[int, int, Chain], ...]


def span_sentence(root: Constituent) -> SpanSentence:
    """Take a tree without traces and wrapper apart.

    >>> from sapwood import Tree
    >>> from sapwood.parse.annotation import clean
    >>> span_sentence(clean(Tree.fromstring("(S (VP (VB Go) (ADVP (RB home))))"), 0)[1]).spans
    ((1, 2, ('ADVP',)), (0, 2, ('S', 'VP')))
    """
    words: list[str] = []
    tags: list[str] = []
    spans: list[tuple[int, int, Chain]] = []
    built: list[tuple[int, Chain]] = []  # where a finished part begins, and the chain on top that is still open
    for node in root.postorder():
        if node.word is not None:
            built.append((len(words), ()))
            words.append(node.word)
            tags.append(node.label)
            continue
        parts = built[len(built) - len(node.children) :]
        del built[len(built) - len(node.children) :]
        begin, chain = parts[0]
        if len(parts) == 1:
            built.append((begin, (node.label, *chain)))
            continue
        ends = [part[0] for part in parts[1:]] + [len(words)]
        for (start, below), end in zip(parts, ends, strict=True):
            if below:
                spans.append((start, end, below))
        built.append((begin, (node.label,)))
    ((begin, chain),) = built
    if chain:
        spans.append((begin, len(words), chain))
    spans.sort(key=lambda span: (span[1], -span[0]))
    return SpanSentence(tuple(words), tuple(tags), tuple(spans))


@dataclass(frozen=True)
class SpanVocabulary:
    """The labels and tags that a parser knows.

    Attributes
    ----------
    chains : tuple of tuples of str
        Labels, from the top of a chain down.
    tags : tuple of str
        Parts of speech.
    wrapper : str
        The label over every sentence; empty for none.
    """

    chains: tuple[Chain, ...]
    tags: tuple[str, ...]
    wrapper: str

    @classmethod
    def of(cls, sentences: Sequence[SpanSentence], wrapper: str | None, min_count: int = 2) -> SpanVocabulary:
        """Collect what training trees have. Chains of several labels that are rarer are left to the next best."""
        chains = Counter(chain for sentence in sentences for _, _, chain in sentence.spans)
        tags = Counter(tag for sentence in sentences for tag in sentence.tags)
        kept = [chain for chain, count in chains.items() if count >= min_count or len(chain) == 1]
        singles = {(label,) for chain in chains for label in (chain[0], chain[-1])}
        return cls(tuple(sorted({*kept, *singles})), tuple(sorted(tags)), wrapper or "")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the chains, each once."""
        return tuple(dict.fromkeys(label for chain in self.chains for label in chain))

    @property
    def names(self) -> list[list[int]]:
        """The numbers of the labels of each chain; one that a chain has twice is one constituent."""
        numbers = {label: number for number, label in enumerate(self.labels)}
        return [list(dict.fromkeys(numbers[label] for label in chain)) for chain in self.chains]

    def joined(self, other: SpanVocabulary) -> SpanVocabulary:
        """Add the labels and tags of another vocabulary behind one's own."""
        chains = dict.fromkeys([*self.chains, *other.chains])
        return SpanVocabulary(tuple(chains), tuple(dict.fromkeys([*self.tags, *other.tags])), self.wrapper)

    def number(self, chain: Chain, numbers: dict[Chain, int]) -> int:
        """Return the number of a chain, or of its uppermost label if it is not known."""
        found = numbers.get(chain)
        return numbers[(chain[0],)] if found is None else found

    def with_emoji(self, words: Iterable[str], scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return scores of tags in which emoji are no words, if there is a tag for that.

        Treebanks are older than emoji, so that a network may take them for anything: commas, quotes, verbs.
        """
        rows = [row for row, word in enumerate(words) if is_emoji(word)]
        if rows and _NO_WORD in self.tags:
            scores = scores.copy()
            scores[rows, self.tags.index(_NO_WORD)] = scores[rows].max(axis=1) + _SURE
        return scores

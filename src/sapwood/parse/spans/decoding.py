"""From scores of spans to trees, many sentences at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.parse.spans.labels import SpanSentence, SpanVocabulary
from sapwood.parse.spans.network import Network
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree

__all__ = ["batches_by_spans", "best_trees", "build_trees", "minimum_risk_trees", "span_f1"]

# Spans whose scores are held at a time.
_SPANS = 200_000


def batches_by_spans(sentences: list[list[str]]) -> Iterator[list[list[str]]]:
    """Yield batches of sentences whose scores fit into memory together."""
    batch: list[list[str]] = []
    spans = 0
    for words in sentences:
        count = len(words) * (len(words) + 1) // 2
        if batch and spans + count > _SPANS:
            yield batch
            batch, spans = [], 0
        batch.append(words)
        spans += count
    if batch:
        yield batch


def best_trees(
    sentences: Sequence[Sequence[str]],
    spans: NDArray[np.float32],
    tags: NDArray[np.float32],
    vocabulary: SpanVocabulary,
) -> list[Tree]:
    """Return the best tree of each sentence by the scores of its spans and tags."""
    lengths = np.array([len(words) for words in sentences], dtype=np.uint64)
    found = _core.spans.best_trees(lengths, spans, len(vocabulary.chains), 1, settings.threads(), None)
    return [tree for tree in build_trees(sentences, tags, vocabulary, found) if isinstance(tree, Tree)]


def minimum_risk_trees(
    sentences: Sequence[Sequence[str]], shares: NDArray[Any], tags: NDArray[Any], vocabulary: SpanVocabulary
) -> list[Tree]:
    """Return the tree of each sentence with the fewest expected errors by the probabilities of its labels and tags."""
    lengths = np.array([len(words) for words in sentences], dtype=np.uint64)
    flat = np.ascontiguousarray(shares, np.float32).reshape(-1)
    found = _core.spans.minimum_risk_trees(lengths, flat, vocabulary.names, settings.threads())
    return [tree for tree in build_trees(sentences, tags, vocabulary, found) if isinstance(tree, Tree)]


def build_trees(
    sentences: Sequence[Sequence[str]], tags: NDArray[np.float32], vocabulary: SpanVocabulary, found: Any
) -> TreeArray:
    """Make trees from the labeled spans that the native core gives; every word gets its best tag."""
    sentence_ends, tree_ends, spans, _ = found
    arena, roots = _core.spans.build_trees(
        [word for words in sentences for word in words],
        [vocabulary.tags[number] for number in tags.argmax(axis=1).tolist()],
        np.array([len(words) for words in sentences], dtype=np.uint64),
        [list(chain) for chain in vocabulary.chains],
        sentence_ends,
        tree_ends,
        spans,
        vocabulary.wrapper,
    )
    return TreeArray._from_arena(arena, roots)


def span_f1(network: Network, vocabulary: SpanVocabulary, held: list[SpanSentence], dense: Any) -> float:
    """Return the F1 of labeled spans on held-out sentences, punctuation included: quick, and good enough to choose."""
    right = found = wanted = 0
    at = 0
    for batch in batches_by_spans([list(one.words) for one in held]):
        some = held[at : at + len(batch)]
        states = None if dense is None else dense[at : at + len(batch)]
        at += len(batch)
        scores, _ = network.score(batch, states, settings.threads())
        lengths = np.array([len(words) for words in batch], dtype=np.uint64)
        _, tree_ends, spans, _ = _core.spans.best_trees(
            lengths, scores, len(vocabulary.chains), 1, settings.threads(), None
        )
        rows = spans.reshape(-1, 3)
        begin = 0
        for one, end in zip(some, tree_ends.tolist(), strict=True):
            guess = [
                (first, last, label)
                for first, last, number in rows[begin:end].tolist()
                for label in vocabulary.chains[number]
            ]
            gold = [(first, last, label) for first, last, chain in one.spans for label in chain]
            begin = end
            left = list(gold)
            for span in guess:
                if span in left:
                    left.remove(span)
                    right += 1
            found += len(guess)
            wanted += len(gold)
    return 2 * right / max(1, found + wanted)

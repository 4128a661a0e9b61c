"""Training sentences as tensors of PyTorch, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import extras
from sapwood.parse.spans.features import WordFeatures
from sapwood.parse.spans.labels import SpanSentence, SpanVocabulary

__all__ = ["Batch", "BatchMaker", "Tensor", "import_torch"]

Tensor = Any
# Spans of a batch: those of 24 sentences of 57 words. Batches of longer sentences are smaller, or memory would not do.
_BATCH_SPANS = 40_000


def import_torch() -> Any:
    """Import PyTorch when it is needed, so that the modules of training can be imported without it."""
    return extras.import_torch("training a SpanParser", "PCFGParser learns without it.")


@dataclass(frozen=True)
class Batch:
    """Sentences put together: their words, all their spans, and which of these are in the gold trees."""

    lengths: NDArray[np.uint64]
    words: Tensor
    shapes: Tensor
    pieces: Tensor
    piece_offsets: Tensor
    dense: Tensor
    sentence: Tensor  # of each word
    position: Tensor
    tags: Tensor
    span_sentence: Tensor
    span_begin: Tensor
    span_end: Tensor
    optional: Tensor
    gold_span: Tensor
    gold_label: Tensor


class BatchMaker:
    """Training sentences as numbers, put together batch by batch."""

    def __init__(
        self,
        sentences: Sequence[SpanSentence],
        dense: Sequence[NDArray[Any]] | None,
        features: WordFeatures,
        vocabulary: SpanVocabulary,
        batch_size: int,
        word_dropout: float,
    ) -> None:
        labels = {chain: number for number, chain in enumerate(vocabulary.chains)}
        tags = {tag: number for number, tag in enumerate(vocabulary.tags)}
        self._dense, self._batch_size = dense, batch_size
        self.lengths = np.array([len(one.words) for one in sentences])
        self._rows = []
        counts = np.zeros(len(features.words) + 1)
        for one in sentences:
            words, shapes, pieces = features.arrays(one.words)
            np.add.at(counts, words, 1)
            spans = [
                (end * (end - 1) // 2 + begin, vocabulary.number(chain, labels)) for begin, end, chain in one.spans
            ]
            self._rows.append((words, shapes, pieces, [tags[tag] for tag in one.tags], spans))
        self.bounds = self._bounds()
        # Rare words are left out more often, so that the vector for unknown ones learns what they are like.
        self._dropped = word_dropout / (word_dropout + np.maximum(counts, 1.0))
        self._dropped[0] = 0.0

    def _bounds(self) -> list[int]:
        """Return where batches begin and end when sentences stand in the order of their lengths."""
        spans = np.cumsum([0, *(length * (length + 1) // 2 for length in np.sort(self.lengths).tolist())])
        bounds = [0]
        while bounds[-1] < len(self.lengths):
            at = bounds[-1]
            most = int(np.searchsorted(spans, spans[at] + _BATCH_SPANS, side="right")) - 1
            bounds.append(min(len(self.lengths), at + self._batch_size, max(most, at + 1)))
        return bounds

    def batches(self, random: np.random.Generator) -> Iterator[list[int]]:
        """Yield the numbers of the sentences of one batch after the other; those of a batch are of the same length.

        But for rare lengths: LSTMs take half the time where nothing is padded.
        """
        order = random.permutation(len(self.lengths))
        order = order[np.argsort(self.lengths[order], kind="stable")]
        for at in random.permutation(len(self.bounds) - 1):
            yield order[self.bounds[at] : self.bounds[at + 1]].tolist()

    def batch(self, chosen: Sequence[int], random: np.random.Generator | None) -> Batch:
        """Put sentences together; with a generator, words are left out."""
        rows = [self._rows[at] for at in chosen]
        lengths = np.array([len(row[0]) for row in rows], dtype=np.uint64)
        words = np.concatenate([row[0] for row in rows])
        if random is not None:
            words = np.where(random.random(len(words)) < self._dropped[words], 0, words)
        bags = [bag for row in rows for bag in row[2]]
        counts = (lengths * (lengths + 1) // 2).astype(np.int64)
        begins = [np.concatenate([np.arange(end) for end in range(1, int(n) + 1)]) for n in lengths]
        ends = [np.repeat(np.arange(1, int(n) + 1), np.arange(1, int(n) + 1)) for n in lengths]
        first = np.concatenate([[0], np.cumsum(counts)])
        gold = [(first[k] + span, label) for k, row in enumerate(rows) for span, label in row[4]]
        begin, end = np.concatenate(begins), np.concatenate(ends)
        single = np.repeat(lengths > 1, counts) & (end - begin == 1)
        dense = (
            np.zeros((len(words), 0), np.float32)
            if self._dense is None
            else np.concatenate([self._dense[at] for at in chosen]).astype(np.float32)
        )
        tensor = import_torch().from_numpy
        return Batch(
            lengths,
            tensor(words),
            tensor(np.concatenate([row[1] for row in rows])),
            tensor(np.array([piece for bag in bags for piece in bag], dtype=np.int64)),
            tensor(np.cumsum([0, *(len(bag) for bag in bags[:-1])], dtype=np.int64)),
            tensor(dense),
            tensor(np.repeat(np.arange(len(rows)), lengths.astype(np.int64))),
            tensor(np.concatenate([np.arange(int(n)) for n in lengths])),
            tensor(np.array([tag for row in rows for tag in row[3]], dtype=np.int64)),
            tensor(np.repeat(np.arange(len(rows)), counts)),
            tensor(begin),
            tensor(end),
            tensor(single),
            tensor(np.array([span for span, _ in gold], dtype=np.int64)),
            tensor(np.array([label for _, label in gold], dtype=np.int64)),
        )

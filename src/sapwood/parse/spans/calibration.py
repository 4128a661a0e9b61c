"""Probabilities that hold: scores are scaled so that held-out trees and tags are as probable as they can be.

Networks are too sure of what they have learnt. One factor for spans and one for tags mend most of that, and change no
best tree (Guo et al. 2017 do the same for classifiers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from sapwood import _core, settings
from sapwood.parse.spans.decoding import batches_by_spans
from sapwood.parse.spans.labels import SpanSentence, SpanVocabulary
from sapwood.parse.spans.network import Network, Weights

__all__ = ["calibrate"]

# Held-out sentences that decide about the two factors: more would not change them.
_SENTENCES = 1000
_RANGE = (0.1, 4.0)


def calibrate(network: Network, vocabulary: SpanVocabulary, held: Sequence[SpanSentence], dense: Any) -> Weights:
    """Return the weights of a network with the output layers scaled.

    Parameters
    ----------
    network : Network
        What was trained.
    vocabulary : SpanVocabulary
        Its labels and tags; sentences with others are passed over.
    held : sequence of SpanSentence
        Held-out sentences.
    dense : sequence of arrays, optional
        The vectors of an encoder for each of them.
    """
    labels = {chain: number for number, chain in enumerate(vocabulary.chains)}
    tags = {tag: number for number, tag in enumerate(vocabulary.tags)}
    step = max(1, len(held) // _SENTENCES)
    chosen = [
        at
        for at in range(0, len(held), step)
        if all(tag in tags for tag in held[at].tags) and all(chain in labels for _, _, chain in held[at].spans)
    ]
    if not chosen:
        return network.weights
    parts, gold, right = [], [], []
    for batch in _batches(held, chosen):
        sentences = [list(held[at].words) for at in batch]
        spans, scores = network.score(
            sentences, None if dense is None else [dense[at] for at in batch], settings.threads()
        )
        lengths = np.array([len(words) for words in sentences], dtype=np.uint64)
        rows, begin = spans.reshape(-1, network.labels), 0
        for at, words in zip(batch, sentences, strict=True):
            gold += [
                float(rows[begin + end * (end - 1) // 2 + first, labels[chain]]) for first, end, chain in held[at].spans
            ]
            begin += len(words) * (len(words) + 1) // 2
        parts.append((lengths, spans))
        right.append((scores, np.array([tags[tag] for at in batch for tag in held[at].tags])))

    def surprise_of_trees(factor: float) -> float:
        sums = (
            _core.spans.marginals(lengths, spans * np.float32(factor), network.labels, settings.threads(), None)[
                0
            ].sum()
            for lengths, spans in parts
        )
        return float(sum(sums)) - factor * sum(gold)

    def surprise_of_tags(factor: float) -> float:
        logs = ((log_softmax(factor * scores.astype(np.float64), axis=1), numbers) for scores, numbers in right)
        return -sum(float(rows[np.arange(len(numbers)), numbers].sum()) for rows, numbers in logs)

    scaled = dict(network.weights)
    for kind, surprise in (("span", surprise_of_trees), ("tag", surprise_of_tags)):
        factor = np.float32(minimize_scalar(surprise, bounds=_RANGE, method="bounded", options={"xatol": 0.01}).x)
        for name in (f"{kind}_output", f"{kind}_bias"):
            scaled[name] = scaled[name] * factor
    return scaled


def _batches(held: Sequence[SpanSentence], chosen: list[int]) -> list[list[int]]:
    """Cut the chosen sentences into batches whose scores fit into memory together."""
    batches, at = [], 0
    for batch in batches_by_spans([list(held[one].words) for one in chosen]):
        batches.append(chosen[at : at + len(batch)])
        at += len(batch)
    return batches

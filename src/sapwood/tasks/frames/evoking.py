"""Which frame a target evokes, by words in context: a network over the encoder's states around the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.special import log_softmax

from sapwood.layouts import Field
from sapwood.learn.context import ContextNetwork, ContextRows
from sapwood.learn.context_training import ContextTraining, train
from sapwood.registry import Reader, Writer
from sapwood.tasks.frames.context.rows import CodeNumbers
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.words.encoder import Encoder

__all__ = ["EVOKED", "EvokedFrames"]

# Head, first and last word of the target, and the word that governs it.
_PLACES = 4
_MIN_COUNT = 3


class EvokedFrames:
    """Log-probabilities of frames.

    Parameters
    ----------
    features : CodeNumbers
        Which features it knows.
    network : ContextNetwork
        Tells all frames apart.
    """

    def __init__(self, features: CodeNumbers, network: ContextNetwork) -> None:
        self.features, self.network = features, network
        self._numbers = {name: at for at, name in enumerate(network.classes)}

    @classmethod
    def learn(
        cls,
        targets: Sequence[tuple[ParsedSentence, tuple[int, ...]]],
        codes: Sequence[NDArray[np.uint32]],
        frames: Sequence[str],
        encoder: Encoder,
        *,
        seed: int,
        what: str,
    ) -> EvokedFrames:
        """Train on targets (sentences and words), the codes of their features, and the frames they evoke."""
        features = CodeNumbers.of(codes, _MIN_COUNT)
        rows = _rows(targets, codes, features, encoder)
        return cls(features, train(rows, frames, ContextTraining(seed=seed), what))

    def scores(
        self,
        targets: Sequence[tuple[ParsedSentence, tuple[int, ...]]],
        codes: Sequence[NDArray[np.uint32]],
        frames: Sequence[Sequence[str]],
        encoder: Encoder,
    ) -> list[NDArray[np.float64]]:
        """Return for each target the log-probabilities of those frames that it may evoke.

        Frames that were never evoked in training are as unlikely as the least likely one of the others.
        """
        if not targets:
            return []
        found = self.network.log_probabilities(_rows(targets, codes, self.features, encoder))
        least = found.min(axis=1)
        return [
            log_softmax([row[self._numbers[name]] if name in self._numbers else low for name in names])
            for row, low, names in zip(found, least, frames, strict=True)
        ]


def _rows(
    targets: Sequence[tuple[ParsedSentence, tuple[int, ...]]],
    codes: Sequence[NDArray[np.uint32]],
    features: CodeNumbers,
    encoder: Encoder,
) -> ContextRows:
    starts: dict[int, int] = {}
    sentences: list[ParsedSentence] = []
    total = 0
    places = np.zeros((len(targets), _PLACES), np.int64)
    for number, (sentence, tokens) in enumerate(targets):
        start = starts.get(id(sentence))
        if start is None:
            start = starts[id(sentence)] = total
            sentences.append(sentence)
            total += len(sentence)
        first, last = tokens[0], tokens[-1]
        head = sentence.head_of(first, last) if last > first else first
        above = sentence.heads[head]
        places[number] = [start + word for word in (head, first, last, above if above >= 0 else head)]
    vectors = np.concatenate(list(encoder.encode_batch(one.words for one in sentences)))
    numbers = features(np.concatenate(codes))
    known = numbers > 0
    ends = np.concatenate([[0], np.cumsum([len(part) for part in codes])])
    ends = np.concatenate([[0], np.cumsum(known)])[ends]
    shape = (len(targets), len(features))
    matrix = sparse.csr_array((np.ones(int(known.sum()), np.float32), numbers[known], ends), shape)
    return ContextRows(vectors, places, matrix)


def _write(found: EvokedFrames | None, writer: Writer) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"features": writer.array(found.features.codes), "network": found.network.write(writer)}


def _read(data: dict[str, Any] | None, reader: Reader) -> EvokedFrames | None:
    if data is None:
        return None
    features = CodeNumbers(reader.array(data["features"], np.uint32, 1))
    if not (features.codes[1:] > features.codes[:-1]).all():
        raise reader.fail("the codes that a network knows are out of order")
    network = ContextNetwork.read(data["network"], reader, features=len(features), places=_PLACES)
    return EvokedFrames(features, network)


EVOKED = Field(_write, _read, absent=None)
"""How model files hold the network of an identifier that has one."""

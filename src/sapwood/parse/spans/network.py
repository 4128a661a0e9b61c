"""The weights of a span parser, and the vectors of words that go into its network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.parse.spans.features import WordFeatures

__all__ = ["AveragedNetwork", "Network", "Weights", "embedded"]

Weights = dict[str, NDArray[np.float32]]
_HEADS = (
    "span_hidden", "span_scale", "span_shift", "span_output", "span_bias",
    "tag_hidden", "tag_hidden_bias", "tag_scale", "tag_shift", "tag_output", "tag_bias",
)  # fmt: skip


class Network:
    """Scores of spans and tags from the words of sentences, and the vectors of an encoder where there is one.

    Parameters
    ----------
    features : WordFeatures
        Numbers of words.
    weights : dict of arrays
        ``words``, ``shapes`` and ``pieces`` are tables of vectors; the rest are layers, named as in the native core.
    """

    def __init__(self, features: WordFeatures, weights: Weights) -> None:
        self.features, self.weights = features, weights
        depth = sum(name.startswith("lstm_input_") for name in weights)
        self._native = _core.spans.Network(
            dense=weights["dense"],
            dense_bias=weights["dense_bias"],
            inputs=[weights[f"lstm_input_{at}"] for at in range(depth)],
            biases=[weights[f"lstm_bias_{at}"] for at in range(depth)],
            recurrent=[weights[f"lstm_recurrent_{at}"] for at in range(depth)],
            first=weights["first"],
            last=weights["last"],
            **{name: weights[name] for name in _HEADS},
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The native network is made anew from the weights.
        return Network, (self.features, self.weights)

    @property
    def labels(self) -> int:
        """How many labels are scored."""
        return int(self.weights["span_output"].shape[1])

    @property
    def members(self) -> tuple[Network, ...]:
        """The networks it consists of: itself."""
        return (self,)

    @property
    def dense_width(self) -> int:
        """The length of the vectors of the encoder; 0 for none."""
        return int(self.weights["dense"].shape[0])

    def score(
        self, sentences: Sequence[Sequence[str]], dense: Sequence[NDArray[Any]] | None, threads: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return scores of labels, span by span, and of tags, word by word, one sentence after the other."""
        words = [word for sentence in sentences for word in sentence]
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.uint64)
        plain = embedded(self.features, self.weights, words)
        wide = np.zeros((len(words), 0), np.float32) if dense is None else np.concatenate(dense)
        spans, tags = self._native.score(lengths, np.ascontiguousarray(wide, np.float32), plain, threads, None)
        return spans, tags.reshape(len(words), -1)


class AveragedNetwork:
    """Several networks that know the same words and labels, whose scores are averaged.

    Parameters
    ----------
    members : sequence of Network
        Trained alike, from different seeds.
    """

    def __init__(self, members: Sequence[Network]) -> None:
        self.members = tuple(members)
        self.features = self.members[0].features

    def score(
        self, sentences: Sequence[Sequence[str]], dense: Sequence[NDArray[Any]] | None, threads: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return scores as ``Network.score`` does."""
        first, *others = self.members
        spans, tags = first.score(sentences, dense, threads)
        for other in others:
            more_spans, more_tags = other.score(sentences, dense, threads)
            spans += more_spans
            tags += more_tags
        share = np.float32(1.0 / len(self.members))
        return spans * share, tags * share


def embedded(features: WordFeatures, weights: Mapping[str, NDArray[Any]], words: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of words: the word's own, the mean of its pieces, and that of its shape."""
    distinct = list(dict.fromkeys(words))
    numbers, shapes, pieces = features.arrays(distinct)
    parts = [weights["words"][numbers]] if len(distinct) else [weights["words"][:0]]
    bags = np.zeros((len(distinct), weights["pieces"].shape[1]), np.float32)
    for row, bag in enumerate(pieces):
        bags[row] = weights["pieces"][list(bag)].mean(axis=0)
    parts += [bags, weights["shapes"][shapes if len(distinct) else slice(0, 0)]]
    table = np.concatenate(parts, axis=1, dtype=np.float32)
    place = {word: row for row, word in enumerate(distinct)}
    return np.ascontiguousarray(table[[place[word] for word in words]] if words else table)

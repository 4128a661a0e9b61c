"""Sentences put together for the network: the same arrays for running it and for training it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.tasks.frames.context.roles import RoleNumbers
from sapwood.tasks.frames.context.rows import PLACES, CodeNumbers, SentenceRows
from sapwood.tasks.frames.hashing import Numbers

__all__ = ["Batch", "Numbered", "joined"]


@dataclass(frozen=True)
class Numbered:
    """A sentence in the numbers of a network: codes that it does not know are gone."""

    tokens: Numbers
    places: NDArray[np.int32]
    weights: NDArray[np.float32]
    place_counts: Numbers
    features: NDArray[np.int32]
    feature_counts: Numbers
    roles: Numbers
    role_counts: Numbers
    sizes: Numbers

    @classmethod
    def of(cls, rows: SentenceRows, tokens: CodeNumbers, features: CodeNumbers, roles: RoleNumbers) -> Numbered:
        """Look up what a sentence consists of."""
        numbers = features(rows.features)
        candidate = np.repeat(np.arange(len(rows.feature_counts)), rows.feature_counts)
        known = numbers > 0
        own = [roles.of(frame) for frame in rows.frames]
        return cls(
            tokens(rows.token_codes),
            rows.places,
            rows.weights,
            rows.place_counts,
            numbers[known].astype(np.int32),
            np.bincount(candidate[known], minlength=len(rows.feature_counts)),
            np.concatenate(own),
            np.array([len(each) for each in own], np.int64),
            rows.sizes,
        )


@dataclass(frozen=True)
class Batch:
    """Some sentences with the vectors of their words.

    Attributes
    ----------
    lengths : array of int
        How many tokens each sentence has.
    vectors : array of float32, tokens × width
    tokens : array of int, tokens × kinds
        Numbers of their attributes, 0 for unknown ones.
    places, weights, place_offsets : arrays
        Bags of pairs of token and place, and where the bag of each candidate begins.
    features, feature_offsets : arrays
        Bags of features, likewise.
    roles : array of int
        The role of each decision.
    role_targets, candidate_targets : arrays of int
        The target of each decision and of each candidate.
    shapes : list of (int, int)
        How many decisions and candidates each target has.
    """

    lengths: Numbers
    vectors: NDArray[np.float32]
    tokens: Numbers
    places: Numbers
    weights: NDArray[np.float32]
    place_offsets: Numbers
    features: Numbers
    feature_offsets: Numbers
    roles: Numbers
    role_targets: Numbers
    candidate_targets: Numbers
    shapes: list[tuple[int, int]]


def joined(sentences: Sequence[Numbered], vectors: Sequence[NDArray[np.float16]]) -> Batch:
    """Put sentences together."""
    lengths = np.array([len(one.tokens) for one in sentences])
    starts = np.cumsum(lengths) - lengths
    sizes = np.concatenate([one.sizes for one in sentences])
    role_counts = np.concatenate([one.role_counts for one in sentences])
    everyone = np.arange(len(sizes))
    return Batch(
        lengths,
        np.concatenate(vectors).astype(np.float32),
        np.concatenate([one.tokens for one in sentences]),
        np.concatenate([one.places + start * len(PLACES) for one, start in zip(sentences, starts, strict=True)]).astype(
            np.int64
        ),
        np.concatenate([one.weights for one in sentences]),
        _begins([one.place_counts for one in sentences]),
        np.concatenate([one.features for one in sentences]).astype(np.int64),
        _begins([one.feature_counts for one in sentences]),
        np.concatenate([one.roles for one in sentences]),
        np.repeat(everyone, role_counts),
        np.repeat(everyone, sizes),
        list(zip(role_counts.tolist(), sizes.tolist(), strict=True)),
    )


def _begins(counts: Sequence[Numbers]) -> Numbers:
    ends = np.cumsum(np.concatenate(counts))
    return np.concatenate([[0], ends[:-1]])

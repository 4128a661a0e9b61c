"""What the network of words in context is told about the targets of a sentence: places of words, and features.

The states of an encoder say what words mean where they stand; the features say what they do not: how a candidate lies
in the parse, seen from the target. Candidates are those of the log-linear model, and so are the features (the
templates ``context`` are some of its own); only frequent ones count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from sapwood.tasks.frames.hashing import Codes, Numbers, mixed
from sapwood.tasks.frames.rows import Rows, TargetInstance
from sapwood.tasks.frames.templates import collect

__all__ = ["PLACES", "TOKEN_KINDS", "CodeNumbers", "SentenceRows", "sentence_rows"]

_SINGLE = ("first", "second", "last", "head", "content", "ahead", "behind", "target")
PLACES = (*_SINGLE, "inside")
"""How a word may stand to a span. Those inside of it count together as much as the first one does."""

TOKEN_KINDS = ("tag", "relation", "sense", "lemma")
"""The attributes of tokens that stand beside their states."""


@dataclass(frozen=True)
class SentenceRows:
    """The targets of one sentence and their candidates, as numbers.

    The words of a candidate are a bag of pairs of token and place, each written as one number (token times the number
    of places, plus place) and with a weight; a candidate in several pieces has the mean of theirs.

    Attributes
    ----------
    words : tuple of str
        Of the sentence.
    token_codes : array of uint32, tokens × kinds
        Attributes of tokens, hashed.
    places, weights, place_counts : arrays
        Pairs of token and place, one candidate after the other, what each counts, and how many each candidate has.
    features, feature_counts : arrays
        Hashed features, one candidate after the other, and how many each candidate has.
    sizes : array of int
        How many candidates each target has; the last one leaves a role unfilled.
    frames : tuple of str
        The frame of each target.
    """

    words: tuple[str, ...]
    token_codes: NDArray[np.uint32]
    places: NDArray[np.int32]
    weights: NDArray[np.float32]
    place_counts: Numbers
    features: NDArray[np.uint32]
    feature_counts: Numbers
    sizes: Numbers
    frames: tuple[str, ...]


def sentence_rows(instances: Sequence[TargetInstance]) -> list[SentenceRows]:
    """Describe targets, sentence by sentence; those of a sentence stand together."""
    return [_described(list(group)) for _, group in groupby(instances, key=lambda one: id(one.sentence))]


def _described(instances: Sequence[TargetInstance]) -> SentenceRows:
    rows = Rows(instances)
    places, weights, place_counts = _places(rows)
    features, ends = collect(rows, "context")
    columns: list[Codes] = [getattr(rows.tokens, kind)[:-1] for kind in TOKEN_KINDS]
    codes = [mixed(kind, [column]) for kind, column in zip(TOKEN_KINDS, columns, strict=True)]
    return SentenceRows(
        instances[0].sentence.words,
        np.stack(codes, axis=1),
        places,
        weights,
        place_counts,
        features,
        _sizes(ends[:, -1].astype(np.int64)),
        _sizes(rows.ends),
        tuple(one.frame for one in instances),
    )


def _sizes(ends: Numbers) -> Numbers:
    return np.asarray(ends - np.concatenate([[0], ends[:-1]]), np.int64)


def _places(rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.float32], Numbers]:
    tokens = {
        "first": rows.first,
        "second": np.where(rows.length > 1, rows.first + 1, rows.pad),
        "last": rows.last,
        "head": rows.head,
        "content": rows.content,
        "ahead": rows.shifted(rows.first, -1),
        "behind": rows.shifted(rows.last, 1),
        "target": rows.target,
    }
    spans = np.bincount(rows.candidate)
    share = 1.0 / spans[rows.candidate]
    everywhere = np.arange(len(rows))
    row_parts, place_parts, weight_parts = [], [], []
    for number, name in enumerate(_SINGLE):
        there = tokens[name] != rows.pad
        row_parts.append(everywhere[there])
        place_parts.append(tokens[name][there] * len(PLACES) + number)
        weight_parts.append(share[there])
    row, token = rows.inside
    row_parts.append(row)
    place_parts.append(token * len(PLACES) + len(_SINGLE))
    weight_parts.append((share / np.maximum(rows.length, 1))[row])
    candidate = rows.candidate[np.concatenate(row_parts)]
    order = np.argsort(candidate, kind="stable")
    return (
        np.concatenate(place_parts)[order].astype(np.int32),
        np.concatenate(weight_parts)[order].astype(np.float32),
        np.bincount(candidate, minlength=len(spans)),
    )


class CodeNumbers:
    """Numbers for the codes that are frequent in training, from 1 on; 0 for all others.

    >>> numbers = CodeNumbers.of([np.array([7, 7, 9, 4, 4], np.uint32)], least=2)
    >>> numbers(np.array([4, 9, 7], np.uint32)).tolist()
    [1, 0, 2]
    """

    def __init__(self, codes: NDArray[np.uint32]) -> None:
        self.codes = codes

    @classmethod
    def of(cls, codes: Sequence[NDArray[np.uint32]], least: int) -> CodeNumbers:
        """Number the codes that occur at least so often."""
        found, counts = np.unique(np.concatenate([part.ravel() for part in codes]), return_counts=True)
        return cls(found[counts >= least])

    def __len__(self) -> int:
        return len(self.codes) + 1

    def __call__(self, codes: NDArray[np.uint32]) -> Numbers:
        """Return the numbers of codes."""
        if not len(self.codes):
            return np.zeros(codes.shape, np.int64)
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[at] == codes, at + 1, 0)

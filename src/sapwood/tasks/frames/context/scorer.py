"""The scorer of candidates by words in context: it learns from targets, scores them, and goes into model files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from sapwood.corpora.framenet.lexicon import Lexicon
from sapwood.layouts import Field
from sapwood.learn.descent import moments
from sapwood.packing import Grid
from sapwood.registry import Reader, Writer
from sapwood.settings import progress_bar
from sapwood.tasks.frames.context.batches import Numbered, joined
from sapwood.tasks.frames.context.network import SHAPES, Weights, scores
from sapwood.tasks.frames.context.roles import RoleNumbers, key_numbers, role_phrases
from sapwood.tasks.frames.context.rows import CodeNumbers, SentenceRows, sentence_rows
from sapwood.tasks.frames.context.training import ContextModel, Sizes, Training, train
from sapwood.tasks.frames.rows import TargetInstance
from sapwood.words.encoder import Encoder

__all__ = ["CONTEXT", "ContextScorer", "mixed_scores"]

# Attributes of tokens that are rarer are as good as unknown; features are, if one candidate in so many has them.
_LEAST_TOKENS = 3
_CANDIDATES_PER_FEATURE = 12_000
# Sentences that are scored together.
_AT_ONCE = 16
# How compact files round layers.
_GRID = Grid(31, axis=0)


class ContextScorer:
    """Scores candidates for roles by the states of an encoder.

    Parameters
    ----------
    tokens, features : CodeNumbers
        Which attributes of tokens and which features it knows.
    networks : sequence of Weights
        The log-probabilities of several are averaged.
    """

    def __init__(self, tokens: CodeNumbers, features: CodeNumbers, networks: Sequence[Weights]) -> None:
        self.tokens, self.features, self.networks = tokens, features, list(networks)

    @classmethod
    def learn(
        cls,
        instances: Sequence[TargetInstance],
        right: NDArray[np.int64],
        lexicon: Lexicon,
        encoder: Encoder,
        *,
        inherit: bool,
        networks: int,
        setting: Training,
    ) -> ContextScorer:
        """Train networks on targets.

        Parameters
        ----------
        right : array of int
            For every role of every target the number of its candidate.
        inherit : bool
            Whether roles have something in common with those that they inherit from.
        networks : int
            How many networks, each with a seed of its own.
        """
        rows = _rows(instances)
        tokens = CodeNumbers.of([one.token_codes for one in rows], _LEAST_TOKENS)
        candidates = sum(len(one.feature_counts) for one in rows)
        features = CodeNumbers.of([one.features for one in rows], max(2, candidates // _CANDIDATES_PER_FEATURE))
        roles = RoleNumbers(lexicon)
        sentences = [Numbered.of(one, tokens, features, roles) for one in rows]
        ends = np.cumsum([len(one.roles) for one in sentences])
        vectors = list(encoder.encode_batch(one.words for one in rows))
        names = _names(lexicon, encoder)
        center, spread = moments(vectors)
        keys, count = key_numbers(lexicon, inherit)
        sizes = Sizes(len(tokens), len(features), count, encoder.width)
        found = []
        for number in range(networks):
            model = ContextModel(replace(setting, seed=setting.seed + number), sizes, keys, names, center, spread)
            found.append(train(model, sentences, vectors, np.split(right, ends[:-1])))
        return cls(tokens, features, found)

    def tables(
        self, instances: Sequence[TargetInstance], lexicon: Lexicon, encoder: Encoder
    ) -> Iterator[NDArray[np.float64]]:
        """Yield for every target the log-probabilities of candidates, roles × candidates."""
        roles = RoleNumbers(lexicon)
        rows = _rows(instances)
        vectors = encoder.encode_batch(one.words for one in rows)
        for start in range(0, len(rows), _AT_ONCE):
            block = rows[start : start + _AT_ONCE]
            numbered = [Numbered.of(one, self.tokens, self.features, roles) for one in block]
            batch = joined(numbered, [next(vectors) for _ in block])
            answers = [scores(weights, batch) for weights in self.networks]
            for tables in zip(*answers, strict=True):
                yield log_softmax(np.mean(tables, axis=0), axis=1)

    def sides(self, lexicon: Lexicon) -> dict[str, int]:
        """Return what the sides of the networks' arrays must be for a lexicon."""
        return {
            "token codes": len(self.tokens),
            "feature codes": len(self.features),
            "roles": RoleNumbers(lexicon).count,
        }


def mixed_scores(table: NDArray[np.float64], context: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Mix the scores of the log-linear model with log-probabilities by words in context, which count this share."""
    return np.asarray((1.0 - share) * log_softmax(table, axis=1) + share * context)


def _rows(instances: Sequence[TargetInstance]) -> list[SentenceRows]:
    with progress_bar(len(instances), "Words in context", "targets") as progress:
        rows = sentence_rows(instances)
        if progress is not None:
            progress(len(instances))
    return rows


def _names(lexicon: Lexicon, encoder: Encoder) -> NDArray[np.float32]:
    """Return the vector of each role's name: the mean of its words'."""
    phrases, sizes = zip(*role_phrases(lexicon), strict=True)
    vectors = encoder.encode_batch(phrases)
    return np.stack([each[:size].mean(axis=0, dtype=np.float32) for each, size in zip(vectors, sizes, strict=True)])


def _write(scorer: ContextScorer | None, writer: Writer) -> dict[str, Any] | None:
    if scorer is None:
        return None
    return {
        "tokens": writer.array(scorer.tokens.codes),
        "features": writer.array(scorer.features.codes),
        "networks": [{name: writer.weights(array, _GRID) for name, array in one.items()} for one in scorer.networks],
    }


def _read(data: dict[str, Any] | None, reader: Reader) -> ContextScorer | None:
    if data is None:
        return None
    tokens, features = (CodeNumbers(reader.array(data[name], np.uint32, 1)) for name in ("tokens", "features"))
    for numbers in (tokens, features):
        if not (numbers.codes[1:] > numbers.codes[:-1]).all():
            raise reader.fail("the codes that a network knows are out of order")
    networks = [
        {name: reader.finite(one[name], (None,) * len(sides), np.float32) for name, sides in SHAPES.items()}
        for one in data["networks"]
    ]
    if not networks:
        raise reader.fail("it has no network")
    return ContextScorer(tokens, features, networks)


CONTEXT = Field(_write, _read, absent=None)
"""How model files hold the networks of a labeler that has them."""

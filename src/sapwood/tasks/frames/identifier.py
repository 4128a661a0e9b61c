"""Finding frames: which words evoke one, by looking lexical units up, and which one, by a log-linear choice.

A simple companion of the labeler, so that a parsed sentence can be labeled from nothing. Arguments belong to
``labeler``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_seed, check_share
from sapwood.corpora.framenet.fulltext import FrameTarget
from sapwood.corpora.framenet.lexicon import Lexicon
from sapwood.errors import DataError
from sapwood.extras import import_torch
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.layouts import Field, part_of, register_estimator
from sapwood.learn.candidates import CandidateSets
from sapwood.learn.explain import Explanation
from sapwood.learn.loglinear import LogLinear
from sapwood.parse.reading import check_listed
from sapwood.registry import Reader
from sapwood.tasks.frames.evoking import EVOKED, EvokedFrames
from sapwood.tasks.frames.explanation import against_none
from sapwood.tasks.frames.hashing import code, mixed
from sapwood.tasks.frames.instances import FrameInput, check_training, target_tokens
from sapwood.tasks.frames.lexicon_store import LEXICON
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.words.encoder import Encoder
from sapwood.words.encoder.needed import ENCODER_SPEC, UsesEncoder

__all__ = ["FrameIdentifier"]

_LONGEST = 4
_NO_FRAME = "<none>"
_TRAINING = "training a FrameIdentifier with an encoder"
# FrameNet's parts of speech for the first letters of Penn's tags.
_PARTS = {
    "NN": ("n",), "VB": ("v",), "JJ": ("a",), "RB": ("adv", "a", "prep"), "IN": ("prep", "scon", "adv"), "CD": ("num",),
    "DT": ("art", "a", "n"), "TO": ("prep",), "RP": ("adv", "prep"), "CC": ("c",), "UH": ("intj",), "MD": ("v",),
    "WR": ("adv", "scon"), "PD": ("a", "art"), "PR": ("n",), "WP": ("n",),
}  # fmt: skip


@dataclass(frozen=True)
class _Possible:
    """Words of a sentence that may evoke one of several frames, or none."""

    sentence: ParsedSentence
    tokens: tuple[int, ...]
    unit: str
    frames: tuple[str, ...]


class FrameIdentifier(UsesEncoder, SequenceInput, BaseEstimator):
    """Finds targets and their frames.

    Parameters
    ----------
    alpha, learning_rate, epochs, bits, random_state
        Of the learner; see ``LogLinear``.
    none_offset : float
        What is added to the score of evoking no frame: below 0, more targets are found.
    encoder : Encoder, path or str, optional
        A pretrained encoder for words in context, its folder or its name (``"minilm"``): a network over its states is
        learnt beside the log-linear model. Needs ``pip install 'sapwood[encoder]'``, and training ``'sapwood[train]'``
        too.
    context_weight : float
        The share of the network in the scores.

    Attributes
    ----------
    model_ : LogLinear
        The weights.
    units_ : dict
        For each lexical unit of the lexicon and the training texts, written ``lemma.pos``, the frames it evokes.
    context_ : EvokedFrames or None
        The network; None without an encoder.
    """

    context_: EvokedFrames | None

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        learning_rate: float = 0.1,
        epochs: int = 6,
        bits: int = 20,
        none_offset: float = 0.0,
        encoder: Any = None,
        context_weight: float = 0.5,
        random_state: int = 0,
    ) -> None:
        self.alpha, self.learning_rate, self.epochs, self.bits = alpha, learning_rate, epochs, bits
        self.none_offset, self.random_state = none_offset, random_state
        self.encoder, self.context_weight = encoder, context_weight

    @all_or_nothing
    def fit(self, X: Sequence[FrameInput], y: None = None, *, lexicon: Lexicon) -> FrameIdentifier:
        """Learn from sentences in which all targets are marked.

        Parameters
        ----------
        X : sequence of FrameInput
            Sentences with their targets.
        lexicon : Lexicon
            Frames and lexical units.
        """
        X = check_training(X, lexicon)
        check_share(self.context_weight, "context_weight")
        self._forget_encoder()
        encoder = self._context()
        if encoder is not None:
            import_torch(_TRAINING)  # before the log-linear model is learnt for nothing
        self.lexicon_ = lexicon
        units: dict[str, dict[str, None]] = {}
        for frame in lexicon.frames.values():
            for unit in frame.lexical_units:
                units.setdefault(f"{unit.lemma}.{unit.pos}", {})[frame.name] = None
        for one in X:
            for target in one.targets:
                tokens = target_tokens(one, target)
                name = self._unit(one.parse, tokens, units) or _written(one.parse, tokens)
                if target.frame in lexicon:
                    units.setdefault(name, {})[target.frame] = None
        self.units_ = {unit: tuple(frames) for unit, frames in units.items()}
        possible: list[_Possible] = []
        right: list[int] = []
        for one in X:
            # A text without any target was not annotated, and says nothing about what evokes no frame.
            gold = {target_tokens(one, target): target.frame for target in one.targets}
            taken = {token for tokens in gold for token in tokens}
            for each in self._candidates(one.parse, set(gold)) if gold else ():
                evoked = gold.get(each.tokens)
                if evoked in each.frames or (evoked is None and not taken.intersection(each.tokens)):
                    possible.append(each)
                    right.append(len(each.frames) if evoked is None else each.frames.index(evoked))
        if not possible:
            raise DataError("there is nothing to learn from: no target is marked with a frame of the lexicon.")
        self.model_ = LogLinear(
            alpha=self.alpha,
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            bits=self.bits,
            prune=1e-3,
            random_state=self.random_state,
        ).fit(_sets(possible), np.array(right))
        self.context_ = None
        if encoder is not None:
            frames = [(*each.frames, _NO_FRAME)[choice] for each, choice in zip(possible, right, strict=True)]
            targets, codes = [(each.sentence, each.tokens) for each in possible], [_codes(each) for each in possible]
            seed = check_seed(self.random_state)
            self.context_ = EvokedFrames.learn(targets, codes, frames, encoder, seed=seed, what=_TRAINING)
            self._spec = encoder.spec
        return self

    def _context(self) -> Encoder | None:
        return self._encoder(layers=(1, -3, -2, -1), pieces="mean")

    def predict(self, X: Iterable[ParsedSentence]) -> list[list[FrameTarget]]:
        """Return the targets of sentences with their frames, in the order of the words."""
        check_is_fitted(self, "model_")
        check_listed(X, "sentence")
        found: list[list[FrameTarget]] = []
        possible: list[tuple[list[FrameTarget], _Possible]] = []
        for sentence in X:
            found.append([])
            possible += [(found[-1], each) for each in self._candidates(sentence, set())]
        for (targets, each), scores in zip(possible, self._scores([each for _, each in possible]), strict=True):
            scores[-1] += self.none_offset
            best = int(scores.argmax())
            if best < len(each.frames):
                offsets = each.sentence.offsets
                span = (offsets[each.tokens[0]][0], offsets[each.tokens[-1]][1])
                targets.append(FrameTarget(each.frames[best], (span,), lexical_unit=each.unit))
        return found

    def choose(self, X: Sequence[FrameInput]) -> list[list[str]]:
        """Return the most likely frame of each target that is given, whatever frame it has there.

        A target that neither the lexicon nor the training texts know gets the empty name.
        """
        check_is_fitted(self, "model_")
        found = [[""] * len(one.targets) for one in X]
        possible: list[tuple[list[str], int, _Possible]] = []
        for names, one in zip(found, X, strict=True):
            for number, target in enumerate(one.targets):
                each = self._possible(one.parse, target_tokens(one, target))
                possible += [(names, number, each)] if each is not None else []
        for (names, number, each), scores in zip(possible, self._scores([one[2] for one in possible]), strict=True):
            names[number] = each.frames[int(scores[:-1].argmax())]
        return found

    def explain(self, sentence: ParsedSentence, tokens: Sequence[int], *, frame: str | None = None) -> Explanation:
        """Say what speaks for and against a frame of a target, in odds against evoking none.

        Parameters
        ----------
        sentence : ParsedSentence
            The sentence.
        tokens : sequence of int
            The words that evoke the frame, which must be a lexical unit.
        frame : str, optional
            The frame to explain; by default the likeliest.
        """
        check_is_fitted(self, "model_")
        each = self._possible(sentence, tuple(tokens))
        if each is None:
            words = " ".join(sentence.words[token] for token in tokens)
            raise DataError(f"{words!r} is no lexical unit of the lexicon or the training texts: it evokes no frame.")
        (scores,) = self._scores([each])
        if frame is not None and frame not in each.frames:
            raise DataError(f"{each.unit} does not evoke {frame!r}; it evokes {', '.join(each.frames)}.")
        chosen = int(scores[:-1].argmax()) if frame is None else each.frames.index(frame)
        sets = _sets([each])
        own, none = (self.model_.contributions(sets, 0, 0, row) for row in (chosen, len(each.frames)))
        texts = [text or "any target" for text in _context_texts(each)]
        value = float(scores[chosen] - scores[-1]) - self.none_offset
        share = 1.0 if self.context_ is None else 1.0 - self.context_weight
        added = dict(zip(texts, (own - none).tolist(), strict=True))
        return against_none(each.frames[chosen], value, 0.0 - self.none_offset, added, share)

    def _scores(self, possible: Sequence[_Possible]) -> list[NDArray[np.float64]]:
        """Return the scores of the frames of each, and of none."""
        if not possible:
            return []
        sets = _sets(possible)
        tables = [table[0] for table in sets.tables(self.model_.decision_function(sets))]
        encoder = None if self.context_ is None else self._context()
        if self.context_ is None or encoder is None:
            return tables
        others = self.context_.scores(
            [(each.sentence, each.tokens) for each in possible],
            [_codes(each) for each in possible],
            [(*each.frames, _NO_FRAME) for each in possible],
            encoder,
        )
        share = self.context_weight
        return [(1.0 - share) * log_softmax(table) + share * other for table, other in zip(tables, others, strict=True)]

    def _possible(self, sentence: ParsedSentence, tokens: tuple[int, ...]) -> _Possible | None:
        unit = self._unit(sentence, tokens, self.units_)
        return None if unit is None else _Possible(sentence, tokens, unit, self.units_[unit])

    def _candidates(self, sentence: ParsedSentence, known: set[tuple[int, ...]]) -> list[_Possible]:
        """List the words that may evoke a frame, the longest lexical unit first; none overlap but those known."""
        found = [each for tokens in known if (each := self._possible(sentence, tokens)) is not None]
        at = 0
        while at < len(sentence):
            step = 1
            for length in range(min(_LONGEST, len(sentence) - at), 0, -1):
                tokens = tuple(range(at, at + length))
                each = None if tokens in known else self._possible(sentence, tokens)
                if each is not None:
                    found.append(each)
                    step = length
                    break
            at += step
        found.sort(key=lambda each: each.tokens)
        return found

    @staticmethod
    def _unit(sentence: ParsedSentence, tokens: tuple[int, ...], units: Any) -> str | None:
        """Return the lexical unit that these words are, if any."""
        lemmas = " ".join(sentence.lemmas[token] for token in tokens)
        words = " ".join(sentence.words[token].lower() for token in tokens)
        head = sentence.head_of(tokens[0], tokens[-1]) if len(tokens) > 1 else tokens[0]
        for token in dict.fromkeys((head, tokens[0])):
            for part in _PARTS.get(sentence.tags[token][:2], ("n",)):
                for text in (lemmas, words):
                    if f"{text}.{part}" in units:
                        return f"{text}.{part}"
        return None


def _written(sentence: ParsedSentence, tokens: tuple[int, ...]) -> str:
    part = _PARTS.get(sentence.tags[tokens[0]][:2], ("n",))[0]
    return f"{' '.join(sentence.lemmas[token] for token in tokens)}.{part}"


def _sets(possible: Sequence[_Possible]) -> CandidateSets:
    """Make the features of every frame that a target may evoke, and of none, which comes last."""
    contexts: list[int] = []
    frames: list[int] = []
    rows: list[int] = []
    sizes: list[int] = []
    for each in possible:
        context = _context(each)
        for name in (*each.frames, _NO_FRAME):
            contexts += context
            frames += [code(name)] * len(context)
            sizes.append(len(context))
        rows.append(len(each.frames) + 1)
    count = len(possible)
    features = mixed("evokes", [np.array(contexts, np.uint64), np.array(frames, np.uint64)])
    return CandidateSets(
        features,
        np.cumsum(sizes).astype(np.uint64).reshape(-1, 1),
        np.cumsum(rows).astype(np.uint64),
        np.arange(1, count + 1).astype(np.uint64),
        np.zeros(count, np.uint64),
        np.zeros(0, np.uint32),
        np.zeros(0, np.uint32),
    )


def _codes(each: _Possible) -> NDArray[np.uint32]:
    return np.array(_context(each), np.uint64).astype(np.uint32)


def _context(each: _Possible) -> list[int]:
    return [code(text) for text in _context_texts(each)]


def _context_texts(each: _Possible) -> list[str]:
    """Describe a target and the words around it."""
    sentence, first, last = each.sentence, each.tokens[0], each.tokens[-1]
    head = sentence.head_of(first, last) if last > first else first
    unit, tag = each.unit, sentence.tags[head]

    def at(token: int, column: Sequence[str]) -> str:
        return column[token] if 0 <= token < len(sentence) else "<edge>"

    above = sentence.heads[head]
    plain = [
        f"tag {tag}",
        f"relation {sentence.relations[head]}",
        f"before {at(first - 1, sentence.lemmas)}",
        f"after {at(last + 1, sentence.lemmas)}",
        f"sense {sentence.supersenses[head]}",
    ]
    if above >= 0:
        plain += [f"head {sentence.lemmas[above]}", f"head sense {sentence.supersenses[above]}"]
    for kid in sentence.children[head]:
        if kid not in each.tokens:
            relation = sentence.relations[kid]
            plain += [
                f"has {relation}",
                f"{relation} {sentence.lemmas[kid]}",
                f"{relation} is {sentence.supersenses[kid]}",
            ]
    tags = f"{at(first - 1, sentence.tags)} {tag} {at(last + 1, sentence.tags)}"
    texts = ["", *plain, unit, f"{unit} {tags}", *(f"{unit} {text}" for text in plain)]
    texts += [f"{unit} near {at(token, sentence.lemmas)}" for token in (first - 2, last + 2)]
    return list(dict.fromkeys(texts))


def _read_units(data: Any, reader: Reader) -> dict[str, tuple[str, ...]]:
    return {unit: tuple(reader.texts(frames)) for unit, frames in data.items()}


register_estimator(
    FrameIdentifier,
    fitted={
        "model_": part_of(LogLinear),
        "lexicon_": LEXICON,
        "units_": Field(lambda units, writer: units, _read_units),
        "context_": EVOKED,
        "_spec": ENCODER_SPEC.at("encoder"),
    },
    without=["encoder"],
    finish=lambda identifier, reader: identifier._check_network(identifier.context_, reader),
)

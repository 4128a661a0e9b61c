"""The labeler of frame arguments: scores of all spans for all roles, and the best assignment that the lexicon allows.

The frame of every target is given. Every role takes one candidate or none: a span, or several pieces together.
Candidates do not overlap; roles that exclude each other are not both filled, and roles that require each other are
filled together. Finding the frames belongs to ``identifier``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_choice, check_count, check_flag, check_seed, check_share
from sapwood.corpora.framenet import Lexicon
from sapwood.decode import RoleProblem, SpanResult, decode_roles_batch
from sapwood.errors import DataError, ParameterError
from sapwood.extras import import_torch
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.layouts import Field, part_of, register_estimator
from sapwood.learn.candidates import CandidateSets
from sapwood.learn.explain import Explanation
from sapwood.learn.loglinear import LogLinear
from sapwood.parse.reading import check_listed
from sapwood.registry import Reader
from sapwood.tasks.frames.context.network import wrong_shape
from sapwood.tasks.frames.context.scorer import CONTEXT, ContextScorer, mixed_scores
from sapwood.tasks.frames.context.training import Training
from sapwood.tasks.frames.evaluation import evaluate_arguments
from sapwood.tasks.frames.explanation import explained_role
from sapwood.tasks.frames.instances import (
    FrameInput,
    candidate_sets,
    check_training,
    instances_of,
    learnable,
    right_choices,
)
from sapwood.tasks.frames.lexicon_store import LEXICON
from sapwood.tasks.frames.results import FrameSentence, LabeledTarget, RoleFiller
from sapwood.tasks.frames.rows import TargetInstance
from sapwood.tasks.frames.spans import SPAN_SETS
from sapwood.words.encoder import Encoder
from sapwood.words.encoder.needed import ENCODER_SPEC, UsesEncoder
from sapwood.words.senses import WordSenses, find_senses

__all__ = ["FrameLabeler", "ScoredTargets", "decisive_scores"]

# Three weights of four end up below this, mostly of candidates that were never right, and decide nothing.
_SMALLEST = 1e-3
_TRAINING = "training a FrameLabeler with an encoder"


@dataclass(frozen=True)
class ScoredTargets:
    """The targets of sentences with the scores of their candidates, ready to be decoded in several ways."""

    data: Sequence[FrameInput]
    instances: Sequence[TargetInstance]
    tables: Sequence[NDArray[np.float64]]

    def problems(self, lexicon: Lexicon, null_offset: float = 0.0, threshold: float | None = None) -> list[RoleProblem]:
        """State the decoding problem of every target; offset and threshold are those of ``FrameLabeler``."""
        found = []
        for instance, table in zip(self.instances, self.tables, strict=True):
            frame, scores = lexicon[instance.frame], decisive_scores(table, null_offset, threshold)
            spans = [*(pieces[0] for pieces in instance.candidates), (-1, -1)]
            further = [(number, *span) for number, pieces in enumerate(instance.candidates) for span in pieces[1:]]
            found.append(RoleProblem(scores, spans, frame.excludes, frame.requires, pieces=further))
        return found


def decisive_scores(
    table: NDArray[np.float64], null_offset: float = 0.0, threshold: float | None = None
) -> NDArray[np.float64]:
    """Return the scores whose sum is maximised, leaving a role unfilled in the last column.

    >>> decisive_scores(np.log([[0.3, 0.5, 0.2]]), threshold=0.4).round(2).tolist()
    [[0.3, 0.5, 0.4]]
    """
    scores = table.copy()
    scores[:, -1] += null_offset
    if threshold is not None:
        scores = softmax(scores, axis=1)
        scores[:, -1] = threshold
    return scores


class FrameLabeler(UsesEncoder, SequenceInput, BaseEstimator):
    """Finds the arguments of frames whose targets and names are given.

    Parameters
    ----------
    spans : {"extended", "dependency"}
        Which candidate spans; see ``spans``.
    pieces : bool
        Whether a role may also be filled by several pieces together; see ``pieces``. They are found as several fillers
        of the same role.
    templates : {"extended", "semafor"}
        Which features; see ``templates``.
    inherit : bool
        Whether roles share weights with roles of the same core type and with those that they inherit from.
    alpha, learning_rate, epochs, bits, batch_size, random_state
        Of the learner; see ``LogLinear``.
    null_offset : float
        What is added to the score of leaving a role unfilled: below 0, more roles are filled. Choose it on held-out
        texts.
    threshold : float, optional
        How probable a filler must be to be worth more than an unfilled role, from 0 to 1. What is maximised is then
        the expected number of right fillers, less this much for each that is given: about half of the F1 that can be
        reached makes F1 best. Choose it on held-out texts. None maximises the probability of all decisions together.
    method : str
        How to decode; see ``sapwood.decode.decode_roles``.
    encoder : Encoder, path or str, optional
        A pretrained encoder for words in context, its folder or its name (``"minilm"``): a network over its states
        then scores the same candidates beside the log-linear model. A folder or name is opened with five of its layers
        and the mean of the pieces of a word. Model files hold its name and digest, not its weights. Needs
        ``pip install 'sapwood[encoder]'``, and training ``'sapwood[train]'`` too.
    context_weight : float
        What the network counts; the log-linear model counts the rest to 1. Log-probabilities are mixed.
    networks : int
        How many networks are trained, each with a seed of its own; they count the same.

    Attributes
    ----------
    model_ : LogLinear
        The weights.
    lexicon_ : Lexicon
        The frames it was trained with.
    wordnet_ : bool
        Whether the training sentences had supersenses; sentences to be labeled should then have them too.
    senses_ : WordSenses or None
        Where they come from: model files carry them, so that WordNet is needed for training alone.
    context_ : ContextScorer or None
        The networks; None without an encoder.
    """

    _carried_senses: WordSenses | None = None

    def __init__(
        self,
        *,
        spans: str = "extended",
        pieces: bool = False,
        templates: str = "extended",
        inherit: bool = True,
        alpha: float = 3.0,
        learning_rate: float = 0.1,
        epochs: int = 5,
        bits: int = 25,
        batch_size: int = 8,
        null_offset: float = 0.0,
        threshold: float | None = None,
        method: str = "exact",
        random_state: int = 0,
        encoder: Any = None,
        context_weight: float = 0.5,
        networks: int = 1,
    ) -> None:
        self.spans, self.pieces, self.templates, self.inherit = spans, pieces, templates, inherit
        self.alpha, self.learning_rate, self.epochs = alpha, learning_rate, epochs
        self.bits, self.batch_size = bits, batch_size
        self.null_offset, self.threshold = null_offset, threshold
        self.method, self.random_state = method, random_state
        self.encoder, self.context_weight, self.networks = encoder, context_weight, networks

    @all_or_nothing
    def fit(
        self,
        X: Sequence[FrameInput],
        y: None = None,
        *,
        lexicon: Lexicon,
        after_epoch: Callable[[FrameLabeler], bool | None] | None = None,
    ) -> FrameLabeler:
        """Learn from annotated sentences.

        Parameters
        ----------
        X : sequence of FrameInput
            Sentences with their targets and fillers. Targets without annotation, or whose frame the lexicon lacks, are
            passed over.
        lexicon : Lexicon
            Frames and roles.
        after_epoch : callable, optional
            Called with the labeler after each pass; returning True ends training.
        """
        self._check()
        self._forget_encoder()
        encoder = self._context()
        if encoder is not None:
            # What is missing is missed at once, not after the first half of the work.
            import_torch(_TRAINING)
        data = learnable(check_training(X, lexicon), lexicon)
        instances = instances_of(data, spans=self.spans, pieces=self.pieces, gold=True)
        if not instances:
            raise DataError("there is nothing to learn from: no target is annotated with a frame of the lexicon.")
        sets = candidate_sets(instances, lexicon, templates=self.templates, inherit=self.inherit)
        right = right_choices(data, instances, lexicon)
        self.fit_sets(sets, right, lexicon=lexicon, wordnet=_has_senses(data), after_epoch=after_epoch)
        if encoder is not None:
            self._fit_context(instances, right, encoder)
        return self

    def fit_sets(
        self,
        sets: CandidateSets,
        right: NDArray[np.int64],
        *,
        lexicon: Lexicon,
        wordnet: bool,
        after_epoch: Callable[[FrameLabeler], bool | None] | None = None,
    ) -> FrameLabeler:
        """Learn the log-linear model from candidates whose features are made already, as when settings are compared."""
        self.lexicon_, self.wordnet_, self.senses_ = lexicon, wordnet, None
        self.context_: ContextScorer | None = None

        def step(model: LogLinear) -> bool | None:
            self.model_ = model
            return after_epoch(self) if after_epoch is not None else None

        self.model_ = LogLinear(
            alpha=self.alpha,
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            bits=self.bits,
            batch_size=self.batch_size,
            prune=_SMALLEST,
            random_state=self.random_state,
        ).fit(sets, right, after_epoch=step)
        return self

    @all_or_nothing
    def fit_context(self, X: Sequence[FrameInput]) -> FrameLabeler:
        """Learn the network beside a log-linear model that is learnt already, from the same sentences."""
        check_is_fitted(self, "model_")
        self._check()
        self._forget_encoder()
        encoder = self._context()
        if encoder is None:
            raise ParameterError("words in context need an encoder; pass encoder= an Encoder, its folder or its name.")
        data = learnable(check_training(X, self.lexicon_), self.lexicon_)
        instances = instances_of(data, spans=self.spans, pieces=self.pieces, gold=True)
        self._fit_context(instances, right_choices(data, instances, self.lexicon_), encoder)
        return self

    def _fit_context(self, instances: Sequence[TargetInstance], right: NDArray[np.int64], encoder: Encoder) -> None:
        self.context_ = ContextScorer.learn(
            instances,
            right,
            self.lexicon_,
            encoder,
            inherit=self.inherit,
            networks=self.networks,
            setting=Training(seed=check_seed(self.random_state)),
        )
        self._spec = encoder.spec

    @property
    def senses_(self) -> WordSenses | None:
        """What gives sentences their supersenses; None if it has never seen any, or, with a warning, finds none."""
        if not self.wordnet_:
            return None
        return self._carried_senses or find_senses()

    @senses_.setter
    def senses_(self, senses: WordSenses | None) -> None:
        self._carried_senses = senses

    def _context(self) -> Encoder | None:
        return self._encoder(layers=(0, 2, -3, -2, -1), pieces="mean")

    def score_candidates(self, X: Iterable[FrameInput]) -> ScoredTargets:
        """Score all candidates of all targets; the frame of each must be in the lexicon."""
        check_is_fitted(self, "model_")
        check_listed(X, "sentence")
        data = list(X)
        for one in data:
            where = f"{one.name}: " if one.name else ""
            if one.find:
                raise DataError(f"{where}the targets are not given; a FrameParser finds them.")
            for target in one.targets:
                if target.frame not in self.lexicon_:
                    raise DataError(
                        f"{where}the frame {target.frame!r} is not in the lexicon that the model was trained with."
                    )
        instances = instances_of(data, spans=self.spans, pieces=self.pieces)
        sets = candidate_sets(instances, self.lexicon_, templates=self.templates, inherit=self.inherit)
        tables = list(sets.tables(self.model_.decision_function(sets)))
        encoder = None if self.context_ is None else self._context()
        if self.context_ is not None and encoder is not None:
            others = self.context_.tables(instances, self.lexicon_, encoder)
            tables = [
                mixed_scores(table, other, self.context_weight) for table, other in zip(tables, others, strict=True)
            ]
        return ScoredTargets(data, instances, tables)

    def predict(self, X: Iterable[FrameInput], *, method: str | None = None) -> list[FrameSentence]:
        """Label the targets of sentences.

        Parameters
        ----------
        X : iterable of FrameInput
            Sentences with targets; fillers in them are not used.
        method : str, optional
            How to decode, if not by the parameter of the labeler.
        """
        scored = self.score_candidates(X)
        return self.to_sentences(scored, self._decoded(scored, method or self.method))

    def _decoded(self, scored: ScoredTargets, method: str) -> list[SpanResult]:
        problems = scored.problems(self.lexicon_, self.null_offset, self.threshold)
        return decode_roles_batch(problems, method=method)

    def to_sentences(self, scored: ScoredTargets, results: Sequence[SpanResult]) -> list[FrameSentence]:
        """Put decoded assignments into words."""
        found = map(self._target, scored.instances, scored.tables, results)
        return [FrameSentence(one.parse, tuple(next(found) for _ in one.targets), one.name) for one in scored.data]

    def _target(self, instance: TargetInstance, table: NDArray[np.float64], result: SpanResult) -> LabeledTarget:
        offsets = instance.sentence.offsets
        fillers = []
        names = [element.name for element in self.lexicon_[instance.frame].elements]
        chosen = result.assignment if result.assignment is not None else np.full(len(names), len(instance.candidates))
        decisive = decisive_scores(table, self.null_offset, self.threshold)
        for name, scores, number in zip(names, decisive, chosen.tolist(), strict=True):
            if number >= len(instance.candidates):
                continue
            margin = float(scores[number] - np.delete(scores, number).max())
            for first, last in instance.candidates[number]:
                fillers.append(RoleFiller(name, first, last, offsets[first][0], offsets[last][1], margin))
        fillers.sort(key=lambda filler: (filler.first, filler.last, filler.role))
        return LabeledTarget(instance.frame, instance.target, tuple(fillers), result.status)

    def explain(
        self, sentence: FrameInput, number: int, role: str, *, span: tuple[int, int] | None = None
    ) -> Explanation:
        """Say what speaks for and against a span that fills a role, in odds against leaving the role unfilled.

        Parameters
        ----------
        sentence : FrameInput
            The sentence with its targets.
        number : int
            Which of its targets, counted from 0.
        role : str
            The role.
        span : (int, int), optional
            First and last token of the span, which must be a candidate; by default the one that is found, or if the
            role is left unfilled, the likeliest.
        """
        one = replace(sentence, targets=(sentence.targets[number],), find=False)
        scored = self.score_candidates([one])
        (instance,), (table,) = scored.instances, scored.tables
        frame = self.lexicon_[instance.frame]
        if role not in frame.index:
            names = ", ".join(frame.index)
            raise DataError(f"the frame {instance.frame!r} has no role {role!r}; its roles are {names}.")
        if not instance.candidates:
            raise DataError("the sentence has no span that could fill a role.")
        at = frame.index[role]
        if span is None:
            (result,) = self._decoded(scored, self.method)
            chosen = len(instance.candidates) if result.assignment is None else int(result.assignment[at])
            chosen = chosen if chosen < len(instance.candidates) else int(table[at, :-1].argmax())
        elif (tuple(span),) in instance.candidates:
            chosen = instance.candidates.index((tuple(span),))
        else:
            raise DataError(f"words {span[0]} to {span[1]} are no candidate for a role; take a constituent.")
        return explained_role(
            self.model_,
            candidate_sets([instance], self.lexicon_, templates=self.templates, inherit=self.inherit),
            instance,
            self.templates,
            role=at,
            candidate=chosen,
            table=table,
            label=f"{instance.frame}.{role}",
            offset=self.null_offset,
            share=1.0 if self.context_ is None else 1.0 - self.context_weight,
        )

    def score(self, X: Iterable[FrameInput], y: None = None) -> float:
        """Return F1 of the arguments of sentences with known fillers, targets that nobody has annotated left out."""
        data = list(X)
        return evaluate_arguments(data, self.predict(data), self.lexicon_, unannotated=False).f1

    def _check(self) -> None:
        check_choice(self.spans, "spans", SPAN_SETS)
        check_flag(self.pieces, "pieces")
        check_choice(self.templates, "templates", ("extended", "semafor"))
        check_share(self.context_weight, "context_weight")
        if self.threshold is not None:
            check_share(self.threshold, "threshold")
        check_count(self.networks, "networks")


def _has_senses(data: Sequence[FrameInput]) -> bool:
    return any(sense for one in data for sense in one.parse.supersenses)


def _check_context(labeler: FrameLabeler, reader: Reader) -> None:
    context = labeler.context_
    labeler._check_network(context, reader)
    for weights in () if context is None else context.networks:
        wrong = wrong_shape(weights, context.sides(labeler.lexicon_)) if context is not None else None
        if wrong is not None:
            raise reader.fail(f"the array {wrong!r} of its network does not fit the rest")


register_estimator(
    FrameLabeler,
    fitted={
        "model_": part_of(LogLinear),
        "lexicon_": LEXICON,
        "wordnet_": Field(lambda value, writer: bool(value), lambda data, reader: bool(data)),
        "senses_": replace(part_of(WordSenses, optional=True), absent=None),
        "context_": CONTEXT,
        "_spec": ENCODER_SPEC.at("encoder"),
    },
    without=["encoder"],
    finish=_check_context,
)

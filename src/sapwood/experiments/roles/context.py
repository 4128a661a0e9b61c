"""What words in context buy for roles: of given arguments by kernels, and from trees and words to propositions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.experiments.measuring import compare_errors, percent
from sapwood.experiments.parsing.models import Models
from sapwood.experiments.roles.data import CORPORA, all_arguments, read_parts
from sapwood.experiments.roles.parsed import f1_with, from_parses
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.metrics import score_roles
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import RoleClassifier
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.trees import RoleSentence
from sapwood.words import Encoder

__all__ = ["roles_in_context"]

_NAME = "ewt-propbank"
_ENCODER, _LAYERS = "minilm", (1, 4, 5, 6)
# What the network may count: beside margins, and as a share of the labeler's scores.
_WEIGHTS, _SHARES = (0.1, 0.2, 0.3, 0.5), (0.3, 0.5, 0.7)
_OFFSETS = (0.0, -0.2, -0.4, -0.6, -0.8, -1.0)
_BINS = 10
_MEMORY_LIMIT = 6000.0


def roles_in_context(setting: Setting) -> Iterator[Table]:
    """Make the tables; none where the encoder is missing."""
    try:
        encoder = Encoder(_ENCODER, layers=_LAYERS, pieces="mean", cache=setting.cached("states"))
    except DataError:
        return
    if setting.wants("context"):
        yield _given(setting, encoder)
    if setting.wants("context-labeling"):
        yield _labeled(setting, encoder)


# --- given arguments


@dataclass(frozen=True)
class _Margins:
    """What a classifier says about arguments, margins and log-probabilities in context apart."""

    classes: NDArray[np.str_]
    margins: NDArray[np.float64]
    context: NDArray[np.float64]

    @classmethod
    def of(cls, classifier: RoleClassifier, arguments: RoleArguments) -> _Margins:
        alone, both = (
            copy(classifier).set_params(context_weight=weight).decision_function(arguments) for weight in (0.0, 1.0)
        )
        return cls(classifier.classes_, alone, both - alone)

    def right(self, weight: float, labels: NDArray[np.str_]) -> NDArray[np.bool_]:
        return np.asarray(self.classes[(self.margins + weight * self.context).argmax(axis=1)] == labels)


def _given(setting: Setting, encoder: Encoder) -> Table:
    """Classify all arguments by flat features and by the composite, with and without the network."""
    train, dev, test = (all_arguments(setting, _NAME, part) for part in ("train", "dev", "test"))
    rows: list[tuple[Cell, ...]] = []
    right: dict[str, NDArray[np.bool_]] = {}
    for kernel in ("flat", "composite"):
        classifier = RoleClassifier(
            kernel,
            features="rich",
            encoder=encoder,
            svm_params={"memory_limit": _MEMORY_LIMIT},
            random_state=setting.seed,
        ).fit(train)
        held, asked = (_Margins.of(classifier, part) for part in (dev, test))
        weight = max(_WEIGHTS, key=lambda one: percent(held.right(one, dev.labels)))
        for title, used in ((kernel, 0.0), (f"{kernel} + context", weight)):
            right[title] = asked.right(used, test.labels)
            base = right.get("flat + context" if used and kernel != "flat" else "flat")
            tests = [None] * 4 if title == "flat" or base is None else compare_errors(base, right[title])
            figures = (percent(held.right(used, dev.labels)), percent(right[title]))
            modifiers = np.char.startswith(test.labels, "AM-")
            parts = (percent(right[title][~modifiers]), percent(right[title][modifiers]))
            rows.append((title, used or None, *figures, *parts, *tests))
    return Table(
        "context",
        f"Words in context, {len(train):,} training arguments, {len(test):,} test arguments: {CORPORA[_NAME]}",
        ("kernel", "weight", "dev", "accuracy", "numbered", "modifiers", "fewer errors %", "p", "χ²", "p of χ²"),
        rows,
        {"weight": 1, "p": 4, "p of χ²": 4},
        notes=[
            f"Rich features, γ = 0.1, C = 10; encoder {_ENCODER}, layers {', '.join(map(str, _LAYERS))}; how much of "
            "the network's log-probabilities is added to margins was chosen on development data.",
            "Fewer errors and p (McNemar): against flat, for composite + context against flat + context.",
        ],
    )


# --- from trees and from words


def _labeled(setting: Setting, encoder: Encoder) -> Table:
    """Label gold trees, and parses, where there is a parser."""
    parts = read_parts(setting, _NAME)
    models = Models(setting)
    rows: list[tuple[Cell, ...]] = []
    notes = []
    plans = [("gold trees", "gold trees", parts["train"], parts["dev"], parts["test"], "narrow")]
    if models.available("web-encoder-0"):
        train, held, given = (from_parses(models, parts, part) for part in ("train", "dev", "test"))
        learnt = [*parts["train"], *train]
        plans.append(("words alone", "gold trees and parses", learnt, held, given, "wide"))
    for title, what, train, held, given, pruning in plans:
        labeler = RoleLabeler(encoder=encoder, pruning=pruning, random_state=setting.seed)
        labeler.fit(train, calibration=held)
        tried = {
            (share, offset): f1_with(labeler, held, parts["dev"], context_weight=share, null_offset=offset)
            for share in _SHARES
            for offset in (_OFFSETS if pruning == "wide" else (0.0,))
        }
        share, offset = max(tried, key=lambda one: tried[one])
        notes.append(f"{title}: share of the network {share:g}, offset of no argument {offset:g}.")
        for name, chosen, added in ((title, 0.0, offset), (f"{title}, in context", share, offset)):
            asked = copy(labeler).set_params(context_weight=chosen, null_offset=added)
            made = asked.predict(given, given_predicates=True)
            scores = score_roles(parts["test"], made)
            found = score_roles(parts["test"], asked.predict(given))
            figures = [100 * one.f1 for one in (scores.overall, found.overall, scores.unlabeled)]
            error = 100 * _calibration_error(parts["test"], made)
            rows.append((name, what, *figures, 100 * scores.label_accuracy, error))
    return Table(
        "context-labeling",
        f"Propositions in context, {len(parts['test']):,} sentences: {CORPORA[_NAME]}",
        ("from", "learnt from", "F1, predicates given", "found", "spans F1", "label accuracy", "calibration error %"),
        rows,
        notes=[
            "Verbs; srl-eval's counting; parses by SpanParser with MiniLM, as in the table of roles from words alone. "
            "Without context the same labelers are asked for their linear models only.",
            f"Chosen on development data: {' '.join(notes)}",
            f"Calibration error: of the probabilities of the arguments that were found, in {_BINS} bins.",
        ],
    )


def _calibration_error(gold: Sequence[RoleSentence], made: Sequence[RoleSentence]) -> float:
    """Return the expected difference between the probability of an argument and how often such arguments are right."""
    bins = np.zeros((_BINS, 3))
    for sentence, answer in zip(gold, made, strict=True):
        for wanted, found in zip(sentence.propositions, answer.propositions, strict=True):
            known = {(one.role, one.span) for one in wanted.roles}
            for one in found.roles:
                score = one.score or 0.0
                place = bins[min(_BINS - 1, int(score * _BINS))]
                place += (1.0, score, (one.role, one.span) in known)
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / max(1.0, bins[:, 0].sum()))

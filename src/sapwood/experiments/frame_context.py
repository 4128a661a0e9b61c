"""What words in context buy for frame arguments: the log-linear model, a network over an encoder, and both mixed.

Weight, offset and threshold are chosen on the dev texts, with models trained on the train texts; then models are
trained on both and the test texts are labeled once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sapwood.decode import decode_roles_batch
from sapwood.errors import DataError
from sapwood.experiments.measuring import Stopwatch, peak_memory
from sapwood.experiments.parsing.models import Models
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.files import load, save
from sapwood.metrics import Counts, paired_bootstrap
from sapwood.settings import threads
from sapwood.tasks.frames import FrameCorpus, FrameInput, FrameLabeler, FrameSentence, load_framenet
from sapwood.tasks.frames.context.scorer import mixed_scores
from sapwood.tasks.frames.evaluation import evaluate_arguments
from sapwood.tasks.frames.labeler import ScoredTargets
from sapwood.words import Encoder
from sapwood.words.senses import find_senses

__all__ = ["context_encoder", "in_context", "newer_release"]

_ENCODER, _LAYERS = "minilm", (0, 2, 4, 5, 6)
_WEIGHTS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 1.0)
_OFFSETS = (-1.8, -1.5, -1.2, -0.9, -0.6, -0.3, 0.0)
_THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4)
_SAMPLES = 2_000
_NETWORKS = 3
# Settings are chosen with one network, which takes a third of the time.
_NETWORKS_OF_TUNING = 1
_PARSER = "both-plain-12"


@dataclass(frozen=True)
class _Chosen:
    """What the dev texts decide: what the network counts, and the offset of null and the threshold for each aim."""

    weight: float
    offset: float
    threshold: float

    def aims(self) -> dict[str, dict[str, float]]:
        """Return how problems are stated, by what is looked for."""
        return {"best F1": {"threshold": self.threshold}, "likeliest": {"null_offset": self.offset}}


# What the table "context-tuning" found, so that the other can be made without it.
_CHOSEN = {
    "log-linear model": _Chosen(0.0, -1.2, 0.25),
    "network": _Chosen(1.0, -0.6, 0.3),
    "both": _Chosen(0.7, -0.6, 0.3),
}


@dataclass(frozen=True)
class _Scored:
    """The same targets with the scores of both models."""

    plain: ScoredTargets
    context: Sequence[NDArray[np.float64]]

    def mixed(self, weight: float) -> ScoredTargets:
        tables = [mixed_scores(*pair, weight) for pair in zip(self.plain.tables, self.context, strict=True)]
        return ScoredTargets(self.plain.data, self.plain.instances, tables)


def in_context(
    setting: Setting, corpus: FrameCorpus, model: FrameLabeler, trained: Callable[[], FrameLabeler]
) -> Iterator[Table]:
    """Make the tables; none where the encoder is missing.

    Parameters
    ----------
    model : FrameLabeler
        The log-linear model that is mixed with the network.
    trained : function
        Returns it, trained on train and dev texts.
    """
    encoder = context_encoder(setting)
    if encoder is None:
        return
    chosen = _CHOSEN
    if setting.wants("context-tuning"):
        plain = _cached(setting, model, "train", lambda: clone(model).fit(corpus.train, lexicon=corpus.lexicon))[0]
        labeler, notes = _with_network(setting, plain, encoder, "train", corpus.train, _NETWORKS_OF_TUNING)
        table, chosen = _tuning(corpus, labeler, _scored(labeler, corpus.dev, encoder), notes)
        yield table
    if setting.wants("context"):
        labeler, notes = _with_network(setting, trained(), encoder, "both", [*corpus.train, *corpus.dev])
        yield _test(setting, corpus, labeler, encoder, chosen, notes)


def newer_release(setting: Setting, model: FrameLabeler) -> Table | None:
    """Make the table of FrameNet 1.7, with what the dev texts of 1.5 decided; None where something is missing."""
    encoder, parsers = context_encoder(setting), Models(setting)
    release, splits = setting.find("framenet-1.7"), setting.find("framenet-parses")
    if encoder is None or release is None or splits is None or not parsers.available(_PARSER):
        return None
    corpus = load_framenet(release, parsers[_PARSER], Path(splits).with_name("splits.json"), senses=find_senses())
    data = [*corpus.train, *corpus.dev]
    plain = _cached(setting, model, "both-1.7", lambda: clone(model).fit(data, lexicon=corpus.lexicon))[0]
    labeler, notes = _with_network(setting, plain, encoder, "both-1.7", data)
    table = _test(setting, corpus, labeler, encoder, _CHOSEN, notes)
    targets = [sum(len(one.targets) for one in part) for part in (data, corpus.test)]
    return replace(
        table,
        name="context-1.7",
        title=f"FrameNet 1.7: {table.title}",
        notes=[
            f"{targets[0]:,} targets to learn from, {targets[1]:,} to test; of the 23 test texts one is not in the "
            "release. Parses are those of a SpanParser of web text and articles without an encoder.",
            *table.notes,
        ],
    )


def context_encoder(setting: Setting) -> Encoder | None:
    """Return the encoder of these tables, None where it is missing."""
    try:
        return Encoder(_ENCODER, layers=_LAYERS, pieces="mean", cache=setting.cached("states"))
    except DataError:
        return None


def _cached(
    setting: Setting, model: FrameLabeler, name: str, train: Callable[[], FrameLabeler]
) -> tuple[FrameLabeler, list[str]]:
    """Train a model or take it from the cache; return it with what there is to note."""
    path = setting.cached(
        f"frames-context-{name}-alpha-{model.alpha:g}-epochs-{model.epochs}-seed-{model.random_state}.sap"
    )
    if path is not None and path.is_file():
        found: FrameLabeler = load(path)
        return found, ["The networks come from the cache."]
    with Stopwatch() as spent:
        made = train()
    if path is not None:
        save(made, path)
    return made, [
        f"Training of the networks: {spent.wall:.0f} s, {spent.cpu:.0f} s of CPU, {threads()} threads; at most "
        f"{peak_memory() / 1000:.1f} GB so far."
    ]


def _with_network(
    setting: Setting,
    plain: FrameLabeler,
    encoder: Encoder,
    name: str,
    data: Sequence[FrameInput],
    networks: int = _NETWORKS,
) -> tuple[FrameLabeler, list[str]]:
    labeler = copy(plain).set_params(encoder=encoder, networks=networks)
    found, notes = _cached(setting, plain, f"{networks}-networks-{name}", lambda: labeler.fit_context(data))
    return found.set_params(encoder=encoder), notes


def _scored(labeler: FrameLabeler, data: Sequence[FrameInput], encoder: Encoder) -> _Scored:
    assert labeler.context_ is not None
    plain = copy(labeler)
    plain.context_ = None
    scored = plain.score_candidates(data)
    return _Scored(scored, list(labeler.context_.tables(scored.instances, labeler.lexicon_, encoder)))


def _labeled(
    corpus: FrameCorpus, labeler: FrameLabeler, scored: ScoredTargets, aim: dict[str, float], method: str = "exact"
) -> tuple[list[FrameSentence], list[int]]:
    """Decode; return the labeled sentences and the numbers of broken constraints."""
    results = decode_roles_batch(scored.problems(corpus.lexicon, **aim), method=method)
    broken = [sum(result.violations[kind] for result in results) for kind in ("overlap", "requires", "excludes")]
    return labeler.to_sentences(scored, results), broken


def _tuning(
    corpus: FrameCorpus, labeler: FrameLabeler, scored: _Scored, notes: list[str]
) -> tuple[Table, dict[str, _Chosen]]:
    """Choose the weight of the network, the offset of null and the threshold on the dev texts."""
    rows: list[tuple[float, ...]] = []
    for weight in _WEIGHTS:
        mixed = scored.mixed(weight)

        def best(name: str, values: Sequence[float], mixed: ScoredTargets = mixed) -> tuple[float, ...]:
            tried = []
            for value in values:
                labeled = _labeled(corpus, labeler, mixed, {name: value})[0]
                counts = evaluate_arguments(corpus.dev, labeled, corpus.lexicon, unannotated=False)
                tried.append((counts.f1, value, counts.precision, counts.recall))
            f1, value, precision, recall = max(tried)
            return value, 100 * precision, 100 * recall, 100 * f1

        offset, *_, likeliest = best("null_offset", _OFFSETS)
        rows.append((weight, offset, likeliest, *best("threshold", _THRESHOLDS)))
    most = max(rows, key=lambda row: row[-1])
    picked = {"log-linear model": rows[0], "network": rows[-1], "both": most}
    chosen = {name: _Chosen(row[0], row[1], row[3]) for name, row in picked.items()}
    both = chosen["both"]
    table = Table(
        "context-tuning",
        "Words in context on the dev texts (exact decoding, unannotated targets left out); the best offset for the "
        "likeliest assignment, and the best threshold for the best F1",
        ("weight of the network", "null offset", "F1 of the likeliest", "threshold", "P", "R", "F1"),
        rows,
        {"weight of the network": 1, "null offset": 1},
        [
            f"Chosen: weight {both.weight:g}, threshold {both.threshold:g}, offset {both.offset:+g}.",
            f"Networks: {_NETWORKS_OF_TUNING}.",
            *notes,
        ],
    )
    return table, chosen


def _test(
    setting: Setting,
    corpus: FrameCorpus,
    labeler: FrameLabeler,
    encoder: Encoder,
    chosen: dict[str, _Chosen],
    notes: list[str],
) -> Table:
    """Label the test texts by each model alone and by both."""
    with Stopwatch() as spent:
        scored = _scored(labeler, corpus.test, encoder)
    rows: list[tuple[Cell, ...]] = []
    found: dict[tuple[str, str, str], list[FrameSentence]] = {}
    for name, one in chosen.items():
        mixed = scored.mixed(one.weight)
        for aim, asked in one.aims().items():
            for method in ("local", "exact"):
                labeled, broken = _labeled(corpus, labeler, mixed, asked, method)
                found[name, aim, method] = labeled
                counts = [
                    evaluate_arguments(corpus.test, labeled, corpus.lexicon, unannotated=kept) for kept in (False, True)
                ]
                values = (100 * value for each in counts for value in (each.precision, each.recall, each.f1))
                rows.append((name, aim, method, *values, *broken))

    @cache
    def points(name: str, aim: str, method: str) -> NDArray[np.float64]:
        return _points(corpus, found[name, aim, method])

    def difference(title: str, second: tuple[str, str, str]) -> str:
        first = ("both", "best F1", "exact")
        result = paired_bootstrap(
            points(*first),
            points(*second),
            metric=lambda sums: 100 * Counts(*sums).f1,
            samples=_SAMPLES,
            random_state=setting.seed,
        )
        return (
            f"{title}: {result.difference:+.2f} F1 [{result.low:+.2f}, {result.high:+.2f}], p = {result.p_value:.4f}."
        )

    both = chosen["both"]
    return Table(
        "context",
        "Words in context, candidates in several pieces: unannotated targets left out (P R F1), and kept (P' R' F1')",
        ("model", "aim", "decoding", "P", "R", "F1", "P'", "R'", "F1'", "overlap", "requires", "excludes"),
        rows,
        notes=[
            f"Encoder {_ENCODER}, layers {', '.join(map(str, _LAYERS))}; the mean of {_NETWORKS} networks, their "
            f"weight {both.weight:g}, threshold {both.threshold:g}, offset of null {both.offset:+g}, all chosen on the "
            "dev texts.",
            difference("Both beside the log-linear model", ("log-linear model", "best F1", "exact")),
            difference("Both beside the network", ("network", "best F1", "exact")),
            difference("Exact beside local, both", ("both", "best F1", "local")),
            difference("Best F1 beside the likeliest, both", ("both", "likeliest", "exact")),
            f"Intervals and p: paired bootstrap over sentences, {_SAMPLES:,} samples, unannotated targets left out.",
            *notes,
            f"Features, states and scores of the test texts by both models: {spent.wall:.1f} s, {spent.cpu:.1f} s of "
            "CPU.",
        ],
    )


def _points(corpus: FrameCorpus, labeled: Sequence[FrameSentence]) -> NDArray[np.float64]:
    """Return correct, predicted and gold points of every sentence with targets."""
    each = (
        evaluate_arguments([one], [answer], corpus.lexicon, unannotated=False)
        for one, answer in zip(corpus.test, labeled, strict=True)
        if one.targets
    )
    return np.array([(one.correct, one.predicted, one.gold) for one in each])

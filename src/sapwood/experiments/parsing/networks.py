"""Span parsers: accuracy with and without an encoder, by length and label, calibration of probabilities, speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sapwood import settings
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.parsing.models import AVERAGES, MODELS, Models
from sapwood.experiments.parsing.treebanks import ARTICLES, SAMPLE, WEB, part, single_trees
from sapwood.experiments.result_cache import ResultCache
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.metrics import COLLINS, ParsevalSummary, parseval
from sapwood.parse import BllipParser, PCFGParser
from sapwood.parse.chart import spans_of
from sapwood.parse.spans.parser import SpanParser
from sapwood.trees.tree import Tree
from sapwood.words.encoder import Encoder

__all__ = ["RULES", "span_tables"]

# A parse that tags a word as punctuation is an error for evalb, which leaves the sentence out; here the gold tags say
# what is punctuation, and such sentences are counted.
RULES = replace(COLLINS, max_errors=10**9)
# By table: model, and the treebank whose test part it parses; each is scored once.
_TESTS: dict[str, tuple[tuple[str, str], ...]] = {
    "spans-web": (
        *((f"web-encoder-{seed}", WEB) for seed in range(3)),
        *((f"web-encoder-two-{seed}", WEB) for seed in (0, 2, 4)),
        ("web-encoder-three", WEB),
        ("web-plain", WEB),
        ("web-encoder-0", ARTICLES),
    ),
    "spans-articles": tuple(
        (model, treebank)
        for model in ("both-encoder", "both-encoder-1", "both-encoder-two", "both-plain")
        for treebank in (WEB, ARTICLES)
    ),
    "spans-sample": (("sample-encoder", SAMPLE), ("sample-plain", SAMPLE)),
}
_NAMES = {WEB: "web", ARTICLES: "articles", SAMPLE: "sample"}
_LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 200))
_LABELS = 20
_BINS = 10
_SHOWN = ("web-encoder-0", "web-plain")
_SPEED_SENTENCES, _MANY_SENTENCES = 400, 1000
_CHART_ROUNDS = 50


@dataclass(frozen=True)
class _Work:
    """What all tables share."""

    setting: Setting
    models: Models
    cache: ResultCache

    def gold(self, treebank: str, name: str = "test") -> list[Tree]:
        return single_trees(part(self.setting, treebank, name))

    def parses(
        self, model: str, treebank: str, name: str = "test", tree: str = "minimum-risk"
    ) -> tuple[list[Tree], list[Tree]]:
        """Return gold trees and what a model makes of their words."""
        gold = self.gold(treebank, name)
        return gold, self.models.parse(model, [tree.leaves() for tree in gold], tree)


def span_tables(setting: Setting) -> Iterator[Table]:
    """Yield the tables of span parsers that are wanted and whose treebanks are there."""
    wanted: dict[str, Callable[[_Work], Table | None]] = {
        **{name: partial(_accuracy, name=name) for name in _TESTS},
        "spans-share": _shares,
        "spans-length": _by_length,
        "spans-label": _by_label,
        "spans-calibration": _calibration,
        "spans-speed": _speed,
        "spans-two": _speed_of_two,
    }
    if setting.find(WEB) is None or not setting.wants(*wanted):
        return
    models = Models(setting)
    encoder = None if models.encoder is None else str(models.encoder.spec)
    work = _Work(setting, models, ResultCache(setting, "parsing-spans", repr(MODELS), encoder))
    for name, make in wanted.items():
        if setting.wants(name) and (table := make(work)) is not None:
            yield table


def _parse(parser: Any, words: Sequence[Sequence[str]]) -> list[Tree]:
    return single_trees(parser.parse_batch(words))


def _accuracy(work: _Work, name: str) -> Table | None:
    rows: list[Sequence[Cell]] = []
    seeds: dict[int, list[list[float]]] = {}
    for model, treebank in _TESTS[name]:
        if not work.models.available(model) or work.setting.find(treebank) is None:
            continue
        one, best = (
            parseval(*work.parses(model, treebank, tree=tree), rules=RULES).overall for tree in ("minimum-risk", "best")
        )
        members = AVERAGES.get(model, (model,))
        recipe = MODELS[members[0]]
        measured = (one.f1, one.precision, one.recall, one.complete_match, one.tagging, best.f1, best.complete_match)
        figures = [100 * value for value in measured]
        row = [recipe.data, "MiniLM" if recipe.encoder else "none", len(members)]
        rows.append([*row, f"seed {recipe.seed}", _NAMES[treebank], *figures, one.retagged])
        if recipe.treebanks == (WEB,) and recipe.encoder and treebank == WEB:
            alike = seeds.setdefault(len(members), [])
            alike.append(figures)
            if len(alike) == 3:
                rows.append([*row, "mean of 3", "web", *np.mean(alike, axis=0).tolist(), None])
    if not rows:
        return None
    columns = (
        "learnt from", "encoder", "networks", "run", "test", "F1", "precision", "recall", "complete", "tags",
        "F1, best tree", "complete, best tree", "retagged",
    )  # fmt: skip
    sizes = {treebank: len(work.gold(treebank)) for treebank in dict.fromkeys(one for _, one in _TESTS[name])
             if work.setting.find(treebank) is not None}  # fmt: skip
    notes = [
        "Parsed from words alone, with the precision that runs (int8 encoder); PARSEVAL with COLLINS.prm, punctuation "
        "by the gold tags. Retagged: sentences that evalb would leave out, because the parser calls other words "
        "punctuation. Best tree: the most probable one, in place of that with the fewest expected errors. "
        "Of several networks, which have seeds in a row from that of the run on, the mean of the scores counts.",
        "Test sentences: " + ", ".join(f"{_NAMES[treebank]} {count:,}" for treebank, count in sizes.items()) + ".",
    ]
    learnt = {
        "spans-web": "the web treebank",
        "spans-articles": "web treebank and articles",
        "spans-sample": "the sample",
    }
    title = f"Span parsers learnt from {learnt[name]}, from words alone"
    return Table(name, title, columns, rows, {"complete": 1, "tags": 1, "complete, best tree": 1}, notes)


def _shares(work: _Work) -> Table | None:
    rows: list[Sequence[Cell]] = []
    total = len(work.gold(WEB, "train"))
    for name in ("web-encoder-share-8", "web-encoder-share-4", "web-encoder-0"):
        if work.models.available(name):
            summary = parseval(*work.parses(name, WEB, "dev"), rules=RULES).overall
            rows.append([-(-total // MODELS[name].share), 100 * summary.f1, 100 * summary.tagging])
    title = "Learning curve with the encoder: English Web Treebank, development data"
    return Table("spans-share", title, ("trees learnt", "F1", "tags"), rows, {"tags": 1}) if rows else None


def _shown(work: _Work) -> list[str]:
    return [model for model in _SHOWN if work.models.available(model)]


def _by_length(work: _Work) -> Table | None:
    models = _shown(work)
    scores = {model: parseval(*work.parses(model, WEB), rules=RULES).sentences for model in models}
    rows: list[Sequence[Cell]] = []
    for first, last in _LENGTHS:
        some = {model: [one for one in scores[model] if first <= one.length <= last] for model in models}
        count = len(some[models[0]])
        if count:
            rows.append([f"{first}-{last}", count, *(100 * ParsevalSummary.of(some[model]).f1 for model in models)])
    columns = ("words", "sentences", *(f"F1, {_title(model)}" for model in models))
    return Table("spans-length", "English Web Treebank test, by length", columns, rows)


def _by_label(work: _Work) -> Table | None:
    models = _shown(work)
    counts: dict[str, dict[str, list[int]]] = {model: {} for model in models}
    for model in models:
        for gold, found in zip(*work.parses(model, WEB), strict=True):
            right, wanted = Counter(spans_of(gold)), Counter(spans_of(found))
            for place, spans in enumerate((right, wanted, right & wanted)):
                for (_, _, label), number in spans.items():
                    counts[model].setdefault(label, [0, 0, 0])[place] += number
    first = counts[models[0]]
    rows: list[Sequence[Cell]] = []
    for label in sorted(first, key=lambda name: -first[name][0])[:_LABELS]:
        if label in RULES.delete_labels or not first[label][0]:
            continue
        figures = [
            200 * right / (gold + found) for gold, found, right in (counts[m].get(label, [1, 0, 0]) for m in models)
        ]
        rows.append([label, first[label][0], *figures])
    columns = ("label", "in gold trees", *(f"F1, {_title(model)}" for model in models))
    notes = ["Punctuation counts here: a constituent must have the same words, commas and all."]
    return Table("spans-label", "English Web Treebank test, by label", columns, rows, notes=notes)


def _title(model: str) -> str:
    return "MiniLM" if MODELS[model].encoder else "no encoder"


def _calibration(work: _Work) -> Table | None:
    """Compare the probabilities of constituents with how often they are right."""
    rows: list[Sequence[Cell]] = []
    notes: list[str] = []
    tables = {model: work.cache(f"calibration {model}", partial(_bins, work, model)) for model in _shown(work)}
    for at in range(_BINS):
        row: list[Cell] = [f"{10 * at}-{10 * at + 10} %"]
        for bins in tables.values():
            count, said, right = bins[at]
            row += [count, 100 * said / count if count else None, 100 * right / count if count else None]
        rows.append(row)
    for model, bins in tables.items():
        total = sum(count for count, _, _ in bins)
        error = sum(abs(said - right) for _, said, right in bins) / total
        notes.append(f"{_title(model)}: expected calibration error {100 * error:.2f} % over {total:,} constituents.")
    notes.append(
        "All constituents that the chart gives at least 1 %, whether or not they are in the best tree; right: in the "
        "gold tree."
    )
    heads = [f"{what}, {_title(model)}" for model in tables for what in ("constituents", "said %", "right %")]
    title = "How often a constituent of a given probability is right: English Web Treebank test"
    return Table("spans-calibration", title, ("probability", *heads), rows, {name: 1 for name in heads}, notes)


def _bins(work: _Work, model: str) -> list[list[float]]:
    gold = work.gold(WEB)
    bins = [[0, 0.0, 0] for _ in range(_BINS)]
    for tree, chart in zip(gold, work.models[model].charts(tree.leaves() for tree in gold), strict=True):
        correct = set(spans_of(tree))
        for one in chart.constituents(0.01):
            place = bins[min(_BINS - 1, int(one.probability * _BINS))]
            place[0] += 1
            place[1] += one.probability
            place[2] += (one.begin, one.end, one.label) in correct
    return bins


def _speed(work: _Work) -> Table | None:
    parsers: dict[str, Any] = {"PCFGParser": PCFGParser().fit(part(work.setting, WEB, "train"))}
    for model in _shown(work):
        parsers[f"SpanParser, {_title(model)}"] = _without_cache(work.models[model])
    if (bllip := _bllip(work.setting)) is not None:
        parsers["BLLIP, first stage"] = bllip
    return _speeds(work, "spans-speed", "Speed, one core: English Web Treebank", parsers)


def _speed_of_two(work: _Work) -> Table | None:
    names = {"one network": "web-encoder-0", "two networks": "web-encoder-two-0"}
    if not all(map(work.models.available, names.values())):
        return None
    parsers = {f"SpanParser, MiniLM, {name}": _without_cache(work.models[model]) for name, model in names.items()}
    return _speeds(work, "spans-two", "Speed of one network and of two, one core: English Web Treebank", parsers)


def _speeds(work: _Work, name: str, title: str, parsers: dict[str, Any]) -> Table:
    """Measure on one thread, a part of the sentences by each parser in turn, so that all see the same machine."""
    everything = [tree.leaves() for tree in work.gold(WEB, "dev")]
    words, many = (
        everything[:: max(1, len(everything) // count)][:count] for count in (_SPEED_SENTENCES, _MANY_SENTENCES)
    )
    spent: dict[str, list[float]] = {parser: [] for parser in parsers}
    with settings.options(threads=1, progress=False):
        for parser in parsers.values():
            _parse(parser, words[:5])
        for at in range(0, len(words), 50):
            for one, parser in parsers.items():
                with Stopwatch() as watch:
                    _parse(parser, words[at : at + 50])
                spent[one].append(watch.cpu)
    rows: list[Sequence[Cell]] = []
    for one, times in spent.items():
        parser = parsers[one]
        chart = _chart_time(parser, words) if isinstance(parser, SpanParser) else None
        rows.append([one, len(words) / sum(times), 1000 * sum(times) / len(words), chart, _two_cores(parser, many)])
    columns = ("parser", "sentences per s", "ms each", "chart alone, 24 words, ms", "two threads, times as fast")
    notes = [
        f"{len(words)} development sentences of {np.mean([len(one) for one in words]):.1f} words; one thread, CPU "
        f"time. Two threads: {len(many):,} sentences, by the clock."
    ]
    return Table(name, title, columns, rows, {"sentences per s": 0}, notes)


def _without_cache(parser: SpanParser) -> SpanParser:
    """Return the parser with an encoder that keeps no vectors: what it takes to parse text that is new."""
    if parser.encoder is None:
        return parser
    given = parser.encoder
    fresh = copy(parser)
    fresh.encoder = Encoder(given.source, layers=given.layers, pieces=given.pieces, precision=given.precision)
    return fresh


def _bllip(setting: Setting) -> BllipParser | None:
    """Return BLLIP, if its package and an unpacked model are there."""
    for folder in setting.folders():
        if (model := Path(folder) / "bllip-model" / "all").is_dir() and find_spec("bllipparser") is not None:
            return BllipParser(model)
    return None


def _two_cores(parser: Any, words: Sequence[Sequence[str]]) -> float | None:
    """Return how much faster two threads are than one, by the clock, the better of two rounds each."""
    if isinstance(parser, BllipParser):
        return None  # one thread at a time
    best = {1: np.inf, 2: np.inf}
    for threads in (1, 2, 1, 2):
        with settings.options(threads=threads, progress=False), Stopwatch() as spent:
            _parse(parser, words)
        best[threads] = min(best[threads], spent.wall)
    return best[1] / best[2]


def _chart_time(parser: SpanParser, words: Sequence[Sequence[str]]) -> float:
    """Return the milliseconds from scores to the best tree, for 24 words."""
    chart = parser.chart([word for one in words for word in one][:24])
    with Stopwatch() as spent:
        for _ in range(_CHART_ROUNDS):
            chart.best()
    return 1000 * spent.cpu / _CHART_ROUNDS

"""Flat features and composites on the web treebank: what is tuned on development data, and what all data gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.experiments.measuring import Stopwatch, compare_errors, percent
from sapwood.experiments.result_cache import ResultCache
from sapwood.experiments.roles.data import CORPORA, all_arguments, grammar_of, sample_arguments
from sapwood.experiments.roles.kernels import Comparison
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import RoleClassifier, default_c
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.feature_sets import describe
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.words.senses import WordSenses

__all__ = ["all_data", "linear_time", "tuned"]

TUNED = 10_000
LINEAR = 20_000
SETS = ("basic", "full", "rich")
COMPOSITES = ("composite", "composite verb tags")
CS = (2.4, 5.0, 10.0)
GAMMAS = (0.05, 0.1, 0.2, 0.3)
GAMMAS_OF_ALL = (0.1, 0.2)
MEMORY_LIMIT = 9000.0  # megabytes for tables and rows; parses and features come on top


@dataclass(frozen=True)
class _Choice:
    """What development data has chosen for a set of features."""

    C: float
    composite: str
    gamma: float


def _choose(comparison: Comparison, features: str) -> dict[str, Any]:
    """Choose one thing at a time, C first, as the paper tunes."""
    best = max(CS, key=lambda C: percent(comparison.right("flat", C=C, features=features)))
    tried = [(name, gamma) for name in COMPOSITES for gamma in GAMMAS]
    accuracies = [percent(comparison.right(name, C=best, features=features, gamma=gamma)) for name, gamma in tried]
    composite, gamma = tried[int(np.argmax(accuracies))]
    return asdict(_Choice(best, composite, gamma))


def _choices(setting: Setting, name: str) -> dict[str, _Choice]:
    """Tune each set of features, or take what an earlier run has chosen from the cache."""
    train, dev = (sample_arguments(setting, name, part, TUNED) for part in ("train", "dev"))
    comparison = Comparison(train, dev, grammar_of(setting, name))
    sets: tuple[str, ...] = SETS
    try:
        WordSenses()
    except DataError:
        sets = tuple(one for one in SETS if one != "rich")
    cache = ResultCache(setting, "roles", setting.seed, CS, COMPOSITES, GAMMAS, train.labels, dev.labels)
    return {features: _Choice(**cache(features, _choose, comparison, features)) for features in sets}


def tuned(setting: Setting, name: str) -> Table:
    """Show flat features and composites side by side, mixture and C tuned on development data."""
    chosen = _choices(setting, name)
    train, test = (sample_arguments(setting, name, part, TUNED) for part in ("train", "test"))
    comparison = Comparison(train, test, grammar_of(setting, name))
    rows: list[tuple[Cell, ...]] = []
    for features, one in chosen.items():
        alone = comparison.right("flat", C=one.C, features=features)
        both = comparison.right(one.composite, C=one.C, features=features, gamma=one.gamma)
        rows.append((f"{features}, flat", percent(alone), None, one.C, *[None] * 4))
        rows.append((f"{features}, {one.composite}", percent(both), one.gamma, one.C, *compare_errors(alone, both)))
    return Table(
        "features",
        f"Flat features and composites on {len(test):,} arguments, trained on {len(train):,}: {CORPORA[name]}",
        ("features", "accuracy", "γ", "C", "error − flat %", "p", "χ²", "p of χ²"),
        rows,
        {"p": 4, "C": 1, "p of χ²": 4},
        notes=[
            "C, kind of trees and γ chosen on development data; p: McNemar, composite against flat.",
            "rich needs WordNet, and is left out where there is none.",
        ],
    )


def all_data(setting: Setting, name: str) -> Iterator[Table]:
    """Train exact kernels on all training arguments; the table grows by one set of features."""
    chosen = _choices(setting, name)
    train, dev, test = (all_arguments(setting, name, part) for part in ("train", "dev", "test"))
    rows: list[tuple[Cell, ...]] = []
    for features, one in reversed(chosen.items()):
        flat = _judge("flat", 0.0, features, train, dev, test)
        rows.append((f"{features}, flat", flat.dev, percent(flat.right), None, *[None] * 4, flat.wall, flat.cpu))
        tried = [_judge(one.composite, gamma, features, train, dev, test) for gamma in GAMMAS_OF_ALL]
        best = max(tried, key=lambda each: each.dev)
        for gamma, each in zip(GAMMAS_OF_ALL, tried, strict=True):
            # What development data has not chosen is not asked about test data.
            shown = (
                [percent(each.right), gamma, *compare_errors(flat.right, each.right)]
                if each is best
                else [None, gamma, *[None] * 4]
            )
            rows.append((f"{features}, {one.composite}, γ = {gamma:g}", each.dev, *shown, each.wall, each.cpu))
        yield Table(
            "all-data",
            f"All {len(train):,} training arguments, {len(test):,} test arguments: {CORPORA[name]}",
            ("kernel", "dev", "accuracy", "γ", "error − flat %", "p", "χ²", "p of χ²", "seconds", "CPU s"),
            list(rows),
            {"p": 4, "p of χ²": 4, "seconds": 0, "CPU s": 0},
            notes=[
                f"Kind of trees chosen on development data with {TUNED:,} training arguments, γ with all; "
                f"C = {default_c('flat'):g}; p: McNemar, composite against flat."
            ],
        )


@dataclass(frozen=True)
class _Judgement:
    """Accuracy on development data of a kernel trained on all arguments, what it gets right in the test, its cost."""

    dev: float
    right: NDArray[np.bool_]
    wall: float
    cpu: float


def _judge(
    kernel: str, gamma: float, features: str, train: RoleArguments, dev: RoleArguments, test: RoleArguments
) -> _Judgement:
    classifier = RoleClassifier(kernel, gamma=gamma, features=features, svm_params={"memory_limit": MEMORY_LIMIT})
    with Stopwatch() as spent:
        classifier.fit(train)
    on_dev, right = (classifier.predict(part) == part.labels for part in (dev, test))
    return _Judgement(percent(on_dev), right, spent.wall, spent.cpu)


def linear_time(setting: Setting, name: str) -> Table:
    """Show the linear-time variants beside the exact kernels, on the same arguments."""
    whole, test = (all_arguments(setting, name, part) for part in ("train", "test"))
    rows: list[tuple[Cell, ...]] = []
    for size in (LINEAR, len(whole)):
        train = whole.sample(size, setting.seed)
        for label, features, fragments in (
            ("flat", "full", None),
            ("flat and conjunctions", "linear", None),
            ("flat, conjunctions and fragments", "linear", {"path+siblings": 4.0, "constituent": 4.0}),
        ):
            with Stopwatch() as training:
                encoder = Encoder(features, fragments=fragments, max_fragments=20_000)
                values = [describe(*one, features) for one in train.candidates]
                model = LinearRoles(encoder).fit(train.candidates, train.labels.tolist(), values)
            with Stopwatch() as asking:
                margins = model.margins(test.candidates)
            right = np.array(model.classes)[margins.argmax(axis=1)] == test.labels
            rows.append((label, len(train), percent(right), training.cpu, round(len(test) / asking.cpu)))
    return Table(
        "linear",
        f"Linear-time classification of {len(test):,} given arguments: {CORPORA[name]}",
        ("features", "trained on", "accuracy", "training CPU s", "arguments per CPU s"),
        rows,
        {"training CPU s": 1},
    )

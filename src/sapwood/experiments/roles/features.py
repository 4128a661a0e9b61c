"""Flat features and composites on the web treebank: what is tuned on development data, and what all data gives."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.experiments.roles.data import CORPORA, all_arguments, grammar_of, sample_arguments
from sapwood.experiments.roles.kernels import compared
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.learn import KernelSVC
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import RoleClassifier, default_c, role_kernel, views_of
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.feature_sets import describe
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.trees import Grammar
from sapwood.words.senses import WordSenses
from sapwood.writing import atomic_write

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
    accuracy: float  # of that composite


def _right(
    train: RoleArguments,
    other: RoleArguments,
    grammar: Grammar,
    features: str,
    C: float,
    kernel: str = "flat",
    gamma: float = 0.0,
) -> NDArray[np.bool_]:
    """Return which of the other arguments get their role from a named kernel."""
    known, asked = (one.examples(views_of(kernel), features=features) for one in (train, other))
    svm = KernelSVC(role_kernel(kernel, grammar, gamma=gamma), C=C).fit(known, train.labels)
    return np.asarray(svm.predict(asked) == other.labels)


def _choose(train: RoleArguments, dev: RoleArguments, grammar: Grammar, features: str) -> _Choice:
    """Choose one thing at a time, C first, as the paper tunes."""
    best = max(CS, key=lambda C: _right(train, dev, grammar, features, C).mean())
    found = [
        _Choice(best, name, gamma, 100 * float(_right(train, dev, grammar, features, best, name, gamma).mean()))
        for name in COMPOSITES
        for gamma in GAMMAS
    ]
    return max(found, key=lambda one: one.accuracy)


def tuned(setting: Setting, name: str) -> Table:
    """Show flat features and composites side by side, mixture and C tuned on development data."""
    grammar = grammar_of(setting, name)
    chosen = _choices(setting, name, grammar)
    train, test = (sample_arguments(setting, name, part, TUNED) for part in ("train", "test"))
    rows: list[tuple[Cell, ...]] = []
    for features, one in chosen.items():
        alone = _right(train, test, grammar, features, one.C)
        both = _right(train, test, grammar, features, one.C, one.composite, one.gamma)
        rows.append((f"{features}, flat", 100 * float(alone.mean()), None, one.C, *[None] * 4))
        shown = f"{features}, {one.composite}"
        rows.append((shown, 100 * float(both.mean()), one.gamma, one.C, *compared(alone, both)))
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


def _choices(setting: Setting, name: str, grammar: Grammar) -> dict[str, _Choice]:
    """Tune each set of features, or take what an earlier run has chosen from the cache."""
    kept = None if setting.cache is None else setting.cache / f"roles-{name}-{TUNED}-{setting.seed}.json"
    if kept is not None and kept.exists():
        return {features: _Choice(**one) for features, one in json.loads(kept.read_text()).items()}
    train, dev = (sample_arguments(setting, name, part, TUNED) for part in ("train", "dev"))
    sets: tuple[str, ...] = SETS
    try:
        WordSenses()
    except DataError:
        sets = tuple(one for one in SETS if one != "rich")
    chosen = {features: _choose(train, dev, grammar, features) for features in sets}
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(kept, json.dumps({features: asdict(one) for features, one in chosen.items()}).encode())
    return chosen


def all_data(setting: Setting, name: str) -> Iterator[Table]:
    """Train exact kernels on all training arguments; the table grows by one set of features."""
    chosen = _choices(setting, name, grammar_of(setting, name))
    train, dev, test = (all_arguments(setting, name, part) for part in ("train", "dev", "test"))
    rows: list[tuple[Cell, ...]] = []
    for features, one in reversed(chosen.items()):
        flat = _judge("flat", 0.0, features, train, dev, test)
        rows.append((f"{features}, flat", flat.dev, flat.test, None, *[None] * 4, flat.wall, flat.cpu))
        tried = [_judge(one.composite, gamma, features, train, dev, test) for gamma in GAMMAS_OF_ALL]
        best = max(tried, key=lambda each: each.dev)
        for gamma, each in zip(GAMMAS_OF_ALL, tried, strict=True):
            # What development data has not chosen is not asked about test data.
            shown = (
                [each.test, gamma, *compared(flat.right, each.right)] if each is best else [None, gamma, *[None] * 4]
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
    """What a kernel trained on all arguments gets right, in per cent and one by one, and what it took."""

    dev: float
    test: float
    right: NDArray[np.bool_]
    wall: float
    cpu: float


def _judge(
    kernel: str, gamma: float, features: str, train: RoleArguments, dev: RoleArguments, test: RoleArguments
) -> _Judgement:
    start, clock = time.process_time(), time.perf_counter()
    classifier = RoleClassifier(kernel, gamma=gamma, features=features, svm_params={"memory_limit": MEMORY_LIMIT}).fit(
        train
    )
    wall, cpu = time.perf_counter() - clock, time.process_time() - start
    on_dev, right = (classifier.predict(part) == part.labels for part in (dev, test))
    return _Judgement(100 * float(on_dev.mean()), 100 * float(right.mean()), right, wall, cpu)


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
            start = time.process_time()
            encoder = Encoder(features, fragments=fragments, max_fragments=20_000)
            values = [describe(*one, features) for one in train.candidates]
            model = LinearRoles(encoder).fit(train.candidates, train.labels.tolist(), values)
            trained = time.process_time() - start
            start = time.process_time()
            margins = model.margins(test.candidates)
            speed = len(test) / (time.process_time() - start)
            accuracy = float(np.mean(np.array(model.classes)[margins.argmax(axis=1)] == test.labels))
            rows.append((label, len(train), 100 * accuracy, trained, round(speed)))
    return Table(
        "linear",
        f"Linear-time classification of {len(test):,} given arguments: {CORPORA[name]}",
        ("features", "trained on", "accuracy", "training CPU s", "arguments per CPU s"),
        rows,
        {"training CPU s": 1},
    )

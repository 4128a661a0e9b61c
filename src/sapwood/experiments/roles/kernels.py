"""Accuracy on given arguments, kernel by kernel, role by role, and by the number of training arguments."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.draw import Series, line_chart
from sapwood.experiments.roles.data import CORPORA, grammar_of, sample_arguments
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels.base import Kernel
from sapwood.learn import KernelSVC
from sapwood.metrics import chi_squared, mcnemar, score_labels
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import ROLE_KERNELS, default_c, role_kernel, views_of
from sapwood.trees import Examples

__all__ = ["Judged", "compare_kernels", "compared", "learning_curve", "per_role"]

TREES = ("truncated", "plain", "nodes", "substructures", "both", "verb tags", "paf", "partial")
TRAIN, TEST = 20_000, 6_000
CURVE = (1_250, 2_500, 5_000, 10_000, 20_000, 40_000)

Right = NDArray[np.bool_]


class Judged:
    """Training and test arguments whose views are made once, and judged by one kernel after the other."""

    def __init__(self, train: RoleArguments, test: RoleArguments) -> None:
        self.train, self.test = train, test
        self._views: dict[tuple[str, str], tuple[Any, Any]] = {}

    def view(self, name: str, features: str = "full") -> tuple[Any, Any]:
        """Return a view of training and of test arguments."""
        key = (name, features if name == "flat" else "")
        if key not in self._views:
            sides = (self.train, self.test)
            train, test = (side.examples([name], features=features)[name] for side in sides)
            self._views[key] = train, test
        return self._views[key]

    def predict(self, kernel: Kernel, views: list[str], C: float, features: str = "full") -> NDArray[Any]:
        """Train on the training arguments, and return what is predicted for the test arguments."""
        known, asked = (Examples(**{view: self.view(view, features)[side] for view in views}) for side in (0, 1))
        return KernelSVC(kernel, C=C).fit(known, self.train.labels).predict(asked)


def compare_kernels(setting: Setting, name: str) -> Iterator[Table]:
    """Make Table 2 again, with its rivals, and the roles one by one."""
    judged = Judged(sample_arguments(setting, name, "train", TRAIN), sample_arguments(setting, name, "test", TEST))
    test, grammar = judged.test, grammar_of(setting, name)
    right: dict[str, Right] = {}
    guesses: dict[str, NDArray[Any]] = {}
    rows: list[tuple[Cell, ...]] = []
    # Without words, flat features are little more than the tree again.
    names = [*TREES, "flat", "composite"] if name != "conll05" else list(TREES)
    for kernel in names:
        start = time.process_time()
        guesses[kernel] = judged.predict(role_kernel(kernel, grammar), views_of(kernel), default_c(kernel))
        right[kernel] = guesses[kernel] == test.labels
        seconds = time.process_time() - start
        rows.append((kernel, 100 * float(right[kernel].mean()), *_against(right, kernel), seconds))
    yield Table(
        f"kernels {name}",
        f"Accuracy on {len(test):,} given arguments, trained on {len(judged.train):,}: {CORPORA[name]}",
        (
            "kernel",
            "accuracy",
            *("error − plain %", "p", "χ²", "p of χ²"),
            *("error − truncated %", "p ", "χ² ", "p of χ² "),
            "CPU s",
        ),
        rows,
        {"p": 4, "p ": 4, "χ²": 2, "χ² ": 2, "p of χ²": 4, "p of χ² ": 4, "CPU s": 1},
        notes=[
            "error − plain: how much of the error of 'plain' goes away; p: McNemar against it, argument by argument; "
            "χ²: of the two counts of right and wrong, as the paper tests.",
            *(f"{kernel}: {what}" for kernel, what in ROLE_KERNELS.items() if kernel in names),
        ],
    )
    best = max(right, key=lambda kernel: float(right[kernel].mean()))
    yield per_role(name, test.labels, {"plain": guesses["plain"], best: guesses[best]})


def _against(right: dict[str, Right], kernel: str) -> list[Cell]:
    cells: list[Cell] = []
    for base in ("plain", "truncated"):
        none = base not in right or base == kernel
        cells += [None] * 4 if none else compared(right[base], right[kernel])
    return cells


def compared(base: Right, other: Right) -> list[Cell]:
    """Return how much of the error goes away in per cent, p by McNemar, and χ² of the counts with its p."""
    before, after = 1 - float(base.mean()), 1 - float(other.mean())
    gone = 100 * (before - after) / before if before else None
    cells: list[Cell] = [gone, mcnemar(base, other).p_value]
    counts = np.array([[one.sum(), (~one).sum()] for one in (base, other)])
    if not counts.sum(axis=0).all():
        return [*cells, None, None]  # all right or all wrong: there is nothing to test
    squared = chi_squared(counts)
    return [*cells, squared.statistic, squared.p_value]


def per_role(name: str, labels: NDArray[Any], guesses: dict[str, NDArray[Any]]) -> Table:
    """Make a table of F1 per role, the most frequent ones first."""
    scores = {kernel: score_labels(labels.tolist(), guess.tolist()).classes for kernel, guess in guesses.items()}
    counts = {role: int((labels == role).sum()) for role in sorted(set(labels.tolist()))}
    roles = sorted(counts, key=lambda role: -counts[role])[:25]
    return Table(
        f"roles {name}",
        f"F1 per role, {CORPORA[name]}",
        ("role", "arguments", *scores),
        [
            (role, counts[role], *(100 * found[role].f1 if role in found else 0.0 for found in scores.values()))
            for role in roles
        ],
    )


def learning_curve(setting: Setting, name: str) -> Table:
    """Show how accuracy grows with training arguments, for trees and flat features."""
    most = sample_arguments(setting, name, "train", CURVE[-1])
    test = sample_arguments(setting, name, "test", TEST)
    grammar = grammar_of(setting, name)
    kernels = ["plain", "both", *(["flat", "composite"] if name != "conll05" else [])]
    sizes: list[int] = []
    found: dict[str, list[float]] = {kernel: [] for kernel in kernels}
    for size in CURVE:
        judged = Judged(most.sample(size, setting.seed), test)
        sizes.append(len(judged.train))
        for kernel in kernels:
            guess = judged.predict(role_kernel(kernel, grammar), views_of(kernel), default_c(kernel))
            found[kernel].append(100 * float((guess == test.labels).mean()))
        if size >= len(most):
            break
    title = f"Accuracy on {len(test):,} given arguments by the number of training arguments: {CORPORA[name]}"
    lines = [Series(kernel, sizes, shares) for kernel, shares in found.items()]
    rows = list(zip(sizes, *found.values(), strict=True))
    chart = line_chart(title, lines, x_label="training arguments", y_label="accuracy, %", x_log=True)
    return Table(f"curve {name}", title, ("arguments", *kernels), rows, chart=chart)

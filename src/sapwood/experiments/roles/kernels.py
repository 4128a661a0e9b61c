"""Accuracy on given arguments, kernel by kernel, role by role, and by the number of training arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.experiments.figures import plot_lines
from sapwood.experiments.measuring import Stopwatch, compare_errors, percent
from sapwood.experiments.roles.data import CORPORA, grammar_of, sample_arguments
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.learn import KernelSVC
from sapwood.metrics import score_labels
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import ROLE_KERNELS, default_c, role_kernel, views_of
from sapwood.trees import Examples, Grammar

__all__ = ["Comparison", "compare_kernels", "learning_curve"]

TREES = ("truncated", "plain", "nodes", "substructures", "both", "verb tags", "paf", "partial")
TRAIN, TEST = 20_000, 6_000
CURVE = (1_250, 2_500, 5_000, 10_000, 20_000, 40_000)


class Comparison:
    """Training and other arguments whose views are made once, classified by one named kernel after the other."""

    def __init__(self, train: RoleArguments, other: RoleArguments, grammar: Grammar) -> None:
        self.train, self.other, self.grammar = train, other, grammar
        self._views: dict[tuple[str, str], list[Any]] = {}

    def predict(
        self, kernel: str, *, C: float | None = None, features: str = "full", gamma: float = 0.1
    ) -> NDArray[Any]:
        """Train on the training arguments, and return the roles of the others."""
        views = {view: self._view(view, features) for view in views_of(kernel)}
        known, asked = (Examples(**{view: sides[at] for view, sides in views.items()}) for at in (0, 1))
        svm = KernelSVC(role_kernel(kernel, self.grammar, gamma=gamma), C=default_c(kernel) if C is None else C)
        return svm.fit(known, self.train.labels).predict(asked)

    def right(self, kernel: str, **options: Any) -> NDArray[np.bool_]:
        """Return which of the others get their role; options as for ``predict``."""
        return np.asarray(self.predict(kernel, **options) == self.other.labels)

    def _view(self, name: str, features: str) -> list[Any]:
        key = (name, features if name == "flat" else "")
        if key not in self._views:
            self._views[key] = [side.examples([name], features=features)[name] for side in (self.train, self.other)]
        return self._views[key]


def compare_kernels(setting: Setting, name: str) -> Iterator[Table]:
    """Make Table 2 again, with its rivals, and the roles one by one."""
    train, test = (sample_arguments(setting, name, part, about) for part, about in (("train", TRAIN), ("test", TEST)))
    comparison = Comparison(train, test, grammar_of(setting, name))
    guesses: dict[str, NDArray[Any]] = {}
    rows: list[tuple[Cell, ...]] = []
    # Without words, flat features are little more than the tree again.
    names = [*TREES, "flat", "composite"] if name != "conll05" else list(TREES)
    for kernel in names:
        with Stopwatch() as spent:
            guesses[kernel] = comparison.predict(kernel)
        right = {known: guess == test.labels for known, guess in guesses.items()}
        against = [
            cell
            for base in ("plain", "truncated")
            for cell in (compare_errors(right[base], right[kernel]) if base in right and base != kernel else [None] * 4)
        ]
        rows.append((kernel, percent(right[kernel]), *against, spent.cpu))
    yield Table(
        f"kernels {name}",
        f"Accuracy on {len(test):,} given arguments, trained on {len(train):,}: {CORPORA[name]}",
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
            "error − plain: relative error reduction over 'plain'; p: McNemar against it, argument by argument; "
            "χ²: of the two counts of right and wrong, as the paper tests.",
            *(f"{kernel}: {what}" for kernel, what in ROLE_KERNELS.items() if kernel in names),
        ],
    )
    best = max(right, key=lambda kernel: percent(right[kernel]))
    yield _per_role(name, test.labels, {"plain": guesses["plain"], best: guesses[best]})


def _per_role(name: str, labels: NDArray[Any], guesses: dict[str, NDArray[Any]]) -> Table:
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
        comparison = Comparison(most.sample(size, setting.seed), test, grammar)
        sizes.append(len(comparison.train))
        for kernel in kernels:
            found[kernel].append(percent(comparison.right(kernel)))
        if size >= len(most):
            break
    title = f"Accuracy on {len(test):,} given arguments by the number of training arguments: {CORPORA[name]}"
    rows = list(zip(sizes, *found.values(), strict=True))
    chart = plot_lines(title, sizes, found, x_label="training arguments", y_label="accuracy, %")
    return Table(f"curve {name}", title, ("arguments", *kernels), rows, chart=chart)

"""How rows are scored: ridge regression in closed form, margins of an SVM on a Gram matrix, intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.experiments.measuring import percent
from sapwood.experiments.questions.data import QuestionData
from sapwood.experiments.tables import Cell
from sapwood.learn import KernelSVC
from sapwood.metrics import paired_bootstrap
from sapwood.tasks.questions.tuning import Folds, ridge_predictions

__all__ = ["COST", "margins_of", "ridge_accuracy", "with_interval"]

COST = 10.0
"""C of the SVM, in all rows."""
_RIDGE = 0.05


def margins_of(svm: KernelSVC, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the margins of examples by their Gram rows."""
    return np.asarray(rows[:, svm.support_].astype(np.float64) @ svm.dual_coef_ + svm.intercept_)


def ridge_accuracy(K: Any, data: QuestionData, folds: Folds) -> tuple[float, float]:
    """Return the accuracies on both sets of classes by one closed-form cross-validation."""
    names, targets = zip(*(np.unique(data.labels(fine), return_inverse=True) for fine in (False, True)), strict=True)
    sides = [np.where(np.arange(len(n)) == t[:, None], 1.0, -1.0) for n, t in zip(names, targets, strict=True)]
    predicted = ridge_predictions(K, np.hstack(sides), folds, _RIDGE)
    coarse, fine = predicted[:, : len(names[0])], predicted[:, len(names[0]) :]
    return percent(coarse.argmax(axis=1) == targets[0]), percent(fine.argmax(axis=1) == targets[1])


def with_interval(found: NDArray[Any], seed: int, metric: Callable[[Any], float] | None = None) -> list[Cell]:
    """Return a score of what was found per question, in percent, and its 95 % interval."""
    score = paired_bootstrap(found, np.zeros_like(found), metric=metric, samples=2000, random_state=seed)
    return [100 * score.difference, f"{100 * score.low:.1f}–{100 * score.high:.1f}"]

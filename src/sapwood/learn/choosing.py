"""Choosing the parameters and weights of a kernel, by alignment with the targets or by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid, cross_val_score
from sklearn.utils.multiclass import type_of_target

from sapwood.checks import check_choice, check_count
from sapwood.errors import ParameterError
from sapwood.kernels.alignment import aligned_weights, alignment, centred, target_columns
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.choice import check_kernel
from sapwood.kernels.data import as_data
from sapwood.learn.svm import KernelSVC
from sapwood.learn.svr import KernelSVR
from sapwood.notebook import HtmlTable

__all__ = ["KernelChoice", "choose_kernel"]


@dataclass(frozen=True)
class KernelChoice(HtmlTable):
    """What ``choose_kernel`` found: the best kernel, its score, and every kernel that was tried with its score."""

    kernel: Kernel
    score: float
    trials: tuple[tuple[Kernel, float], ...]

    def __str__(self) -> str:
        """Write one line per trial, best first."""
        ranked = sorted(self.trials, key=lambda trial: -trial[1])
        return "\n".join(["   score  kernel", *(f"{score:8.4f}  {kernel!r}" for kernel, score in ranked)])

    def _summary(self) -> dict[str, Any]:
        return {"kernel": repr(self.kernel), "score": f"{self.score:.4f}", "trials": len(self.trials)}


def choose_kernel(
    kernel: Kernel | str,
    X: Any,
    y: Any,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    by: str = "alignment",
    weights: bool = True,
    C: float = 1.0,
    folds: int = 5,
) -> KernelChoice:
    """Choose the parameters of a kernel and the weights in its sum.

    Parts that several kernels of the grid share are evaluated once, so a grid of two decays in a sum of three kernels
    costs four Gram matrices.

    Parameters
    ----------
    kernel : Kernel or str
        Where to start: usually a sum of normalized kernels.
    X, y : examples and their labels, or numbers
    grid : mapping of str to sequence, optional
        Values of parameters to try, by the names of ``kernel.get_params()``, such as ``{"tree__decay": [0.2, 0.4]}``.
    by : {"alignment", "cv"}
        What to maximise: centred alignment with the targets, which takes no training, or the score of ``KernelSVC``
        (``KernelSVR`` for numbers) in cross-validation.
    weights : bool
        Whether the weights of the sum are replaced by those with the most alignment; they add up to 1, and what gets
        the weight 0 is left out.
    C, folds
        For cross-validation.

    Examples
    --------
    >>> from sapwood.kernels import Linear, SubsetTree
    >>> X = ["(S (WH who) (V ran))", "(S (WH who) (V sat))", "(S (N he) (V ran))", "(S (N he) (V sat))"]
    >>> y = ["ask", "ask", "tell", "tell"]
    >>> found = choose_kernel(SubsetTree().normalized(), X, y, {"subsettree__decay": [0.1, 0.9]})
    >>> found.kernel, round(found.score, 3)
    (SubsetTree(decay=0.1).normalized(), 0.898)
    """
    start = check_kernel(kernel)
    check_choice(by, "by", ("alignment", "cv"))
    check_count(folds, "folds", least=2)
    X = as_data(X)
    columns = target_columns(X.shape[0], y)
    grams = _Grams(X)
    trials = []
    for point in _points(start, grid):
        terms = point.summands()
        matrices = [grams.of(term) for _, term in terms]
        if weights and len(terms) > 1:
            found = aligned_weights([centred(K) for K in matrices], columns)
        else:
            found = np.array([weight for weight, _ in terms])
        used = np.flatnonzero(found) if weights and found.any() else np.arange(len(terms))
        K = sum(found[at] * matrices[at] for at in used)
        score = alignment(centred(K), columns) if by == "alignment" else _cross_validated(K, y, C, folds)
        made = point if not weights or len(terms) == 1 else _sum([(float(found[at]), terms[at][1]) for at in used])
        trials.append((made, score))
    best = max(trials, key=lambda trial: trial[1])
    return KernelChoice(*best, tuple(trials))


class _Grams:
    """Gram matrices of the same examples, each computed once."""

    def __init__(self, X: Any) -> None:
        self._X = X
        self._known: list[tuple[Kernel, Matrix]] = []

    def of(self, kernel: Kernel) -> Matrix:
        for known, K in self._known:
            if known == kernel:
                return K
        self._known.append((kernel, kernel.bind(self._X)(self._X)))
        return self._known[-1][1]


def _points(start: Kernel, grid: Mapping[str, Sequence[Any]] | None) -> list[Kernel]:
    if grid is not None and not isinstance(grid, Mapping):
        raise ParameterError(f"grid must be a mapping from parameters to lists of values, got {grid!r}.")
    for name, values in (grid or {}).items():
        if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)) or not len(values):
            raise ParameterError(f"grid[{name!r}] must be a list of values to try, got {values!r}.")
    return [start.copy().set_params(**point) for point in ParameterGrid(dict(grid or {}))]


def _sum(terms: list[tuple[float, Kernel]]) -> Kernel:
    return reduce(add, [weight * kernel for weight, kernel in terms])


def _cross_validated(K: Matrix, y: Any, C: float, folds: int) -> float:
    numbers = type_of_target(np.asarray(y)) == "continuous"
    model = (KernelSVR if numbers else KernelSVC)("precomputed", C=C)
    return float(cross_val_score(model, K, y, cv=folds, error_score="raise").mean())

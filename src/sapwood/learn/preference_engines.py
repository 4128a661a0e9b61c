"""How preferences are learnt with kernels: two engines that make the same updates, and scoring with what was learnt.

The native engine is for a subset-tree kernel with linear kernels on numbers beside it, scaled or normalised; it scores
a whole group in one pass over shared subtrees. The general engine takes any kernel. Estimators with parameters and
answers are in ``sapwood.learn.ranking``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood import _core, settings
from sapwood.errors import DataError
from sapwood.kernels.algebra import Constant
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.finite import check_finite
from sapwood.kernels.normalization import normalizing_scale
from sapwood.kernels.syntactic import SubsetTree
from sapwood.kernels.terms import Term
from sapwood.learn.groups import add_up
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["RULES", "Engine", "make_engine", "make_scorer"]

# As the native core numbers them.
RULES = {"pairwise-best": 0, "pairwise-all": 1, "top": 2, "setwise": 3}

Log = tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.uint64]]


class Engine(Protocol):
    """Learns groups of rows in a given order and keeps a log: row, what was added to its weight, at which step."""

    @property
    def steps(self) -> int:
        """Pairs (or groups) looked at."""

    @property
    def mistakes(self) -> int:
        """How many of them were wrong."""

    def train(self, order: NDArray[np.uint64], relevance: Matrix, rule: int, rate: float) -> None:
        """Learn groups in this order."""

    def log(self) -> Log:
        """Return all updates so far."""

    def replay(
        self,
        row: NDArray[np.uint64],
        weight: NDArray[np.float64],
        step: NDArray[np.uint64],
        steps: int,
        mistakes: int,
    ) -> None:
        """Make the updates of a log again; afterwards all is as if they had been learnt here."""


# Tree kernels that the native core learns preferences with, and what it takes of them; None where it does not support
# the parameters. By type, since a subclass may compute something else.
_COMPILED: dict[type[Kernel], Callable[[Any], tuple[float, bool] | None]] = {
    SubsetTree: lambda kernel: (float(kernel.decay), bool(kernel.bag_of_words)) if kernel.max_depth is None else None
}


class _NativeView:
    """What the native core needs to know of examples: trees, their scales, and numbers.

    Parameters
    ----------
    tree : Term
        A compiled kernel, perhaps normalised.
    parameters : tuple
        What the native core takes of the kernel.
    numbers : list of Term
        Dot products of numbers.
    """

    def __init__(self, tree: Term, parameters: tuple[float, bool], numbers: list[Term]) -> None:
        self.tree, self.parameters, self.numbers = tree, parameters, numbers

    def trees(self, X: Any) -> TreeArray:
        trees = self.tree.pick(X)
        if not isinstance(trees, TreeArray):
            raise DataError(f"{self.tree.kernel!r} compares trees, but it got {type(trees).__name__}.")
        return trees

    def scales(self, X: Any, *, warn: bool = True) -> Matrix:
        trees = self.trees(X)
        return self.scales_of(self.tree.kernel._diag(trees) if self.tree.norms else np.empty(len(trees)), warn=warn)

    def scales_of(self, diagonal: Matrix, *, warn: bool = True) -> Matrix:
        """Return the factors of trees whose self-kernels are known."""
        factor = np.sqrt(self.tree.weight)
        if not self.tree.norms:
            return np.full(len(diagonal), factor)
        return np.asarray(factor * normalizing_scale(diagonal, warn=warn))

    def features(self, X: Any) -> Matrix:
        columns = [np.zeros((X.shape[0], 0))]
        for term in self.numbers:
            values = term.pick(X)
            broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
            if len(broken):
                raise DataError(f"row {broken[0]} of the view {term.view!r} is NaN or infinite; fill or drop it first.")
            columns.append(np.sqrt(term.weight) * np.asarray(values, dtype=np.float64))
        return np.ascontiguousarray(np.concatenate(columns, axis=1))

    def fits(self, X: Any) -> bool:
        """Whether the numbers are small matrices, and the trees single ones."""
        if self.tree.view is not None and not isinstance(X, Examples):
            return True  # said by trees()
        trees = self.tree.pick(X)
        if not isinstance(trees, TreeArray) or trees.has_bags:
            return False
        for term in self.numbers:
            values = term.pick(X) if isinstance(X, Examples) else None
            if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub" or values.shape[1] > 64:
                return False
        return True


def _native_view(kernel: Kernel, X: Any) -> _NativeView | None:
    """Return the terms of a kernel as the native core takes them, one on trees and others on numbers, if it can."""
    trees, numbers = [], []
    for term in kernel.terms():
        compiled = _COMPILED.get(type(term.kernel), lambda _: None)(term.kernel)
        if term.weight <= 0:
            return None
        if compiled is not None and (term.self_normalized or not term.norms):
            trees.append((term, compiled))
        elif term.kernel._dot_form() == (1.0, 0.0, 1) and not term.norms:
            numbers.append(term)
        elif not isinstance(term.kernel, Constant) or term.norms:
            # A constant is the same for all rows, so it prefers none.
            return None
    if len(trees) != 1:
        return None
    view = _NativeView(*trees[0], numbers)
    return view if view.fits(X) else None


def make_engine(kernel: Kernel, X: Any, ends: NDArray[np.intp], numbers: NDArray[np.intp], cache_bytes: int) -> Engine:
    """Make the engine that suits a bound kernel.

    Rows of X stand group after group; messages call them by their numbers, and those of earlier training, which come
    first, have -1.
    """
    view = _native_view(kernel, X)
    if view is None:
        return _GeneralEngine(kernel, X, ends, numbers)
    return _NativeEngine(view, X, ends, numbers, cache_bytes)


class _NativeEngine:
    def __init__(
        self, view: _NativeView, X: Any, ends: NDArray[np.intp], numbers: NDArray[np.intp], cache_bytes: int
    ) -> None:
        trees = view.trees(X)._compact()
        diagonal = view.tree.kernel._diag(trees)
        earlier = int((numbers < 0).sum())
        scales = np.concatenate([view.scales_of(diagonal[:earlier], warn=False), view.scales_of(diagonal[earlier:])])
        features = view.features(X)
        with np.errstate(over="ignore"):
            own = (scales * np.sqrt(diagonal)) ** 2 + (features**2).sum(axis=1)
        check_finite(own, numbers)
        self._numbers, self._largest = numbers, float(own.max(initial=0.0))
        self._begins = np.concatenate([np.zeros(1, dtype=np.intp), ends])
        self._machine = _core.preferences.PreferencePerceptron(
            trees._arena,
            trees._roots,
            ends.astype(np.uint64),
            scales,
            features,
            *view.parameters,
            cache_bytes,
        )
        self.log, self.replay = self._machine.log, self._machine.replay

    @property
    def steps(self) -> int:
        return self._machine.steps

    @property
    def mistakes(self) -> int:
        return self._machine.mistakes

    def train(self, order: NDArray[np.uint64], relevance: Matrix, rule: int, rate: float) -> None:
        self._machine.train(order, relevance, rule, rate, None)
        # No kernel value is larger than the largest self-kernel, and no step adds more weight than this, so that there
        # is hardly ever a reason to look.
        if np.isfinite(2.0 * max(1.0, rate) * self.steps * self._largest):
            return
        for group in order.tolist():
            rows = self._numbers[self._begins[group] : self._begins[group + 1]]
            check_finite(self._machine.utilities(group), rows, "utility")


class _GeneralEngine:
    """Any kernel: blocks of groups are scored with the compiled model, and updates within a block row by row."""

    _BLOCK = 1024  # rows

    def __init__(self, kernel: Kernel, X: Any, ends: NDArray[np.intp], numbers: NDArray[np.intp]) -> None:
        check_finite(kernel._diag(X), numbers)
        self._kernel, self._X, self._numbers = kernel, X, numbers
        self._begins = np.concatenate([np.zeros(1, dtype=np.intp), ends])
        self._rows: list[int] = []
        self._weights: list[float] = []
        self._when: list[int] = []
        self.steps = self.mistakes = 0

    def log(self) -> Log:
        return (
            np.array(self._rows, dtype=np.uint64),
            np.array(self._weights, dtype=np.float64),
            np.array(self._when, dtype=np.uint64),
        )

    def replay(
        self,
        row: NDArray[np.uint64],
        weight: NDArray[np.float64],
        step: NDArray[np.uint64],
        steps: int,
        mistakes: int,
    ) -> None:
        self._rows += row.tolist()
        self._weights += weight.tolist()
        self._when += step.tolist()
        self.steps, self.mistakes = steps, mistakes

    def train(self, order: NDArray[np.uint64], relevance: Matrix, rule: int, rate: float) -> None:
        groups = order.astype(np.intp)
        sizes = self._begins[groups + 1] - self._begins[groups]
        start = 0
        while start < len(groups):
            stop = start + max(1, int(np.searchsorted(np.cumsum(sizes[start:]), self._BLOCK, side="right")))
            # Sums of kernel values may be too large where no kernel value is; the block says so at its end.
            with np.errstate(over="ignore", invalid="ignore"):
                self._train_block(groups[start:stop], relevance, rule, rate)
            start = stop

    def _train_block(self, groups: NDArray[np.intp], relevance: Matrix, rule: int, rate: float) -> None:
        rows = np.concatenate([np.arange(self._begins[g], self._begins[g + 1]) for g in groups.tolist()])
        block = self._X[rows]
        utilities = np.zeros(len(rows))
        if self._rows:
            totals = add_up(self._rows, self._weights, self._X.shape[0])
            support = np.flatnonzero(totals)
            if len(support):
                utilities = self._kernel._expansion(self._X[support], totals[support, None])(block)[:, 0]
        at = 0
        for group in groups.tolist():
            size = int(self._begins[group + 1] - self._begins[group])

            def update(
                chosen: list[int], weights: list[float], at: int = at, first: int = int(self._begins[group])
            ) -> None:
                self._rows += [first + k for k in chosen]
                self._weights += weights
                self._when += [self.steps] * len(chosen)
                changed = self._kernel._gram(block[at:], self._X[np.array([first + k for k in chosen])])
                utilities[at:] += changed @ np.array(weights)

            self._learn(
                utilities[at : at + size], relevance[self._begins[group] : self._begins[group + 1]], rule, rate, update
            )
            at += size
        check_finite(utilities, self._numbers[rows], "utility")

    def _learn(
        self, utility: Matrix, truth: Matrix, rule: int, rate: float, update: Callable[[list[int], list[float]], None]
    ) -> None:
        # ``utility`` is a window on the block, so updates show in it.
        best = truth == truth.max()
        if rule == RULES["setwise"]:
            self._step_softmax(utility, best, rate, update)
        elif rule == RULES["top"]:
            self.steps += 1
            right = int(np.flatnonzero(best)[utility[best].argmax()])
            wrong = int(np.flatnonzero(~best)[utility[~best].argmax()])
            if utility[right] <= utility[wrong]:
                self.mistakes += 1
                update([right, wrong], [1.0, -1.0])
        else:
            for i in range(len(truth)) if rule == RULES["pairwise-all"] else np.flatnonzero(best).tolist():
                for j in np.flatnonzero(truth < truth[i]).tolist():
                    self.steps += 1
                    if utility[i] <= utility[j]:
                        self.mistakes += 1
                        update([i, j], [1.0, -1.0])

    def _step_softmax(
        self, utility: Matrix, best: NDArray[np.bool_], rate: float, update: Callable[[list[int], list[float]], None]
    ) -> None:
        chances = np.exp(utility - utility.max())
        chances /= chances.sum()
        good = float(chances[best].sum())
        self.steps += 1
        self.mistakes += good <= 0.5
        # As in the native core: alternatives of hardly any probability are left out.
        pushed = ~best & (chances >= 0.01)
        if not pushed.any():
            return
        weights = np.zeros(len(utility))
        weights[best] = (1 - good) * (chances[best] / good if good > 1e-300 else 1 / best.sum())
        weights[pushed] = -(1 - good) * chances[pushed] / chances[pushed].sum()
        chosen = np.flatnonzero(weights)
        if len(chosen):
            update(chosen.tolist(), (rate * weights[chosen]).tolist())


def make_scorer(kernel: Kernel, support: Any, weights: Matrix) -> Callable[[Any], Matrix]:
    """Compile the function X -> Σ weight·kernel(support, X)."""
    view = _native_view(kernel, support) if len(support) else None
    if view is None:
        if not len(support):
            return lambda X: np.zeros(X.shape[0])
        evaluate = kernel.expansion(support, weights[:, None])
        return lambda X: np.asarray(evaluate(X)[:, 0])
    own = view.trees(support)
    model = _core.preferences.SubsetModel(
        own._arena,
        own._roots,
        # Training has warned already.
        np.ascontiguousarray(weights * view.scales(support, warn=False)),
        *view.parameters,
    )
    linear = weights @ view.features(support)

    def score(X: Any) -> Matrix:
        if not view.fits(X):
            raise DataError(
                f"these examples have another shape than those of training; the kernel is {kernel!r}, and each row "
                "needs one tree and the same matrices beside it."
            )
        trees = view.trees(X)._compact()
        scores = np.empty(len(trees))
        with settings.progress_bar(len(trees), "Scores", "trees") as progress:
            model.evaluate(trees._arena, trees._roots, scores, settings.threads(), progress)
        features = view.features(X)
        if features.shape[1] != len(linear):
            raise DataError(
                f"the model was trained with {len(linear)} numbers per row, but these have {features.shape[1]}."
            )
        return np.asarray(scores * view.scales(X) + features @ linear)

    return score

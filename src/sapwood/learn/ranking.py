"""The kernel ranker: preferences between alternatives, learnt one by one in the dual (Collins & Duffy 2002).

A mistake on a pair adds the better alternative to the model and takes the worse one away (Menchetti et al. 2005, eqs.
11-12). Engines and scoring are in ``preference_engines``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_amount, check_choice, check_count, check_seed
from sapwood.errors import ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.choice import KERNEL, ChoosesKernel
from sapwood.kernels.data import as_data, detached, end_to_end
from sapwood.kernels.finite import check_finite
from sapwood.kernels.syntactic import SubsetTree
from sapwood.layouts import COUNT, NUMBERS, array_of, part_of, register_estimator
from sapwood.learn.explain import CompiledExplanation, Explanation
from sapwood.learn.groups import (
    RankerMixin,
    add_up,
    learnable_groups,
    make_groups,
    softmax_in_groups,
)
from sapwood.learn.passes import Position, open_checkpoint, passes, shuffled
from sapwood.learn.preference_engines import RULES, Engine, make_engine, make_scorer
from sapwood.registry import Reader
from sapwood.trees.store import VIEW

__all__ = ["KernelRanker"]

_BLOCK = 256  # groups that an engine learns in one call


class KernelRanker(ChoosesKernel, RankerMixin, BaseEstimator):
    """Choose or rank alternatives with a kernel: the (averaged) perceptron on preferences.

    Parameters
    ----------
    kernel : Kernel, optional
        By default ``SubsetTree(decay=0.4)``. Any kernel works; one subset-tree kernel, with linear kernels on matrices
        beside it, is learnt natively and several times faster. Log probabilities of a parser enter as
        ``SubsetTree(decay=0.3).on("tree") + 0.2 * Linear().on("prior")`` (eq. 17).
    loss : {"pairwise", "top", "setwise"}
        "pairwise" goes through the pairs of a group in turn and learns from each that is in the wrong order. "top"
        looks at one pair per group: the best alternative and the worse one with the largest utility. "setwise" takes a
        step along the gradient of the softmax loss of the group.
    pairs : {"best", "all"}
        For "pairwise": pairs of a best alternative and a worse one (eq. 12), or all pairs of different relevance, for
        full rankings (eq. 11).
    epochs : int
        Passes over the groups.
    average : bool
        Whether utilities are averaged over all steps of training (eq. 4 with the identity for Γ) rather than those of
        the last one.
    learning_rate : float
        Size of a step, for "setwise" only. Larger steps make fewer support examples.
    shuffle : bool
        Whether each epoch goes through the groups in a new random order.
    memory_limit : float
        Megabytes for intermediate results; beyond them they are computed again.
    checkpoint : path, optional
        Where to write the state of training, at most every ten seconds. If the file is there already, ``fit`` goes on
        from it, to the same weights bit for bit.
    random_state : int, RandomState or None
        Seed of the order.

    Attributes
    ----------
    support_examples_ : TreeArray or Examples
        The alternatives with a weight.
    dual_coef_ : array
        Their weights.
    n_steps_, n_mistakes_ : int
        Pairs (or groups) looked at, and how many of them were wrong.
    skipped_groups_ : int
        Groups that nothing can be learnt from: of one row, or all of the same relevance.
    validation_curve_ : list of float
        L₁ on held-out groups after each epoch, if ``fit`` was given any.

    Examples
    --------
    >>> from sapwood.kernels import SubsetTree
    >>> from sapwood.learn import KernelRanker
    >>> low, high = "(VP (V saw) (NP (NP it) (PP of)))", "(VP (V saw) (NP it) (PP of))"
    >>> ranker = KernelRanker(SubsetTree(decay=0.5)).fit([high, low, low, high], [0, 1, 1, 0], groups=[0, 0, 1, 1])
    >>> ranker.predict([high, low], groups=[7, 7])
    array([1])
    >>> ranker.predict_rank([high, low], groups=[7, 7])
    array([2, 1])
    """

    kernel_: Kernel
    support_examples_: Any
    n_steps_: int
    n_mistakes_: int
    skipped_groups_: int
    validation_curve_: list[float]
    # Per support example: the sum of what was added to its weight, and of that times the step.
    _sums: Matrix
    _timed: Matrix
    _scorer: Callable[[Any], Matrix] | None = None
    _compiled_names = ("_scorer",)

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        loss: str = "pairwise",
        pairs: str = "best",
        epochs: int = 1,
        average: bool = True,
        learning_rate: float = 1.0,
        shuffle: bool = True,
        memory_limit: float = 200.0,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.pairs = pairs
        self.epochs = epochs
        self.average = average
        self.learning_rate = learning_rate
        self.shuffle = shuffle
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.random_state = random_state

    def _rule(self) -> int:
        check_choice(self.loss, "loss", ("pairwise", "top", "setwise"))
        check_choice(self.pairs, "pairs", ("best", "all"))
        check_count(self.epochs, "epochs")
        check_amount(self.learning_rate, "learning_rate", zero=False)
        check_amount(self.memory_limit, "memory_limit")
        return RULES[f"pairwise-{self.pairs}" if self.loss == "pairwise" else self.loss]

    def _default_kernel(self) -> Kernel:
        return SubsetTree()

    @all_or_nothing
    def fit(self, X: Any, y: Any, groups: Any = None, *, validation: tuple[Any, Any, Any] | None = None) -> Self:
        """Train on groups of alternatives.

        Parameters
        ----------
        X : TreeArray, Examples or list of trees
            The alternatives of all groups.
        y : array of float
            Relevance, larger is better; ``from_ranks`` turns ranks into it.
        groups : array
            The group of each row. Rows of a group need not stand together.
        validation : tuple (X, y, groups), optional
            Held-out groups; the error on them after each epoch is kept in ``validation_curve_``.
        """
        rule = self._rule()
        X = as_data(X)
        relevance, made, self.skipped_groups_ = learnable_groups(X, y, groups)
        seed = check_seed(self.random_state)
        kernel = self._chosen_kernel().bind(X)
        rows, truth = X[made.rows], relevance[made.rows]
        file = open_checkpoint(self, seed, rows, made.ends, truth)
        engine = make_engine(kernel, rows, made.ends, made.rows, int(self.memory_limit * 1e6))
        self.kernel_ = kernel
        at = Position()
        self.validation_curve_ = []
        if (found := file.read()) is not None:
            at.epoch, at.done, self.validation_curve_ = (found.values[name] for name in ("epoch", "done", "validation"))
            log = found.arrays
            engine.replay(log["row"], log["weight"], log["step"], found.values["steps"], found.values["mistakes"])

        def keep() -> None:
            row, weight, step = engine.log()
            file.write(
                {
                    "epoch": at.epoch,
                    "done": at.done,
                    "validation": self.validation_curve_,
                    "steps": engine.steps,
                    "mistakes": engine.mistakes,
                },
                {"row": row, "weight": weight, "step": step},
            )

        def validate() -> None:
            if validation is not None:
                self._remember(engine, rows)
                self.validation_curve_.append(1.0 - self.score(*validation))

        def order(epoch: int) -> NDArray[np.intp]:
            return shuffled(len(made), seed, epoch) if self.shuffle else np.arange(len(made))

        for block in passes(at, self.epochs, len(made), _BLOCK, order, file=file, keep=keep, end=validate):
            engine.train(block.astype(np.uint64), truth, rule, float(self.learning_rate))
        keep()
        self._remember(engine, rows)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Go on training with one pass over more groups, in the order given; for data that comes in parts.

        A kernel that takes something from data (a grammar, latent semantics) takes it from the first part.
        """
        rule = self._rule()
        X = as_data(X)
        first = not hasattr(self, "kernel_")
        relevance, made, self.skipped_groups_ = learnable_groups(X, y, groups, required=first)
        kernel = self._chosen_kernel().bind(X) if first else self.kernel_
        if not len(made):
            return self
        rows, ends, numbers, truth = X[made.rows], made.ends, made.rows, relevance[made.rows]
        before = 0 if first else len(self._sums)
        if before:
            # What was learnt before comes first, as a group that is never asked for.
            rows = end_to_end(self.support_examples_, rows, ("the training so far", "this part"))
            ends = np.concatenate([[before], ends + before])
            numbers = np.concatenate([np.full(before, -1), numbers])
            truth = np.concatenate([np.zeros(before), truth])
        engine = make_engine(kernel, rows, ends, numbers, int(self.memory_limit * 1e6))
        if not first:
            earlier_rows = np.arange(before, dtype=np.uint64)
            engine.replay(earlier_rows, self._sums, np.zeros(before, dtype=np.uint64), self.n_steps_, self.n_mistakes_)
        order = np.arange(bool(before), len(ends), dtype=np.uint64)
        for block in passes(Position(), 1, len(order), _BLOCK, lambda epoch: order):
            engine.train(block, truth, rule, float(self.learning_rate))
        earlier = np.zeros(len(truth))
        if before:
            earlier[:before] = self._timed
        if first:
            self.kernel_, self.validation_curve_ = kernel, []
        self._remember(engine, rows, earlier)
        return self

    def _remember(self, engine: Engine, rows: Any, earlier: Matrix | None = None) -> None:
        """Turn the log of an engine into weights of support examples."""
        row, weight, step = engine.log()
        count = rows.shape[0]
        sums = add_up(row, weight, count)
        timed = add_up(row, weight * step.astype(np.float64), count)
        if earlier is not None:
            timed = timed + earlier
        support = np.flatnonzero((sums != 0) | (timed != 0))
        self.support_examples_ = detached(rows, support)
        self._sums, self._timed = sums[support], timed[support]
        self.n_steps_, self.n_mistakes_ = int(engine.steps), int(engine.mistakes)
        self._scorer = None

    def _weights(self) -> tuple[Matrix, float]:
        """Return the weights of the support examples, whole numbers for the perceptron, and what to divide them by.

        Divided at the end only, what two alternatives share cancels out exactly.
        """
        if not self.average:
            return self._sums, 1.0
        return (self.n_steps_ + 1) * self._sums - self._timed, float(max(1, self.n_steps_))

    @property
    def dual_coef_(self) -> Matrix:
        """Weights of the support examples."""
        weights, steps = self._weights()
        return weights / steps

    def decision_function(self, X: Any) -> Matrix:
        """Return the utility of each row; larger is better."""
        check_is_fitted(self, "kernel_")
        X = as_data(X)
        weights, steps = self._weights()
        if self._scorer is None:
            self._scorer = make_scorer(self.kernel_, self.support_examples_, weights)
        utilities = self._scorer(X) / steps if X.shape[0] else np.zeros(0)
        check_finite(utilities, what="utility")
        return utilities

    def explain(self, example: Any, *, top: int = 10) -> Explanation:
        """Say which nodes and fragments of an alternative its utility comes from; see ``KernelSVC.explain``.

        Parameters
        ----------
        example : tree, or Examples of one row
        top : int
            How many of the heaviest fragments to find.
        """
        check_is_fitted(self, "kernel_")
        support = self.support_examples_
        compiled = CompiledExplanation(
            self.kernel_, support, np.arange(support.shape[0]), np.asarray(self.dual_coef_)[:, None]
        )
        return compiled.explain(example, None, np.ones(1), np.zeros(1), top)

    def predict_proba(self, X: Any, groups: Any = None) -> Matrix:
        """Return for each row the probability that it is the best of its group; for ``loss="setwise"``."""
        if self.loss != "setwise":
            raise ParameterError("only loss='setwise' learns probabilities; use decision_function.")
        X = as_data(X)
        return softmax_in_groups(self.decision_function(X), make_groups(groups, X.shape[0]))


def _check_shapes(ranker: KernelRanker, reader: Reader) -> None:
    ranker._rule()
    if not len(ranker._sums) == len(ranker._timed) == ranker.support_examples_.shape[0]:
        raise reader.fail("the weights do not fit the support examples")


register_estimator(
    KernelRanker,
    parameters={"kernel": KERNEL},
    fitted={
        "kernel_": part_of(Kernel).at("fitted_kernel"),
        "support_examples_": VIEW.at("examples"),
        "_sums": array_of(np.float64),
        "_timed": array_of(np.float64),
        "n_steps_": COUNT.at("steps"),
        "n_mistakes_": COUNT.at("mistakes"),
        "skipped_groups_": COUNT.at("skipped"),
        "validation_curve_": NUMBERS.at("validation"),
    },
    finish=_check_shapes,
)

"""The common base of the recursive models. The estimators themselves are in ``sapwood.learn.recursive``."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sapwood import _core, settings
from sapwood.checks import check_amount, check_choice, check_count, check_seed
from sapwood.errors import DataError
from sapwood.fitting import SequenceInput
from sapwood.kernels.base import Matrix
from sapwood.kernels.data import as_data
from sapwood.learn.groups import Groups
from sapwood.learn.passes import open_checkpoint
from sapwood.learn.recursive_training import (
    LOSSES,
    Network,
    Resumable,
    Scaling,
    TrainingData,
    TrainingOptions,
    initial_weights,
    make_network,
    train,
    views,
)
from sapwood.trees.array import TreeArray

__all__ = ["RecursiveModel"]


class RecursiveModel(SequenceInput, BaseEstimator, ABC):
    """What the three models share: parameters, the vocabulary, training, outputs and state vectors."""

    labels_: list[str]
    weights_: NDArray[Any]
    scaling_: Scaling
    n_iter_: int
    loss_curve_: list[float]
    validation_curve_: list[float]
    _network: Network | None = None
    _compiled_names = ("_network",)
    _resumable: Resumable | None = None
    _seed: int = 0

    def __init__(
        self,
        units: int = 25,
        *,
        max_outdegree: int = 15,
        optimizer: str = "adam",
        learning_rate: float = 0.002,
        momentum: float = 0.9,
        clip: float = 5.0,
        alpha: float = 0.0,
        averaging: float = 0.0,
        epochs: int = 20,
        batch_size: int = 1,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 5,
        initial_range: float | None = None,
        min_label_count: int = 1,
        dtype: str = "float32",
        memory_limit: float = 500.0,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
    ) -> None:
        self.units = units
        self.max_outdegree = max_outdegree
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.clip = clip
        self.alpha = alpha
        self.averaging = averaging
        self.epochs = epochs
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.initial_range = initial_range
        self.min_label_count = min_label_count
        self.dtype = dtype
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.random_state = random_state

    @abstractmethod
    def _loss(self) -> str:
        """Return the name of the loss that training minimizes."""

    @abstractmethod
    def _held_out_error(self, outputs: Matrix, data: TrainingData) -> tuple[float, float]:
        """Return the error and the loss per group of outputs on held-out data."""

    def _check(self) -> TrainingOptions:
        check_count(self.units, "units")
        check_count(self.min_label_count, "min_label_count")
        check_choice(self.optimizer, "optimizer", ("adam", "sgd"))
        check_choice(self.dtype, "dtype", ("float32", "float64"))
        if self.initial_range is not None:
            check_amount(self.initial_range, "initial_range", zero=False)
        if self.early_stopping:
            check_amount(self.validation_fraction, "validation_fraction", zero=False, below=1.0)
        seed = check_seed(self.random_state)
        return TrainingOptions(
            loss=LOSSES[self._loss()],
            adam=self.optimizer == "adam",
            rate=check_amount(self.learning_rate, "learning_rate", zero=False),
            momentum=check_amount(self.momentum, "momentum", below=1.0),
            clip=check_amount(self.clip, "clip"),
            decay=check_amount(self.alpha, "alpha"),
            averaging=check_amount(self.averaging, "averaging"),
            epochs=check_count(self.epochs, "epochs"),
            batch=check_count(self.batch_size, "batch_size"),
            patience=check_count(self.patience, "patience"),
            outdegree=check_count(self.max_outdegree, "max_outdegree"),
            cache_bytes=int(check_amount(self.memory_limit, "memory_limit") * 1e6),
            seed=seed,
        )

    def _fit(
        self,
        X: Any,
        targets: Matrix,
        groups: Groups,
        outputs: int,
        held_out: tuple[Any, Matrix, Groups] | None,
        within: bool,
    ) -> Self:
        """Train on groups of rows; ``within`` says that only differences within a group count."""
        options = self._check()
        if held_out is None and self.early_stopping:
            groups, other = self._split(groups, options.seed)
            held_out = (X, targets, other)
        trees, extras = views(X)
        rows = groups.rows
        self.scaling_ = Scaling.of(extras[rows], groups.numbers() if within else None)
        data = TrainingData(trees[rows], groups.ends, targets[rows], self.scaling_(extras[rows]))
        names, counts = _core.recursive.count_labels(trees._arena, np.unique(data.trees._roots))
        self.labels_ = [
            name for name, count in zip(names, counts.tolist(), strict=True) if count >= self.min_label_count
        ]
        sizes = (self.units, self.max_outdegree, len(self.labels_), outputs)
        network = make_network(self.dtype, *sizes, extras.shape[1])
        network.set_weights(initial_weights(network, *sizes, self.initial_range, options.seed))
        validate, parts = None, ()
        if held_out is not None:
            other_trees, other_extras = views(held_out[0])
            chosen = held_out[2].rows
            test = TrainingData(
                other_trees[chosen], held_out[2].ends, held_out[1][chosen], self.scaling_(other_extras[chosen])
            )
            forests = test.forests(self.labels_, self.max_outdegree, 0)
            parts = (test.trees, test.ends, test.targets, test.extras)  # type: ignore[assignment]

            def validate(current: Network) -> tuple[float, float]:
                scores = np.empty((len(chosen), outputs))
                current.evaluate(forests, test.extras, scores, settings.threads(), None)
                return self._held_out_error(scores, test)

        file = open_checkpoint(self, options.seed, data.trees, data.ends, data.targets, data.extras, *parts)
        state = train(network, self.labels_, data, options, validate, file)
        self._network, self.weights_ = network, network.weights()
        self._resumable = Resumable.of(network)
        self._seed = options.seed
        self.n_iter_ = state.epoch
        self.loss_curve_ = state.losses
        self.validation_curve_ = [error for error, _ in state.errors]
        return self

    def _split(self, groups: Groups, seed: int) -> tuple[Groups, Groups]:
        count = max(1, round(len(groups) * self.validation_fraction))
        if count >= len(groups):
            raise DataError(
                f"early_stopping holds out {count} of {len(groups)} groups, which leaves none to train on; lower "
                "validation_fraction or pass more data."
            )
        order = np.random.default_rng([seed, 2]).permutation(len(groups))
        return groups.select(np.sort(order[count:])), groups.select(np.sort(order[:count]))

    def _native(self, outputs: int) -> Network:
        if self._network is None:
            sizes = (self.units, self.max_outdegree, len(self.labels_), outputs, len(self.scaling_.shift))
            network = make_network(self.dtype, *sizes)
            network.set_weights(self.weights_)
            self._network = network
        return self._network

    def _outputs(self, X: Any, outputs: int) -> Matrix:
        check_is_fitted(self)
        trees, extras = views(as_data(X))
        scores = np.empty((len(trees), outputs))
        if len(trees):
            with settings.progress_bar(len(trees), "Scores", "trees") as progress:
                self._native(outputs).evaluate(
                    self._forests(trees), self.scaling_(extras), scores, settings.threads(), progress
                )
        return scores

    def _forests(self, trees: TreeArray) -> _core.recursive.Forests:
        # Native tables are as long as the store, which a few trees should not pay for.
        trees = trees._compact()
        data = TrainingData(trees, np.array([len(trees)]), np.zeros(0), np.zeros((0, 0)))
        return data.forests(self.labels_, self.max_outdegree, 0)

    def _width(self) -> int:
        """Return the number of outputs."""
        return 1

    def transform(self, X: Any) -> Matrix:
        """Return the state vectors of the roots: what the network has learnt to see in each tree.

        Returns
        -------
        array of shape (n, units)
            In [-1, 1]. Extra inputs are no part of it.
        """
        check_is_fitted(self)
        trees, _ = views(as_data(X))
        states = np.empty((len(trees), self.units))
        if len(trees):
            with settings.progress_bar(len(trees), "States", "trees") as progress:
                self._native(self._width()).states(self._forests(trees), states, settings.threads(), progress)
        return states

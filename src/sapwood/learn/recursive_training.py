"""How a recursive network is trained: data on its way to the native core, epochs, early stopping and checkpoints.

The estimators with their parameters and answers are in ``sapwood.learn.recursive``; arithmetic is native.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import DataError, ParameterError
from sapwood.kernels.base import Matrix
from sapwood.learn.passes import Position, passes, shuffled
from sapwood.resuming import CheckpointFile
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = [
    "LOSSES",
    "Network",
    "Resumable",
    "RunningMean",
    "Scaling",
    "TrainingData",
    "TrainingOptions",
    "grow",
    "initial_weights",
    "make_network",
    "train",
    "train_once",
    "views",
]

# As the native core numbers them.
LOSSES = {"setwise": 0, "pairwise-best": 1, "pairwise-all": 2, "classes": 3, "squares": 4}

# Groups learnt in one call of the native core: at most, and where the weights after each call go into a mean.
_AT_ONCE, _AVERAGED = 512, 64

Network = _core.recursive.Network32 | _core.recursive.Network64


def views(X: Any) -> tuple[TreeArray, Matrix]:
    """Take examples apart: their trees, and the numbers beside them."""
    if isinstance(X, TreeArray):
        trees, extras = X, np.zeros((len(X), 0))
    elif isinstance(X, Examples):
        named = [name for name in X.views if isinstance(X[name], TreeArray)]
        if len(named) != 1:
            raise DataError(
                f"a recursive network reads one view of trees; these Examples have {', '.join(X.views)}, of which "
                f"{len(named)} hold trees. Pass Examples with one of them and the numbers beside it."
            )
        trees = X[named[0]]
        extras = _numbers(X, named[0])
    else:
        raise DataError(f"a recursive network reads trees, but it got {type(X).__name__}.")
    if trees.has_bags:
        raise DataError("a recursive network reads one tree per example; this array holds bags of trees.")
    return trees, extras


def _numbers(X: Examples, trees: str) -> Matrix:
    parts = [np.zeros((len(X), 0))]
    for name in X.views:
        if name == trees:
            continue
        view = X[name]
        if not isinstance(view, np.ndarray) or view.dtype.kind not in "fiub":
            raise DataError(f"the view {name!r} must be a matrix of numbers to be an extra input of the network.")
        broken = np.flatnonzero(~np.isfinite(view).all(axis=1))
        if len(broken):
            raise DataError(f"row {broken[0]} of the view {name!r} is NaN or infinite; fill or drop it first.")
        parts.append(view.astype(np.float64))
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


@dataclass
class Scaling:
    """What extra inputs are subtracted and divided by, so that one learning rate suits them all."""

    shift: Matrix
    scale: Matrix

    @classmethod
    def of(cls, extras: Matrix, numbers: NDArray[np.intp] | None) -> Scaling:
        """Take the scale from the data; within groups where only differences within groups count."""
        shift = extras.mean(axis=0)
        centred = extras - shift
        if numbers is not None and extras.shape[1]:
            counts = np.maximum(1, np.bincount(numbers))
            means = np.stack([np.bincount(numbers, column) / counts for column in centred.T], axis=1)
            centred = centred - means[numbers]
        scale = np.sqrt((centred**2).mean(axis=0))
        return cls(shift, np.where(scale > 0, scale, 1.0))

    def __call__(self, extras: Matrix) -> Matrix:
        """Scale extra inputs."""
        if extras.shape[1] != len(self.shift):
            raise DataError(
                f"the model was trained with {len(self.shift)} extra inputs, but these have {extras.shape[1]}."
            )
        return np.ascontiguousarray((extras - self.shift) / self.scale)


@dataclass
class TrainingData:
    """Trees group after group, with targets and scaled extra inputs in the same order."""

    trees: TreeArray
    ends: NDArray[np.intp]
    targets: Matrix
    extras: Matrix

    def forests(self, labels: list[str], outdegree: int, cache_bytes: int) -> _core.recursive.Forests:
        """Hand the trees over to the native core."""
        return _core.recursive.Forests(
            self.trees._arena, self.trees._roots, self.ends.astype(np.uint64), labels, outdegree, cache_bytes
        )


@dataclass
class TrainingOptions:
    """Checked parameters of a training."""

    loss: int
    adam: bool
    rate: float
    momentum: float
    clip: float
    decay: float
    averaging: float
    epochs: int
    batch: int
    patience: int
    outdegree: int
    cache_bytes: int
    seed: int

    def memory(self, groups: int) -> float:
        """Over how many updates weights are averaged where a pass has so many groups; 0 if they are not."""
        return self.averaging * math.ceil(groups / self.batch)


@dataclass
class _Progress(Position):
    """Where a training stands between two calls of the native core."""

    loss: float = 0.0  # of the groups of this epoch that are done
    losses: list[float] = field(default_factory=list)
    errors: list[list[float]] = field(default_factory=list)  # of validation: error, loss
    best_epoch: int = -1
    finished: bool = False


@dataclass
class RunningMean:
    """Weights averaged over the last updates, the older the less: what the steps of an optimiser circle around."""

    memory: float
    weights: Matrix
    updates: int = 0

    def add(self, weights: NDArray[Any], updates: int) -> None:
        """Take in the weights after some more updates."""
        self.updates += updates
        # A plain mean at first, or the mean would not get away from the first weights.
        share = max(updates / self.updates, -math.expm1(-updates / self.memory))
        self.weights += share * (weights - self.weights)


@dataclass
class Resumable:
    """What a network needs beside its answers to go on learning from more data."""

    weights: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]
    steps: int
    mean: RunningMean | None = None

    @classmethod
    def of(cls, network: Network, mean: RunningMean | None = None) -> Resumable:
        """Keep the state of a network."""
        return cls(network.weights(), network.first_moments(), network.second_moments(), network.steps, mean)

    def restore(self, network: Network) -> None:
        """Give it back."""
        network.set_weights(self.weights)
        network.set_moments(self.first, self.second)
        network.steps = self.steps


def make_network(dtype: str, units: int, outdegree: int, labels: int, outputs: int, extras: int) -> Network:
    """Make a network with zero weights."""
    kind = _core.recursive.Network32 if dtype == "float32" else _core.recursive.Network64
    return kind(units, outdegree, labels, outputs, extras)


def initial_weights(
    network: Network, units: int, outdegree: int, labels: int, outputs: int, scale: float | None, seed: int
) -> NDArray[Any]:
    """Draw weights: matrices by their fan-in, so that states neither vanish nor saturate; or all in one range."""
    dtype = network.weights().dtype
    rng = np.random.default_rng([seed, 0])
    rows = np.zeros((network.rows, network.stride))
    fan_in = 1.0 / np.sqrt(units)
    widths = [scale if scale is not None else 0.5] * labels
    widths += [scale if scale is not None else fan_in] * (outdegree * units + outputs)
    rows[1:, :units] = rng.uniform(-1.0, 1.0, (len(widths), units)) * np.array(widths)[:, None]
    weights = np.zeros(network.size)
    weights[: rows.size] = rows.ravel()
    return weights.astype(dtype)


def grow(
    network: Network,
    mean: RunningMean | None,
    dtype: str,
    sizes: tuple[int, int, int, int, int],
    new: int,
    seed: int,
    scale: float | None,
) -> Network:
    """Return the network with weights for ``new`` more labels after those it has; its state stays what it was.

    The running mean of its weights gets the same rows.
    """
    units, outdegree, labels, outputs, extras = sizes
    larger = make_network(dtype, units, outdegree, labels + new, outputs, extras)
    stride, at = network.stride, (1 + labels) * network.stride
    rows = np.zeros((new, stride))
    # Each row from its own seed: which labels come together does not matter.
    for k in range(new):
        drawn = np.random.default_rng([seed, 3, labels + k]).uniform(-1.0, 1.0, units)
        rows[k, :units] = drawn * (0.5 if scale is None else scale)
    zeros = np.zeros_like(rows)

    def insert(values: NDArray[Any], more: Matrix) -> NDArray[Any]:
        return np.concatenate([values[:at], more.ravel().astype(values.dtype), values[at:]])

    larger.set_weights(insert(network.weights(), rows))
    larger.set_moments(insert(network.first_moments(), zeros), insert(network.second_moments(), zeros))
    larger.steps = network.steps
    if mean is not None:
        mean.weights = insert(mean.weights, rows)
    return larger


def _learn(
    network: Network,
    forests: _core.recursive.Forests,
    order: NDArray[np.uint64],
    data: TrainingData,
    options: TrainingOptions,
    mean: RunningMean | None,
) -> float:
    """Learn groups in this order; return the sum of their losses. The mean takes in the weights."""
    before = network.steps
    total = network.train(
        forests,
        order,
        data.targets,
        data.extras,
        options.loss,
        options.batch,
        options.adam,
        options.rate,
        options.momentum,
        0.999,
        1e-8,
        options.clip,
        options.decay,
        None,
    )
    if not np.isfinite(total):
        raise ParameterError(
            "training diverged: the loss is not finite. Lower learning_rate or clip gradients with clip=1.0."
        )
    if mean is not None:
        mean.add(network.weights(), network.steps - before)
    return total


def _at_once(options: TrainingOptions) -> int:
    """Return how many groups to learn in a call: whole batches, so few that checkpoints come in time."""
    most = _AVERAGED if options.averaging else _AT_ONCE
    return max(1, most // options.batch) * options.batch


def train_once(
    network: Network, labels: list[str], data: TrainingData, options: TrainingOptions, mean: RunningMean | None
) -> float:
    """Go through the groups once, in their order; return the mean loss."""
    forests = data.forests(labels, options.outdegree, 0)
    order = np.arange(len(data.ends), dtype=np.uint64)
    blocks = passes(Position(), 1, len(order), _at_once(options), lambda epoch: order)
    return sum(_learn(network, forests, block, data, options, mean) for block in blocks) / len(order)


def train(
    network: Network,
    labels: list[str],
    data: TrainingData,
    options: TrainingOptions,
    validate: Callable[[Network], tuple[float, float]] | None,
    file: CheckpointFile,
) -> _Progress:
    """Train a network in place; afterwards it has the weights of the best epoch.

    Parameters
    ----------
    network : native network
        With its initial weights.
    labels : list of str
        The vocabulary.
    data : TrainingData
        What to learn from; something can be learnt from every group.
    options : TrainingOptions
        How.
    validate : callable, optional
        Gives the error and the loss of the network on held-out data; training stops when both have not improved for
        ``patience`` epochs, and the best weights are kept.
    file : CheckpointFile
        Where the state of training is kept.
    """
    state = _Progress()
    best: NDArray[Any] = network.weights()
    memory = options.memory(len(data.ends))
    mean = RunningMean(memory, best.astype(np.float64)) if memory else None
    found = file.read()
    if found is not None:
        arrays = dict(found.arrays)
        state = _Progress(**found.values)
        best = arrays["best"]
        Resumable(arrays["weights"], arrays["first"], arrays["second"], int(arrays["steps"][0])).restore(network)
        if mean is not None:
            # As many updates are in the mean as there have been.
            mean = RunningMean(memory, arrays["mean"], network.steps)
    forests = data.forests(labels, options.outdegree, options.cache_bytes)

    def keep() -> None:
        file.write(
            vars(state),
            {
                "weights": network.weights(),
                "first": network.first_moments(),
                "second": network.second_moments(),
                "steps": np.array([network.steps], dtype=np.uint64),
                "best": best,
                **({} if mean is None else {"mean": mean.weights}),
            },
        )

    def answering() -> NDArray[Any]:
        return network.weights() if mean is None else mean.weights.astype(best.dtype)

    def end_epoch() -> bool:
        nonlocal best
        state.losses.append(state.loss / len(data.ends))
        state.loss = 0.0
        if validate is None:
            state.best_epoch = state.epoch
            return False
        learning: NDArray[Any] = network.weights()
        shown = answering()
        network.set_weights(shown)
        state.errors.append(list(validate(network)))
        network.set_weights(learning)
        if state.best_epoch < 0 or state.errors[-1] < state.errors[state.best_epoch]:
            state.best_epoch, best = state.epoch, shown
        state.finished = state.epoch - state.best_epoch >= options.patience
        return state.finished

    def order(epoch: int) -> NDArray[np.uint64]:
        return shuffled(len(data.ends), options.seed, 1, epoch).astype(np.uint64)

    epochs = state.epoch if state.finished else options.epochs
    for block in passes(state, epochs, len(data.ends), _at_once(options), order, file=file, keep=keep, end=end_epoch):
        state.loss += _learn(network, forests, block, data, options, mean)
    state.finished = True
    if validate is None:
        best = answering()
    keep()
    network.set_weights(best)
    return state

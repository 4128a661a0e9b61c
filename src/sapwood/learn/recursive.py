"""Recursive networks on trees: rankers, classifiers and regressors that learn the features of trees by themselves.

The state of a node is tanh(bias + label + Σ W_k·state of child k); the state of the root is the tree's vector, and the
output is linear in it (Frasconi et al. 1998; Menchetti et al. 2005, eqs. 5-10). Here are parameters and answers;
training is in ``recursive_training``, the arithmetic native.
"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sapwood import _core
from sapwood.checks import check_choice
from sapwood.errors import ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.kernels.base import Matrix
from sapwood.kernels.data import as_data
from sapwood.layouts import COUNT, LABELS, NUMBERS, Field, register_estimator
from sapwood.learn.groups import (
    Groups,
    RankerMixin,
    check_relevance,
    learnable_groups,
    make_groups,
    softmax_in_groups,
)
from sapwood.learn.recursive_model import RecursiveModel
from sapwood.learn.recursive_training import (
    Network,
    Resumable,
    RunningMean,
    Scaling,
    TrainingData,
    grow,
    initial_weights,
    make_network,
    train_once,
    views,
)
from sapwood.learn.targets import check_classes, check_values
from sapwood.metrics.ranking import score_ranking
from sapwood.registry import Reader

__all__ = ["RecursiveClassifier", "RecursiveRanker", "RecursiveRegressor"]


class RecursiveRanker(RankerMixin, RecursiveModel):
    """Choose the best of several trees with a recursive network.

    Parameters
    ----------
    units : int
        n: the length of state vectors.
    loss : {"setwise", "pairwise"}
        "setwise" raises the softmax probability of the best tree of a group (eq. 10); with several best trees, that of
        any of them. "pairwise" is the logistic loss of the differences of utilities, summed over pairs (eq. 14).
    pairs : {"best", "all"}
        For "pairwise": pairs of a best tree and a worse one (eq. 12), or all pairs of different relevance (eq. 11).
    max_outdegree : int
        Children beyond this position are not seen, in training as in prediction: each position has its own weights.
    optimizer : {"adam", "sgd"}
        Adam, or gradient descent with momentum.
    learning_rate, momentum : float
        Their step size and their memory of earlier gradients.
    clip : float
        Largest norm of a gradient; 0 sets no limit.
    alpha : float
        Strength of the penalty on squared weights.
    averaging : float
        Answer with a running mean of the weights that remembers about so many passes over the data: it is steadier than
        the weights after the last update, and as a rule right more often. 1 or 2 are good choices; 0 takes no mean.
    epochs : int
        Passes over the training groups, at most.
    batch_size : int
        Groups per update.
    early_stopping : bool
        Whether to hold out some groups and keep the weights of the epoch that does best on them. Held-out data can also
        be given to ``fit``.
    validation_fraction : float
        The share of groups held out.
    patience : int
        Epochs without improvement before training stops.
    initial_range : float, optional
        Weights start in [-range, range]; by default in a range that fits the number of inputs of a unit.
    min_label_count : int
        Labels on fewer distinct subtrees than this get no weights of their own, like labels that training never saw:
        such a node has the bias and its children only.
    dtype : {"float32", "float64"}
        Precision of weights.
    memory_limit : float
        Megabytes for plans of computation that are kept from epoch to epoch. Groups beyond it are planned again each
        time; results are the same.
    checkpoint : path, optional
        Where to write the state of training, at most every ten seconds. If the file is there already, ``fit`` goes on
        from it, to the same weights bit for bit.
    random_state : int, RandomState or None
        Seed of the first weights and of the order of groups.

    Attributes
    ----------
    labels_ : list of str
        The vocabulary.
    weights_ : array
        All weights.
    n_iter_ : int
        Epochs done.
    loss_curve_ : list of float
        Mean training loss per epoch.
    validation_curve_ : list of float
        Error on held-out groups per epoch, if there were any.
    skipped_groups_ : int
        Groups that nothing can be learnt from: of one row, or all of the same relevance.

    Examples
    --------
    >>> from sapwood.learn import RecursiveRanker
    >>> low, high = "(VP (V saw) (NP (NP it) (PP of)))", "(VP (V saw) (NP it) (PP of))"
    >>> X, y, groups = [low, high, high, low], [1, 0, 0, 1], [0, 0, 1, 1]
    >>> ranker = RecursiveRanker(units=5, epochs=20, learning_rate=0.05, random_state=0).fit(X, y, groups)
    >>> ranker.predict([high, low], groups=[7, 7])
    array([1])
    """

    skipped_groups_: int

    def __init__(
        self,
        units: int = 25,
        *,
        loss: str = "setwise",
        pairs: str = "best",
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
        super().__init__(
            units,
            max_outdegree=max_outdegree,
            optimizer=optimizer,
            learning_rate=learning_rate,
            momentum=momentum,
            clip=clip,
            alpha=alpha,
            averaging=averaging,
            epochs=epochs,
            batch_size=batch_size,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            initial_range=initial_range,
            min_label_count=min_label_count,
            dtype=dtype,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
            random_state=random_state,
        )
        self.loss = loss
        self.pairs = pairs

    def _loss(self) -> str:
        check_choice(self.loss, "loss", ("setwise", "pairwise"))
        check_choice(self.pairs, "pairs", ("best", "all"))
        return "setwise" if self.loss == "setwise" else f"pairwise-{self.pairs}"

    @all_or_nothing
    def fit(self, X: Any, y: Any, groups: Any = None, *, validation: tuple[Any, Any, Any] | None = None) -> Self:
        """Train on groups of alternatives.

        Parameters
        ----------
        X : TreeArray, list of trees, or Examples
            With ``Examples``: one view of trees; the matrices beside it, such as log probabilities, are extra inputs of
            the output.
        y : array of float
            Relevance, larger is better; ``from_ranks`` turns ranks into it.
        groups : array
            The group of each row. Rows of a group need not stand together.
        validation : tuple (X, y, groups), optional
            Held-out groups to stop early on.
        """
        X = as_data(X)
        relevance, made, self.skipped_groups_ = learnable_groups(X, y, groups)
        held_out = None
        if validation is not None:
            other = as_data(validation[0])
            held_out = (
                other,
                check_relevance(validation[1], other.shape[0]),
                make_groups(validation[2], other.shape[0]),
            )
        return self._fit(X, relevance, made, 1, held_out, within=True)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Go on training with one pass over more groups, in the order given; for data that comes in parts.

        Labels that come up later get weights when they do. The scale of extra inputs is that of the first part;
        ``epochs``, early stopping and checkpoints are for ``fit``.
        """
        X = as_data(X)
        options = self._check()
        first = not hasattr(self, "weights_")
        relevance, made, others = learnable_groups(X, y, groups, required=first)
        if first:
            self.labels_, self.loss_curve_, self.validation_curve_, self.n_iter_ = [], [], [], 0
            self.skipped_groups_, self._seed = 0, options.seed
        skipped = self.skipped_groups_ + others
        if not len(made):
            self.skipped_groups_ = skipped
            return self
        trees, extras = views(X)
        if first:
            self.scaling_ = Scaling.of(extras[made.rows], made.numbers())
        data = TrainingData(trees[made.rows], made.ends, relevance[made.rows], self.scaling_(extras[made.rows]))
        names, counts = _core.recursive.count_labels(trees._arena, np.unique(data.trees._roots))
        known = set(self.labels_)
        enough = zip(names, counts.tolist(), strict=True)
        new = [name for name, count in enough if count >= self.min_label_count and name not in known]
        labels = self.labels_ + new
        network, mean = self._going_on(first, len(new), extras.shape[1], options.memory(len(made)))
        loss = train_once(network, labels, data, options, mean)
        # Nothing has changed up to here: who stops the training keeps the model of before.
        self.labels_, self.skipped_groups_ = labels, skipped
        self.loss_curve_ = [*self.loss_curve_, loss]
        self.n_iter_ += 1
        self._resumable = Resumable.of(network, mean)
        self.weights_ = self._resumable.weights if mean is None else mean.weights.astype(self.dtype)
        network.set_weights(self.weights_)
        self._network = network
        return self

    def _going_on(self, first: bool, new: int, extras: int, memory: float) -> tuple[Network, RunningMean | None]:
        """Make a network that learns from where the last part ended, with weights for new labels."""
        sizes = (self.units, self.max_outdegree, new if first else len(self.labels_), 1, extras)
        network = make_network(self.dtype, *sizes)
        mean = None
        if first:
            network.set_weights(initial_weights(network, *sizes[:4], self.initial_range, self._seed))
        elif self._resumable is not None:
            self._resumable.restore(network)
            mean = self._resumable.mean
        else:
            network.set_weights(self.weights_)
        if not memory:
            mean = None
        elif mean is None:
            mean = RunningMean(memory, network.weights().astype(np.float64))
        else:
            mean = RunningMean(memory, mean.weights.copy(), mean.updates)
        if new and not first:
            network = grow(network, mean, self.dtype, sizes, new, self._seed, self.initial_range)
        return network, mean

    def _held_out_error(self, outputs: Matrix, data: TrainingData) -> tuple[float, float]:
        groups = Groups(np.arange(len(outputs)), data.ends)
        error = score_ranking(data.targets, outputs[:, 0], groups=groups.numbers(), at=(1,)).setwise[1]
        best = np.maximum.reduceat(data.targets, groups.begins)[groups.numbers()] == data.targets
        chance = np.add.reduceat(softmax_in_groups(outputs[:, 0], groups) * best, groups.begins)
        return error, float(-np.log(np.maximum(chance, 1e-300)).mean())

    def decision_function(self, X: Any) -> Matrix:
        """Return the utility of each row; larger is better."""
        return self._outputs(X, 1)[:, 0]

    def predict_proba(self, X: Any, groups: Any = None) -> Matrix:
        """Return for each row the probability that it is the best of its group (eq. 9)."""
        if self.loss != "setwise":
            raise ParameterError("only loss='setwise' learns probabilities; use decision_function.")
        X = as_data(X)
        return softmax_in_groups(self.decision_function(X), make_groups(groups, X.shape[0]))


class RecursiveClassifier(ClassifierMixin, RecursiveModel):
    """Classify trees with a recursive network and a softmax over classes.

    Parameters and attributes are those of ``RecursiveRanker``, without ``loss`` and ``pairs``; a batch holds examples.

    Examples
    --------
    >>> from sapwood.learn import RecursiveClassifier
    >>> asked, told = ["(S (WH who) (V runs))", "(S (WH what) (V ran))"], ["(S (N dogs) (V run))", "(S (N he) (V ran))"]
    >>> model = RecursiveClassifier(units=5, epochs=40, learning_rate=0.05, random_state=0)
    >>> model.fit(asked + told, ["ask", "ask", "tell", "tell"]).predict(["(S (WH who) (V barks))"])
    array(['ask'], dtype='<U4')
    """

    classes_: NDArray[Any]

    def _loss(self) -> str:
        return "classes"

    def _width(self) -> int:
        return len(self.classes_)

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Train on trees and their labels."""
        X = as_data(X)
        self.classes_, targets = check_classes(X.shape[0], y)
        return self._fit(X, targets.astype(np.float64), _singles(len(targets)), len(self.classes_), None, within=False)

    def _held_out_error(self, outputs: Matrix, data: TrainingData) -> tuple[float, float]:
        own = data.targets.astype(np.intp)
        chances = _softmax(outputs)[np.arange(len(own)), own]
        return float(np.mean(outputs.argmax(axis=1) != own)), float(-np.log(np.maximum(chances, 1e-300)).mean())

    def decision_function(self, X: Any) -> Matrix:
        """Return one output per example and class; for two classes their difference."""
        check_is_fitted(self)
        outputs = self._outputs(X, len(self.classes_))
        return outputs[:, 1] - outputs[:, 0] if len(self.classes_) == 2 else outputs

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class for each example."""
        check_is_fitted(self)
        return _softmax(self._outputs(X, len(self.classes_)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each example."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self._outputs(X, len(self.classes_)).argmax(axis=1)])


class RecursiveRegressor(RegressorMixin, RecursiveModel):
    """Predict numbers from trees with a recursive network and squared errors (eq. 7).

    Parameters and attributes are those of ``RecursiveRanker``, without ``loss`` and ``pairs``; a batch holds examples.
    Targets are centred and scaled for training.

    Examples
    --------
    >>> from sapwood.learn import RecursiveRegressor
    >>> trees = ["(NP (NN dog))", "(NP (JJ big) (NN dog))", "(NP (JJ big) (JJ old) (NN dog))"]
    >>> model = RecursiveRegressor(units=5, epochs=200, learning_rate=0.02, random_state=0).fit(trees, [1.0, 2.0, 3.0])
    >>> model.predict(trees).round(1)
    array([1., 2., 3.])
    """

    target_shift_: float
    target_scale_: float

    def _loss(self) -> str:
        return "squares"

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Train on trees and their target values."""
        X = as_data(X)
        targets = check_values(X.shape[0], y, "RecursiveClassifier")
        self.target_shift_, spread = float(targets.mean()), float(targets.std())
        self.target_scale_ = spread if spread > 0 else 1.0
        scaled = (targets - self.target_shift_) / self.target_scale_
        return self._fit(X, scaled, _singles(len(targets)), 1, None, within=False)

    def _held_out_error(self, outputs: Matrix, data: TrainingData) -> tuple[float, float]:
        error = float(np.mean((outputs[:, 0] - data.targets) ** 2))
        return error, error

    def predict(self, X: Any) -> Matrix:
        """Return the predicted value of each example."""
        return np.asarray(self._outputs(X, 1)[:, 0] * self.target_scale_ + self.target_shift_)


def _singles(count: int) -> Groups:
    """Every row is a group of its own: rows do not compete."""
    return Groups(np.arange(count), np.arange(1, count + 1))


def _softmax(outputs: Matrix) -> Matrix:
    weights = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _number(key: str, at: int) -> Field:
    """Hold one of the numbers of the target's scaling, which earlier files have together."""
    return Field(
        lambda value, writer: {key: float(value)},
        lambda data, reader: reader.number(data[key] if key in data else data["target"][at]),
        spread=True,
    )


def _check_weights(model: RecursiveModel, reader: Reader) -> None:
    if len(set(model.labels_)) != len(model.labels_):
        raise reader.fail("a label occurs twice")
    # The weights must fit the shape; the rest would read past their end.
    stride = (model.units + 7) // 8 * 8
    rows = 1 + len(model.labels_) + model.max_outdegree * model.units + model._width()
    count = rows * stride + model._width() * (len(model.scaling_.shift) + 1)
    if model.weights_.dtype != model.dtype or len(model.weights_) != count:
        raise reader.fail("the weights do not fit the network")


def _read_scaling(data: Any, reader: Reader) -> Scaling:
    shift = reader.finite(data["shift"], (None,))
    scale = reader.finite(data["scale"], shift.shape)
    if not (scale > 0).all():
        raise reader.fail("the scaling of extra inputs is not one")
    return Scaling(shift, scale)


_FITTED = {
    "labels_": Field(lambda value, writer: value, lambda data, reader: reader.texts(data)),
    "weights_": Field(
        lambda value, writer: writer.array(value),
        lambda data, reader: reader.finite(data, (None,), (np.float32, np.float64)),
    ),
    "scaling_": Field(
        lambda value, writer: {"shift": writer.array(value.shift), "scale": writer.array(value.scale)},
        _read_scaling,
        spread=True,
    ),
    "n_iter_": COUNT.at("epochs"),
    "loss_curve_": NUMBERS.at("losses"),
    "validation_curve_": NUMBERS.at("errors"),
}
for _kind, _further in (
    (RecursiveClassifier, {"classes_": LABELS}),
    (RecursiveRanker, {"skipped_groups_": COUNT.at("skipped")}),
    (
        RecursiveRegressor,
        {"target_shift_": _number("target_shift", 0), "target_scale_": _number("target_scale", 1)},
    ),
):
    register_estimator(_kind, fitted={**_FITTED, **_further}, finish=_check_weights)

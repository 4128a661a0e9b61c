"""The voted perceptron for two classes, with any kernel (Freund & Schapire 1999).

Preferences within groups are learnt in ``ranking``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from sapwood.checks import check_amount, check_choice, check_count, check_seed
from sapwood.errors import DataError
from sapwood.fitting import SequenceInput, all_or_nothing
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.choice import KERNEL, ChoosesKernel
from sapwood.kernels.data import as_data, detached
from sapwood.kernels.evaluation import finite_gram
from sapwood.kernels.finite import check_finite
from sapwood.layouts import COUNT, LABELS, array_of, part_of, register_estimator
from sapwood.learn.calibration import (
    CALIBRATION,
    HasProbabilities,
    calibrate,
    check_fitting,
    check_probability,
    held_out_margins,
)
from sapwood.learn.groups import add_up
from sapwood.learn.passes import Position, open_checkpoint, passes, shuffled
from sapwood.learn.targets import check_classes
from sapwood.registry import Reader
from sapwood.resuming import CheckpointFile
from sapwood.trees.store import VIEW

__all__ = ["VotedPerceptron"]


class VotedPerceptron(HasProbabilities, ChoosesKernel, ClassifierMixin, SequenceInput, BaseEstimator):
    """The kernel perceptron for two classes, with votes of all its stages.

    Each mistake adds an example to the model. A stage is what the model was between two mistakes, and it counts as
    often as it was right.

    Parameters
    ----------
    kernel : Kernel, str or callable, optional
        By default ``SubsetTree(decay=0.4).normalized()``; text is an expression such as that one.
    epochs : int
        Passes over the examples.
    vote : {"voted", "averaged", "last"}
        Add up the signs of all stages, their values (eq. 4 with the sign or the identity for Γ), or take the last stage
        only. Values are computed through the compiled kernel; signs need a kernel value per support example.
    shuffle : bool
        Whether each epoch goes through the examples in a new random order.
    memory_limit : float
        Megabytes for blocks of kernel values.
    checkpoint : path, optional
        Where to write the state of training, at most every ten seconds. If the file is there already, ``fit`` goes on
        from it, to the same weights bit for bit.
    random_state : int, RandomState or None
        Seed of the order.
    probability : bool or {"sigmoid", "temperature", "isotonic"}
        Whether to learn how margins become probabilities, from five more models; see ``KernelSVC``.

    Attributes
    ----------
    classes_ : array
        The two labels, sorted.
    support_examples_ : TreeArray or Examples
        The examples that were mistaken, each once.
    dual_coef_ : array
        Their weights, for "averaged" and "last".
    n_steps_, n_mistakes_ : int
        Examples looked at, and mistakes.

    Examples
    --------
    >>> from sapwood.learn import VotedPerceptron
    >>> asked = ["(S (WH who) (V runs))", "(S (WH what) (V ran))"]
    >>> told = ["(S (N dogs) (V run))", "(S (N he) (V ran))"]
    >>> model = VotedPerceptron(epochs=3, random_state=0).fit(asked + told, ["ask", "ask", "tell", "tell"])
    >>> model.predict(["(S (WH who) (V barks))"])
    array(['ask'], dtype='<U4')
    """

    classes_: NDArray[Any]
    kernel_: Kernel
    support_examples_: Any
    n_steps_: int
    n_mistakes_: int
    # The mistakes in order: the support example, what was added to its weight, and the step.
    _places: NDArray[np.intp]
    _signs: Matrix
    _when: NDArray[np.int64]
    _compiled: Callable[[Any], Matrix] | None = None
    _compiled_names = ("_compiled",)

    def __init__(
        self,
        kernel: Any = None,
        *,
        epochs: int = 1,
        vote: str = "voted",
        shuffle: bool = True,
        memory_limit: float = 200.0,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        probability: bool | str = False,
    ) -> None:
        self.kernel = kernel
        self.epochs = epochs
        self.vote = vote
        self.shuffle = shuffle
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.probability = probability

    def _check(self) -> None:
        check_count(self.epochs, "epochs")
        check_choice(self.vote, "vote", ("voted", "averaged", "last"))
        check_amount(self.memory_limit, "memory_limit")
        check_probability(self.probability)

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Train on examples of two classes.

        Parameters
        ----------
        X : TreeArray, Examples or list of trees
            Training examples.
        y : array of labels
            One per example, two different ones.
        """
        self._check()
        X = as_data(X)
        self.classes_, targets = check_classes(X.shape[0], y)
        if len(self.classes_) != 2:
            raise DataError(
                f"y has {len(self.classes_)} classes; the perceptron tells two apart. For more, wrap it in "
                "scikit-learn's OneVsRestClassifier."
            )
        signs = np.where(targets == 1, 1.0, -1.0)
        self.kernel_ = self._chosen_kernel().bind(X)
        seed = check_seed(self.random_state)
        self._learn(X, signs, seed, open_checkpoint(self, seed, X, signs))
        self.calibration_ = None
        if self.probability:
            margins = held_out_margins(
                lambda: clone(self).set_params(probability=False, checkpoint=None, random_state=seed),
                lambda data, rows, _: data[rows],
                X,
                self.classes_[targets],
                self.classes_,
            )
            self.calibration_ = calibrate(margins, targets, method=self.probability)
        return self

    def _learn(self, X: Any, signs: Matrix, seed: int, file: CheckpointFile) -> None:
        count = len(signs)
        rows: list[int] = []
        when: list[int] = []
        at, steps = Position(), 0
        if (found := file.read()) is not None:
            at.epoch, at.done, steps = (found.values[name] for name in ("epoch", "done", "steps"))
            rows, when = found.arrays["rows"].tolist(), found.arrays["when"].tolist()

        def keep() -> None:
            arrays = {"rows": np.array(rows, dtype=np.int64), "when": np.array(when, dtype=np.int64)}
            file.write({"epoch": at.epoch, "done": at.done, "steps": steps}, arrays)

        def order(epoch: int) -> NDArray[np.intp]:
            return shuffled(count, seed, epoch) if self.shuffle else np.arange(count)

        size = max(1, min(512, int(np.sqrt(self.memory_limit * 1e6 / 8))))
        for chosen in passes(at, self.epochs, count, size, order, file=file, keep=keep):
            # A block is scored with the model as it stands; what it adds to the model is made up for inside it.
            block = X[chosen]
            values = np.zeros(len(chosen))
            if rows:
                weights = add_up(rows, signs[rows], count)
                support = np.flatnonzero(weights)
                if len(support):
                    values = self.kernel_._expansion(X[support], weights[support, None])(block)[:, 0]
            K = finite_gram(self.kernel_, block, None, chosen)
            # Sums of kernel values may be too large where no kernel value is; then they stay so.
            with np.errstate(over="ignore", invalid="ignore"):
                for place, row in enumerate(chosen.tolist()):
                    steps += 1
                    if signs[row] * values[place] <= 0:
                        rows.append(row)
                        when.append(steps)
                        values += signs[row] * K[place]
            check_finite(values, chosen, "score")
        keep()
        support, places = np.unique(np.array(rows, dtype=np.intp), return_inverse=True)
        self.support_examples_ = detached(X, support)
        self._places, self._signs = places.astype(np.intp), signs[rows]
        self._when = np.array(when, dtype=np.int64)
        self.n_steps_, self.n_mistakes_ = steps, len(rows)
        self._compiled = None

    def _counts(self) -> NDArray[np.int64]:
        """Return how often each stage was asked: from its mistake to the next."""
        return np.diff(self._when, append=self.n_steps_ + 1)

    @property
    def dual_coef_(self) -> Matrix:
        """Weights of the support examples, averaged over the steps unless ``vote="last"``."""
        weights = self._signs
        if self.vote != "last":
            weights = weights * (self.n_steps_ + 1 - self._when) / self.n_steps_
        return add_up(self._places, weights, self.support_examples_.shape[0])

    def decision_function(self, X: Any) -> Matrix:
        """Return the margin of each example: above 0 for the second class.

        With ``vote="voted"`` it is the difference of the shares of votes, in [-1, 1].
        """
        check_is_fitted(self, "kernel_")
        X = as_data(X)
        if self.vote == "voted":
            return self._votes(X)
        if self._compiled is None:
            self._compiled = self.kernel_.expansion(self.support_examples_, self.dual_coef_[:, None])
        return self._compiled(X)[:, 0]

    def _votes(self, X: Any) -> Matrix:
        result = np.empty(X.shape[0])
        counts = self._counts().astype(np.float64)
        width = max(self.support_examples_.shape[0], len(counts), 1)
        step = max(1, int(self.memory_limit * 1e6 / (24 * width)))
        for start in range(0, len(result), step):
            block = X[start : start + step]
            K = finite_gram(self.kernel_, block, self.support_examples_, range(start, start + block.shape[0]))
            stages = np.cumsum(K[:, self._places] * self._signs, axis=1)
            result[start : start + step] = np.sign(stages) @ counts / self.n_steps_
        return result

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each example."""
        margins = self.decision_function(X)
        return np.asarray(self.classes_[(margins > 0).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _check_mistakes(model: VotedPerceptron, reader: Reader) -> None:
    places, when = model._places, model._when
    if len(model.classes_) != 2 or not len(places) == len(model._signs) == len(when):
        raise reader.fail("the mistakes do not fit each other")
    if len(places) and not (places.min() >= 0 and places.max() < model.support_examples_.shape[0]):
        raise reader.fail("a mistake has no example")
    last = int(when[-1]) if len(when) else 0
    if not np.isin(model._signs, (-1.0, 1.0)).all() or (when[1:] <= when[:-1]).any() or last > model.n_steps_:
        raise reader.fail("the mistakes are out of order")
    check_fitting(model, reader)
    model.n_mistakes_ = len(places)


register_estimator(
    VotedPerceptron,
    parameters={"kernel": KERNEL},
    fitted={
        "kernel_": part_of(Kernel).at("fitted_kernel"),
        "support_examples_": VIEW.at("examples"),
        "_places": array_of(np.int64),
        "_signs": array_of(np.float64),
        "_when": array_of(np.int64),
        "n_steps_": COUNT.at("steps"),
        "classes_": LABELS,
        "calibration_": CALIBRATION,
    },
    finish=_check_mistakes,
)

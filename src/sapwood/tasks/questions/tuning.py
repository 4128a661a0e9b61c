"""Choosing kernels, their weights and C by cross-validation on the training questions alone.

A Gram matrix is computed once per kernel and serves every fold, every weight in a sum and every C. Kernels are first
screened by ridge regression, whose left-out predictions have a closed form; the best few are then compared by the SVM
that will be trained. Nothing here has seen a test question.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from sapwood.checks import check_amount, check_count
from sapwood.errors import DataError, KernelError, ParameterError
from sapwood.kernels.base import Kernel, Matrix
from sapwood.kernels.flat import Linear
from sapwood.kernels.semantic import SemanticSubsetTree, SmoothedPartialTree
from sapwood.kernels.syntactic import SubsetTree
from sapwood.learn.svm import KernelSVC
from sapwood.learn.targets import check_classes
from sapwood.notebook import HtmlTable
from sapwood.tasks.questions.classifier import QuestionClassifier, plain_kernel
from sapwood.words.forms import Tagged
from sapwood.words.wordnet import WordNet

__all__ = [
    "Grams",
    "Trial",
    "Tuning",
    "candidates",
    "cross_validate",
    "make_folds",
    "ridge_predictions",
    "svm_on_gram",
    "tune",
]

Folds = list[NDArray[np.intp]]


class Grams:
    """Gram matrices of training examples, and of others (such as a test set) against them, each computed once.

    A sum of kernels is the sum of the matrices of its terms, so that weights can be searched at no cost. Matrices are
    kept in single precision: cross-validation does not see the difference.
    """

    def __init__(self, train: Any, other: Any = None) -> None:
        self._train, self._other = train, other
        self._known: list[tuple[Kernel, NDArray[np.float32], NDArray[np.float32] | None]] = []

    def train(self, kernel: Kernel) -> NDArray[np.float32]:
        """Return the training examples against each other."""
        return self._sum(kernel, 1)

    def other(self, kernel: Kernel) -> NDArray[np.float32]:
        """Return the other examples against the training examples."""
        if self._other is None:
            raise DataError("these Grams were made without other examples.")
        return self._sum(kernel, 2)

    def forget(self, *keep: Kernel) -> None:
        """Drop all matrices but those that these kernels need."""
        summands = [part for kernel in keep for _, part in kernel.summands()]
        self._known = [entry for entry in self._known if any(entry[0] == part for part in summands)]

    def _sum(self, kernel: Kernel, which: int) -> NDArray[np.float32]:
        total: NDArray[np.float32] | None = None
        for weight, part in kernel.summands():
            scaled = np.float32(weight) * self._of(part)[which]
            total = scaled if total is None else np.add(total, scaled, out=total)
        assert total is not None
        return total

    def _of(self, kernel: Kernel) -> Any:
        for entry in self._known:
            if entry[0] == kernel:
                return entry
        bound = kernel.bind(self._train)
        own = bound(self._train).astype(np.float32)
        others = None if self._other is None else bound(self._other, self._train).astype(np.float32)
        self._known.append((kernel, own, others))
        return self._known[-1]


def make_folds(y: Any, folds: int = 5, random_state: int = 0) -> Folds:
    """Split positions into folds with about the same share of every class; classes may be smaller than that.

    >>> [fold.tolist() for fold in make_folds(["a", "b", "a", "b"], 2)]
    [[1, 2], [0, 3]]
    """
    check_count(folds, "folds", least=2)
    most = int(np.unique(np.asarray(y), return_counts=True)[1].max())
    if folds > most:
        raise ParameterError(f"folds must be at most {most}, the size of the largest class; got {folds}.")
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return [held for _, held in splitter.split(np.zeros(len(y)), y)]


def ridge_predictions(K: Any, Y: Matrix, folds: Folds, ridge: float = 0.05) -> NDArray[Any]:
    """Predict every fold from the others by kernel ridge regression, with one factorization for all folds.

    With G = (K + ρI)⁻¹ the prediction of a fold F is Y_F - (G_FF)⁻¹ (G Y)_F. It is computed in the precision of K;
    ``ridge`` is ρ as a share of the mean of the diagonal.

    >>> K, Y = np.eye(4), np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> abs(ridge_predictions(K, Y, [np.array([0, 1]), np.array([2, 3])])).max() < 1e-12
    np.True_
    """
    shifted = np.array(K, order="F", copy=True)
    shifted[np.diag_indices(len(K))] += ridge * shifted.diagonal().mean()
    factor, inverse = la.get_lapack_funcs(("potrf", "potri"), (shifted,))
    lower, fault = factor(shifted, lower=1, overwrite_a=1)
    if fault:
        raise KernelError("the Gram matrix is not positive definite even with the ridge; use a similarity that is psd.")
    half, _ = inverse(lower, lower=1, overwrite_c=1)
    G = np.tril(half)
    G += np.tril(half, -1).T
    alpha = G @ Y.astype(G.dtype)
    predicted: NDArray[Any] = np.empty_like(alpha)
    for fold in folds:
        try:
            predicted[fold] = Y[fold] - la.solve(G[np.ix_(fold, fold)], alpha[fold], assume_a="pos")
        except (la.LinAlgError, ValueError):
            raise KernelError("the Gram matrix cannot be inverted with this ridge; choose one near 0.05.") from None
    return predicted


class _Stored(Kernel):
    """Values that are known already; examples are row numbers."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def _gram(self, X: Any, Y: Any | None) -> Matrix:
        rows = X[:, 0].astype(np.intp)
        columns = rows if Y is None else Y[:, 0].astype(np.intp)
        return np.asarray(self.values[np.ix_(rows, columns)], dtype=np.float64)

    def _diag(self, X: Any) -> Matrix:
        rows = X[:, 0].astype(np.intp)
        return np.asarray(self.values[rows, rows], dtype=np.float64)


def svm_on_gram(K: Any, rows: NDArray[np.intp], y: NDArray[Any], C: float, class_weight: Any = None) -> KernelSVC:
    """Train an SVM on rows of a Gram matrix; it predicts from row numbers in a column."""
    return KernelSVC(_Stored(K), C=C, class_weight=class_weight).fit(rows[:, None].astype(np.float64), y[rows])


def cross_validate(K: Any, y: Any, folds: Folds, *, C: float = 10.0, class_weight: Any = None) -> NDArray[Any]:
    """Return the label of each example that an SVM trained on the other folds predicts from a Gram matrix."""
    labels = np.asarray(y)
    predicted = np.empty_like(labels)
    everything = np.arange(len(labels))
    for fold in folds:
        rest = np.setdiff1d(everything, fold)
        weight = class_weight
        if isinstance(weight, dict):
            weight = {label: factor for label, factor in weight.items() if label in set(labels[rest].tolist())}
        svm = svm_on_gram(K, rest, labels, C, weight)
        predicted[fold] = svm.predict(fold[:, None].astype(np.float64))
    return predicted


@dataclass(frozen=True)
class Trial:
    """One configuration and its accuracy in cross-validation: NaN if the Gram matrix is not positive definite.

    The method is ``ridge`` for the screening, ``svm`` for what will be trained.
    """

    kernel: Kernel
    method: str
    C: float | None
    class_weight: Any
    accuracy: float


@dataclass(frozen=True)
class Tuning(HtmlTable):
    """Every trial, in the order in which it was made, and the best one of the SVM."""

    trials: tuple[Trial, ...]
    best: Trial

    def classifier(self, **parameters: Any) -> QuestionClassifier:
        """Return an unfitted classifier with what was best; further parameters as for ``QuestionClassifier``."""
        best = {"C": self.best.C, "class_weight": self.best.class_weight}
        return QuestionClassifier(self.best.kernel, **{**best, **parameters})

    def __str__(self) -> str:
        lines = [f"{'accuracy':>8}  method  {'C':>6}  kernel"]
        for trial in sorted(self.trials, key=lambda one: (one.method == "ridge", -np.nan_to_num(one.accuracy))):
            C = "" if trial.C is None else f"{trial.C:g}"
            weights = "" if trial.class_weight is None else f", class_weight={trial.class_weight!r}"
            lines.append(f"{100 * trial.accuracy:8.2f}  {trial.method:<6}  {C:>6}  {trial.kernel!r}{weights}")
        return "\n".join(lines)


def candidates() -> list[Kernel]:
    """Return kernels worth trying on questions: with similar words if WordNet is there, and without."""
    kernels = [plain_kernel()]
    try:
        every = WordNet(weights="lin", senses="all")
        every("dog", "cat")
    except DataError:
        return [*kernels, *(SubsetTree(decay=decay).normalized().on("focus") for decay in (0.1, 0.2, 0.4))]
    words = Linear().normalized().on("words")
    lexical = SmoothedPartialTree(Tagged(every), lexical="all").normalized().on("lexical")
    for decay in (0.2, 0.4):
        for leaf_weight in (1.0, 2.0):
            focus = SemanticSubsetTree(every, decay=decay, leaf_weight=leaf_weight).normalized().on("focus")
            kernels += [focus, focus + lexical, focus + lexical + 0.5 * words]
    return kernels


def tune(
    X: Any,
    y: Any,
    *,
    kernels: Sequence[Kernel],
    C: Sequence[float] = (3.0, 10.0),
    class_weights: Sequence[Any] = (None,),
    folds: int = 5,
    keep: int = 3,
    ridge: float = 0.05,
    parser: Any = None,
    random_state: int = 0,
) -> Tuning:
    """Choose a kernel, C and class weights by cross-validation.

    Kernels that learn from training data (``Latent``) see the words of all folds, but no labels.

    Parameters
    ----------
    X : list of questions, TreeArray or Examples
    y : array of labels
    kernels : sequence of Kernel
        Candidates: different decays, leaf weights, similarities, weights in a sum. Terms that they share are computed
        once.
    C : sequence of float
    class_weights : sequence of dict, "balanced" or None
    folds : int
    keep : int
        How many kernels, the best by ridge regression, are tried with an SVM.
    ridge : float
        See ``ridge_predictions``.
    parser
        As for ``QuestionClassifier``.
    random_state : int
        Seed of the folds.

    Examples
    --------
    >>> from sapwood.kernels import SubsetTree
    >>> from sapwood.parse import FlatParser
    >>> questions = ["Who ran ?", "Who fell ?", "Who is he ?", "Where is it ?", "Where was he ?", "Where did he fall ?"]
    >>> kernels = [SubsetTree(decay=decay).normalized().on("focus") for decay in (0.2, 0.4)]
    >>> labels = ["HUM"] * 3 + ["LOC"] * 3
    >>> tuning = tune(questions, labels, kernels=kernels, folds=3, keep=1, C=[1.0], parser=FlatParser())
    >>> round(tuning.best.accuracy, 2), len(tuning.trials)
    (0.83, 3)
    """
    if not kernels:
        raise ParameterError("kernels is empty; give at least one to try.")
    check_amount(ridge, "ridge")
    check_count(keep, "keep")
    if not C or not class_weights:
        raise ParameterError("C and class_weights must not be empty.")
    total = reduce(add, kernels)
    data, _ = QuestionClassifier(total, parser=parser)._read(X, total, training=True)
    names, targets = check_classes(len(data), y)
    labels = names[targets]
    held = make_folds(labels, folds, random_state)
    sides = np.where(np.arange(len(names)) == targets[:, None], 1.0, -1.0)
    grams = Grams(data)
    trials = []
    for kernel in kernels:
        try:
            guessed = ridge_predictions(grams.train(kernel), sides, held, ridge).argmax(axis=1)
            accuracy = float(np.mean(guessed == targets))
        except KernelError:
            accuracy = float("nan")
        trials.append(Trial(kernel, "ridge", None, None, accuracy))
    ranked = sorted(trials, key=lambda trial: -np.nan_to_num(trial.accuracy, nan=-1.0))[:keep]
    finals = []
    for screened in ranked:
        K = grams.train(screened.kernel)
        for value, weights in product(C, class_weights):
            predicted = cross_validate(K, labels, held, C=value, class_weight=weights)
            finals.append(Trial(screened.kernel, "svm", value, weights, float(np.mean(predicted == labels))))
    return Tuning((*trials, *finals), max(finals, key=lambda trial: trial.accuracy))

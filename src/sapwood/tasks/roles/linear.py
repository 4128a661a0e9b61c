"""Linear models with calibrated scores: is this candidate an argument, and which role has it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from sklearn.svm import LinearSVC

from sapwood.errors import DataError, ParameterError
from sapwood.registry import Reader, Writer

__all__ = ["LinearRoles", "best_slope", "log_softmax"]

Matrix = NDArray[np.float64]


class LinearRoles:
    """One-against-rest linear SVMs whose margins become probabilities.

    Parameters
    ----------
    C : float
        Price of a training error.
    seed : int
        Where the solver's shuffling begins.

    Attributes
    ----------
    classes : list of str
        The classes; with two of them there is one margin, that of the second.
    weights : array of float32, features × margins
    bias : array of float
    slope, shift : float
        Probabilities are softmax(slope · margins), for two classes the logistic function of slope · margin + shift.
    """

    def __init__(self, C: float = 0.05, seed: int = 0) -> None:
        self.C, self.seed = C, seed
        self.classes: list[str] = []
        self.weights: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.bias: Matrix = np.zeros(0)
        self.slope, self.shift = 1.0, 0.0

    def fit(self, X: sparse.csr_array, y: Sequence[str]) -> LinearRoles:
        """Train on rows and their classes."""
        labels = np.asarray(y)
        if len(set(labels.tolist())) < 2:
            raise DataError("there is only one class to learn; give sentences with several roles.")
        if not 0 < self.C < np.inf:
            raise ParameterError(f"the price of errors (C) must be a finite number above 0, got {self.C!r}.")
        # The square of the loss is smooth, which the solver likes; rows are short, so a thousand passes are plenty.
        model = LinearSVC(C=self.C, tol=1e-2, random_state=self.seed, max_iter=2000).fit(_narrow(X), labels)
        self.classes = [str(name) for name in model.classes_]
        self.weights = np.ascontiguousarray(model.coef_.T, dtype=np.float32)
        self.bias = np.asarray(model.intercept_, dtype=np.float64)
        return self

    def margins(self, X: sparse.csr_array) -> Matrix:
        """Return one margin per row and class, or per row for two classes."""
        # Were the types to differ, all weights would be copied for the sake of a few rows.
        return np.asarray(X.astype(np.float32) @ self.weights, dtype=np.float64) + self.bias

    def calibrate(self, X: sparse.csr_array, y: Sequence[str]) -> None:
        """Choose slope and shift so that the probabilities fit held-out data best."""
        margins = self.margins(X)
        if len(self.classes) == 2:
            kept = [at for at, name in enumerate(y) if name in self.classes]
            margins = margins[kept]
            sides = np.array([1.0 if y[at] == self.classes[1] else -1.0 for at in kept])
            if not kept:
                return

            def loss(both: Matrix) -> float:
                return float(np.logaddexp(0.0, -sides * (both[0] * margins[:, 0] + both[1])).mean())

            self.slope, self.shift = (float(value) for value in minimize(loss, [1.0, 0.0], method="Nelder-Mead").x)
        else:
            self.slope = best_slope(margins, y, self.classes)

    def log_probabilities(self, X: sparse.csr_array) -> Matrix:
        """Return the logarithm of the probability of each class, one column per class."""
        margins = self.margins(X)
        if len(self.classes) == 2:
            score = self.slope * margins[:, 0] + self.shift
            return np.column_stack([-np.logaddexp(0.0, score), -np.logaddexp(0.0, -score)])
        return log_softmax(self.slope * margins)

    def write(self, writer: Writer) -> dict[str, Any]:
        """Describe the model for a file."""
        return {
            "C": self.C,
            "seed": self.seed,
            "classes": self.classes,
            "weights": writer.array(self.weights),
            "bias": writer.array(self.bias),
            "slope": self.slope,
            "shift": self.shift,
        }

    @classmethod
    def read(cls, data: dict[str, Any], features: int, reader: Reader) -> LinearRoles:
        """Rebuild what ``write`` described, a model of so many features."""
        model = cls(data["C"], data["seed"])
        model.classes = [str(name) for name in data["classes"]]
        outputs = 1 if len(model.classes) == 2 else len(model.classes)
        model.weights = reader.finite(data["weights"], (features, outputs), np.float32)
        model.bias = reader.finite(data["bias"], (outputs,))
        model.slope, model.shift = reader.number(data["slope"]), reader.number(data["shift"])
        return model


def _narrow(X: sparse.csr_array) -> sparse.csr_matrix:
    # liblinear wants a matrix with 32-bit indices.
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def best_slope(margins: Matrix, y: Sequence[str], classes: Sequence[str]) -> float:
    """Return the slope with which softmax(slope · margins) fits the classes of held-out rows best.

    >>> margins = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]])
    >>> sure, unsure = (best_slope(margins, y, "abc") for y in (["a", "b", "a"], ["a", "b", "c"]))
    >>> sure > unsure
    True
    """
    numbers = {name: at for at, name in enumerate(classes)}
    kept = [at for at, name in enumerate(y) if name in numbers]
    if not kept:
        return 1.0
    truth = np.array([numbers[y[at]] for at in kept])
    known, rows = margins[kept], np.arange(len(kept))

    def surprise(slope: float) -> float:
        return -float(log_softmax(slope * known)[rows, truth].mean())

    return float(minimize_scalar(surprise, bounds=(0.1, 20.0), method="bounded").x)


def log_softmax(scores: Matrix) -> Matrix:
    """Return log-probabilities that are proportional to the exponentials of scores, row by row."""
    top = scores.max(axis=1, keepdims=True)
    return np.asarray(scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True)))

"""Linear models of candidates with calibrated scores: is this an argument, and which role has it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax
from sklearn.svm import LinearSVC

from sapwood.checks import check_amount
from sapwood.errors import DataError
from sapwood.interrupts import leave_behind
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.explanation import RoleExplanation
from sapwood.tasks.roles.views import Candidate

__all__ = ["LinearRoles", "best_slope"]

Matrix = NDArray[np.float64]
Values = Sequence[Sequence[str]]


class LinearRoles:
    """One-against-rest linear SVMs on encoded candidates, whose margins become probabilities.

    Methods take the flat features of the candidates as ``values`` where they are known already.

    Parameters
    ----------
    encoder : Encoder
        Turns candidates into rows of a matrix; it is fitted here.
    C : float
        Weight of training errors against the size of the weights.
    seed : int
        Seed of the solver's shuffling.

    Attributes
    ----------
    classes : list of str
        The classes; with two of them there is one margin, that of the second.
    weights : array of float32, features × margins
    bias : array of float
    slope, shift : float
        Probabilities are softmax(slope · margins), for two classes the logistic function of slope · margin + shift.
    """

    def __init__(self, encoder: Encoder, C: float = 0.05, seed: int = 0) -> None:
        self.encoder, self.C, self.seed = encoder, C, seed
        self.classes: list[str] = []
        self.weights: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self.bias: Matrix = np.zeros(0)
        self.slope, self.shift = 1.0, 0.0

    def fit(self, candidates: Sequence[Candidate], labels: Sequence[str], values: Values) -> Self:
        """Train on candidates and their classes."""
        if len(set(labels)) < 2:
            raise DataError("there is only one class to learn; give sentences with several roles.")
        check_amount(self.C, "C", zero=False)
        X = self.encoder.fit(candidates, values).transform(candidates, values)
        # liblinear wants a matrix with 32-bit indices.
        narrow = sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
        # The square of the loss is smooth, which the solver likes; rows are short, so a thousand passes are plenty.
        solver, classes = LinearSVC(C=self.C, tol=1e-2, random_state=self.seed, max_iter=2000), np.asarray(labels)
        model = leave_behind(lambda: solver.fit(narrow, classes))
        self.classes = [str(name) for name in model.classes_]
        self.weights = np.ascontiguousarray(model.coef_.T, dtype=np.float32)
        self.bias = np.asarray(model.intercept_, dtype=np.float64)
        return self

    def margins(self, candidates: Sequence[Candidate], values: Values | None = None) -> Matrix:
        """Return one margin per candidate and class, or per candidate for two classes."""
        X = self.encoder.transform(candidates, values)
        # Were the types to differ, all weights would be copied for the sake of a few rows.
        return np.asarray(X.astype(np.float32) @ self.weights, dtype=np.float64) + self.bias

    def calibrate(self, candidates: Sequence[Candidate], labels: Sequence[str]) -> None:
        """Choose slope and shift so that the probabilities fit held-out data best."""
        margins = self.margins(candidates)
        if len(self.classes) > 2:
            self.slope = best_slope(margins, labels, self.classes)
            return
        kept = [at for at, name in enumerate(labels) if name in self.classes]
        if not kept:
            return
        margins = margins[kept]
        sides = np.array([1.0 if labels[at] == self.classes[1] else -1.0 for at in kept])

        def loss(both: Matrix) -> float:
            return float(np.logaddexp(0.0, -sides * (both[0] * margins[:, 0] + both[1])).mean())

        self.slope, self.shift = (float(value) for value in minimize(loss, [1.0, 0.0], method="Nelder-Mead").x)

    def log_probabilities(self, candidates: Sequence[Candidate], values: Values | None = None) -> Matrix:
        """Return the logarithm of the probability of each class, one column per class."""
        margins = self.margins(candidates, values)
        if len(self.classes) == 2:
            score = self.slope * margins[:, 0] + self.shift
            return np.column_stack([-np.logaddexp(0.0, score), -np.logaddexp(0.0, -score)])
        return np.asarray(log_softmax(self.slope * margins, axis=1))

    def explain(self, candidate: Candidate, label: str | None = None) -> RoleExplanation:
        """Return what each feature of a candidate adds to the margin of a class, by default of the likeliest."""
        margins, X = self.margins([candidate])[0], self.encoder.transform([candidate])
        # With two classes the one margin there is speaks for the second, and against the first.
        two = len(self.classes) == 2
        label = label or self.classes[int(margins[0] > 0) if two else int(margins.argmax())]
        sign, output = (-1.0 if two and label == self.classes[0] else 1.0), 0 if two else self.classes.index(label)
        weights = sign * X.data * self.weights[X.indices, output]
        names = self.encoder.names()
        order = np.argsort(-np.abs(weights), kind="stable")
        found = tuple((names[int(X.indices[k])], float(weights[k])) for k in order)
        return RoleExplanation(label, float(sign * margins[output]), float(sign * self.bias[output]), found)

    def write(self, writer: Writer) -> dict[str, Any]:
        """Describe the model for a file, without its encoder."""
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
    def read(cls, data: dict[str, Any], encoder: Encoder, reader: Reader) -> LinearRoles:
        """Rebuild what ``write`` described."""
        model = cls(encoder, data["C"], data["seed"])
        model.classes = reader.labels({"classes": data["classes"], "classes_kind": "U"}).tolist()
        outputs = 1 if len(model.classes) == 2 else len(model.classes)
        model.weights = reader.finite(data["weights"], (encoder.total, outputs), np.float32)
        model.bias = reader.finite(data["bias"], (outputs,))
        model.slope, model.shift = reader.number(data["slope"]), reader.number(data["shift"])
        return model


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
        return -float(log_softmax(slope * known, axis=1)[rows, truth].mean())

    return float(minimize_scalar(surprise, bounds=(0.1, 20.0), method="bounded").x)

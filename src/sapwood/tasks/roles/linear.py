"""Linear models of candidates with calibrated scores: is this an argument, and which role has it?"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from sapwood.checks import check_amount
from sapwood.errors import DataError
from sapwood.interrupts import leave_behind
from sapwood.packing import Grid
from sapwood.registry import Reader, Writer
from sapwood.settings import counted
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.explanation import RoleExplanation
from sapwood.tasks.roles.views import Candidate

__all__ = ["LinearRoles", "best_slope"]

# How compact files round weights, one scale per class: those below half a step become 0.
_GRID = Grid(31, axis=0)
Matrix = NDArray[np.float64]
Values = Sequence[list[str]]
# The share of C with which weights leave those of another model: of 0.1, 0.3, 1 and 3 the best on 200 sentences of
# PropBank's Wall Street Journal after web text.
_CAUTION = 0.3


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
        Sparse where it comes from a compact file.
    bias : array of float
    slope, shift : float
        Probabilities are softmax(slope · margins), for two classes the logistic function of slope · margin + shift.
    """

    def __init__(self, encoder: Encoder, C: float = 0.05, seed: int = 0) -> None:
        self.encoder, self.C, self.seed = encoder, C, seed
        self.classes: list[str] = []
        self.weights: NDArray[np.float32] | sparse.csr_array = np.zeros((0, 0), np.float32)
        self.bias: Matrix = np.zeros(0)
        self.slope, self.shift = 1.0, 0.0

    def fit(
        self, candidates: Sequence[Candidate], labels: Sequence[str], values: Values, start: LinearRoles | None = None
    ) -> Self:
        """Train on candidates and their classes, perhaps going on from another model."""
        if start is not None:
            return self._go_on(start, candidates, labels, values)
        X = self.encoder.fit(candidates, values).transform(candidates, values)
        self.classes, weights, self.bias = _solve(X, labels, self.C, self.seed)
        self.weights = np.ascontiguousarray(weights, dtype=np.float32)
        return self

    def _go_on(
        self, start: LinearRoles, candidates: Sequence[Candidate], labels: Sequence[str], values: Values
    ) -> Self:
        """Train what is to be added to another model: weights are drawn to its weights, and not to 0.

        A class that does not occur is learnt to be wrong here where the other model would give it.
        """
        check_amount(self.C, "C", zero=False)
        self.slope, self.shift = start.slope, start.shift
        self.encoder = start.encoder.joined(values)
        X = self.encoder.transform(candidates, values)
        old = dict(zip(start.classes, start._by_class(), strict=True))
        places, told = self.encoder.places_of(start.encoder), start.margins(candidates, values)
        if len(start.classes) == 2:
            told = np.column_stack([-told, told])
        self.classes = sorted({*start.classes, *labels})
        two = self.classes[1:] if len(self.classes) == 2 else self.classes
        weights, self.bias = np.zeros((self.encoder.total, len(two)), np.float32), np.zeros(len(two))
        # Of the other columns nothing is learnt.
        seen = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        rows, truth = X[:, seen], np.asarray(labels)
        for at, name in enumerate(counted(two, len(two), "Learning classes", "classes")):
            before = told[:, start.classes.index(name)] if name in old else np.zeros(len(truth))
            added, self.bias[at] = _added(rows, np.where(truth == name, 1.0, -1.0), before, _CAUTION * self.C)
            if name in old:
                weights[places, at] = old[name][0]
                self.bias[at] += old[name][1]
            weights[seen, at] += added
        self.weights = weights
        return self

    def _by_class(self) -> Iterator[tuple[NDArray[np.float32], float]]:
        """Yield weights and bias of each class, also where there are two and one margin."""
        weights = self.dense_weights()
        if len(self.classes) == 2:
            yield -weights[:, 0], -float(self.bias[0])
        for at in range(len(self.bias)):
            yield weights[:, at], float(self.bias[at])

    def checksum(self, begin: int = 0) -> int:
        """Return a checksum of the weights, which tells two models from each other."""
        stored: Any = self.weights
        for part in (stored.data, stored.indices) if sparse.issparse(stored) else (stored,):
            begin = zlib.crc32(part.tobytes(), begin)
        return begin

    def dense_weights(self) -> NDArray[np.float32]:
        """Return all weights, also those that are 0."""
        weights: Any = self.weights
        return np.asarray(weights.toarray() if sparse.issparse(weights) else weights)

    def margins(self, candidates: Sequence[Candidate], values: Values | None = None) -> Matrix:
        """Return one margin per candidate and class, or per candidate for two classes."""
        X = self.encoder.transform(candidates, values)
        # Were the types to differ, all weights would be copied for the sake of a few rows.
        found = X.astype(np.float32) @ self.weights
        return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64) + self.bias

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
        weights = sign * X.data * self.dense_weights()[X.indices, output]
        names = self.encoder.names()
        order = np.argsort(-np.abs(weights), kind="stable")
        found = tuple((names[int(X.indices[k])], float(weights[k])) for k in order)
        margin, bias = float(sign * margins[output]), float(sign * self.bias[output])
        return RoleExplanation.of_features(label, margin, bias, found, "linear model")

    def stored(self, writer: Writer) -> LinearRoles:
        """Return the model as files hold it: in compact ones without columns whose weights are all 0 after rounding."""
        if not writer.compact:
            return self
        weights = writer.rounded(self.dense_weights(), _GRID)
        used = np.asarray(weights.any(axis=1))
        # Fragments are trees in one array, of which all are kept.
        used[self.encoder.width :] = True
        found = copy(self)
        found.encoder, found.weights = self.encoder.only(used[: self.encoder.width]), weights[used]
        return found

    def write(self, writer: Writer) -> dict[str, Any]:
        """Describe the model for a file, without its encoder."""
        return {
            "C": self.C,
            "seed": self.seed,
            "classes": self.classes,
            "weights": writer.weights(self.dense_weights(), _GRID),
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
        model.weights = reader.weights(data["weights"], (encoder.total, outputs))
        model.bias = reader.finite(data["bias"], (outputs,))
        model.slope, model.shift = reader.number(data["slope"]), reader.number(data["shift"])
        return model


def _added(X: sparse.csr_array, sides: Matrix, before: Matrix, C: float) -> tuple[Matrix, float]:
    """Return the weights and the bias that, added to given margins, make the squared hinge loss least.

    >>> X, sides = sparse.csr_array(np.eye(2)), np.array([1.0, -1.0])
    >>> added, bias = _added(X, sides, np.array([2.0, -2.0]), 1.0)  # margins that are right already
    >>> bool(np.abs(added).max() + abs(bias) < 1e-6)
    True
    """

    def loss(both: Matrix) -> tuple[float, Matrix]:
        weights, bias = both[:-1], both[-1]
        short = np.maximum(0.0, 1.0 - sides * (before + X @ weights + bias))
        slope = -2.0 * C * sides * short
        value = 0.5 * float(both @ both) + C * float(short @ short)
        return value, np.append(X.T @ slope, slope.sum()) + both

    found = minimize(loss, np.zeros(X.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return found[:-1], float(found[-1])


def _solve(X: sparse.csr_array, labels: Sequence[str], C: float, seed: int) -> tuple[list[str], Matrix, Matrix]:
    """Train linear SVMs: classes in order, weights (features × margins), bias."""
    from sklearn.svm import LinearSVC

    if len(set(labels)) < 2:
        raise DataError("there is only one class to learn; give sentences with several roles.")
    check_amount(C, "C", zero=False)
    # liblinear wants a matrix with 32-bit indices.
    narrow = sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    # The square of the loss is smooth, which the solver likes; rows are short, so a thousand passes are plenty.
    solver, classes = LinearSVC(C=C, tol=1e-2, random_state=seed, max_iter=2000), np.asarray(labels)
    model = leave_behind(lambda: solver.fit(narrow, classes))
    return [str(name) for name in model.classes_], model.coef_.T, np.asarray(model.intercept_, dtype=np.float64)


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

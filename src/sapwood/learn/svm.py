"""Support vector machines on any kernel: two solvers, one kernel for all problems, compiled prediction.

All binary problems share one Gram matrix, or, where that would be large, tables over distinct trees (``smo``). Only the
support examples are kept, and prediction goes through the kernel's expansion instead of a kernel value per support
example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from sapwood.checks import check_choice
from sapwood.errors import DataError, ParameterError
from sapwood.fitting import all_or_nothing
from sapwood.kernels.base import Matrix
from sapwood.kernels.data import as_data
from sapwood.kernels.explain import one_example
from sapwood.kernels.given import Precomputed
from sapwood.layouts import LABELS
from sapwood.learn.calibration import (
    CALIBRATION,
    Calibration,
    HasProbabilities,
    calibrate,
    check_fitting,
    check_probability,
    held_out_margins,
)
from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.kernel_model import KernelModel, register_kernel_model
from sapwood.learn.multiclass import SCHEMES, TwoClasses, binary_problems, class_scores, output_count, score_combination
from sapwood.learn.solver.choice import FEW, gram_is_quicker
from sapwood.learn.solver.parallel import parallel_map
from sapwood.learn.solver.smo import BinaryProblem, solve, solve_gram
from sapwood.learn.targets import check_class_weight, check_classes, check_weights
from sapwood.registry import Reader, plain_value

if TYPE_CHECKING:
    from sklearn.svm import SVC

__all__ = ["KernelSVC"]


class KernelSVC(HasProbabilities, ClassifierMixin, KernelModel):
    """Support vector classification of trees, or of anything that a kernel compares.

    Parameters
    ----------
    kernel : Kernel, str or callable, optional
        By default ``SubsetTree(decay=0.4).normalized()``. Text is an expression such as that one, or "precomputed",
        where X has kernel values with all training examples; a function takes two arrays and returns the matrix.
        Parameters of a kernel can be searched, as ``kernel__subsettree__decay``.
    C : float
        Regularization: the cost of a training error. Larger values fit the training data more closely.
    class_weight : dict, "balanced" or None
        Factors of C per class; "balanced" makes both sides of every binary problem count the same.
    multi_class : {"ovr", "ovo"}
        One class against the rest, or one against one with votes. All problems share one Gram matrix.
    tol : float
        Stopping tolerance of the solver.
    max_iter : int
        Limit on the solver's iterations; -1 means none for scikit-learn's, and ten million or a hundred per example for
        the native one, whichever is more.
    solver : {"auto", "sklearn", "native"}
        "sklearn" is libsvm on the Gram matrix of all examples. "native" works on that matrix too, or on tables over
        distinct trees and feature vectors that values are looked up in, whichever is predicted to take less time and
        fits into memory; it finds the same optimum. "auto" is "native", but for a few hundred examples "sklearn".
    memory_limit : float, optional
        Most megabytes that the native solver may take for kernel values, by default three quarters of what is free; the
        cache of scikit-learn's solver, by default 200.
    probability : bool or {"sigmoid", "temperature", "isotonic"}
        Whether to learn how margins become probabilities, which makes training about five times as long. True chooses
        the method by cross-validation.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    support_ : array of int
        Positions of the support examples in the training data. Of examples that nothing tells apart the native solver
        uses the first, with the weight of all.
    support_examples_ : TreeArray or Examples
        The support examples; nothing else of the training data is kept.
    dual_coef_ : array of shape (n_support, n_outputs)
        Their weights in each binary problem.
    intercept_ : array of shape (n_outputs,)
    calibration_ : Calibration or None
        How margins become probabilities.

    Examples
    --------
    >>> import sapwood as sw
    >>> asked = ["(S (WH who) (V runs))", "(S (WH what) (V ran))"]
    >>> told = ["(S (N dogs) (V run))", "(S (N he) (V ran))"]
    >>> clf = KernelSVC(kernel=sw.kernels.SubsetTree(decay=0.4).normalized())
    >>> clf = clf.fit(asked + told, ["ask", "ask", "tell", "tell"])
    >>> clf.predict(["(S (WH who) (V barks))"])
    array(['ask'], dtype='<U4')
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        kernel: Any = None,
        *,
        C: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        multi_class: str = "ovr",
        tol: float = 1e-3,
        max_iter: int = -1,
        solver: str = "auto",
        memory_limit: float | None = None,
        probability: bool | str = False,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.memory_limit = memory_limit
        self.probability = probability

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on examples and their labels.

        Parameters
        ----------
        X : TreeArray, Examples or list of trees
            Training examples.
        y : array of labels
            One per example, at least two different ones.
        sample_weight : array of float, optional
            Factors of C per example.
        """
        check_choice(self.multi_class, "multi_class", SCHEMES)
        check_choice(self.solver, "solver", ("auto", "sklearn", "native"))
        self._check_solver()
        check_probability(self.probability)
        X = as_data(X)
        self.classes_, targets = check_classes(X.shape[0], y)
        sample_weight = check_weights(len(targets), sample_weight)
        check_class_weight(self.class_weight, self.classes_)
        self._check_sides(targets, sample_weight)
        kernel = self._bind(X)
        with_sklearn = self.solver == "sklearn" or (self.solver == "auto" and len(targets) < FEW)
        K = None
        if with_sklearn or isinstance(kernel, Precomputed) or self._takes_gram(X, targets):
            K = kernel(X)
        if K is None or not with_sklearn:
            self._fit_natively(X, K, targets, sample_weight)
        else:
            self._fit_with_sklearn(X, K, targets, sample_weight)
        self.calibration_ = self._calibrate(X, K, targets, sample_weight) if self.probability else None
        return self

    def _calibrate(self, X: Any, K: Matrix | None, targets: NDArray[np.intp], weight: Matrix) -> Calibration:
        # Examples that count for nothing could be all that a fold has of a class.
        used = np.flatnonzero(weight)
        kernel = self.kernel_ if K is None else "precomputed"
        margins = held_out_margins(
            lambda: clone(self).set_params(kernel=kernel, probability=False),
            lambda data, rows, columns: data[used[rows]] if K is None else data[np.ix_(used[rows], used[columns])],
            X if K is None else K,
            self.classes_[targets[used]],
            self.classes_,
            weight[used],
        )
        return calibrate(margins, targets[used], weight[used], self.probability)

    def _solver(self) -> SVC:
        from sklearn.svm import SVC

        return SVC(
            kernel="precomputed",
            C=self.C,
            tol=self.tol,
            max_iter=self._most_iterations(),
            cache_size=self._cache_megabytes(),
        )

    def _check_sides(self, targets: NDArray[np.intp], weight: Matrix) -> None:
        """Raise if all examples of a class count for nothing, since its problems have one side only."""
        factors = self.class_weight if isinstance(self.class_weight, dict) else {}
        totals = np.bincount(targets, weights=weight, minlength=len(self.classes_))
        for label, total in zip(self.classes_.tolist(), totals.tolist(), strict=True):
            if total * factors.get(label, 1.0) == 0:
                raise DataError(
                    f"all examples of the class {label!r} have the weight 0; raise sample_weight or class_weight, or "
                    "leave them out."
                )

    def _weights(self, targets: NDArray[np.intp], sides: NDArray[np.bool_], weight: Matrix) -> Matrix:
        """Return the factor of C per example; "balanced" refers to the two sides of the problem."""
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, str):
            from sklearn.utils.class_weight import compute_sample_weight

            return np.asarray(weight * compute_sample_weight("balanced", sides))
        factors = np.array([self.class_weight.get(label, 1.0) for label in self.classes_.tolist()], dtype=np.float64)
        return weight * factors[targets]

    def _problems(self, targets: NDArray[np.intp]) -> list[TwoClasses]:
        return list(binary_problems(targets, self.classes_.tolist(), self.multi_class))

    def _takes_gram(self, X: Any, targets: NDArray[np.intp]) -> bool:
        sizes = [len(problem.rows) for problem in self._problems(targets)]
        return gram_is_quicker(X, sizes, self.kernel_._arrays(), self.memory_limit)

    def _fit_natively(self, X: Any, K: Matrix | None, targets: NDArray[np.intp], weight: Matrix) -> None:
        problems = []
        for rows, positive, name in self._problems(targets):
            costs = np.zeros(len(targets))
            costs[rows] = self.C * self._weights(targets[rows], positive, weight[rows])
            problems.append(BinaryProblem(rows[positive], rows[~positive], costs, name))
        if K is None:
            found = solve(
                self.kernel_, X, problems, tolerance=self.tol, max_iter=self.max_iter, memory_limit=self.memory_limit
            )
        else:
            found = solve_gram(K, problems, tolerance=self.tol, max_iter=self.max_iter)
        self._keep(X, found.support, found.weights, found.biases)

    def _fit_with_sklearn(self, X: Any, K: Matrix, targets: NDArray[np.intp], weight: Matrix) -> None:
        problems = self._problems(targets)
        solutions = parallel_map(
            _solve,
            (
                (self._solver(), K, rows, positive, self._weights(targets[rows], positive, weight[rows]))
                for rows, positive, _ in problems
            ),
        )
        dense = np.zeros((len(targets), len(problems)))
        for column, (rows, solution) in enumerate(solutions):
            dense[rows[solution.support_], column] = solution.dual_coef_[0]
        support = np.flatnonzero(dense.any(axis=1))
        self._keep(X, support, dense[support], np.array([float(s.intercept_[0]) for _, s in solutions]))

    def decision_function(self, X: Any) -> Matrix:
        """Return the margins: one number per example for two classes, else one per example and class.

        With ``multi_class="ovo"`` the column of a class is its number of votes plus a share below one half that orders
        equal votes by confidence.
        """
        return class_scores(self._outputs(X), len(self.classes_), self.multi_class)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the largest margin for each example."""
        margins = self.decision_function(X)
        best = (margins > 0).astype(np.intp) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def explain(self, example: Any, *, label: Any = None, top: int = 10) -> Explanation:
        """Say which nodes and fragments of a tree a decision comes from.

        Parameters
        ----------
        example : tree, bag of trees, or Examples of one row
            What to decide about.
        label : object, optional
            The class to argue for; by default the predicted one.
        top : int
            How many of the heaviest fragments to find.

        Returns
        -------
        Explanation
            Contributions of all nodes that add up to the margin of the class minus the bias. With
            ``multi_class="ovo"`` the score is the sum of the class's margins against each other class; votes decide.

        Examples
        --------
        >>> asked = ["(S (WH who) (V runs))", "(S (WH what) (V ran))"]
        >>> told = ["(S (N dogs) (V run))", "(S (N he) (V ran))"]
        >>> clf = KernelSVC().fit(asked + told, ["ask", "ask", "tell", "tell"])
        >>> print(clf.explain("(S (WH who) (V barks))", top=3))
        score of ask 0.70554 = 0 (bias) + 0.70554 (nodes)
        <BLANKLINE>
        +0.5168 ++++++  S
        +0.1888 ++      ├─ WH who
        +0.0000         └─ V barks
        <BLANKLINE>
              weight  times  heaviest fragments
           +0.441282      1  (S WH V)
           +0.188756      1  (WH who)
          +0.0755025      1  (S (WH who) V)
        """
        explainer = self._explainer()
        chosen = self.predict(one_example(example))[0] if label is None else label
        return explainer.explain(example, plain_value(chosen), self._combination(chosen), self.intercept_, top)

    def fragments(self, label: Any = None, *, top: int = 20) -> ModelFragments:
        """Return the fragments with the largest weights for or against a class.

        Parameters
        ----------
        label : object, optional
            The class; with two classes, by default the second one.
        top : int
            How many fragments.
        """
        explainer = self._explainer()
        if label is None:
            if len(self.classes_) > 2:
                raise ParameterError(f"say which class: label must be one of {self.classes_.tolist()}.")
            label = self.classes_[1]
        return explainer.fragments(plain_value(label), self._combination(label), top)

    def _combination(self, label: Any) -> Matrix:
        """Return the factor of each output in the score of a class."""
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            raise ParameterError(f"there is no class {label!r}; the classes are {self.classes_.tolist()}.")
        return score_combination(int(found[0]), len(self.classes_), self.multi_class)


def _solve(
    solver: SVC, K: Matrix, rows: NDArray[np.intp], positive: NDArray[np.bool_], weights: Matrix
) -> tuple[NDArray[np.intp], SVC]:
    """Solve one binary problem on the whole Gram matrix or on some of its rows and columns; return its rows too."""
    used = weights > 0
    if not used.all():
        # libsvm leaves examples without weight out, and then numbers the support as if they had never been there.
        rows, positive, weights = rows[used], positive[used], weights[used]
    block = K if len(rows) == len(K) else np.ascontiguousarray(K[np.ix_(rows, rows)])
    return rows, solver.fit(block, positive.astype(np.intp), sample_weight=weights)


def _count_outputs(model: KernelSVC, reader: Reader) -> int:
    check_choice(model.multi_class, "multi_class", SCHEMES)
    check_fitting(model, reader)
    return output_count(len(model.classes_), model.multi_class)


register_kernel_model(KernelSVC, {"classes_": LABELS, "calibration_": CALIBRATION}, _count_outputs)

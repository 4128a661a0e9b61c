"""Kernels that users bring: expressions, matrices of values, and functions, in every estimator that has a kernel."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.svm import SVC

import sapwood as sw
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import LandmarkMap, Linear, Subtree
from sapwood.learn import KernelRanker, KernelSVC, KernelSVR, VotedPerceptron
from specimens import labels, numbers, trees, two_labels

EXPRESSION = "SubsetTree(decay=0.3).normalized()"
KERNEL = sw.kernels.parse_kernel(EXPRESSION)


def shared_words(X, Y):
    return [[float(len({*x.leaves()} & {*y.leaves()})) for y in Y] for x in X]


ESTIMATORS = [
    (KernelSVC(), labels(), {}),
    (KernelSVC(probability="sigmoid"), labels(), {}),
    (KernelSVR(), numbers(), {}),
    (VotedPerceptron(random_state=0), two_labels(), {}),
    (KernelRanker(random_state=0), np.arange(12) % 3, {"groups": np.arange(12) // 3}),
    (LandmarkMap(n_components=4, random_state=0), None, {}),
]


def ask(model, X):
    """What a model says, in as much detail as it can."""
    method = next(name for name in ("decision_function", "transform", "predict") if hasattr(model, name))
    return getattr(model, method)(X)


@pytest.mark.parametrize(("model", "y", "further"), ESTIMATORS)
def test_expressions_and_functions(model, y, further, tmp_path):
    X = trees()
    for given, same in ((EXPRESSION, KERNEL), (lambda X, Y: KERNEL(X, Y), KERNEL)):
        found = clone(model).set_params(kernel=given).fit(X, y, **further)
        expected = clone(model).set_params(kernel=same).fit(X, y, **further)
        np.testing.assert_allclose(ask(found, X), ask(expected, X), atol=1e-9)
        assert found.kernel is given
    with pytest.raises(ParameterError, match=r"FunctionKernel cannot be saved"):
        sw.save(found, tmp_path / "m.sap")
    text = clone(model).set_params(kernel=EXPRESSION).fit(X, y, **further)
    sw.save(text, tmp_path / "m.sap")
    again = sw.load(tmp_path / "m.sap")
    assert again.kernel == EXPRESSION
    np.testing.assert_array_equal(ask(again, X), ask(text, X))


@pytest.mark.parametrize("model", [KernelSVC(), KernelSVC(probability=True), KernelSVC(multi_class="ovo"), KernelSVR()])
@pytest.mark.parametrize("solver", ["sklearn", "native"])
def test_matrices_of_values(model, solver, tmp_path):
    """The same as the kernel itself, in cross-validation as well, which must take columns of the matrix too."""
    X, y = trees(), numbers() if isinstance(model, KernelSVR) else labels()
    K = KERNEL(X)
    if isinstance(model, KernelSVC):
        model = clone(model).set_params(solver=solver)
    direct = clone(model).set_params(kernel=KERNEL).fit(X, y)
    given = clone(model).set_params(kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(given.support_, direct.support_)
    # The native solver takes examples that nothing tells apart as one.
    np.testing.assert_allclose(ask(given, K[:5]), ask(direct, X[:5]), atol=2e-3)
    found, expected = cross_val_predict(given, K, y, cv=2), cross_val_predict(direct, X, y, cv=2)
    if isinstance(model, KernelSVR):
        np.testing.assert_allclose(found, expected)
    else:
        np.testing.assert_array_equal(found, expected)
    sw.save(given, tmp_path / "m.sap")
    np.testing.assert_array_equal(ask(sw.load(tmp_path / "m.sap"), K), ask(given, K))


def test_a_matrix_as_in_scikit_learn():
    K, y = KERNEL(trees()), two_labels()
    reference = SVC(kernel="precomputed", tol=1e-8).fit(K, y)
    ours = KernelSVC("precomputed", tol=1e-8).fit(K.tolist(), y)
    np.testing.assert_allclose(ours.decision_function(K), reference.decision_function(K), atol=1e-6)
    explained = ours.explain(K[3:4])
    assert explained.value == pytest.approx(abs(float(ours.decision_function(K[3:4])[0])))
    assert sum(value for _, value in explained.others[0].support) == pytest.approx(explained.others[0].value)


def test_what_does_not_fit_is_said():
    K, y = KERNEL(trees()), labels()
    for wrong, hint in (
        (K[:5], "square matrix"),
        (trees(), r"matrix of kernel values, got TreeArray; pass kernel\(X\)"),
        (K[:, :, None], "two dim"),
    ):
        with pytest.raises(DataError, match=hint):
            KernelSVC("precomputed").fit(wrong, y[: len(wrong)])
    with pytest.raises(DataError, match="all 12 training examples"):
        KernelSVC("precomputed").fit(K, y).predict(K[:, :5])
    for kind in (VotedPerceptron, LandmarkMap):
        with pytest.raises(ParameterError, match="KernelSVC and KernelSVR"):
            kind("precomputed").fit(K, two_labels())
    with pytest.raises(DataError, match="add or multiply them before"):
        KernelSVC(sw.kernels.parse_kernel("Precomputed() + Linear()")).fit(K, y).predict(K)
    with pytest.raises(DataError, match=r"returned shape \(\); expected \(12, 12\).*two trees"):
        KernelSVC(lambda X, Y: 3.0).fit(trees(), y)

    def gap(X, Y):
        return np.where(np.arange(len(X))[:, None] == 2, np.nan, np.ones((len(X), len(Y))))

    with pytest.raises(DataError, match=r"no number \(nan\) for example 2 of X and example 0 of Y"):
        KernelSVC(gap).fit(trees(), y)
    with pytest.raises(DataError, match="failed on two arrays"):
        KernelSVC(lambda X, Y: X + 1).fit(trees(), y)


def test_kernels_of_others_and_grids():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X**2).sum(axis=1) > 1.5
    model = KernelSVC(theirs.RBF(1.0), C=10.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert cross_val_score(KernelSVC(shared_words), trees(), labels(), cv=2, error_score="raise").shape == (2,)
    grid = {"kernel": [EXPRESSION, Subtree(), shared_words]}
    assert GridSearchCV(KernelSVC(), grid, cv=2, error_score="raise").fit(trees(), labels()).best_params_["kernel"]
    combined = sw.kernels.parse_kernel("0.5 * Linear()") + Linear()
    assert KernelSVC(combined).fit(X, y).predict(X).shape == (40,)

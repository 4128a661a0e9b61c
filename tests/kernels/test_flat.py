"""Flat kernels on sparse matrices: the native products against NumPy's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import sapwood as sw
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import RBF, FragmentMap, HashedFragmentMap, Linear, Polynomial, SubsetTree, SubtreeMap
from sapwood.learn import KernelSVC, KernelSVR, RecursiveClassifier


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(0, 9), st.integers(1, 12))
def test_sparse_products_are_those_of_dense_matrices(seed, rows, columns, features):
    rng = np.random.default_rng(seed)

    def draw(count):
        held = rng.random((count, features)) < 0.4
        return np.where(held, np.round(rng.normal(size=(count, features)), 3) * rng.choice([1.0, 1e6]), 0.0)

    left, right = draw(rows), draw(columns)
    shuffled = sparse.csr_array(left[:, ::-1])[:, ::-1]  # the same, indices out of order
    for kernel in (Linear(), Polynomial(degree=2, constant=0.5)):
        expected = kernel(left, right)
        scale = max(1.0, np.abs(expected).max(initial=0.0))
        for threads in (1, 2):
            with sw.options(threads=threads):
                for a, b in ((shuffled, sparse.csr_array(right)), (left, sparse.csc_array(right))):
                    np.testing.assert_allclose(kernel(a, b), expected, rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(16, 40), st.integers(1, 4))
def test_counts_that_are_stored_one_by_one_are_added_up(seed, rows, features):
    # Small whole numbers that most rows have, which the native core keeps in dense columns.
    rng = np.random.default_rng(seed)
    words = [rng.integers(features, size=rng.integers(1, 6)) for _ in range(rows)]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in words])])
    stored = sparse.csr_array((np.ones(ends[-1]), np.concatenate(words), ends), shape=(rows, features))
    counts = np.array([np.bincount(row, minlength=features) for row in words], dtype=float)
    named = [{f"w{word}": "x", f"w{word}=x": 1} for word, *_ in words]
    for kernel in (Linear(), Polynomial(degree=2, constant=0.5)):
        np.testing.assert_allclose(kernel(stored), kernel(counts), rtol=1e-12)
        np.testing.assert_allclose(kernel(stored[:3], stored), kernel(counts[:3], counts), rtol=1e-12)
        np.testing.assert_allclose(np.diagonal(kernel(named)), kernel.diag(named), rtol=1e-12)
    labels = np.arange(rows) % 2
    for solver in ("sklearn", "native"):
        clf = KernelSVC(Linear(), solver=solver, tol=1e-6)
        margins = clf.fit(counts, labels).decision_function(counts)
        np.testing.assert_allclose(clf.fit(stored, labels).decision_function(stored), margins, atol=1e-3)


def test_dictionaries_do_not_meet_matrices():
    model = KernelSVC(Linear()).fit(np.eye(2), [0, 1])
    with pytest.raises(DataError, match="one side has dictionaries and the other a matrix"):
        model.decision_function([{"a": 1.0, "b": 0.0}])


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), Linear().normalized()])
@pytest.mark.parametrize(
    "rows", [[{"a": 1.0}, {"b": "x"}, {"a": 2}, {"c": True}], np.eye(4), sparse.eye_array(4).tocsr()]
)
def test_no_rows(kernel, rows):
    assert kernel(rows, []).shape == (4, 0)
    assert kernel([], rows).shape == (0, 4)
    assert KernelSVC(kernel).fit(rows, [0, 1, 0, 1]).predict([]).shape == (0,)
    # The same value for all needs no support examples.
    constant = KernelSVR(kernel).fit(rows, [2.0] * 4)
    assert len(constant.support_) == 0
    np.testing.assert_allclose(constant.predict(rows), 2.0)


@pytest.mark.parametrize("kind", [pd.Series, np.array, lambda rows: np.array(rows, dtype=object)])
def test_no_trees(kind):
    trees = kind(["(a b)", "(a c)"])
    assert SubsetTree()(trees, trees[:0]).shape == (2, 0)
    assert SubsetTree().diag(trees[:0]).shape == (0,)
    for mapped in (FragmentMap(), SubtreeMap(), HashedFragmentMap()):
        assert mapped.fit(trees).transform(trees[:0]).shape[0] == 0
    for model in (KernelSVC(), RecursiveClassifier(epochs=1)):
        assert model.fit(trees, [0, 1]).predict(trees[:0]).shape == (0,)


def test_no_dictionaries():
    rows = np.array([{"a": 1.0}, {"b": "x"}, {"a": 2}, {"c": True}])
    assert Linear()(rows, rows[:0]).shape == (4, 0)
    assert KernelSVC(Linear()).fit(rows, [0, 1, 0, 1]).predict(rows[:0]).shape == (0,)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial()])
def test_no_rows_beside_several_views(kernel):
    examples = sw.Examples(a=np.eye(2), b=np.eye(2))
    for sides in ((examples, []), ([], examples)):
        with pytest.raises(DataError, match=r"got Examples with the views a, b; say which view with \.on\(name\)"):
            kernel(*sides)


def test_sparse_products_are_symmetric_to_the_last_bit():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((60, 40)) < 0.3, rng.normal(size=(60, 40)), 0.0))
    K = Linear()(X)
    np.testing.assert_array_equal(K, K.T)


def test_compiled_polynomials_give_the_sums_of_kernel_values():
    rng = np.random.default_rng(1)
    rows = [{f"f{k}": str(rng.integers(3)) for k in rng.choice(6, 3, replace=False)} | {"n": 0.5} for _ in range(30)]
    weights = rng.normal(size=(20, 2))
    for kernel in (Polynomial(degree=2, constant=0.5), Polynomial(degree=3).normalized()):
        # Half of them also have a feature that no support example has.
        asked = [row | {"new": "x"} if number % 2 else row for number, row in enumerate(rows)]
        np.testing.assert_allclose(kernel.expansion(rows[:20], weights)(asked), kernel(asked, rows[:20]) @ weights)
        matrix = sparse.csr_array(rng.random((30, 8)) * (rng.random((30, 8)) < 0.5))
        found = kernel.expansion(matrix[:20], weights)(matrix[20:])
        np.testing.assert_allclose(found, kernel(matrix[20:], matrix[:20]) @ weights)
        with pytest.raises(DataError):
            kernel.expansion(rows[:20], weights)(matrix)


@pytest.mark.parametrize("solver", ["sklearn", "native"])
def test_columns_of_yes_and_no_are_features(solver):
    frame = pd.get_dummies(pd.Series(list("abcab")))
    expected = frame.to_numpy().astype(float)
    for table in (frame, frame.to_numpy(), sparse.csr_array(frame.to_numpy())):
        for kernel in (Linear(), Polynomial(degree=2)):
            np.testing.assert_array_equal(kernel(table), kernel(expected))
        labels = [0, 1, 1, 0, 1]
        clf = KernelSVC(Linear(), solver=solver)
        margins = clf.fit(expected, labels).decision_function(expected)
        np.testing.assert_array_equal(clf.fit(table, labels).decision_function(table), margins)
    examples = sw.Examples(f=frame.to_numpy())
    np.testing.assert_array_equal(Linear().on("f")(examples), Linear()(expected))


@pytest.mark.parametrize("kind", ["complex128", "datetime64[s]"])
def test_only_real_numbers_are_features(kind):
    with pytest.raises(DataError, match="X must hold real numbers, got an array of type"):
        Linear()(np.zeros((2, 2), dtype=kind))


class TestRBF:
    @pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
    def test_is_scikit_learns(self, as_matrix):
        rng = np.random.default_rng(0)
        X, Y = (as_matrix(rng.normal(size=(rows, 5)) * (rng.random((rows, 5)) < 0.6)) for rows in (9, 7))
        kernel = RBF(gamma=0.3)
        np.testing.assert_allclose(kernel(X, Y), rbf_kernel(X, Y, gamma=0.3), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(kernel(X), rbf_kernel(X, gamma=0.3), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(kernel.pairwise(X[:7], Y), np.diag(rbf_kernel(X[:7], Y, gamma=0.3)), rtol=1e-12)
        assert kernel.diag(X).tolist() == [1.0] * 9
        assert np.diag(kernel(X)).tolist() == [1.0] * 9
        weights = rng.normal(size=(9, 2))
        np.testing.assert_allclose(kernel.expansion(X, weights)(Y), kernel(Y, X) @ weights, rtol=1e-12, atol=1e-14)

    def test_its_width_is_that_of_scikit_learns_svc(self):
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(60, 4)) * 3 + 1, rng.integers(0, 2, 60)
        ours, theirs = KernelSVC(RBF(), C=2.0, tol=1e-6).fit(X, y), SVC(C=2.0, tol=1e-6).fit(X, y)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
        assert ours.kernel_.gamma == pytest.approx(1 / (4 * X.var()))

    def test_unbound_says_what_to_do(self):
        with pytest.raises(ParameterError, match=r"kernel\.bind"):
            RBF()(np.ones((2, 2)))
        assert RBF().bind(np.ones((3, 2))).gamma == 1.0
        for wrong in ("auto", 0, -1.0, float("nan")):
            with pytest.raises(ParameterError, match="gamma"):
                RBF(gamma=wrong)

    def test_trees_beside_vectors_are_kept(self, tmp_path):
        trees = sw.TreeArray(["(NP (DT a) (NN dog))", "(NP (NN cat))", "(VP (VB run))", "(VP (VB sit) (RB up))"])
        examples = sw.Examples(tree=trees, vector=np.arange(8.0).reshape(4, 2))
        kernel = 0.3 * SubsetTree().normalized().on("tree") + 0.7 * RBF().on("vector")
        model = KernelSVC(kernel).fit(examples, [0, 0, 1, 1])
        sw.save(model, tmp_path / "model.sap")
        again = sw.load(tmp_path / "model.sap")
        np.testing.assert_array_equal(again.decision_function(examples), model.decision_function(examples))
        assert np.linalg.eigvalsh(model.kernel_(examples)).min() > -1e-12

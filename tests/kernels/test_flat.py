"""Flat kernels on sparse matrices: the native products against NumPy's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from sapwood.errors import DataError
from sapwood.kernels import Linear, Polynomial
from sapwood.learn import KernelSVC


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

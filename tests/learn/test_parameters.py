"""Parameters that learners have in common: what they take, and messages that name them."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood.checks import check_amount, check_choice, check_count, check_seed
from sapwood.errors import ParameterError
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelRanker, KernelSVC, KernelSVR, RecursiveRanker, VotedPerceptron
from sapwood.learn.loglinear import LogLinear

TREES = ["(S (A a))", "(S (B b))"]


def test_what_is_taken():
    check_choice("a", "x", ("a", "b"))
    assert check_count(np.int64(3), "x") == 3
    assert check_amount(np.float32(0.5), "x") == 0.5
    assert check_amount(0, "x") == 0.0
    assert check_seed(np.uint8(7)) == 7
    assert check_seed(np.random.RandomState(0)) == check_seed(np.random.RandomState(0))
    assert check_seed(None) >= 0


@pytest.mark.parametrize("value", [True, 0, -1, 1.5, "1", None, 10**30, np.array([1, 2])])
def test_counts(value):
    with pytest.raises(ParameterError, match="x must be an integer of at least 1"):
        check_count(value, "x")


@pytest.mark.parametrize("value", [True, -0.1, np.nan, np.inf, 10**400, 1j, np.complex128(1), "1", None])
def test_amounts(value):
    with pytest.raises(ParameterError, match="x must be a finite number of at least 0"):
        check_amount(value, "x")


def test_limits_of_counts():
    assert check_count(30, "x", 4, 30) == 30
    for value in (3, 31, "5"):
        with pytest.raises(ParameterError, match="x must be an integer of at least 4 and at most 30"):
            check_count(value, "x", 4, 30)
    with pytest.raises(ParameterError, match="at most 2,147,483,647"):
        check_count(2**31, "x")


def test_limits_of_amounts():
    with pytest.raises(ParameterError, match="more than 0"):
        check_amount(0, "x", zero=False)
    with pytest.raises(ParameterError, match="below 1"):
        check_amount(1, "x", below=1.0)


@pytest.mark.parametrize("value", ["c", None, np.array(["a"]), 3])
def test_choices(value):
    with pytest.raises(ParameterError, match="x must be one of 'a', 'b'"):
        check_choice(value, "x", ("a", "b"))


@pytest.mark.parametrize("learner", [VotedPerceptron, KernelRanker, RecursiveRanker])
@pytest.mark.parametrize("value", ["x", -1, 0.5])
def test_seeds(learner, value):
    extra = {} if learner is VotedPerceptron else {"groups": [0, 0]}
    with pytest.raises(ParameterError, match="random_state must be None, a RandomState or an integer"):
        learner(random_state=value).fit(TREES, [0, 1], **extra)


@pytest.mark.parametrize("solver", ["sklearn", "native"])
def test_iterations(solver):
    for value in (-1.0, 0, -2, True, "1", None, np.array([1, 2])):
        with pytest.raises(ParameterError, match=r"max_iter must be an integer of at least 1, or -1 for the limit"):
            KernelSVC(solver=solver, max_iter=value).fit(TREES, [0, 1])
    expected = KernelSVC(solver=solver).fit(TREES, [0, 1]).decision_function(TREES)
    for value in (-1, 1000, np.int64(-1), 2**31, 10**30):
        model = KernelSVC(solver=solver, max_iter=value).fit(TREES, [0, 1])
        np.testing.assert_array_equal(model.decision_function(TREES), expected)


def test_iterations_of_regression():
    with pytest.raises(ParameterError, match="max_iter must be an integer"):
        KernelSVR(max_iter=-1.0).fit(TREES, [0, 1])
    KernelSVR(max_iter=2**31).fit(TREES, [0, 1])


def test_numbers_of_numpy_are_numbers():
    with pytest.raises(ParameterError, match="alpha must be a finite number"):
        LogLinear(alpha=True)._check()
    LogLinear(alpha=np.float32(0.1), bits=np.int64(8))._check()


def test_a_subclass_does_as_it_likes():
    class Nothing(SubsetTree):
        def _gram(self, X, Y):
            return np.zeros((X.shape[0], (X if Y is None else Y).shape[0]))

        def _diag(self, X):
            return np.zeros(X.shape[0])

        def _expansion(self, X, weights):
            return lambda Y: np.zeros((Y.shape[0], weights.shape[1]))

    model = KernelRanker(Nothing()).fit(TREES, [0, 1], [0, 0])
    np.testing.assert_array_equal(model.decision_function(TREES), [0.0, 0.0])

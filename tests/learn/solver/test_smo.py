"""The native solver against scikit-learn's and against the optimality conditions themselves."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import sapwood as sw
from sapwood import _core
from sapwood.errors import DataError
from sapwood.kernels import Kernel, Linear, Polynomial
from sapwood.learn.solver.smo import BinaryProblem, solve


class Given(Kernel):
    """A kernel that is looked up: examples are rows with one number."""

    def __init__(self, table=None):
        self.table = table

    def _gram(self, X, Y):
        left, right = X[:, 0].astype(int), (X if Y is None else Y)[:, 0].astype(int)
        return np.array(self.table[np.ix_(left, right)])

    def _diag(self, X):
        return np.diagonal(self.table)[X[:, 0].astype(int)]


def problem(y, costs):
    return BinaryProblem(np.flatnonzero(y > 0), np.flatnonzero(y <= 0), np.asarray(costs, dtype=float), "test")


def check(K, y, costs, found, tol):
    """Feasible, complementary within the tolerance, with the objective and decisions that scikit-learn finds."""
    y = np.where(y > 0, 1.0, -1.0)
    beta = np.zeros(len(y))
    beta[found.support] = found.weights[:, 0]
    theirs = SVC(kernel="precomputed", C=1.0, tol=tol).fit(K, y, sample_weight=costs)
    other = np.zeros(len(y))
    other[theirs.support_] = theirs.dual_coef_[0]

    def objective(b):
        return np.abs(b).sum() - 0.5 * b @ K @ b

    scale = max(1.0, abs(objective(other)))
    assert abs(beta.sum()) <= 1e-9 * max(1.0, np.abs(beta).sum())
    assert found.objectives[0] == pytest.approx(objective(beta), rel=1e-6, abs=1e-6)
    # Each solution is within tol * (sum of costs) of the optimum.
    assert abs(objective(beta) - objective(other)) <= 4 * tol * costs.sum() + 1e-9 * scale
    # So is the primal with the bias that comes along, which closes the circle: no solution at all can be better.
    margin = K @ beta + found.biases[0]
    primal = 0.5 * beta @ K @ beta + costs @ np.maximum(0.0, 1.0 - y * margin)
    assert -1e-9 * scale <= primal - objective(beta) <= 2 * tol * costs.sum() + 1e-9 * scale
    # Two solutions so close to the optimum are close to each other as directions.
    apart = beta - other
    assert apart @ K @ apart <= 32 * tol * costs.sum() + 1e-9 * scale
    return margin, K @ other + theirs.intercept_[0]


@st.composite
def machines(draw):
    """Random positive semi-definite Grams, some of low rank, with examples that repeat and costs that differ."""
    seed = draw(st.integers(0, 2**32 - 1))
    items = draw(st.integers(1, 25))
    rank = draw(st.integers(1, 8))
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(items, rank))
    if draw(st.booleans()):
        factor = np.round(factor)
    examples = rng.integers(0, items, size=draw(st.integers(2, 60)))
    y = np.where(rng.random(len(examples)) < draw(st.sampled_from([0.03, 0.3, 0.5])), 1, -1)
    y[:2] = 1, -1
    costs = draw(st.sampled_from([0.01, 1.0, 5.0])) * (
        rng.integers(1, 4, size=len(y)) if draw(st.booleans()) else np.ones(len(y))
    )
    return factor @ factor.T, examples, y, costs.astype(float)


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(machines())
def test_equals_sklearn_on_random_grams(machine):
    table, examples, y, costs = machine
    X = examples[:, None].astype(float)
    found = solve(Given(table), X, [problem(y, costs)])
    # Margins themselves need not agree: where no example is free, every bias of an interval is as good.
    check(table[np.ix_(examples, examples)], y, costs, found, 1e-3)


@settings(deadline=None, max_examples=40)
@given(machines(), st.booleans())
def test_optimality_conditions_hold(machine, shrinking):
    """From scratch: where a weight may grow the slack is at most what it is where a weight may shrink."""
    table, examples, y, costs = machine
    kernel = _core.smo.PointKernel64(
        [_core.smo.Component64(_core.smo.square64(table), examples.astype(np.uint32), None)],
        [_core.smo.Term(1.0, [0], np.zeros(0))],
        np.ascontiguousarray(np.diagonal(table)[examples]),
    )
    n = len(y)
    weights, biases, _, gaps, _, converged = kernel.solve(
        np.array([n], np.uint64),
        np.arange(n, dtype=np.uint32),
        y.astype(np.int8),
        costs,
        1e-5,
        0,
        64,
        shrinking,
        1,
        None,
    )
    slack = y - table[np.ix_(examples, examples)] @ weights
    grows = np.where(y > 0, weights < costs, weights < 0)
    shrinks = np.where(y > 0, weights > 0, weights > -costs)
    scale = max(1.0, np.abs(table).max() * np.abs(weights).sum())
    assert converged
    assert gaps[0] <= 1e-5
    assert slack[grows].max() - slack[shrinks].min() <= 1e-5 + 1e-12 * scale
    assert np.where(y > 0, weights >= 0, weights <= 0).all()
    assert (np.abs(weights) <= costs).all()
    ends = sorted([slack[grows].max(), slack[shrinks].min()])
    assert ends[0] - 1e-5 - 1e-12 * scale <= biases[0] <= ends[1] + 1e-5 + 1e-12 * scale


def test_one_example_against_many():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    y = np.full(300, -1)
    y[17] = 1
    costs = np.full(300, 2.0)
    found = solve(Linear(), X, [problem(y, costs)], tolerance=1e-5)
    margin, expected = check(X @ X.T, y, costs, found, 1e-5)
    np.testing.assert_allclose(margin, expected, atol=1e-3)


@pytest.mark.parametrize(("positive", "negative"), [(3, 3), (5, 2), (2, 5)])
def test_all_examples_the_same(positive, negative):
    X = np.ones((positive + negative, 2))
    y = np.repeat([1, -1], [positive, negative])
    costs = np.ones(len(y))
    found = solve(Linear(), X, [problem(y, costs)])
    margin, expected = check(X @ X.T, y, costs, found, 1e-3)
    np.testing.assert_allclose(margin, expected, atol=1e-9)
    assert found.points == 1


def test_a_kernel_that_is_zero():
    X = np.zeros((6, 2))
    y = np.array([1, 1, 1, 1, -1, -1])
    found = solve(Linear(), X, [problem(y, np.ones(6))])
    assert found.biases[0] == pytest.approx(1.0)


def test_duplicates_are_merged_and_change_nothing():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(40, 4))
    places = rng.integers(0, 40, size=300)
    y = np.where(rng.random(300) < 0.4, 1, -1)
    costs = rng.random(300)
    found = solve(Polynomial(degree=2), base[places], [problem(y, costs)], tolerance=1e-5)
    K = Polynomial(degree=2)(base[places])
    margin, expected = check(K, y, costs, found, 1e-5)
    np.testing.assert_allclose(margin, expected, atol=1e-3)
    assert found.points == 40
    # A point can stand on both sides, with one representative each.
    assert len(found.support) <= 80


def test_no_weight_no_say():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.where(rng.random(60) < 0.5, 1, -1)
    costs = np.where(np.arange(60) < 40, 1.0, 0.0)
    whole = solve(Linear(), X, [problem(y, costs)])
    part = solve(Linear(), X[:40], [problem(y[:40], costs[:40])])
    np.testing.assert_array_equal(whole.support, part.support)
    np.testing.assert_array_equal(whole.weights, part.weights)
    with pytest.raises(DataError, match="no example of the negative side"):
        solve(Linear(), X, [problem(y, np.where(y > 0, 1.0, 0.0))])


def many(seed=0, n=400, classes=6):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 12)), 1)
    labels = rng.integers(0, classes, size=n)
    return X, [problem(np.where(labels == c, 1, -1), np.ones(n)) for c in range(classes)]


def test_threads_change_no_bit():
    X, problems = many()
    results = []
    for threads in (1, 2, 5):
        with sw.options(threads=threads):
            results.append(solve(Polynomial(degree=3), X, problems))
    for other in results[1:]:
        np.testing.assert_array_equal(other.weights, results[0].weights)
        np.testing.assert_array_equal(other.biases, results[0].biases)
        np.testing.assert_array_equal(other.iterations, results[0].iterations)


def test_rows_forgotten_and_made_again_change_no_bit():
    X, problems = many(n=300, classes=2)
    K = Linear()(X)
    numbers = np.arange(300, dtype=np.uint32)
    sides = np.full(300, -1, np.int8)
    sides[problems[0].positive] = 1
    found = []
    for window in (8, 20_000, 1 << 24):
        kernel = _core.smo.PointKernel64(
            [_core.smo.Component64(_core.smo.square64(K), numbers, None)],
            [_core.smo.Term(1.0, [0], np.zeros(0))],
            np.ascontiguousarray(np.diagonal(K)),
        )
        for shrinking in (True, False):
            result = kernel.solve(
                np.array([300], np.uint64), numbers, sides, np.full(300, 5.0), 1e-6, 0, window, shrinking, 1, None
            )
            found.append((shrinking, result))
    for shrinking, result in found:
        same = next(other for kind, other in found if kind == shrinking)
        np.testing.assert_array_equal(result[0], same[0])
    np.testing.assert_allclose(found[0][1][2], found[1][1][2], rtol=1e-6)


def test_stopping_early_is_said():
    X, problems = many()
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        found = solve(Linear(), X, problems, max_iter=5)
    assert found.iterations.max() == 5


@pytest.mark.parametrize(
    "change",
    [
        {"sides": np.array([1, 0], np.int8)},
        {"costs": np.array([1.0, 0.0])},
        {"costs": np.array([1.0, np.nan])},
        {"points": np.array([0, 2], np.uint32)},
        {"ends": np.array([3], np.uint64)},
        {"costs": np.ones(3)},
    ],
    ids=str,
)
def test_the_native_door_refuses(change):
    table = np.eye(2)
    numbers = np.arange(2, dtype=np.uint32)
    component = _core.smo.Component64(_core.smo.square64(table), numbers, None)
    kernel = _core.smo.PointKernel64([component], [_core.smo.Term(1.0, [0], np.zeros(0))], np.ones(2))
    good = {
        "ends": np.array([2], np.uint64),
        "points": numbers,
        "sides": np.array([1, -1], np.int8),
        "costs": np.ones(2),
    }
    rest = {
        "tolerance": 1e-3,
        "max_iterations": 0,
        "window_bytes": 64,
        "shrinking": True,
        "threads": 1,
        "progress": None,
    }
    assert kernel.solve(**good, **rest)[-1]
    with pytest.raises(ValueError, match=r"out of|differ"):
        kernel.solve(**{**good, **change}, **rest)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sends POSIX signals")
def test_interrupt(interrupt):
    """Ctrl-C stops a problem that would take minutes within a second, and Python goes on."""
    code = """
        import numpy as np
        from sapwood.kernels import Polynomial
        from sapwood.learn.solver.smo import BinaryProblem, solve

        rng = np.random.default_rng(0)
        X = rng.normal(size=(4000, 60))
        y = rng.random(4000) < 0.5
        problem = BinaryProblem(np.flatnonzero(y), np.flatnonzero(~y), np.full(4000, 1e6), "noise")
        print("ready", flush=True)
        try:
            solve(Polynomial(degree=2), X, [problem], tolerance=1e-9)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        else:
            print("finished", flush=True)
    """
    assert interrupt(code, after=2.0, at_most=2.0) == "interrupted\n"

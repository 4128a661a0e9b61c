"""Log-linear models against the plain formula, finite differences, and SciPy's optimum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from sklearn.base import clone

import sapwood as sw
from sapwood._core import loglinear as native
from sapwood.errors import DataError, ParameterError, TooLargeError
from sapwood.learn.candidates import CandidateSets
from sapwood.learn.loglinear import LogLinear


def place(feature, key, bits):
    return ((feature ^ key) * 0x9E3779B1 % (1 << 32)) >> (32 - bits)


def plain_scores(sets, weights, bits):
    """Scores as the definition has them: a sum over keys, groups and features."""
    groups, out = sets.ends.shape[1], []
    starts = np.concatenate([[0], sets.ends.ravel()]).astype(int)
    row = role = 0
    for rows, roles in zip(sets.rows, sets.decisions, strict=True):
        table = np.zeros((roles, rows))
        for r in range(roles):
            begin = int(sets.key_ends[role + r - 1]) if role + r else 0
            keys = [(0, sets.shared)] + [
                (int(sets.keys[k]), int(sets.masks[k])) for k in range(begin, int(sets.key_ends[role + r]))
            ]
            for c in range(rows):
                for group in range(groups):
                    at = (row + c) * groups + group
                    for feature in sets.features[starts[at] : starts[at + 1]]:
                        for key, mask in keys:
                            if mask >> group & 1:
                                table[r, c] += weights[place(int(feature), key, bits)]
        out.append(table)
        row, role = row + rows, role + roles
    return out


def random_sets(seed, *, count=6, groups=3, roles=4):
    generator = np.random.default_rng(seed)
    rows = generator.integers(1, 6, count)
    decisions = generator.integers(0, roles, count)
    sizes = generator.integers(0, 5, (rows.sum(), groups))
    keys = generator.integers(0, 3, decisions.sum())
    return CandidateSets(
        generator.integers(0, 12, sizes.sum()).astype(np.uint32) * np.uint32(2654435761),
        np.cumsum(sizes).reshape(-1, groups).astype(np.uint64),
        np.cumsum(rows).astype(np.uint64),
        np.cumsum(decisions).astype(np.uint64),
        np.cumsum(keys).astype(np.uint64),
        generator.integers(1, 1 << 32, keys.sum()).astype(np.uint32),
        generator.integers(0, 1 << groups, keys.sum()).astype(np.uint32),
        int(generator.integers(0, 1 << groups)),
    )


def right_for(sets, seed):
    generator = np.random.default_rng(seed)
    return generator.integers(0, np.repeat(sets.rows, sets.decisions))


@given(seed=st.integers(0, 10_000))
def test_scores_are_what_the_definition_says(seed):
    sets = random_sets(seed)
    model = LogLinear(bits=8)
    model.weights_ = np.random.default_rng(seed).normal(size=256).astype(np.float32)
    found = list(sets.tables(model.decision_function(sets)))
    for table, expected in zip(found, plain_scores(sets, model.weights_.astype(float), 8), strict=True):
        np.testing.assert_allclose(table, expected, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_loss_and_gradient_agree_with_the_formula_and_finite_differences(seed):
    sets, bits = random_sets(seed), 5
    right = right_for(sets, seed).astype(np.uint32)
    weights = np.random.default_rng(seed).normal(size=32)

    def loss(w):
        tables, total, at = plain_scores(sets, w, bits), 0.0, 0
        for table in tables:
            for scores in table:
                total += logsumexp(scores) - scores[right[at]]
                at += 1
        return total

    gradient = np.zeros(32)
    value = native.loss_and_gradient(*sets._arguments(), right, weights, bits, gradient)
    assert value == pytest.approx(loss(weights), abs=1e-9)
    np.testing.assert_allclose(gradient, approx_fprime(weights, loss, 1e-6), atol=1e-4)


def learnable(count=200):
    """Sets in which one of four features marks the right candidate, another for each of two kinds of decision."""
    generator = np.random.default_rng(3)
    rows, keys, right = [], [], []
    for _ in range(count):
        kind, size = int(generator.integers(2)), int(generator.integers(2, 6))
        good = int(generator.integers(size))
        noise = [[int(f) for f in generator.integers(1000, 1040, 3)] for _ in range(size)]
        noise[good].append(7 if kind else 9)
        other = (good + 1) % size
        noise[other].append(9 if kind else 7)
        rows.append(noise)
        keys.append([[12345 if kind else 54321]])
        right.append(good if generator.random() < 0.95 else other)
    return CandidateSets.of(rows, keys), np.array(right)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.3, 3.0])
def test_adagrad_comes_near_the_optimum_that_lbfgs_finds(alpha):
    sets, right = learnable()
    best = LogLinear(alpha=alpha, solver="lbfgs", bits=12, epochs=20).fit(sets, right)
    quick = LogLinear(alpha=alpha, bits=12, epochs=60, learning_rate=0.2).fit(sets, right)
    optimum = best.objective(sets, right)
    assert optimum - 1e-3 <= quick.objective(sets, right) <= 1.01 * optimum
    start = LogLinear(alpha=alpha, bits=12)
    start.weights_ = np.zeros(1 << 12, np.float32)
    assert optimum < 0.8 * start.objective(sets, right)


def test_the_optimum_has_no_slope():
    sets, right = learnable()
    model = LogLinear(alpha=1.0, solver="lbfgs", bits=12, epochs=20).fit(sets, right)
    weights, gradient = model.weights_.astype(float), np.zeros(1 << 12)
    native.loss_and_gradient(*sets._arguments(), right.astype(np.uint32), weights, 12, gradient)
    assert np.abs(gradient + 2.0 * weights).max() < 1e-3


@pytest.mark.parametrize("batch_size", [1, 8])
def test_threads_change_no_bit_and_seeds_do(batch_size):
    sets, right = learnable()
    made = []
    for threads, seed in ((1, 0), (2, 0), (3, 0), (1, 1)):
        with sw.options(threads=threads):
            made.append(
                LogLinear(bits=12, batch_size=batch_size, epochs=3, random_state=seed).fit(sets, right).weights_
            )
    np.testing.assert_array_equal(made[0], made[1])
    np.testing.assert_array_equal(made[0], made[2])
    assert not np.array_equal(made[0], made[3])


def test_models_are_saved_and_cloned(tmp_path):
    sets, right = learnable()
    model = LogLinear(bits=12, epochs=3).fit(sets, right)
    sw.save(model, tmp_path / "m.sap")
    np.testing.assert_array_equal(sw.load(tmp_path / "m.sap").decision_function(sets), model.decision_function(sets))
    assert clone(model).get_params() == model.get_params()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["adagrad", "lbfgs"])
def test_seeds_are_those_of_other_learners(solver, tmp_path):
    sets, right = learnable()
    for seed in (np.random.RandomState(0), None):
        model = LogLinear(bits=8, epochs=1, solver=solver, random_state=seed).fit(sets, right)
        sw.save(model, tmp_path / "m.sap")
        again = sw.load(tmp_path / "m.sap")
        assert again.random_state is None
        np.testing.assert_array_equal(again.weights_, model.weights_)
    with pytest.raises(ParameterError, match="random_state must be None, a RandomState or an integer"):
        LogLinear(bits=8, solver=solver, random_state=-1).fit(sets, right)


def test_small_weights_can_be_left_out():
    sets, right = learnable()
    whole = LogLinear(bits=12, epochs=3).fit(sets, right).weights_
    pruned = LogLinear(bits=12, epochs=3, prune=0.05).fit(sets, right).weights_
    np.testing.assert_array_equal(pruned, np.where(np.abs(whole) < 0.05, 0.0, whole))
    assert 0 < np.count_nonzero(pruned) < np.count_nonzero(whole)


def test_sets_joined_are_the_sets_one_after_the_other():
    parts = [random_sets(seed) for seed in (1, 2, 3)]
    parts = [CandidateSets(*part._arguments()[:1], part.ends, *part._arguments()[2:7], 5) for part in parts]
    model = LogLinear(bits=8)
    model.weights_ = np.random.default_rng(0).normal(size=256).astype(np.float32)
    whole = model.decision_function(CandidateSets.joined(parts))
    np.testing.assert_array_equal(whole, np.concatenate([model.decision_function(part) for part in parts]))


def test_training_can_be_stopped_after_an_epoch():
    sets, right = learnable()
    assert len(LogLinear(bits=10, epochs=9).fit(sets, right, after_epoch=lambda model: True).losses_) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "sgd"}, "solver must be"),
        ({"bits": 40}, "bits must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"alpha": -1.0}, "alpha must be"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number of more than 0"),
    ],
)
def test_parameters_are_checked(parameters, message):
    sets, right = learnable(5)
    with pytest.raises(ParameterError, match=message):
        LogLinear(**parameters).fit(sets, right)


def test_data_are_checked():
    sets, right = learnable(5)
    with pytest.raises(DataError, match="one candidate for each of 5"):
        LogLinear().fit(sets, right[:3])
    with pytest.raises(DataError, match="within their sets"):
        LogLinear().fit(sets, right + 100)
    with pytest.raises(DataError, match="must be CandidateSets"):
        LogLinear().fit([[1, 2]], right)
    with pytest.raises(DataError, match="a decision and no candidate"):
        CandidateSets.of([[]], [[[1]]])
    with pytest.raises(DataError, match="must end at"):
        CandidateSets(
            sets.features[:-1], sets.ends, sets.row_ends, sets.role_ends, sets.key_ends, sets.keys, sets.masks
        )
    with pytest.raises(TooLargeError, match="adagrad"):
        LogLinear(solver="lbfgs", bits=28).fit(sets, right)


def test_no_sets_at_all_are_fine():
    empty = CandidateSets.of([], [])
    assert LogLinear(bits=4, epochs=1).fit(empty, np.zeros(0, int)).decision_function(empty).shape == (0,)

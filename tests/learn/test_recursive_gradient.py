"""The native network against a slow twin, finite differences, and PyTorch where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from oracles.recursive import SlowNetwork, pairwise, setwise
from sapwood.learn.recursive_training import LOSSES, TrainingData, make_network
from strategies import trees

UNITS, OUTDEGREE = 5, 3


def network_on(X, ends, *, outputs=1, extras=0, dtype="float64", seed=0, units=UNITS):
    """Random weights, forests and the vocabulary without its last label, so that one is unknown."""
    rng = np.random.default_rng(seed)
    labels = sorted({node.label for tree in X for node in nodes(tree)})[:-1]
    network = make_network(dtype, units, OUTDEGREE, len(labels), outputs, extras)
    rows = np.zeros((network.rows, network.stride))
    rows[:, :units] = rng.normal(size=(network.rows, units)) * 0.6
    weights = np.concatenate([rows.ravel(), rng.normal(size=outputs * (extras + 1))]).astype(dtype)
    network.set_weights(weights)
    data = TrainingData(X, np.asarray(ends), np.zeros(len(X)), rng.normal(size=(len(X), extras)))
    return network, data, labels, weights


def nodes(tree):
    yield tree
    for child in tree.children:
        yield from nodes(child)


def slow(weights, labels, *, outputs=1, extras=0, units=UNITS):
    return SlowNetwork(weights, units=units, outdegree=OUTDEGREE, labels=labels, outputs=outputs, extras=extras)


FORESTS = sw.TreeArray(
    [
        "(S (NP (DT a) (NN b)) (VP (V c) (NP (DT a) (NN b))))",
        "(S (NP (DT a) (NN b)) (VP (V c) (NP (DT a) (NN b)) (PP x)))",
        "(S (NP (DT a) (NN b)) (VP (V c) (NP (NP (DT a) (NN b)) (PP x))))",
        "(S (NP (DT a) (NN b)) (VP (V c)) (PP x) (Z (Z Z)))",
        "(S (A (A (A a))))",
        "b",
    ]
)


@given(st.lists(trees(), min_size=1, max_size=6), st.integers(0, 5))
def test_outputs_and_states_are_those_of_the_slow_twin(drawn, seed):
    X = sw.TreeArray(drawn)
    network, data, labels, weights = network_on(X, [len(X)], outputs=2, extras=1, seed=seed)
    twin = slow(weights, labels, outputs=2, extras=1)
    forests = data.forests(labels, OUTDEGREE, 0)
    out, states = np.empty((len(X), 2)), np.empty((len(X), UNITS))
    network.evaluate(forests, data.extras, out, 1, None)
    network.states(forests, states, 1, None)
    np.testing.assert_allclose(out, [twin(tree, extra) for tree, extra in zip(X, data.extras, strict=True)], atol=1e-12)
    np.testing.assert_allclose(states, [twin.state(tree) for tree in X], atol=1e-13)


@pytest.mark.parametrize("units", [1, 7, 8, 25, 33, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_width_and_precision(units, dtype):
    network, data, labels, weights = network_on(FORESTS, [4, 6], dtype=dtype, units=units)
    twin = slow(weights, labels, units=units)
    out = np.empty((len(FORESTS), 1))
    network.evaluate(data.forests(labels, OUTDEGREE, 0), data.extras, out, 1, None)
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(out[:, 0], [twin(tree)[0] for tree in FORESTS], atol=tolerance)


@pytest.mark.parametrize(
    ("loss", "targets"),
    [
        ("setwise", [0, 1, 0, 0, 1, 0]),
        ("setwise", [1, 1, 0, 0, 1, 0]),
        ("pairwise-best", [2, 1, 0, 2, 0, 1]),
        ("pairwise-all", [2, 1, 0, 2, 0, 1]),
        ("squares", [0.5, -1, 2, 0, 0, 1]),
        ("classes", [0, 1, 2, 2, 0, 1]),
    ],
)
def test_gradients_are_those_of_finite_differences(loss, targets):
    outputs = 3 if loss == "classes" else 1
    network, data, labels, weights = network_on(FORESTS, [4, 6], outputs=outputs, extras=2, seed=3)
    forests = data.forests(labels, OUTDEGREE, 10**6)
    targets = np.array(targets, dtype=np.float64)
    value, gradient = network.gradient(forests, targets, data.extras, LOSSES[loss])
    twin = slow(weights, labels, outputs=outputs, extras=2)
    scores = np.array([twin(tree, extra) for tree, extra in zip(FORESTS, data.extras, strict=True)])
    expected = {
        "setwise": lambda: sum(setwise(scores[a:b, 0], targets[a:b]) for a, b in ((0, 4), (4, 6))),
        "pairwise-best": lambda: sum(pairwise(scores[a:b, 0], targets[a:b], every=False) for a, b in ((0, 4), (4, 6))),
        "pairwise-all": lambda: sum(pairwise(scores[a:b, 0], targets[a:b], every=True) for a, b in ((0, 4), (4, 6))),
        "squares": lambda: float(((scores[:, 0] - targets) ** 2).sum()),
        "classes": lambda: sum(
            -np.log(np.exp(s[int(t)]) / np.exp(s).sum()) for s, t in zip(scores, targets, strict=True)
        ),
    }[loss]()
    assert value == pytest.approx(expected, rel=1e-12)
    step = 1e-5
    checked = 0
    # Padding has no meaning, so only weights of the network are moved.
    meant = np.flatnonzero(
        (np.arange(len(weights)) % network.stride < UNITS) | (np.arange(len(weights)) >= network.rows * network.stride)
    )
    for at in meant:
        values = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[at] += sign * step
            network.set_weights(moved)
            values.append(network.gradient(forests, targets, data.extras, LOSSES[loss])[0])
        numeric = (values[0] - values[1]) / (2 * step)
        assert gradient[at] == pytest.approx(numeric, rel=1e-6, abs=1e-8)
        checked += abs(numeric) > 1e-6
    assert checked > 40
    padding = np.setdiff1d(np.arange(len(weights)), meant)
    assert (gradient[padding] == 0).all()


def test_single_precision_follows_double():
    targets = np.array([0, 1, 0, 0, 1, 0.0])
    gradients = []
    for dtype in ("float32", "float64"):
        network, data, labels, _ = network_on(FORESTS, [4, 6], dtype=dtype, units=25)
        gradients.append(network.gradient(data.forests(labels, OUTDEGREE, 10**6), targets, data.extras, 0)[1])
    np.testing.assert_allclose(gradients[0], gradients[1], atol=2e-4)


def test_extreme_weights_saturate():
    network, data, labels, weights = network_on(FORESTS, [4, 6])
    network.set_weights(weights * 1e4)
    states = np.empty((len(FORESTS), UNITS))
    network.states(data.forests(labels, OUTDEGREE, 0), states, 1, None)
    assert np.isfinite(states).all()
    assert np.abs(states).max() <= 1.0


def test_gradients_are_those_of_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    network, data, labels, weights = network_on(FORESTS, [4, 6], units=25, seed=8)
    targets = np.array([0, 0, 1, 0, 1, 0.0])
    value, gradient = network.gradient(data.forests(labels, OUTDEGREE, 0), targets, data.extras, LOSSES["setwise"])
    flat = torch.tensor(weights, dtype=torch.float64, requires_grad=True)
    rows = flat[: network.rows * network.stride].reshape(network.rows, network.stride)

    def state(tree):
        total = rows[0]
        if tree.label in labels:
            total = total + rows[1 + labels.index(tree.label)]
        for k, child in enumerate(tree.children[:OUTDEGREE]):
            first = 1 + len(labels) + k * 25
            total = total + state(child)[:25] @ rows[first : first + 25]
        return torch.tanh(total)

    scores = torch.stack([state(tree) @ rows[-1] + flat[-1] for tree in FORESTS])
    loss = torch.logsumexp(scores[:4], 0) - scores[2] + torch.logsumexp(scores[4:], 0) - scores[4]
    loss.backward()
    assert value == pytest.approx(loss.item(), rel=1e-12)
    np.testing.assert_allclose(gradient, flat.grad.numpy(), atol=1e-12)


def test_shared_prefixes_are_computed_once():
    X = sw.TreeArray(["(A b c d)", "(A b c e)", "(B b c d)"])
    _, data, labels, _ = network_on(X, [3])
    # Four leaves and three roots; the items b, b c, b c d and b c e.
    assert data.forests(labels, 3, 0).plan_size(0) == (7, 4)
    # Beyond the largest outdegree nothing exists: neither the third children nor their items.
    assert data.forests(labels, 2, 0).plan_size(0) == (5, 2)

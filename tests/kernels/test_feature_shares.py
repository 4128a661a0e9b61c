"""What features add: integrals of gradients along the line from nothing to the example, taken numerically."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

import sapwood as sw
from sapwood.kernels import RBF, Linear, Polynomial, SubsetTree
from sapwood.kernels.feature_shares import feature_shares
from sapwood.learn import KernelRanker, KernelSVC
from sapwood.words import Table
from specimens import labels, trees

RANDOM = np.random.default_rng(0)
SUPPORT, WEIGHTS, X = RANDOM.normal(size=(7, 4)), RANDOM.normal(size=7), RANDOM.normal(size=(1, 4))


def integrated(kernel, x):
    """Gauss-Legendre, exact for polynomials of this degree."""
    score = lambda row: float((kernel(row[None], SUPPORT) @ WEIGHTS)[0])  # noqa: E731
    nodes, parts = np.polynomial.legendre.leggauss(6)
    shares = np.zeros(len(x))
    for node, part in zip(nodes, parts, strict=True):
        at = (node + 1) / 2 * x
        for j in range(len(x)):
            step = 1e-5 * np.eye(len(x))[j]
            shares[j] += part / 2 * x[j] * (score(at + step) - score(at - step)) / 2e-5
    return shares


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(2, 0.7), Polynomial(3, 1.0, 0.5), Polynomial(2, 0.0), Polynomial(1, 2.0)], ids=repr
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_shares_are_integrals_of_the_gradient(kernel, form):
    found = dict(feature_shares(kernel, form(X), form(SUPPORT), WEIGHTS))
    expected = integrated(kernel, X[0])
    for j, value in enumerate(expected):
        assert found[f"column {j}"] == pytest.approx(value, rel=1e-6, abs=1e-8)
    constant = 0.0 if isinstance(kernel, Linear) else WEIGHTS.sum() * kernel.constant**kernel.degree
    assert sum(found.values()) + constant == pytest.approx(float((kernel(X, SUPPORT) @ WEIGHTS)[0]))


def test_names_and_words():
    rows = [{"word": "dog", "n": 2.0}, {"word": "cat"}, {"n": 1.0, "x": 3.0}]
    support = np.array(rows, dtype=object)
    found = dict(feature_shares(Linear(), support[:1], support, np.array([1.0, 1.0, 0.5])))
    assert found == {"word=dog": 1.0, "n": 5.0}
    table = Linear(words=Table({("dog", "cat"): 0.5}))
    bags = sw.TreeArray(["(a dog dog bird)", "(a cat)", "(a fish)"])
    shares = dict(feature_shares(table, bags[:1], bags, np.array([1.0, 2.0, 4.0])))
    assert shares == pytest.approx({"dog": 2 * (2 + 0.5 * 2), "bird": 1.0})
    assert feature_shares(RBF(0.5), X, SUPPORT, WEIGHTS) is None


def test_decisions_are_told_by_feature():
    flat = [{"size": float(len(tree.leaves())), "first": tree.leaves()[0]} for tree in trees()]
    X = sw.Examples(tree=trees(), flat=flat)
    kernel = SubsetTree().normalized().on("tree") + Polynomial(2).normalized().on("flat") + RBF(0.1).on("flat")
    model = KernelSVC(kernel).fit(X, labels())
    why = model.explain(X[0:1])
    assert why.value == pytest.approx(float(model.decision_function(X[0:1]).max()))
    named, plain = why.others
    assert {name for name, _ in named.features} == {"size", "first=he"}
    assert plain.features == ()
    assert "by feature:" in str(why)
    assert "by training example:" in str(why)
    assert "first=he" in why.to_html()
    one = KernelSVC(Linear()).fit(flat, labels()).explain(flat[0])
    assert one.value == pytest.approx(one.bias + sum(value for _, value in one.others[0].features))


def test_rankers():
    y, groups = np.arange(12) % 3, np.arange(12) // 3
    model = KernelRanker(SubsetTree().normalized(), random_state=0).fit(trees(), y, groups)
    why = model.explain(trees()[4:5])
    assert why.value == pytest.approx(float(model.decision_function(trees()[4:5])[0]))
    assert why.label is None
    assert why.fragments
    averaged = KernelRanker(SubsetTree(), average=True, random_state=0).fit(trees(), y, groups)
    assert averaged.explain(trees()[4:5]).value == pytest.approx(float(averaged.decision_function(trees()[4:5])[0]))

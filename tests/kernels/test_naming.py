"""Short names for parameters of sums, in searches as well."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import sapwood as sw
from sapwood.errors import ParameterError
from sapwood.kernels import Linear, PartialTree, Polynomial, SubsetTree, parse_kernel
from sapwood.learn import KernelSVC
from specimens import TREES, labels, trees

SUM = 0.6 * SubsetTree().normalized().on("tree") + 0.4 * (Polynomial(degree=2) ** 2).on("flat") + SubsetTree().on("bag")


def test_views_are_names():
    names = set(SUM.get_params())
    assert {
        "tree",
        "tree__decay",
        "tree__weight",
        "flat__degree",
        "flat__weight",
        "flat__exponent",
        "bag__decay",
    } <= names
    assert "bag__weight" not in names
    changed = SUM.copy().set_params(tree__decay=0.2, flat__weight=0.1, bag=PartialTree())
    assert changed == (
        0.6 * SubsetTree(0.2).normalized().on("tree")
        + 0.1 * (Polynomial(degree=2) ** 2).on("flat")
        + PartialTree().on("bag")
    )
    assert SUM.get_params()["tree__decay"] == 0.4


def test_every_short_name_is_a_long_one():
    """Setting by either name comes to the same."""
    full = SUM._full_params()
    short = {name: value for name, value in SUM.get_params().items() if name not in full}
    for name, value in short.items():
        assert any(value is other or value == other for other in full.values())
        assert SUM.copy().set_params(**{name: value}) == SUM
    for name in ("tree__decay", "bag__decay"):
        other = SUM.copy().set_params(**{name: 0.1})
        assert other != SUM
        assert other.get_params()[name] == 0.1
        assert sum(one != two for one, two in zip(SUM.terms(), other.terms(), strict=True)) == 1


def test_names_given_and_names_of_classes():
    both = 0.5 * SubsetTree().normalized().named("syntax") + SubsetTree(0.2) + SubsetTree(0.1) + Linear().on("kernel")
    assert {"syntax__decay", "subsettree_1__decay", "subsettree_2__decay"} <= set(both.get_params())
    # A view that is called like a parameter has no short name.
    assert both.get_params()["k2__kernel"] == Linear()
    assert both.set_params(subsettree_2__decay=0.3).k1.k2 == SubsetTree(0.3)
    assert SubsetTree().normalized().set_params(subsettree__decay=0.3) == SubsetTree(0.3).normalized()
    assert SubsetTree().get_params().keys() == {"decay", "bag_of_words", "max_depth"}


def test_a_named_kernel_is_the_same_kernel(tmp_path):
    plain = 0.5 * SubsetTree().normalized() + PartialTree()
    named = 0.5 * SubsetTree().named("a").normalized().named("b") + PartialTree().named("c")
    X = sw.TreeArray(TREES)
    np.testing.assert_array_equal(named(X), plain(X))
    np.testing.assert_array_equal(named.diag(X), plain.diag(X))
    np.testing.assert_array_equal(named.pairwise(X), plain.pairwise(X))
    np.testing.assert_allclose(named.expansion(X, np.ones((4, 1)))(X), plain(X).sum(axis=1, keepdims=True))
    assert [(term.weight, term.kernel) for term in named.terms()] == [(t.weight, t.kernel) for t in plain.terms()]
    assert [term.self_normalized for term in named.terms()] == [term.self_normalized for term in plain.terms()]
    assert parse_kernel(repr(named)) == named
    assert set(named.get_params()) >= {"b__decay", "c__decay"}
    sw.save(named, tmp_path / "k.sap")
    assert sw.load(tmp_path / "k.sap") == named
    for solver in ("sklearn", "native"):
        models = [KernelSVC(one, solver=solver).fit(trees(), labels()) for one in (named, plain)]
        found = [one.decision_function(trees()) for one in models]
        np.testing.assert_array_equal(*found)
        assert str(models[0].explain(TREES[0])) == str(models[1].explain(TREES[0]))


def test_bad_names_are_refused():
    for wrong in ("k1", "weight", "a b", "a__b", "", 3, None):
        with pytest.raises(ParameterError, match="name must"):
            SubsetTree().named(wrong)
    with pytest.raises(ParameterError, match=r"has no parameter 'nope'; it has tree, .*k1, k2"):
        SUM.copy().set_params(nope__decay=0.1)
    with pytest.raises(ParameterError, match="decay must be"):
        SUM.copy().set_params(tree__decay=3)
    with pytest.raises(ParameterError, match="same parameter"):
        SUM.copy().set_params(tree__decay=0.3, k1__k1__kernel__kernel__kernel__decay=0.2)
    with pytest.raises(ParameterError, match=r"\.named\('name'\)"):
        parse_kernel("SubsetTree().nonsense('x')")


def test_in_a_grid():
    kernel = 0.5 * SubsetTree().normalized().named("tree") + PartialTree().normalized().named("parts")
    grid = {"kernel__tree__decay": [0.1, 0.4], "kernel__tree__weight": [0.2, 1.0], "kernel__parts": [PartialTree(0.2)]}
    search = GridSearchCV(KernelSVC(kernel), grid, cv=2, error_score="raise").fit(trees(), labels())
    best = search.best_estimator_.kernel
    assert best.get_params()["tree__decay"] == search.best_params_["kernel__tree__decay"]
    assert clone(search.best_estimator_).kernel == best
    assert kernel.get_params()["tree__weight"] == 0.5


def test_one_simple_kernel_needs_no_name() -> None:
    for kernel in (
        SubsetTree().normalized(),
        (0.5 * SubsetTree()).normalized(),
        SubsetTree().on("tree"),
        SubsetTree().named("t"),
    ):
        changed = kernel.set_params(decay=0.25)
        assert "SubsetTree(decay=0.25)" in repr(changed)
    assert (0.5 * SubsetTree()).set_params(weight=0.7, decay=0.1) == 0.7 * SubsetTree(decay=0.1)
    for wrong in ({"nothing": 1}, {"decay": 0.3, "nothing": 1}):
        kernel = SubsetTree().normalized()
        with pytest.raises(ParameterError, match="has no parameter 'nothing'"):
            kernel.set_params(**wrong)
        assert kernel == SubsetTree().normalized()
    with pytest.raises(ParameterError, match="has no parameter 'decay'"):
        (SubsetTree() + PartialTree()).set_params(decay=0.3)
    with pytest.raises(ParameterError, match="did you mean kernel__decay"):
        SubsetTree().normalized().set_params(dekay=0.3)

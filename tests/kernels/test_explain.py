"""Fragments that two trees share: against enumeration, and adding up to the kernel value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from oracles.fragments import (
    any_trees,
    decays,
    fragments,
    internal_trees,
    partial_fragments,
    small_trees,
    subtrees,
    weight,
)
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import Linear, PartialTree, SubsetTree, Subtree
from sapwood.kernels.attribution import Differences


@pytest.mark.slow
@given(any_trees, any_trees, decays, st.booleans(), st.sampled_from([None, 1, 2]))
def test_shared_fragments_are_those_of_enumeration(a, b, decay, bag_of_words, max_depth):
    kernel = SubsetTree(decay=decay, bag_of_words=bag_of_words, max_depth=max_depth)
    left, right = (fragments(tree, max_depth=max_depth, bag_of_words=bag_of_words) for tree in (a, b))
    expected = {f: weight(f, decay) * left[f] * right[f] for f in left if f in right}
    found = kernel.explain(a, b, top=100_000)
    assert len(found.fragments) == len(expected)
    for fragment in found.fragments:
        assert fragment.weight == pytest.approx(expected[fragment.tree], rel=1e-12)
        assert fragment.count == left[fragment.tree]
    assert found.remainder == 0
    assert found.exact
    total = sum(fragment.weight for fragment in found.fragments)
    assert total == pytest.approx(kernel(a, b), rel=1e-9)
    few = kernel.explain(a, b, top=3)
    heaviest = sorted(expected.values(), reverse=True)[:3]
    assert [fragment.weight for fragment in few.fragments] == pytest.approx(heaviest, rel=1e-12)
    assert sum(fragment.weight for fragment in few.fragments) + few.remainder == pytest.approx(kernel(a, b), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(any_trees, any_trees, decays)
def test_shared_subtrees_are_those_of_enumeration(a, b, decay):
    kernel = Subtree(decay=decay)
    left, right = subtrees(a), subtrees(b)
    expected = {tree: weight(tree, decay) * left[tree] * right[tree] for tree in left if tree in right}
    found = kernel.explain(a, b, top=1000)
    assert {fragment.tree: pytest.approx(fragment.weight, rel=1e-12) for fragment in found.fragments} == expected


@settings(max_examples=60, deadline=None)
@given(small_trees, small_trees, decays, decays, st.sampled_from([None, 1, 2]), st.booleans())
def test_shared_partial_fragments_are_those_of_enumeration(a, b, decay, depth_decay, limit, leaves):
    kernel = PartialTree(decay=decay, depth_decay=depth_decay, max_subsequence=limit, leaves=leaves)
    left, right = (
        partial_fragments(tree, decay=decay, depth_decay=depth_decay, limit=limit, leaves=leaves) for tree in (a, b)
    )
    expected = {f: left[f] * right[f] for f in left if f in right}
    found = kernel.explain(a, b, top=100_000)
    assert found.exact
    assert len(found.fragments) == len(expected)
    for fragment in found.fragments:
        assert fragment.weight == pytest.approx(expected[fragment.tree], rel=1e-12)
    few = kernel.explain(a, b, top=3)
    heaviest = sorted(expected.values(), reverse=True)[:3]
    assert [fragment.weight for fragment in few.fragments] == pytest.approx(heaviest, rel=1e-12)
    assert sum(f.weight for f in few.fragments) + few.remainder == pytest.approx(kernel(a, b), rel=1e-9)


KERNELS = [
    SubsetTree(decay=0.4).normalized(),
    0.3 * SubsetTree(decay=0.7, bag_of_words=True) + Subtree(decay=0.5).normalized(),
    (SubsetTree(max_depth=2) + Subtree()).normalized(),
    SubsetTree() ** 2 + SubsetTree() + 1.0,
    PartialTree() + SubsetTree(),
    PartialTree(terminal_factor=2.0).normalized() + SubsetTree(),
]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(max_examples=25, deadline=None)
@given(a=internal_trees, b=internal_trees, top=st.integers(0, 5))
def test_everything_adds_up(kernel, a, b, top):
    found = kernel.explain(a, b, top=top)
    assert found.value == kernel(a, b)
    listed = sum(fragment.weight for fragment in found.fragments)
    assert listed + found.remainder + sum(value for _, value in found.others) == pytest.approx(found.value, rel=1e-9)
    assert found.remainder >= -1e-9
    assert len(found.fragments) <= top


def test_views_bags_and_examples():
    a, b = "(S (NP (N dogs)) (VP (V run)))", "(S (NP (N dogs)) (VP (V bark)))"
    E = sw.Examples(tree=[a, b], flat=[{"x": 1.0}, {"x": 2.0}])
    kernel = SubsetTree(decay=0.5).normalized().on("tree") + Linear().on("flat")
    found = kernel.explain(E[0:1], E[1:2])
    assert found.fragments[0].view == "tree"
    assert found.others == (("Linear()", 2.0),)
    tree = sw.Tree.fromstring(a)
    bag = SubsetTree(decay=0.5).explain((tree, tree), tree)
    assert bag.value == pytest.approx(2 * SubsetTree(decay=0.5)(a, a))
    assert bag.fragments[0].count == 2
    with pytest.raises(DataError, match="expected one example, got 2"):
        kernel.explain(E, E)


def test_trees_that_share_nothing():
    found = SubsetTree().explain("(A b)", "(C d)")
    assert found.value == 0
    assert "share no fragment" in str(found)
    assert "no fragments" in found._repr_html_()
    assert SubsetTree().explain("leaf", "leaf").value == 0
    assert SubsetTree(bag_of_words=True).explain("leaf", "leaf").fragments[0].tree == sw.Tree("leaf")


def test_listing_nothing_is_not_sharing_nothing():
    text = str(SubsetTree(decay=0.5).explain("(A b)", "(A b)", top=0))
    assert "share no fragment" not in text
    assert "0.5  all other fragments" in text


def test_text_fits_the_terminal_and_html_is_escaped():
    label = "<script>alert('&')</script>"
    tree = sw.Tree("S" * 100, [sw.Tree(label, ["x"])])
    found = SubsetTree().explain(tree, tree)
    assert all(len(line) <= 80 for line in str(found).splitlines())
    assert "<script" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()


def test_the_value_of_a_long_kernel_is_not_cut_off():
    kernel = SubsetTree(decay=0.4).normalized() + PartialTree(decay=0.4) * Subtree() + 0.5 * PartialTree()
    explanation = kernel.explain("(a (b c))", "(a (b c))")
    lines = str(explanation).split("\n")
    assert max(map(len, lines)) <= 80
    text = " ".join(str(explanation).split())
    assert text.startswith(f"{kernel!r} = {explanation.value:.6g} ")
    assert f"{explanation.others[0][0]}, which has no fragments" in text


@pytest.mark.parametrize("top", [-1, 1.5, True, None])
def test_wrong_numbers_are_refused(top):
    with pytest.raises(ParameterError, match="top must be"):
        SubsetTree().explain("(A b)", "(A b)", top=top)


def test_wrong_examples_are_refused():
    with pytest.raises(DataError, match="expected a tree"):
        SubsetTree().explain(3, "(A b)")


@pytest.mark.parametrize("decay", [0.4, 1.0])
def test_deep_trees(decay):
    tree = sw.Tree("a", ["b"])
    for _ in range(3_000):
        tree = sw.Tree("a", [tree])
    found = SubsetTree(decay=decay).explain(tree, tree, top=3)
    assert [str(fragment.tree) for fragment in found.fragments] == ["(a a)", "(a (a a))", "(a (a (a a)))"]
    assert found.value == pytest.approx(sum(f.weight for f in found.fragments) + found.remainder, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(any_trees, min_size=1, max_size=4),
    internal_trees,
    st.sampled_from(
        [
            Subtree(decay=0.4),
            SubsetTree(decay=0.4, bag_of_words=True),
            SubsetTree(decay=1.0, max_depth=2),
            PartialTree(),
            PartialTree(leaves=False, max_subsequence=2),
            PartialTree(terminal_factor=0.3),
        ]
    ),
)
def test_native_contributions_are_differences(support, tree, kernel):
    """The fast walk says the same as asking the kernel about every subtree."""
    X, Y = sw.TreeArray(support), sw.TreeArray([tree])
    weights = np.random.default_rng(len(support)).normal(size=(len(X), 2))
    fast = kernel._attribution(X, weights).nodes(Y)
    slow = Differences(kernel._expansion(X, weights)).nodes(Y)
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)

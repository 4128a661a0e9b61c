"""Transforms against plain recursive twins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
import strategies
from oracles import transforms
from sapwood import Tree
from sapwood.errors import ParameterError, TreeError
from sapwood.trees import binarize, collapse_unary, delexicalize, map_leaves, relabel, rewrite

LABELS = "aAbB"
UP = {"a": "A", "b": "bb"}

CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Tree], Tree]]] = {
    "relabel": (lambda X: relabel(X, UP), lambda t: transforms.map_nodes(t, str, lambda label: UP.get(label, label))),
    "relabel by function": (lambda X: relabel(X, str.upper), lambda t: transforms.map_nodes(t, str, str.upper)),
    "map_leaves": (
        lambda X: map_leaves(X, UP),
        lambda t: transforms.map_nodes(t, lambda label: UP.get(label, label), str),
    ),
    "lowercase": (lambda t: map_leaves(t, str.lower), lambda t: transforms.map_nodes(t, str.lower, str)),
    "delexicalize": (delexicalize, transforms.delexicalize),
    "delexicalize to a word": (
        lambda X: delexicalize(X, word="_"),
        lambda t: transforms.map_nodes(t, lambda _: "_", str),
    ),
    "collapse_unary": (collapse_unary, transforms.collapse_unary),
    "binarize": (binarize, transforms.binarize),
    "binarize with a mark": (lambda X: binarize(X, mark="@"), lambda t: transforms.binarize(t, "@")),
    "rewrite": (lambda X: rewrite(X, lambda node: node), lambda t: t),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@given(st.lists(strategies.trees(10, labels=LABELS, width=5), min_size=1, max_size=4))
def test_against_plain_twins(name: str, trees: list[Tree]) -> None:
    transform, twin = CASES[name]
    expected = [twin(tree) for tree in trees]
    one = transform(trees[0])
    assert type(one) is Tree
    assert one == expected[0]
    many = transform(sw.TreeArray(trees))
    assert isinstance(many, sw.TreeArray)
    assert list(many) == expected
    assert list(transform(trees)) == expected
    assert list(transform(sw.TreeArray([trees, trees[:1]]))) == [tuple(expected), tuple(expected[:1])]
    for result in expected:
        assert all(type(node) is Tree for node in result.preorder())


@given(strategies.trees(12, labels=LABELS, width=6))
def test_binary_trees_have_at_most_two_children_and_the_same_words(tree: Tree) -> None:
    binary = binarize(tree)
    assert all(len(node.children) <= 2 for node in binary.preorder())
    assert binary.leaves() == tree.leaves()


def test_rules_see_rewritten_children() -> None:
    seen = []
    rewrite(
        Tree.fromstring("(a (b c))"), lambda node: (seen.append(str(node)), Tree(node.label + "!", node.children))[1]
    )
    assert seen == ["(c)", "(b c!)", "(a (b! c!))"]


def test_every_distinct_subtree_is_rewritten_once() -> None:
    tree = Tree("x")
    for _ in range(200):
        tree = Tree("a", [tree, tree])
    calls = []
    relabel(tree, lambda label: (calls.append(label), label)[1])
    assert len(calls) == 200


def test_refusals() -> None:
    tree = Tree.fromstring("(a b)")
    with pytest.raises(ParameterError, match="labels must be a mapping or a function"):
        relabel(tree, 3)
    for rule, message in (
        (lambda node: None, "rule returned None for a node 'b'; expected a Tree"),
        (lambda node: "x", "rule returned 'x' for a node 'b'; expected a Tree"),
        (lambda node: node if node.is_leaf else [node], r"rule returned \[.*\] for a node 'a'; expected a Tree"),
    ):
        for trees in (tree, [tree], [[tree]]):
            with pytest.raises(TreeError, match=message):
                rewrite(trees, rule)
    with pytest.raises(ParameterError, match="rule must be a function from Tree to Tree, got 3"):
        rewrite(tree, 3)
    with pytest.raises(ParameterError, match="words must be"):
        map_leaves(tree, None)
    with pytest.raises(ParameterError, match="mark must be a non-empty str"):
        binarize(tree, mark="")
    with pytest.raises(TreeError, match="must be a str, got None"):
        relabel(tree, {"a": None})
    with pytest.raises(TreeError, match="must not be empty"):
        map_leaves(tree, {"b": ""})

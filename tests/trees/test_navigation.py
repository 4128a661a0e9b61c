"""Walks and places of trees: equal to what NLTK says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given

import sapwood
import strategies
from sapwood import Tree
from sapwood.errors import SapwoodError, TreeError
from sapwood.trees.navigation import NamesOfNltk

nltk = pytest.importorskip("nltk.tree")

ORDERS = ("preorder", "postorder", "bothorder", "leaves")


@given(strategies.internal_trees(8))
def test_walks_are_those_of_nltk(tree: Tree) -> None:
    other = tree.to_nltk()
    assert [node.to_nltk() for node in tree.subtrees()] == list(other.subtrees())
    chosen = tree.subtrees(lambda node: node.label == "a")
    assert [node.to_nltk() for node in chosen] == list(other.subtrees(lambda node: node.label() == "a"))
    assert tree.pos() == other.pos()
    rules = [(str(rule.lhs()), tuple(map(str, rule.rhs()))) for rule in other.productions()]
    assert tree.productions() == rules


@given(strategies.internal_trees(8))
def test_places_are_those_of_nltk(tree: Tree) -> None:
    other = tree.to_nltk()
    for order in ORDERS:
        assert tree.treepositions(order) == other.treepositions(order)
    for place in tree.treepositions():
        there: Any = other[place]
        node = tree.at(place)
        assert node.label == (there if isinstance(there, str) else there.label())
        assert node.leaves() == ((there,) if isinstance(there, str) else tuple(there.leaves()))
    count = len(tree.leaves())
    for start in range(count):
        assert tree.leaf_treeposition(start) == other.leaf_treeposition(start)
        for end in range(start + 1, count + 1):
            assert tree.treeposition_spanning_leaves(start, end) == other.treeposition_spanning_leaves(start, end)


def test_a_leaf_alone() -> None:
    leaf = Tree("x")
    assert list(leaf.subtrees()) == leaf.pos() == leaf.productions() == []
    assert all(leaf.treepositions(order) == [()] for order in ORDERS)
    assert leaf.at(()) is leaf


def test_nothing_recurses() -> None:
    tree = Tree("x")
    for _ in range(3000):
        tree = Tree("a", [tree])
    assert len(list(tree.subtrees())) == len(tree.productions()) == 3000
    assert len(tree.treepositions()) == 3001
    assert tree.at((0,) * 3000) == Tree("x")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tree: tree.pretty_print(), r"no attribute 'pretty_print'; write print\(sapwood\.draw"),
        (lambda tree: tree.chomsky_normal_form(), r"write sapwood\.trees\.binarize\(tree\)"),
        (lambda tree: tree.set_label("x"), r"write Tree\(label, tree\.children\)"),
    ],
)
def test_habits_of_nltk_are_told_what_to_write(call: Any, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        call(Tree.fromstring("(S (NP dogs) (VP barked))"))


def test_names_of_nltk_are_no_attributes() -> None:
    tree = Tree.fromstring("(S (NP dogs) (VP barked))")
    assert not hasattr(tree, "draw")
    assert "draw" not in dir(tree)
    assert "pos" in dir(tree)


def test_what_is_said_to_be_written_works() -> None:
    """Each line that an error proposes runs, and each name is one that trees of NLTK have."""
    tree = Tree.fromstring("(S (NP dogs) (VP barked))")
    names = {"sapwood": sapwood, "Tree": Tree, "tree": tree, "label": "X", "print": str}
    found = {name: one for name, one in vars(NamesOfNltk).items() if not name.startswith("_")}
    assert len(found) > 5
    for name in found:
        assert hasattr(nltk.Tree, name), name
        with pytest.raises(AttributeError) as caught:
            getattr(tree, name)
        expression = str(caught.value).partition("; write ")[2].rstrip(".")
        expression = re.split(r"; |, (?=or |as )", expression)[0]
        assert eval(expression, names) is not None or "un_chomsky" in name, name


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tree: tree.at((0, 5)), r"no node at \(0, 5\): the node 'NP' at \(0,\) has 2 children"),
        (lambda tree: tree.at((-1,)), "expected a place such as"),
        (lambda tree: tree.at([0]), "expected a place such as"),
        (lambda tree: tree.at(0), "expected a place such as"),
        (lambda tree: tree.leaf_treeposition(3), "no leaf 3; the tree has 3"),
        (lambda tree: tree.leaf_treeposition(-1), "no leaf -1"),
        (lambda tree: tree.treeposition_spanning_leaves(1, 1), "got 1, 1"),
        (lambda tree: tree.treeposition_spanning_leaves(0, 9), "no leaf 8"),
        (lambda tree: tree.treepositions("inorder"), "order must be one of"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    tree = Tree.fromstring("(S (NP (DT the) (NN dog)) (VP barked))")
    with pytest.raises(SapwoodError, match=message) as caught:
        call(tree)
    assert isinstance(caught.value, (TreeError, ValueError))

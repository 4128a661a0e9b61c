"""Trees from and to dictionaries, tuples and JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from sapwood import Tree
from sapwood.errors import TreeError

T = Tree.fromstring


@given(strategies.trees_over(strategies.labels))
def test_round_trips(tree: Tree) -> None:
    assert Tree.from_dict(tree.to_dict()) == tree
    assert Tree.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree
    assert Tree.from_tuples(tree.to_tuples()) == tree
    # JSON has no tuples.
    assert Tree.from_tuples(json.loads(json.dumps(tree.to_tuples()))) == tree


def test_forms() -> None:
    assert Tree.from_dict({"label": "NP", "children": ["a", {"label": "b"}, Tree("c")], "score": 3}) == T("(NP a b c)")
    assert Tree.from_dict({"name": "x", "kids": [{"name": "y"}]}, label="name", children="kids") == T("(x y)")
    assert Tree.from_dict({"label": "x", "children": None}) == Tree("x")
    assert Tree.from_tuples("x") == Tree.from_tuples(("x",)) == Tree.from_tuples(("x", [])) == Tree("x")
    assert Tree.from_tuples(("S", [("NP", "a"), "b"])) == T("(S (NP a) b)")
    assert Tree.from_tuples(["NP", ["DT", "the"]]) == T("(NP (DT the))")


values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(values, values)
def test_json_tells_values_apart(a: Any, b: Any) -> None:
    # In lists, since a string that stands alone is taken for JSON text.
    same = json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
    assert (Tree.from_json([a], sort_keys=True) == Tree.from_json([b], sort_keys=True)) == same
    assert Tree.from_json(json.dumps(a)) == Tree.from_json([a]).children[0]


def test_json_values() -> None:
    assert str(Tree.from_json('{"a": [true, "1", "", "two words"], "": {}}')) == (
        '(object (a (array true "1" "" two_words)) ("" object))'
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Tree.from_dict("x"), "expected a dictionary such as"),
        (lambda: Tree.from_dict({"label": "a", "kids": ["b"]}), "no 'children', but a list under 'kids'"),
        (lambda: Tree.from_dict({"name": "a"}), r"with the keys \['name'\] has no 'label'"),
        (lambda: Tree.from_dict({"label": "a", "children": "bc"}), "'children' of 'a' are a str"),
        (lambda: Tree.from_dict({"label": "a", "children": [3]}), "a child is 3 of type int"),
        (lambda: Tree.from_dict({"label": 3}), "must be a str"),
        (lambda: Tree.from_tuples(()), "expected a tuple of a label"),
        (lambda: Tree.from_tuples(("a", 3)), "a node is 3"),
        (lambda: Tree.from_tuples((3, "a")), "must be a str"),
        (lambda: Tree.from_json("{"), "not valid JSON, line 1, column 2"),
        (lambda: Tree.from_json("[" * 200_000), "nested too deeply|not valid JSON"),
        (lambda: Tree.from_json({3: 1}), "an object has the key 3"),
        (lambda: Tree.from_json([{1}]), "of type set"),
        (lambda: Tree.from_json(b"\xff\xff"), "UTF-8|not valid JSON"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        call()


def test_what_holds_itself_is_refused() -> None:
    node: dict[str, Any] = {"label": "a", "children": []}
    node["children"].append(node)
    loop: list[Any] = ["a"]
    loop.append(loop)
    for call in (lambda: Tree.from_dict(node), lambda: Tree.from_tuples(loop), lambda: Tree.from_json(loop)):
        with pytest.raises(TreeError, match="holds itself"):
            call()
    shared = {"label": "b"}
    assert Tree.from_dict({"label": "a", "children": [shared, shared]}) == T("(a b b)")

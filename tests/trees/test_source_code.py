"""Trees from tree-sitter."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from sapwood import Tree
from sapwood.errors import TreeError

tree_sitter = pytest.importorskip("tree_sitter")
python = pytest.importorskip("tree_sitter_python")


def parse(source: str) -> Any:
    return tree_sitter.Parser(tree_sitter.Language(python.language())).parse(source.encode())


SOURCE = "def f(a):  # twice\n    return a + a\n"


def slow(node: Any) -> Tree:
    """The same by recursion over lists of children, with the options at their defaults."""
    below = [slow(child) for child in node.children if not child.is_extra]
    if node.is_named and not node.children and node.text:
        below = [Tree(node.text.decode())]
    return Tree(node.type, below)


def test_every_node_of_a_real_module() -> None:
    with open(ast.__file__, encoding="utf-8") as stream:
        found = parse(stream.read())
    assert Tree.from_tree_sitter(found) == Tree.from_tree_sitter(found.root_node) == slow(found.root_node)


def test_options() -> None:
    node = parse(SOURCE)
    whole = Tree.from_tree_sitter(node)
    assert whole.leaves() == ("def", "f", "(", "a", ")", ":", "return", "a", "+", "a")
    assert "comment" in {one.label for one in Tree.from_tree_sitter(node, extras=True).subtrees()}
    assert Tree.from_tree_sitter(node, anonymous=False).leaves() == ("f", "a", "a", "a")
    bare = Tree.from_tree_sitter(node, anonymous=False, text=False, fields=True)
    assert str(bare) == (
        "(module (function_definition (name identifier) (parameters (parameters identifier)) "
        "(body (block (return_statement (binary_operator (left identifier) (right identifier)))))))"
    )


def test_parts_of_a_tree() -> None:
    function = parse(SOURCE).root_node.children[0]
    assert Tree.from_tree_sitter(function).label == "function_definition"
    keyword = function.children[0]
    assert Tree.from_tree_sitter(keyword) == Tree("def")
    with pytest.raises(TreeError, match="'def' is an anonymous token"):
        Tree.from_tree_sitter(keyword, anonymous=False)
    comment = parse("# only this").root_node.children[0]
    assert Tree.from_tree_sitter(comment) == Tree("comment", ["# only this"])
    assert Tree.from_tree_sitter(parse("")) == Tree("module")


def test_errors_of_the_source_are_kept() -> None:
    labels = [node.label for node in Tree.from_tree_sitter(parse("def f(:\n  1 +")).preorder()]
    assert "ERROR" in labels or "MISSING" in labels


def test_depth() -> None:
    assert Tree.from_tree_sitter(parse("(" * 3000 + "1" + ")" * 3000)).height() > 3000


def test_refusals() -> None:
    for value in ("x = 1", None, Tree("x"), ast.parse("x")):
        with pytest.raises(TreeError, match="expected a node or a tree of tree-sitter"):
            Tree.from_tree_sitter(value)

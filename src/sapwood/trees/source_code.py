"""Syntax trees of tree-sitter, which parses most programming languages, as trees.

Nothing is imported from tree-sitter: its nodes are walked by their own cursors. Python's own ``ast`` is in ``convert``.
"""

from __future__ import annotations

from typing import Any

from sapwood.errors import TreeError
from sapwood.trees.tree import Tree

__all__ = ["from_tree_sitter"]


def from_tree_sitter(node: Any, *, anonymous: bool, text: bool, fields: bool, extras: bool) -> Tree:
    """Build a tree from a node of tree-sitter; see ``Tree.from_tree_sitter``."""
    node = getattr(node, "root_node", node)
    if not (hasattr(node, "walk") and hasattr(node, "is_named") and hasattr(node, "type")):
        raise TreeError(
            f"expected a node or a tree of tree-sitter, got {type(node).__name__}; pass what "
            "tree_sitter.Parser(language).parse(source) returns."
        )
    cursor = node.walk()
    # Per node on the way down: itself, its role in its parent, and its children so far.
    way: list[tuple[Any, str | None, list[Tree]]] = [(node, None, [])]
    while True:
        if cursor.goto_first_child():
            way.append((cursor.node, cursor.field_name, []))
            continue
        # Nothing more below: the node is whole, and so is every ancestor that it is the last child of.
        while True:
            done, role, below = way.pop()
            built = _built(done, below, anonymous, text, extras or not way)
            if not way:
                if built is None:
                    raise TreeError(f"the node {done.type!r} is an anonymous token; pass anonymous=True to keep it.")
                return built
            if built is not None:
                way[-1][2].append(Tree(role, (built,)) if fields and role else built)
            if cursor.goto_next_sibling():
                way.append((cursor.node, cursor.field_name, []))
                break
            cursor.goto_parent()


def _built(node: Any, below: list[Tree], anonymous: bool, text: bool, extras: bool) -> Tree | None:
    """Return the tree of a node whose children are done, or None if it is left out."""
    if node.is_extra and not extras and not node.is_error:
        return None
    label = node.type or "ERROR"
    if node.is_missing:
        return Tree("MISSING", (label,))
    if not node.is_named:
        return Tree(label, below) if anonymous else None
    if not below and text and not node.child_count:
        content = node.text
        if content:
            below = [Tree(content.decode("utf-8", "replace"))]
    return Tree(label, below)

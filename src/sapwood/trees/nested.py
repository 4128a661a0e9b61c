"""Trees from and to nested dictionaries, nested tuples, lists of labels and counts, and JSON.

Nothing recurses, so depth is limited by memory only; of JSON text by Python's parser, which says so.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sapwood.errors import TreeError
from sapwood.trees.tree import Tree, fold

__all__ = ["from_dict", "from_json", "from_spelled", "from_tuples", "is_spelled", "to_dict", "to_tuples"]

# Leaves that are no text: an empty object or list, and what JSON and Python write for other values.
_OTHERS = frozenset({"object", "array", "true", "false", "null", "NaN", "Infinity", "-Infinity"})
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z")


class _Ancestors:
    """The containers above the one at hand. One may stand in several places, but not inside itself."""

    def __init__(self) -> None:
        self._above: set[int] = set()

    def enter(self, node: object) -> None:
        if id(node) in self._above:
            raise TreeError(f"a {type(node).__name__} of the tree holds itself; put a copy in its place.")
        self._above.add(id(node))

    def leave(self, node: object) -> None:
        self._above.discard(id(node))


def from_dict(data: Mapping[str, Any], *, label: str, children: str) -> Tree:
    """Build a tree from nested dictionaries; see ``Tree.from_dict``."""
    if not isinstance(data, Mapping):
        raise TreeError(
            f"expected a dictionary such as {{{label!r}: 'NP', {children!r}: ['dogs']}}, got {type(data).__name__}."
        )
    above = _Ancestors()

    def below(node: Any) -> Sequence[Any]:
        if isinstance(node, (str, Tree)):
            return ()
        if not isinstance(node, Mapping):
            raise TreeError(
                f"a child is {reprlib.repr(node)} of type {type(node).__name__}; expected a dictionary with the key "
                f"{label!r}, or a string for a leaf."
            )
        if label not in node:
            raise TreeError(
                f"a dictionary with the keys {reprlib.repr(sorted(map(str, node)))} has no {label!r}; name the key of "
                "its label with label='...'."
            )
        above.enter(node)
        kids = node.get(children)
        if kids is None:
            others = [key for key, value in node.items() if key != label and isinstance(value, (list, tuple)) and value]
            if others and children not in node:
                raise TreeError(
                    f"a dictionary labeled {node[label]!r} has no {children!r}, but a list under {others[0]!r}; "
                    f"if these are its children, say children={others[0]!r}."
                )
            return ()
        if not isinstance(kids, (list, tuple)):
            raise TreeError(f"the {children!r} of {node[label]!r} are a {type(kids).__name__}; expected a list.")
        return kids

    def build(node: Any, kids: list[Tree]) -> Tree:
        if isinstance(node, Tree):
            return node
        above.leave(node)
        return Tree(node if isinstance(node, str) else node[label], kids)

    return fold(data, below, build)


def to_dict(tree: Tree) -> dict[str, Any]:
    """Return nested dictionaries; see ``Tree.to_dict``."""
    return fold(tree, _children, lambda node, kids: {"label": node.label, **({"children": kids} if kids else {})})


def _children(tree: Tree) -> tuple[Tree, ...]:
    return tree.children


def from_tuples(data: Any) -> Tree:
    """Build a tree from nested tuples; see ``Tree.from_tuples``."""
    above = _Ancestors()

    def below(node: Any) -> Sequence[Any]:
        if isinstance(node, (str, Tree)):
            return ()
        if not isinstance(node, (tuple, list)) or not node:
            raise TreeError(
                f"a node is {reprlib.repr(node)}; expected a tuple of a label and children, such as ('NP', 'dogs'), or "
                "a string for a leaf."
            )
        above.enter(node)
        if isinstance(node, tuple) and len(node) == 2 and isinstance(node[1], list):
            return node[1]
        return node[1:]

    def build(node: Any, kids: list[Tree]) -> Tree:
        if isinstance(node, Tree):
            return node
        above.leave(node)
        return Tree(node if isinstance(node, str) else node[0], kids)

    return fold(data, below, build)


def to_tuples(tree: Tree) -> Any:
    """Return nested tuples; see ``Tree.to_tuples``."""
    return fold(tree, _children, lambda node, kids: (node.label, *kids) if kids else node.label)


def is_spelled(value: object) -> bool:
    """Tell whether a value is a tree as a row of a column of Arrow has it: the labels in pre-order, and the counts."""
    if not isinstance(value, Mapping):
        return False
    return all(isinstance(value.get(name), (list, tuple, np.ndarray)) for name in ("labels", "children"))


def from_spelled(row: Mapping[str, Any]) -> Tree:
    """Build a tree from its labels in pre-order and the number of children of each, as ``TreeArray.to_arrow`` has them.

    >>> print(from_spelled({"labels": ["NP", "DT", "NN"], "children": [2, 0, 0]}))
    (NP DT NN)
    """
    labels, counts = list(row["labels"]), list(row["children"])
    if len(labels) != len(counts):
        raise TreeError(f"a tree has {len(labels)} labels, but {len(counts)} numbers of children.")
    built: list[Tree] = []
    for label, count in zip(reversed(labels), reversed(counts), strict=True):
        if isinstance(count, (bool, str)) or count != int(count) or not 0 <= count <= len(built):
            raise TreeError(f"the numbers of children, {reprlib.repr(counts)}, do not make one tree.")
        kids = [built.pop() for _ in range(int(count))]
        built.append(Tree(label, kids))
    if len(built) != 1:
        raise TreeError(f"the numbers of children, {reprlib.repr(counts)}, do not make one tree.")
    return built[0]


def from_json(data: Any, *, sort_keys: bool) -> Tree:
    """Build a tree from JSON text or values; see ``Tree.from_json``."""
    if isinstance(data, (str, bytes, bytearray)):
        try:
            data = json.loads(data)
        except json.JSONDecodeError as error:
            raise TreeError(f"not valid JSON, line {error.lineno}, column {error.colno}: {error.msg}.") from None
        except UnicodeDecodeError as error:
            raise TreeError(f"the JSON is not in UTF-8: {error.reason} at byte {error.start}.") from None
        except RecursionError:
            raise TreeError("the JSON is nested too deeply for Python's parser; cut it into parts.") from None
        except ValueError as error:
            raise TreeError(f"not valid JSON: {error}.") from None
    above = _Ancestors()

    def below(node: Any) -> Sequence[Any]:
        if isinstance(node, _Member):
            return (node.value,)
        if isinstance(node, Mapping):
            above.enter(node)
            names = list(node)
            for name in names:
                if not isinstance(name, str):
                    raise TreeError(f"an object has the key {name!r}; the names in JSON are text: write {str(name)!r}.")
            return [_Member(name, node[name]) for name in (sorted(names) if sort_keys else names)]
        if isinstance(node, (list, tuple)):
            above.enter(node)
            return node
        return ()

    def build(node: Any, kids: list[Tree]) -> Tree:
        if isinstance(node, _Member):
            quoted = not node.name or node.name[0] == '"'
            return Tree(json.dumps(node.name) if quoted else node.name, kids)
        if isinstance(node, (Mapping, list, tuple)):
            above.leave(node)
            return Tree("object" if isinstance(node, Mapping) else "array", kids)
        return Tree(_scalar(node))

    return fold(data, below, build)


class _Member:
    """A name of an object with its value."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value) if _reads_as_other(value) else value
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        try:
            return json.dumps(value)
        except ValueError as error:
            raise TreeError(f"a number cannot be written: {error}.") from None
    raise TreeError(
        f"a value is {reprlib.repr(value)} of type {type(value).__name__}; JSON holds dictionaries, lists, text, "
        "numbers, true, false and null."
    )


def _reads_as_other(text: str) -> bool:
    """Whether text without quotes would be taken for another value, for quoted text, or for nothing."""
    if not text or text[0] == '"' or text in _OTHERS:
        return True
    return _NUMBER.match(text) is not None

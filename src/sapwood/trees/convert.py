"""Trees from and to other shapes: NLTK trees, (id, parent, label) records, Python's syntax trees.

Only shapes that live in memory; files are read by ``brackets`` and ``corpora``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sapwood.errors import TreeError
from sapwood.trees.tree import Tree, _check_label, fold

__all__ = ["from_ast", "from_nltk", "from_records", "is_frame", "is_missing", "is_nltk", "to_nltk"]


def is_nltk(value: object) -> bool:
    """Tell whether a value is an ``nltk.Tree``, without importing NLTK."""
    return any(base.__module__.startswith("nltk.tree") for base in type(value).__mro__)


def from_nltk(tree: Any) -> Tree:
    """Convert an ``nltk.Tree``; see ``Tree.from_nltk``."""
    if not is_nltk(tree):
        raise TreeError(
            f"expected an nltk.Tree, got {type(tree).__name__}; read text in bracket notation with Tree.fromstring."
        )
    # The nodes above the one at hand. A node may stand in several places, but not below itself.
    above: set[int] = set()

    def children(node: Any) -> Any:
        if isinstance(node, str):
            return ()
        if not is_nltk(node):
            raise TreeError(f"a node of the nltk.Tree is a {type(node).__name__}: {node!r}; expected nltk.Tree or str.")
        if id(node) in above:
            raise TreeError(
                f"the nltk.Tree holds itself: a node {node.label()!r} is its own ancestor; put a copy in its place."
            )
        above.add(id(node))
        return node

    def build(node: Any, below: list[Tree]) -> Tree:
        if isinstance(node, str):
            return Tree(node)
        above.remove(id(node))
        return Tree(node.label() if isinstance(node.label(), str) else str(node.label()), below)

    return fold(tree, children, build)


def to_nltk(tree: Tree) -> Any:
    """Convert to an ``nltk.Tree``; see ``Tree.to_nltk``."""
    try:
        from nltk.tree import Tree as NltkTree
    except ImportError:
        raise TreeError("to_nltk needs NLTK, which is not installed: pip install nltk.") from None
    if tree.is_leaf:
        return NltkTree(tree.label, [])
    return fold(tree, _children, lambda node, below: NltkTree(node.label, below) if below else node.label)


def _children(tree: Tree) -> tuple[Tree, ...]:
    return tree.children


def from_records(records: Iterable[tuple[Any, Any, str]]) -> Tree:
    """Build a tree from (id, parent id, label) records; see ``Tree.from_records``."""
    if not isinstance(records, Iterable):
        raise TreeError(f"expected a list of (id, parent id, label) records, got {type(records).__name__}.")
    if is_frame(records):
        raise TreeError(
            f"expected a list of (id, parent id, label) records, got a {type(records).__name__}; pass its rows, for "
            "example df[['id', 'parent', 'label']].itertuples(index=False)."
        )
    labels: dict[Any, str] = {}
    children: dict[Any, list[Any]] = {}
    roots = []
    for number, record in enumerate(records):
        # Three keys, or three letters, would pass for a record.
        if isinstance(record, Mapping):
            raise TreeError(
                f"record {number} is a {type(record).__name__}; expected a tuple (id, parent id, label), for example "
                "(r['id'], r['parent'], r['label'])."
            )
        try:
            identity, parent, label = () if isinstance(record, str) else record
        except (TypeError, ValueError):
            raise TreeError(f"record {number} is {record!r}; expected (id, parent id, label).") from None
        if is_missing(identity):
            raise TreeError(f"record {number} has the id {identity!r}, which stands for 'no parent'; use another id.")
        try:
            known = identity in labels
            hash(parent)
        except TypeError:
            raise TreeError(
                f"record {number} has an id that cannot be looked up: {record!r}; use text or numbers."
            ) from None
        if known:
            raise TreeError(f"record {number}: the id {identity!r} is used twice; every node needs its own.")
        try:
            _check_label(label)
        except TreeError as error:
            raise TreeError(f"record {number}: {error}") from None
        labels[identity] = label
        if is_missing(parent):
            roots.append(identity)
        else:
            children.setdefault(parent, []).append(identity)
    if len(roots) != 1:
        raise TreeError(f"expected exactly one record whose parent is None (the root), found {len(roots)}.")
    unknown = [parent for parent in children if parent not in labels]
    if unknown:
        raise TreeError(f"a record names the parent {unknown[0]!r}, but no record has that id.")
    # Parents first; whatever this order does not reach hangs on a cycle.
    order = [roots[0]]
    for identity in order:
        order.extend(children.get(identity, ()))
    if len(order) != len(labels):
        reached = set(order)
        lost = next(identity for identity in labels if identity not in reached)
        raise TreeError(f"the record {lost!r} is its own ancestor; parents must lead to the root.")
    built: dict[Any, Tree] = {}
    for identity in reversed(order):
        kids = tuple(built.pop(child) for child in children.get(identity, ()))
        built[identity] = Tree._trusted(labels[identity], kids)
    return built[roots[0]]


def is_frame(value: object) -> bool:
    """Tell whether a value is a pandas.DataFrame or behaves like one, without importing pandas."""
    return hasattr(value, "columns") and hasattr(value, "iloc")


def is_missing(value: object) -> bool:
    """Tell whether a value is None, or one of those that tables hold in its place: NaN, NaT, NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        # Whether pandas.NA differs from itself is neither true nor false; whether an array does, it cannot say.
        return type(value).__name__ == "NAType"


def from_ast(source: str | ast.AST) -> Tree:
    """Build a tree from Python source or an ``ast`` node; see ``Tree.from_ast``.

    A node becomes its class name, over one child per field that is not empty; lists of nodes hang under their
    field's name; other values become leaves with their ``repr``, names and attributes with their text. So do strings
    that look like names, except those that look like another constant, such as ``'True'``.
    """
    if isinstance(source, str):
        try:
            source = ast.parse(source)
        except SyntaxError as error:
            raise TreeError(f"not valid Python, line {error.lineno}: {error.msg}.") from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise TreeError(f"Python's parser refused the source: {error}.") from None
    if not isinstance(source, ast.AST):
        raise TreeError(f"expected Python source or an ast node, got {type(source).__name__}.")
    root: _Item = source
    return fold(root, _ast_children, _ast_tree)


# Of a node, the names of its fields with their values; of a field, its values; text is a leaf.
_Item = ast.AST | str | tuple[str, list[ast.AST | str]]


def _ast_children(item: _Item) -> Sequence[_Item]:
    if isinstance(item, str):
        return ()
    if isinstance(item, tuple):
        return item[1]
    # None is an empty field, except where it is what the source says.
    constant = isinstance(item, (ast.Constant, ast.MatchSingleton))
    fields: list[_Item] = []
    for name, value in ast.iter_fields(item):
        if (value is not None and value != []) or (constant and name == "value"):
            fields.append((name, [_ast_item(one, constant) for one in (value if isinstance(value, list) else [value])]))
    return fields


def _ast_tree(item: _Item, below: list[Tree]) -> Tree:
    name = item[0] if isinstance(item, tuple) else item
    return Tree(name if isinstance(name, str) else type(name).__name__, below)


# Constants that are no text but whose repr could be a name; the last ones are those of numbers such as 1e999.
_NAMELIKE = frozenset({"True", "False", "None", "Ellipsis", "inf", "infj", "nan", "nanj"})


def _ast_item(value: object, constant: bool) -> ast.AST | str:
    if isinstance(value, ast.AST):
        return value
    if isinstance(value, str) and value.isidentifier() and not (constant and value in _NAMELIKE):
        return value
    try:
        return repr(value)
    except ValueError:
        # Python refuses to write integers of thousands of digits in decimal, since that takes time by their square.
        if isinstance(value, int):
            return hex(value)
        raise TreeError(f"a {type(value).__name__} of the source cannot be written; leave it out.") from None

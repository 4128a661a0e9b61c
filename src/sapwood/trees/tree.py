"""What a tree is: an immutable value with a label and ordered children.

Only the value lives here. Reading and writing text is in ``brackets``, what makes trees of other things in
``constructors``, walks and places in ``navigation``, reshaping in ``transforms``, many trees at once in ``array``.
Nothing here recurses, so depth is limited by memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sapwood.errors import TreeError
from sapwood.trees.constructors import Constructors
from sapwood.trees.navigation import NamesOfNltk, Navigation

__all__ = ["Tree", "fold"]

Node = TypeVar("Node")
Result = TypeVar("Result")

_LONGEST_REPR = 300


class Tree(Constructors, Navigation, NamesOfNltk):
    """An ordered, labelled tree: immutable, hashable and comparable by value.

    A leaf is a tree without children. A tree is deliberately not a sequence: NumPy and scikit-learn would take a
    list of sequences for a matrix.

    Parameters
    ----------
    label : str
        Label of the root; any text that is not empty.
    children : iterable of Tree or str
        The children in order; a string is short for a leaf.

    Examples
    --------
    >>> t = Tree("NP", [Tree("DT", ["the"]), Tree("NN", ["dog"])])
    >>> print(t)
    (NP (DT the) (NN dog))
    >>> t == Tree.fromstring("(NP (DT the) (NN dog))")
    True
    >>> t.leaves()
    ('the', 'dog')
    >>> match t:
    ...     case Tree("NP", (Tree("DT"), Tree("NN", (Tree(noun),)))):
    ...         print(noun)
    dog
    """

    __slots__ = ("__weakref__", "_children", "_hash", "_label")
    __match_args__ = ("label", "children")

    _label: str
    _children: tuple[Tree, ...]
    _hash: int

    def __init__(self, label: str, children: Iterable[Tree | str] = ()) -> None:
        _check_label(label)
        if isinstance(children, (str, Tree)):
            raise TreeError(
                f"children of {label!r} must be a list or tuple of trees, got a single "
                f"{type(children).__name__}; write Tree({label!r}, [child])."
            )
        try:
            each = iter(children)
        except TypeError:
            raise TreeError(
                f"children of {label!r} must be a list or tuple of trees, got {children!r} of type "
                f"{type(children).__name__}; write Tree({label!r}) for a leaf."
            ) from None
        built = []
        for child in each:
            if isinstance(child, Tree):
                built.append(child)
            elif isinstance(child, str):
                built.append(Tree(child))
            else:
                raise TreeError(
                    f"a child of {label!r} is a {type(child).__name__}; expected a Tree or a str. "
                    "Convert other libraries' trees first, for example with Tree.from_nltk."
                )
        self._set(label, tuple(built))

    def _set(self, label: str, children: tuple[Tree, ...]) -> None:
        _set_label(self, label)
        _set_children(self, children)

    @classmethod
    def _trusted(cls, label: str, children: tuple[Tree, ...]) -> Tree:
        """Build without checks, for callers whose parts are known to be valid."""
        tree = _new(cls)
        _set_label(tree, label)
        _set_children(tree, children)
        return tree

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree cannot be changed; build a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tree cannot be changed; build a new one instead of deleting {name!r}")

    @property
    def label(self) -> str:
        """Label of the root."""
        return self._label

    @property
    def children(self) -> tuple[Tree, ...]:
        """The children, in order; empty for a leaf."""
        return self._children

    @property
    def is_leaf(self) -> bool:
        """Whether the tree is a single node."""
        return not self._children

    def __hash__(self) -> int:
        # Most trees are never hashed, so this is worked out when it is first asked for, for every node once.
        if not hasattr(self, "_hash"):
            stack = [self]
            while stack:
                node = stack[-1]
                waiting = [child for child in node._children if not hasattr(child, "_hash")]
                if waiting:
                    stack.extend(waiting)
                    continue
                stack.pop()
                object.__setattr__(node, "_hash", hash((node._label, *[child._hash for child in node._children])))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        pairs = [(self, other)]
        seen: set[tuple[int, int]] = set()
        while pairs:
            a, b = pairs.pop()
            if a is b:
                continue
            if a._label != b._label or len(a._children) != len(b._children):
                return False
            if a._children and (id(a), id(b)) not in seen:
                seen.add((id(a), id(b)))
                pairs.extend(zip(a._children, b._children, strict=True))
        return True

    def __reduce__(self) -> tuple[Callable[..., Tree], tuple[Any, ...]]:
        # A flat form: pickle would otherwise recurse once per level. Shared nodes are written once.
        labels: list[str] = []
        counts: list[int] = []
        children: list[int] = []
        position: dict[int, int] = {}
        for node in self._objects():
            position[id(node)] = len(labels)
            labels.append(node._label)
            counts.append(len(node._children))
            children.extend(position[id(child)] for child in node._children)
        return _from_parts, (labels, counts, children)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: object) -> Tree:
        return self

    def preorder(self) -> Iterator[Tree]:
        """Yield every node, parents before children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node._children))

    def postorder(self) -> Iterator[Tree]:
        """Yield every node, children before parents, from left to right."""
        stack: list[tuple[Tree, bool]] = [(self, False)]
        while stack:
            node, ready = stack.pop()
            if ready or not node._children:
                yield node
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node._children))

    def _objects(self) -> Iterator[Tree]:
        """Yield every node once, children before parents, even where it stands in many places."""
        seen: set[int] = set()
        stack: list[tuple[Tree, bool]] = [(self, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                yield node
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node._children) if id(child) not in seen)

    def leaves(self) -> tuple[str, ...]:
        """Return the labels of the leaves from left to right: the words of a parse tree.

        >>> Tree.fromstring("(S (NP (NN dogs)) (VP (VBP bark)))").leaves()
        ('dogs', 'bark')
        """
        return tuple(node._label for node in self.preorder() if not node._children)

    def size(self) -> int:
        """Return the number of nodes, leaves included."""
        sizes: dict[int, int] = {}
        for node in self._objects():
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in node._children)
        return sizes[id(self)]

    def height(self) -> int:
        """Return the number of edges on the longest way down; 0 for a leaf. NLTK counts nodes, one more."""
        height = 0
        level = [self]
        while level:
            # One object may stand in many places; it is enough to follow it once per level.
            level = list({id(child): child for node in level for child in node._children}.values())
            height += bool(level)
        return height

    def __str__(self) -> str:
        from sapwood.trees.brackets import to_brackets

        return to_brackets(self, escape=True)

    def __repr__(self) -> str:
        from sapwood.trees.brackets import bracket_pieces, is_writable

        if not self._children:
            return f"Tree({self._label!r})"
        if not all(is_writable(node._label) for node in self._objects()):
            return self._constructor()
        # Not the whole text: a few objects may stand for exponentially many nodes.
        text = "".join(islice(bracket_pieces(self), _LONGEST_REPR + 1))
        if len(text) > _LONGEST_REPR:
            text = f"{text[: _LONGEST_REPR - 3]}..."
        return f"Tree.fromstring({text!r})"

    def _constructor(self) -> str:
        """Write the call that makes the tree, for labels that brackets cannot express; cut where it gets long."""
        text = ""
        stack: list[Tree | str] = [self]
        while stack and len(text) <= _LONGEST_REPR:
            part = stack.pop()
            if isinstance(part, str):
                text += part
            elif part._children:
                text += f"Tree({part._label!r}, ["
                stack.append("])")
                for child in reversed(part._children):
                    stack += [child, ", "]
                stack.pop()  # no comma before the first
            else:
                text += repr(part._label)
        return text if len(text) <= _LONGEST_REPR else f"{text[: _LONGEST_REPR - 3]}..."

    def _repr_svg_(self) -> str:
        from sapwood.trees.notebook import tree_svg

        return tree_svg(self)

    @classmethod
    def fromstring(cls, text: str) -> Tree:
        """Read one tree in Penn bracket notation.

        Parameters
        ----------
        text : str
            Exactly one tree. A bare token is a leaf, and ``(NP)`` reads as the leaf ``NP``.

        Raises
        ------
        BracketError
            With line, column and a caret under the fault.

        Examples
        --------
        >>> Tree.fromstring("(S (NP dogs) (VP bark))").label
        'S'
        """
        from sapwood.trees.brackets import parse_tree

        return parse_tree(text)

    def to_nltk(self) -> Any:
        """Convert to an ``nltk.Tree``; leaves become strings. Needs NLTK."""
        from sapwood.trees.convert import to_nltk

        return to_nltk(self)

    def to_dict(self) -> dict[str, Any]:
        """Return nested dictionaries with ``label`` and, except in leaves, a list of ``children``.

        >>> Tree.fromstring("(NP (NN rain))").to_dict()
        {'label': 'NP', 'children': [{'label': 'NN', 'children': [{'label': 'rain'}]}]}
        """
        from sapwood.trees.nested import to_dict

        return to_dict(self)

    def to_tuples(self) -> Any:
        """Return nested tuples of a label and the children; a leaf is a string.

        >>> Tree.fromstring("(NP (DT the) (NN rain))").to_tuples()
        ('NP', ('DT', 'the'), ('NN', 'rain'))
        """
        from sapwood.trees.nested import to_tuples

        return to_tuples(self)


# Straight to the slots: trees are built by the million, and object.__setattr__ takes three times as long.
_new = object.__new__
_set_label: Callable[[Tree, str], None] = Tree.__dict__["_label"].__set__
_set_children: Callable[[Tree, tuple[Tree, ...]], None] = Tree.__dict__["_children"].__set__


def _check_label(label: object) -> None:
    if not isinstance(label, str):
        raise TreeError(f"a label must be a str, got {label!r} of type {type(label).__name__}.")
    if not label:
        raise TreeError("a label must not be empty; give the node a name such as 'TOP'.")
    try:
        label.encode()
    except UnicodeEncodeError:
        raise TreeError(f"the label {label!r} holds half of a surrogate pair and is not valid Unicode text.") from None


def fold(
    root: Node, children: Callable[[Node], Sequence[Node]], build: Callable[[Node, list[Result]], Result]
) -> Result:
    """Work out something for every node of a tree of any kind from what was worked out for its children.

    Nodes that stand in several places are visited in each of them.

    Parameters
    ----------
    root : object
        The root; a ``Tree`` or anything else that has children.
    children : callable
        Takes a node, before anything below it is looked at; returns its children.
    build : callable
        Takes a node and the results of its children.

    Examples
    --------
    >>> fold(Tree.fromstring("(S (NP dogs) (VP bark))"), lambda node: node.children, lambda node, below: 1 + sum(below))
    5
    """
    results: list[Result] = []
    stack: list[tuple[Node, int]] = [(root, -1)]
    while stack:
        node, count = stack.pop()
        if count < 0:
            below = children(node)
            stack.append((node, len(below)))
            stack.extend((child, -1) for child in reversed(below))
        else:
            parts = results[len(results) - count :]
            del results[len(results) - count :]
            results.append(build(node, parts))
    return results[0]


def _from_parts(labels: list[str], counts: list[int], children: list[int]) -> Tree:
    built: list[Tree] = []
    begin = 0
    for label, count in zip(labels, counts, strict=True):
        built.append(Tree._trusted(label, tuple([built[child] for child in children[begin : begin + count]])))
        begin += count
    return built[-1]

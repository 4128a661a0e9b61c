"""Methods of ``Tree`` that walk through it and name places in it, with the names that NLTK has given them.

A place is a tuple of child numbers from the root down, as in NLTK. What stands where by number, with parents and spans
of words, is in ``positions``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NoReturn, cast

from sapwood.checks import check_choice
from sapwood.errors import TreeError

if TYPE_CHECKING:
    from sapwood.trees.tree import Tree

__all__ = ["NamesOfNltk", "Navigation", "Place"]

Place = tuple[int, ...]
"""Where a node stands in a tree: the numbers of the children on the way down from the root, each counted from 0."""


class Navigation:
    """What ``Tree`` has to walk through it. ``nltk.Tree`` has the same; a node without children is a leaf here."""

    __slots__ = ()

    def subtrees(self, filter: Callable[[Tree], object] | None = None) -> Iterator[Tree]:
        """Yield every node that has children, parents before children, from left to right; see ``preorder`` for all.

        Parameters
        ----------
        filter : callable
            Takes a node and says whether to yield it.

        Examples
        --------
        >>> from sapwood import Tree
        >>> tree = Tree.fromstring("(S (NP (NNS dogs)) (VP (VBP chase) (NP (NNS cats))))")
        >>> [" ".join(node.leaves()) for node in tree.subtrees(lambda node: node.label == "NP")]
        ['dogs', 'cats']
        """
        for node in cast("Tree", self).preorder():
            if node.children and (filter is None or filter(node)):
                yield node

    def pos(self) -> list[tuple[str, str]]:
        """Return the words with their tags: each leaf, and the label of the node above it.

        >>> from sapwood import Tree
        >>> Tree.fromstring("(NP (DT the) (NN rain))").pos()
        [('the', 'DT'), ('rain', 'NN')]
        """
        found = []
        stack: list[tuple[Tree, str]] = [(cast("Tree", self), "")]
        while stack:
            node, above = stack.pop()
            if node.children:
                stack.extend((child, node.label) for child in reversed(node.children))
            elif above:
                found.append((node.label, above))
        return found

    def productions(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the rules that make the tree, parents before children: a label, and those of the children.

        >>> from sapwood import Tree
        >>> Tree.fromstring("(NP (DT the) (NN rain))").productions()
        [('NP', ('DT', 'NN')), ('DT', ('the',)), ('NN', ('rain',))]
        """
        return [(node.label, tuple([child.label for child in node.children])) for node in self.subtrees()]

    def treepositions(self, order: Literal["preorder", "postorder", "bothorder", "leaves"] = "preorder") -> list[Place]:
        """Return the place of every node: the numbers of the children on the way down from the root.

        Parameters
        ----------
        order : {"preorder", "postorder", "bothorder", "leaves"}
            Parents before their children, after them, or (with two entries each) both; or the leaves alone.

        Examples
        --------
        >>> from sapwood import Tree
        >>> tree = Tree.fromstring("(NP (DT the) (NN rain))")
        >>> tree.treepositions()
        [(), (0,), (0, 0), (1,), (1, 0)]
        >>> [tree.at(place).label for place in tree.treepositions("leaves")]
        ['the', 'rain']
        """
        check_choice(order, "order", ("preorder", "postorder", "bothorder", "leaves"))
        before, after = order in ("preorder", "bothorder"), order in ("postorder", "bothorder")
        found: list[Place] = []
        stack: list[tuple[Tree, Place, bool]] = [(cast("Tree", self), (), False)]
        while stack:
            node, place, done = stack.pop()
            if done or not node.children:
                if done or before or after or order == "leaves":
                    found.append(place)
                continue
            if before:
                found.append(place)
            if after:
                stack.append((node, place, True))
            kids = node.children
            stack.extend((kids[number], (*place, number), False) for number in range(len(kids) - 1, -1, -1))
        return found

    def at(self, place: Place) -> Tree:
        """Return the node at a place, as ``tree[place]`` does in NLTK.

        >>> from sapwood import Tree
        >>> print(Tree.fromstring("(NP (DT the) (NN rain))").at((1,)))
        (NN rain)
        """
        node = cast("Tree", self)
        for step, number in enumerate(_checked(place)):
            try:
                node = node.children[number]
            except IndexError:
                raise TreeError(
                    f"there is no node at {place!r}: the node {node.label!r} at {place[:step]!r} has "
                    f"{len(node.children)} children."
                ) from None
        return node

    def leaf_treeposition(self, index: int) -> Place:
        """Return the place of a leaf by its number, counted from 0.

        >>> from sapwood import Tree
        >>> Tree.fromstring("(NP (DT the) (NN rain))").leaf_treeposition(1)
        (1, 0)
        """
        places = self.treepositions("leaves")
        if not (isinstance(index, int) and 0 <= index < len(places)):
            raise TreeError(f"there is no leaf {index!r}; the tree has {len(places)}, counted from 0.")
        return places[index]

    def treeposition_spanning_leaves(self, start: int, end: int) -> Place:
        """Return the place of the lowest node over the leaves from one number up to, not including, another.

        If the span is a single leaf, that is the leaf itself, as in NLTK.

        >>> from sapwood import Tree
        >>> Tree.fromstring("(S (NP (DT the) (NN rain)) (VP (VBD fell)))").treeposition_spanning_leaves(0, 2)
        (0,)
        """
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end):
            raise TreeError(
                f"expected the numbers of the first leaf and of the one after the last, got {start}, {end}."
            )
        places = self.treepositions("leaves")
        if end > len(places):
            raise TreeError(f"there is no leaf {end - 1}; the tree has {len(places)}, counted from 0.")
        first, last = places[start], places[end - 1]
        common = 0
        while common < min(len(first), len(last)) and first[common] == last[common]:
            common += 1
        return first[:common]

    def find(self, pattern: str) -> list[Tree]:
        """Return every node that matches a pattern such as ``NP < DT``; see ``TreeArray.find``.

        >>> from sapwood import Tree
        >>> tree = Tree.fromstring("(S (NP (DT the) (NN rain)) (VP (VBD fell) (PP (IN on) (NP (NNP Rome)))))")
        >>> [" ".join(node.leaves()) for node in tree.find("NP !<< DT")]
        ['Rome']
        """
        from sapwood.trees.array import TreeArray

        return cast("list[Tree]", list(TreeArray([self]).find(pattern).subtrees))

    def find_positions(self, pattern: str) -> list[Place]:
        """Return the place of every node that matches a pattern, as ``treepositions`` gives places.

        >>> from sapwood import Tree
        >>> Tree.fromstring("(NP (DT the) (NN rain))").find_positions("/^N/")
        [(), (1,)]
        """
        from sapwood.trees.array import TreeArray

        return TreeArray([self]).find(pattern).positions()


def _checked(place: object) -> Place:
    if not isinstance(place, tuple) or not all(
        isinstance(number, int) and not isinstance(number, bool) and number >= 0 for number in place
    ):
        raise TreeError(f"expected a place such as (0, 1), the numbers of children from the root down; got {place!r}.")
    return place


class _Elsewhere:
    """A name that ``nltk.Tree`` has and ``Tree`` has not: asking for it says what to write."""

    def __init__(self, instead: str) -> None:
        self._instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"'Tree' object has no attribute {self._name!r}; write {self._instead}.")


class NamesOfNltk:
    """What users of NLTK ask a tree for in vain. ``hasattr`` and ``dir`` do not know of these names."""

    __slots__ = ()

    chomsky_normal_form = _Elsewhere("sapwood.trees.binarize(tree)")
    collapse_unary = _Elsewhere("sapwood.trees.collapse_unary(tree)")
    draw = _Elsewhere("print(sapwood.draw.outline(tree)); a notebook draws a tree at the end of a cell")
    flatten = _Elsewhere("Tree(tree.label, tree.leaves())")
    pformat = _Elsewhere("sapwood.draw.outline(tree), or str(tree) for brackets")
    pprint = _Elsewhere("print(sapwood.draw.outline(tree)), or print(tree) for brackets")
    pretty_print = _Elsewhere("print(sapwood.draw.outline(tree))")
    set_label = _Elsewhere("Tree(label, tree.children), as a Tree cannot be changed")
    un_chomsky_normal_form = _Elsewhere("tree.to_nltk().un_chomsky_normal_form(), as trees of NLTK can be changed")

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not isinstance(vars(NamesOfNltk).get(name), _Elsewhere)]

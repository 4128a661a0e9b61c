"""Reshaping trees: new labels, other leaves, no words, binary branches.

Every transform takes a ``Tree`` or anything that makes a ``TreeArray``, and gives back the same kind. Each distinct
subtree is transformed once. Cutting portions out of a tree around a predicate belongs elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

import numpy as np

from sapwood import _core
from sapwood.errors import ParameterError, TreeError
from sapwood.trees.array import TreeArray
from sapwood.trees.tree import Tree

__all__ = [
    "binarize",
    "collapse_unary",
    "delexicalize",
    "map_leaves",
    "relabel",
    "rewrite",
]

Renaming = Mapping[str, str] | Callable[[str], str]


@overload
def rewrite(trees: Tree, rule: Callable[[Tree], Tree]) -> Tree: ...
@overload
def rewrite(trees: TreeArray | list[Any], rule: Callable[[Tree], Tree]) -> TreeArray: ...
def rewrite(trees: Tree | TreeArray | list[Any], rule: Callable[[Tree], Tree]) -> Tree | TreeArray:
    """Apply a rule to every node, children first; the general form behind the other transforms.

    Parameters
    ----------
    trees : Tree, TreeArray or list of trees
        What to rewrite.
    rule : callable
        Takes a node whose children are rewritten already and returns what stands in its place.

    Examples
    --------
    >>> t = Tree.fromstring("(NP (NP (NN dog)) (PP (IN in) (NP (NN fog))))")
    >>> print(rewrite(t, lambda node: Tree("N", node.children) if node.label == "NP" else node))
    (N (N (NN dog)) (PP (IN in) (N (NN fog))))
    """
    if not callable(rule):
        raise ParameterError(f"rule must be a function from Tree to Tree, got {rule!r}.")
    known: dict[Tree, Tree] = {}

    def one(tree: Tree) -> Tree:
        stack = [tree]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            missing = [child for child in node.children if child not in known]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            children = tuple(known[child] for child in node.children)
            found = rule(Tree._trusted(node.label, children))
            if not isinstance(found, Tree):
                raise TreeError(
                    f"rule returned {found!r} for a node {node.label!r}; expected a Tree. To keep a node as it is, "
                    "return it."
                )
            known[node] = found
        return known[tree]

    if isinstance(trees, Tree):
        return one(trees)
    return TreeArray(
        [
            [one(tree) for tree in element] if isinstance(element, tuple) else one(element)
            for element in TreeArray(trees)
        ]
    )


def _renamer(mapping: Renaming, argument: str) -> Callable[[str], str]:
    if isinstance(mapping, Mapping):
        return lambda label: mapping.get(label, label)
    if callable(mapping):
        return mapping
    raise ParameterError(f"{argument} must be a mapping or a function from str to str, got {mapping!r}.")


def relabel(trees: Any, labels: Renaming) -> Any:
    """Rename internal nodes through a mapping (labels it lacks stay) or a function.

    >>> print(relabel(Tree.fromstring("(NP (NNS dogs))"), {"NNS": "NN"}))
    (NP (NN dogs))
    """
    rename = _renamer(labels, "labels")
    return rewrite(trees, lambda node: node if node.is_leaf else Tree(rename(node.label), node.children))


def map_leaves(trees: Any, words: Renaming) -> Any:
    """Replace leaves through a mapping (words it lacks stay) or a function.

    >>> print(map_leaves(Tree.fromstring("(NP (NNS dogs))"), {"dogs": "dog"}))
    (NP (NNS dog))
    >>> print(map_leaves(Tree.fromstring("(NP (DT The) (NN Dog))"), str.lower))
    (NP (DT the) (NN dog))
    """
    rename = _renamer(words, "words")
    if isinstance(trees, Tree):
        return rewrite(trees, lambda node: Tree(rename(node.label)) if node.is_leaf else node)
    return _with_leaves(TreeArray(trees), rename)


def _with_leaves(trees: TreeArray, rename: Callable[[str], str]) -> TreeArray:
    """Rename the leaves of an array without making objects of its trees."""
    texts, labels, ends, children, roots = trees._arena.dump(trees._roots)
    leaves = np.diff(ends, prepend=np.uint64(0)) == 0
    renamed = np.arange(len(texts), dtype=np.uint32)
    # A label may stand on leaves and on internal nodes, so new names come after the old ones.
    for number in np.unique(labels[leaves]).tolist():
        renamed[number] = len(texts)
        texts.append(Tree(rename(texts[number])).label)
    labels[leaves] = renamed[labels[leaves]]
    arena = _core.trees.Arena()
    numbers = arena.build(texts, labels, ends, children)
    return TreeArray._from_arena(arena, numbers[roots], trees._ends, trees._vectors)


def delexicalize(trees: Any, *, word: str | None = None) -> Any:
    """Remove the words: pre-terminals become leaves, or keep the same dummy word each.

    Parameters
    ----------
    trees : Tree, TreeArray or list of trees
        Trees over words.
    word : str, optional
        If given, every leaf becomes this word instead of going away.

    Examples
    --------
    >>> print(delexicalize(Tree.fromstring("(NP (DT the) (NN dog))")))
    (NP DT NN)
    >>> print(delexicalize(Tree.fromstring("(NP (DT the) (NN dog))"), word="_"))
    (NP (DT _) (NN _))
    """
    if word is not None:
        return map_leaves(trees, lambda _: word)

    # Children arrive rewritten, so a pre-terminal is recognised by the mark that its leaf has left.
    class _Word(Tree):
        __slots__ = ()

    def rule(node: Tree) -> Tree:
        if node.is_leaf:
            return _Word(node.label)
        if all(isinstance(child, _Word) for child in node.children):
            return Tree(node.label)
        return Tree(node.label, [Tree(c.label) if isinstance(c, _Word) else c for c in node.children])

    bare = rewrite(trees, rule)
    return Tree(bare.label) if isinstance(bare, _Word) else bare


def collapse_unary(trees: Any) -> Any:
    """Turn X over a single X into one X.

    >>> print(collapse_unary(Tree.fromstring("(NP (NP (NN dog)))")))
    (NP (NN dog))
    """

    def rule(node: Tree) -> Tree:
        only = node.children[0] if len(node.children) == 1 else None
        return only if only is not None and not only.is_leaf and only.label == node.label else node

    return rewrite(trees, rule)


def binarize(trees: Any, *, mark: str = "|") -> Any:
    """Turn every node of more than two children into a right-branching chain of two each.

    Parameters
    ----------
    trees : Tree, TreeArray or list of trees
        What to binarise.
    mark : str
        Put between a label and what it lacks: the new node of ``(A B C D)`` over C and D is labelled ``A|C-D``.

    Examples
    --------
    >>> print(binarize(Tree.fromstring("(NP (DT a) (JJ big) (NN dog))")))
    (NP (DT a) (NP|JJ-NN (JJ big) (NN dog)))
    """
    if not isinstance(mark, str) or not mark:
        raise ParameterError(f"mark must be a non-empty str, got {mark!r}.")

    def rule(node: Tree) -> Tree:
        children = node.children
        if len(children) <= 2:
            return node
        # The name lists at most the next two labels, so that wide nodes do not get names as long as themselves.
        chain = children[-1]
        for at in range(len(children) - 2, 0, -1):
            name = f"{node.label}{mark}{children[at].label}-{children[at + 1].label}"
            chain = Tree._trusted(name, (children[at], chain))
        return Tree._trusted(node.label, (children[0], chain))

    return rewrite(trees, rule)

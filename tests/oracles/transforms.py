"""Plain twins of the reader's options and of the transforms, one recursion each."""

from __future__ import annotations

from collections.abc import Callable

from sapwood import Tree

# The reader's options, on trees that are already read.


def drop_traces(tree: Tree) -> Tree | None:
    if tree.is_leaf:
        return tree
    if tree.label == "-NONE-":
        return None
    kept = [child for child in map(drop_traces, tree.children) if child is not None]
    return Tree(tree.label, kept) if kept else None


def drop_function_tags(tree: Tree) -> Tree:
    if tree.is_leaf:
        return tree
    label = tree.label
    if not label.startswith("-"):
        cuts = [at for at in range(1, len(label)) if label[at] in "-=|"]
        label = label[: cuts[0]] if cuts else label
    return Tree(label, map(drop_function_tags, tree.children))


def collapse_unary(tree: Tree) -> Tree:
    children = [collapse_unary(child) for child in tree.children]
    if len(children) == 1 and not children[0].is_leaf and children[0].label == tree.label:
        return children[0]
    return Tree(tree.label, children)


def unescape(tree: Tree) -> Tree:
    names = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
    if tree.is_leaf:
        return Tree(names.get(tree.label, tree.label))
    return Tree(tree.label, map(unescape, tree.children))


# Transforms.


def map_nodes(tree: Tree, leaf: Callable[[str], str], internal: Callable[[str], str]) -> Tree:
    if tree.is_leaf:
        return Tree(leaf(tree.label))
    return Tree(internal(tree.label), [map_nodes(child, leaf, internal) for child in tree.children])


def delexicalize(tree: Tree) -> Tree:
    if tree.is_leaf or all(child.is_leaf for child in tree.children):
        return Tree(tree.label)
    return Tree(tree.label, [delexicalize(child) for child in tree.children])


def binarize(tree: Tree, mark: str = "|") -> Tree:
    children = [binarize(child, mark) for child in tree.children]

    def chain(kids: list[Tree]) -> Tree:
        if len(kids) == 1:
            return kids[0]
        return Tree(f"{tree.label}{mark}{kids[0].label}-{kids[1].label}", [kids[0], chain(kids[1:])])

    if len(children) <= 2:
        return Tree(tree.label, children)
    return Tree(tree.label, [children[0], chain(children[1:])])

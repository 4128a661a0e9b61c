"""What the parser sees of a training tree: bare labels, heads, and symbols that know a little of their surroundings.

A symbol is a label with marks: its parent, and a few facts after Klein and Manning (2003). Marks come from the tree
alone, so every tree has one annotated form. Counting and smoothing belong to ``estimation``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sapwood.errors import DataError
from sapwood.penn import BE, FINITE_TAGS, HAVE, VERB_TAGS
from sapwood.trees.heads import HeadTable, bare_label
from sapwood.trees.tree import Tree, fold

__all__ = ["JOIN", "SPLITS", "WRAPPERS", "Annotation", "Constituent", "bare_symbol", "bare_tree", "clean"]

WRAPPERS = frozenset({"TOP", "ROOT", "S1", "VROOT"})
"""Labels that treebanks put over whole sentences; they say nothing about a sentence."""

SPLITS = frozenset(
    {"auxiliary", "base", "coordinator", "percent", "possessive", "preposition", "single", "temporal", "verbal"}
)
"""The marks that can be put on symbols besides parents."""

_EMPTY = "-NONE-"
# Between the parts of a symbol: a character that no label has.
JOIN = "\x1f"
_VERBAL = frozenset([*VERB_TAGS, *FINITE_TAGS, "TO"])


class Constituent:
    """A node of a training tree; ``word`` is set for tags, ``children`` for everything else."""

    __slots__ = ("children", "functions", "head", "label", "symbol", "word")

    def __init__(self, label: str, functions: tuple[str, ...], children: list[Constituent], word: str | None) -> None:
        self.label, self.functions, self.children, self.word = label, functions, children, word
        self.head = 0
        self.symbol = label

    def postorder(self) -> list[Constituent]:
        """Return all nodes, children before parents."""
        order, stack = [], [self]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(node.children)
        return order[::-1]


def clean(tree: Tree, index: int) -> tuple[str | None, Constituent]:
    """Bring a tree into the form that is learnt: no traces, no function tags, no wrapper over the sentence.

    Returns
    -------
    (wrapper, root)
        The label of the wrapper that was taken off, or None.
    """
    built: dict[int, Constituent | None] = {}
    for node in tree._objects():
        if node.is_leaf:
            continue
        label = node.label
        if len(node.children) == 1 and node.children[0].is_leaf:
            made = None if label == _EMPTY else Constituent(bare_label(label), (), [], node.children[0].label)
        else:
            children = []
            for child in node.children:
                if child.is_leaf:
                    raise DataError(
                        f"tree {index}: the word {child.label!r} stands beside others under {label!r}; the parser "
                        "learns from trees in which every word has a tag of its own, such as (NP (DT the) (NN dog))."
                    )
                below = built[id(child)]
                if below is not None:
                    children.append(below)
            bare = bare_label(label)
            functions = tuple(label[len(bare) :].replace("=", "-").split("-")[1:])
            made = Constituent(bare, functions, children, None) if children else None
        built[id(node)] = made
    root = None if tree.is_leaf else built[id(tree)]
    if root is None:
        raise DataError(f"tree {index} has no word with a tag; the parser learns from trees such as (NP (NN rain)).")
    # Every place in the tree gets a node of its own, since annotation depends on the place.
    root = fold(
        root,
        lambda node: node.children,
        lambda node, below: Constituent(node.label, node.functions, below, node.word),
    )
    wrapper = None
    if root.label in WRAPPERS and len(root.children) == 1:
        wrapper, root = root.label, root.children[0]
    return wrapper, root


def bare_tree(tree: Any, index: int) -> Tree:
    """Return a tree without traces and function tags, as a parser should give it; its wrapper stays.

    >>> print(bare_tree(Tree.fromstring("(TOP (S (NP-SBJ (-NONE- *)) (VP (VB Go))))"), 0))
    (TOP (S (VP (VB Go))))
    """
    wrapper, root = clean(tree, index)

    def build(node: Constituent, below: list[Tree]) -> Tree:
        return Tree(node.label, below if node.word is None else [node.word])

    bare = fold(root, lambda node: node.children, build)
    return bare if wrapper is None else Tree(wrapper, [bare])


@dataclass(frozen=True)
class Annotation:
    """How symbols are made.

    Parameters
    ----------
    vertical : int
        How many labels on the way up a symbol holds, its own included; 1 is the label alone.
    splits : frozenset of str
        Further marks, of ``SPLITS``.
    """

    vertical: int = 2
    splits: frozenset[str] = SPLITS

    def annotate(self, root: Constituent, heads: HeadTable) -> None:
        """Set ``head`` and ``symbol`` of every node."""
        above: dict[int, tuple[str, ...]] = {id(root): ()}
        order = root.postorder()
        for node in reversed(order):
            path = (node.label, *above[id(node)])[: max(self.vertical - 1, 2)]
            for child in node.children:
                above[id(child)] = path
            if len(node.children) > 1:
                node.head = heads(node.label, [child.label for child in node.children])
        for node in order:
            path = above[id(node)]
            kept = path[: self.vertical - 1]
            marks = self._marks(node, path)
            node.symbol = JOIN.join((node.label, *kept, *marks))
        # A lone adverb or determiner is known by its parent, which has no other child.
        if "single" in self.splits:
            for node in order:
                if len(node.children) == 1 and node.children[0].label in ("DT", "RB"):
                    node.children[0].symbol += JOIN + "U"

    def _marks(self, node: Constituent, path: tuple[str, ...]) -> list[str]:
        marks: list[str] = []
        splits, label = self.splits, node.label
        if node.word is not None:
            word = node.word.lower()
            if "auxiliary" in splits and label.startswith("VB"):
                marks += ["be"] if word in BE else ["have"] if word in HAVE else []
            if "coordinator" in splits and label == "CC" and word in ("but", "&"):
                marks.append(word)
            if "percent" in splits and word == "%":
                marks.append("%")
            if "preposition" in splits and label == "IN" and len(path) > 1:
                marks.append(path[1])
            return marks
        if "temporal" in splits and "TMP" in node.functions:
            marks.append("TMP")
        if "possessive" in splits and node.children[-1].label == "POS":
            marks.append("POS")
        if "base" in splits and label == "NP" and all(child.word is not None for child in node.children):
            marks.append("B")
        if "verbal" in splits and label == "VP":
            head = node
            while head.word is None:
                head = head.children[head.head]
            if head.label in _VERBAL:
                marks.append("F" if head.label in FINITE_TAGS else head.label)
        return marks


@lru_cache(maxsize=100_000)
def bare_symbol(symbol: str) -> str:
    """Return the label of a symbol without its parent and marks.

    >>> bare_symbol(JOIN.join(("NP", "VP", "B")))
    'NP'
    """
    return symbol.partition(JOIN)[0]

"""The shapes of a question that kernels look at, built from its constituent tree.

The *focus tree* is the constituent tree with lemmas for words and with question word and focus side by side on top,
so that small fragments can see both. The *lexical tree* has a word on every node, its dependents below it, and its
part of speech and relation as leaves: what partial trees with similar words are good at. *Word counts* are what a bag
of words and pairs of words is made of. Which of them a classifier uses is not decided here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from sapwood.tasks.questions.focus import Focus, find_focus
from sapwood.trees.heads import HeadTable, bare_label
from sapwood.trees.tree import Tree
from sapwood.words.lemmas import lemma

__all__ = ["focus_tree", "lemma_tree", "lexical_tree", "merged_tag", "word_counts"]

# Inflection is gone from lemmas, so it goes from their tags too.
_MERGED = {
    "NNS": "NN",
    "NNPS": "NNP",
    "VBD": "VB",
    "VBG": "VB",
    "VBN": "VB",
    "VBP": "VB",
    "VBZ": "VB",
    "AUX": "VB",
    "AUXG": "VB",
    "JJR": "JJ",
    "JJS": "JJ",
    "RBR": "RB",
    "RBS": "RB",
}
# What stands for the words of a question that has none: it must not be empty, nor be like anything.
_NOTHING = "-NOTHING-"


def merged_tag(tag: str) -> str:
    """Return a Penn tag without what inflection adds to it.

    >>> merged_tag("NNS"), merged_tag("VBZ"), merged_tag("IN")
    ('NN', 'VB', 'IN')
    """
    return _MERGED.get(tag, tag)


def focus_tree(tree: Tree, focus: Focus | None = None) -> Tree:
    """Return a constituent tree with its question word and focus on top.

    Words become lemmas, labels lose inflection and function tags, and the tag of the focus gets a mark. A focus with a
    word before it that belongs to it also stands on top as a compound, which some sources of similarity know.

    Parameters
    ----------
    tree : Tree
        A constituent tree with Penn labels.
    focus : Focus, optional
        What it asks about; found by ``find_focus`` if left out.

    Examples
    --------
    >>> print(focus_tree(Tree.fromstring("(SBARQ (WHNP (WDT Which) (JJ big) (NNS cities)) (SQ (VP (VBD fell))))")))
    (TOP (QH (QW which) (QF city)) (QC big_city) (SBARQ (WHNP (WDT which) (JJ big) (NN-F city)) (SQ (VP (VB fall)))))
    """
    focus = find_focus(tree) if focus is None else focus
    top = [Tree._trusted("QW", (Tree(focus.word or _NOTHING),))]
    if focus.head is not None:
        top.append(Tree._trusted("QF", (Tree(focus.head),)))
    parts = [Tree._trusted("QH", tuple(top))]
    if focus.head is not None and focus.modifiers:
        parts.append(Tree._trusted("QC", (Tree(f"{focus.modifiers[-1]}_{focus.head}"),)))
    return Tree._trusted("TOP", (*parts, _lemmatized(tree, focus.position)))


def lemma_tree(tree: Tree) -> Tree:
    """Return a constituent tree with lemmas for words and without inflection and function tags in its labels.

    >>> print(lemma_tree(Tree.fromstring("(NP-SBJ (DT The) (NNS dogs))")))
    (NP (DT the) (NN dog))
    """
    return _lemmatized(tree, None)


def _lemmatized(tree: Tree, marked: int | None) -> Tree:
    if tree.is_leaf:
        return _word(tree.label, "")
    seen = 0
    stack: list[tuple[Tree, list[Tree]]] = [(tree, [])]
    while True:
        node, done = stack[-1]
        children = node.children
        while len(done) < len(children):
            child = children[len(done)]
            below = child.children
            if not below:
                # A leaf beside others is a word whose tag is not known.
                done.append(_word(child.label, bare_label(node.label) if len(children) == 1 else ""))
                seen += 1
            elif len(below) == 1 and below[0].is_leaf:
                done.append(_preterminal(child.label, below[0].label, marked == seen))
                seen += 1
            else:
                stack.append((child, []))
                break
        else:
            stack.pop()
            built = Tree._trusted(_bare(node.label), tuple(done))
            if not stack:
                return built
            stack[-1][1].append(built)


@lru_cache(maxsize=1 << 14)
def _bare(label: str) -> str:
    return bare_label(label)


@lru_cache(maxsize=1 << 16)
def _word(word: str, tag: str) -> Tree:
    return Tree(lemma(word, tag))


@lru_cache(maxsize=1 << 16)
def _preterminal(label: str, word: str, marked: bool) -> Tree:
    tag = bare_label(label)
    return Tree(merged_tag(tag) + ("-F" if marked else ""), (_word(word, tag),))


# Questions are about their content words, so auxiliaries depend on the verb and not the other way round.
_HEADS = HeadTable(
    {
        "ADJP": ("right", [["JJ", "JJR", "JJS", "VBN", "VBG", "ADJP", "QP", "CD"], ["NN", "NNS", "RB"]]),
        "ADVP": ("right", [["RB", "RBR", "RBS", "ADVP"]]),
        "FRAG": ("left", [["SQ", "S", "VP"], ["NP"]]),
        "NAC": ("right", [["NN", "NNS", "NNP", "NNPS"]]),
        "NX": ("right", [["NN", "NNS", "NNP", "NNPS"]]),
        "PP": ("left", [["IN", "TO", "VBG"]]),
        "PRT": ("left", [["RP"]]),
        "QP": ("right", [["CD", "JJ", "NN"]]),
        "ROOT": ("left", [["SBARQ", "SQ", "S", "SINV", "FRAG"]]),
        "S": ("left", [["VP"], ["SQ", "S", "SBAR"], ["ADJP", "NP"]]),
        "S1": ("left", [["SBARQ", "SQ", "S", "SINV", "FRAG"]]),
        "SBAR": ("left", [["S", "SQ", "SINV"], ["SBAR", "FRAG"]]),
        "SBARQ": ("left", [["SQ", "S", "SINV"], ["SBARQ", "FRAG", "VP"]]),
        "SINV": ("left", [["VP"], ["VBZ", "VBD", "VBP", "VB", "MD"]]),
        "SQ": ("left", [["VP"], ["VBZ", "VBD", "VBP", "VB", "AUX", "MD"], ["SQ", "S"]]),
        "TOP": ("left", [["SBARQ", "SQ", "S", "SINV", "FRAG"]]),
        "VP": ("left", [["VP"], ["VBD", "VBN", "VBZ", "VB", "VBG", "VBP", "AUX", "MD", "TO"]]),
        "WHADJP": ("right", [["JJ", "RB", "ADJP"], ["WRB"]]),
        "WHADVP": ("left", [["WRB"]]),
        "WHNP": ("right", [["NN", "NNS", "NNP", "NNPS", "NX", "NP", "NML"], ["WHNP"], ["WP", "WDT", "WP$", "WHADJP"]]),
        "WHPP": ("left", [["IN", "TO"]]),
    }
)

_FOCUS = "FOCUS"
_CATEGORIES = {"N": "n", "V": "v", "J": "j", "R": "r", "W": "w", "I": "i", "D": "d", "P": "p", "C": "c", "M": "v"}


def lexical_tree(tree: Tree, focus: Focus | None = None) -> Tree:
    """Return a tree with words on its nodes, each above the words that depend on it.

    Every node ``lemma::category`` ends with two leaves: its tag, and the phrase it heads within the phrase above. The
    focus has a third leaf, and stands once more on top, under the question word. Heads are found by a table;
    punctuation is left out.

    Parameters
    ----------
    tree : Tree
        A constituent tree with Penn labels.
    focus : Focus, optional
        What it asks about; found by ``find_focus`` if left out.

    Examples
    --------
    >>> print(lexical_tree(Tree.fromstring("(SBARQ (WHNP (WDT Which) (NNS countries)) (SQ (VP (VBD fell))))")))
    (TOP (which::q (country::n FOCUS)) (fall::v (country::n (which::w WDT WHNP>WDT) NN SBARQ>WHNP FOCUS) VB SBARQ))
    """
    focus = find_focus(tree) if focus is None else focus
    asked = () if focus.head is None else (Tree._trusted(f"{focus.head}::n", (_label(_FOCUS),)),)
    return Tree._trusted(
        "TOP", (Tree._trusted(f"{focus.word or _NOTHING}::q", asked), _dependencies(tree, focus.position))
    )


def _dependencies(tree: Tree, marked: int | None) -> Tree:
    words: list[tuple[str, str]] = []  # lemma::category and tag of each word
    below: list[list[int]] = []  # what depends on each word, in order
    relation: list[str] = []
    seen, at_focus = 0, -1
    # Children first: every finished constituent is the number of its head word, or -1 if it is all punctuation.
    stack: list[tuple[Tree, list[int]]] = [(tree, [])]
    head = -1
    while stack:
        node, heads = stack[-1]
        children = node.children
        if len(heads) < len(children):
            child = children[len(heads)]
            if child.is_leaf:
                entry = _entry(child.label, _bare(node.label) if len(children) == 1 else "")
            elif len(child.children) == 1 and child.children[0].is_leaf:
                entry = _entry(child.children[0].label, _bare(child.label))
            else:
                stack.append((child, []))
                continue
            seen += 1
            if entry is None:
                heads.append(-1)
                continue
            if marked == seen - 1:
                at_focus = len(words)
            heads.append(len(words))
            words.append(entry)
            below.append([])
            relation.append("")
            continue
        stack.pop()
        if children:
            head = _attach(node, heads, below, relation)
        elif (entry := _entry(node.label, "")) is not None:
            head = len(words)
            words.append(entry)
            below.append([])
            relation.append("")
        if stack:
            stack[-1][1].append(head)
    if head < 0:
        return Tree(f"{_NOTHING}::x", ["X"])
    relation[head] = _bare(tree.label) if tree.children else "X"
    return _grow(head, words, below, relation, at_focus)


@lru_cache(maxsize=1 << 16)
def _entry(word: str, tag: str) -> tuple[str, str] | None:
    """Return what stands on the node of a word and its tag; None for punctuation."""
    if (tag and not tag[0].isalpha()) or tag in ("HYPH", "NFP"):
        return None
    return f"{lemma(word, tag)}::{_CATEGORIES.get(tag[:1], 'x')}", merged_tag(tag) or "X"


@lru_cache(maxsize=1 << 16)
def _head_child(label: str, children: tuple[str, ...]) -> int:
    return _HEADS(label, children)


def _attach(node: Tree, heads: list[int], below: list[list[int]], relation: list[str]) -> int:
    """Let the head child of a constituent govern the others; return its word."""
    label = _bare(node.label)
    kept = [at for at, head in enumerate(heads) if head >= 0]
    if not kept:
        return -1
    if len(kept) == 1:
        return heads[kept[0]]
    names = tuple("X" if node.children[at].is_leaf else _bare(node.children[at].label) for at in kept)
    chosen = _head_child(label, names)
    head = heads[kept[chosen]]
    for at, name in zip(kept, names, strict=True):
        if heads[at] != head:
            relation[heads[at]] = f"{label}>{merged_tag(name)}"
    before = [heads[at] for at in kept[:chosen]]
    below[head] = before + below[head] + [heads[at] for at in kept[chosen + 1 :]]
    return head


def _grow(root: int, words: list[tuple[str, str]], below: list[list[int]], relation: list[str], at_focus: int) -> Tree:
    order = [root]
    for at in order:
        order.extend(below[at])
    built: dict[int, Tree] = {}
    for at in reversed(order):
        children = [built[child] for child in below[at]]
        children += [_label(words[at][1]), _label(relation[at])]
        children += [_label(_FOCUS)] if at == at_focus else []
        built[at] = Tree._trusted(words[at][0], tuple(children))
    return built[root]


@lru_cache(maxsize=1 << 14)
def _label(label: str) -> Tree:
    return Tree(label)


def word_counts(words: Sequence[str], *, longest: int = 2) -> dict[str, float]:
    """Return how often each word and each run of words occurs, in lower case; 1 + log of the count.

    Parameters
    ----------
    words : sequence of str
        The words of the question.
    longest : int
        Words per run, at most.

    Examples
    --------
    >>> word_counts(["Who", "was", "who"])
    {'who': 1.6931471805599454, 'was': 1.0, 'who was': 1.0, 'was who': 1.0}
    """
    lower = [word.lower() for word in words] or [_NOTHING]
    runs = [" ".join(lower[at : at + size]) for size in range(1, longest + 1) for at in range(len(lower) - size + 1)]
    return {run: 1.0 + math.log(count) for run, count in Counter(runs).items()}

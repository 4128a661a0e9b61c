"""The views of a question that kernels look at, built from its constituent tree.

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
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import ParameterError
from sapwood.penn import NOUN_TAGS, base_tag
from sapwood.settings import counted
from sapwood.tasks.questions.focus import Focus, QuestionTree, focus_of
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples
from sapwood.trees.heads import HeadTable
from sapwood.trees.tree import Tree
from sapwood.words.lemmas import lemma

__all__ = ["VIEWS", "focus_tree", "lemma_tree", "lexical_tree", "question_views", "word_counts"]

VIEWS = ("focus", "lexical", "tree", "vectors", "words")
"""What a kernel can be put on; ``tree`` is the tree as it was given, ``vectors`` the mean of what an encoder gives."""

_BLOCK = 256

# What stands for the words of a question that has none: it must not be empty, nor be like anything.
_NOTHING = "-NOTHING-"


def question_views(trees: Any, names: Any = ("focus", "lexical", "tree", "words"), *, encoder: Any = None) -> Examples:
    """Return the views of questions: lists of trees, of vectors or of word counts, side by side.

    Parameters
    ----------
    trees : TreeArray or list of trees
        Constituent trees.
    names : collection of str
        Which views: ``focus``, ``lexical``, ``tree``, ``vectors``, ``words``.
    encoder : Encoder, optional
        Gives the leaves of ``focus`` and ``tree`` the vectors of their words, and makes ``vectors``: the mean of the
        words of a question.

    Examples
    --------
    >>> question_views(["(SBARQ (WHNP (WP Who)) (SQ (VP (VBD ran))))"], ["focus", "words"])
    Examples(focus, words; 1 row)
    """
    for name in names:
        if name not in VIEWS:
            raise ParameterError(f"questions have no view {name!r}; they have {', '.join(VIEWS)}.")
    if "vectors" in names and encoder is None:
        raise ParameterError("the view 'vectors' needs an encoder; pass encoder=, such as Encoder(\"minilm\").")
    trees = [tree if isinstance(tree, Tree) else TreeArray([tree])[0] for tree in trees]
    encoded = None if encoder is None else list(encoder.encode_batch(tree.leaves() for tree in trees))
    views: dict[str, Any] = {name: TreeArray(trees) if name == "tree" else None for name in names}
    on_focus: list[NDArray[Any]] = []
    shapes = {name: build for name, build in (("focus", _focus_tree), ("lexical", _lexical_tree)) if name in views}
    arenas = {name: _core.trees.Arena() for name in shapes}
    roots: dict[str, list[NDArray[np.uint32]]] = {name: [np.zeros(0, dtype=np.uint32)] for name in shapes}
    # Little by little, so that trees in between never live long: Python looks through all that do, again and again.
    asked = counted(trees, len(trees), "Views of questions", "questions")
    for _ in range(0, len(trees) if shapes else 0, _BLOCK):
        built: dict[str, list[Tree]] = {name: [] for name in shapes}
        for tree in islice(asked, _BLOCK):
            read = QuestionTree(tree)
            focus = focus_of(read)
            for name, build in shapes.items():
                built[name].append(build(read, focus))
            if encoded is not None and "focus" in shapes:
                on_focus.append(_focus_vectors(encoded[len(on_focus)], focus))
        for name, some in built.items():
            roots[name].append(arenas[name].add(some))
    views |= {name: TreeArray._from_arena(arenas[name], np.concatenate(roots[name])) for name in shapes}
    if encoded is not None:
        for name, vectors in (("focus", on_focus), ("tree", encoded)):
            if name in views:
                views[name] = views[name].with_vectors(vectors)
        if "vectors" in views:
            means = [one.astype(np.float64).mean(axis=0) for one in encoded]
            views["vectors"] = np.array(means).reshape(len(trees), encoder.width)
    if "words" in views:
        rows = [word_counts(tree.leaves()) for tree in trees]
        views["words"] = np.fromiter(rows, dtype=object, count=len(rows))
    return Examples(**views)


def focus_tree(tree: Tree) -> Tree:
    """Return a constituent tree with its question word and focus on top.

    Words become lemmas, labels lose inflection and function tags, and the tag of the focus gets a mark. A focus with a
    word before it that belongs to it also stands on top as a compound, which some sources of similarity know.

    >>> print(focus_tree(Tree.fromstring("(SBARQ (WHNP (WDT Which) (JJ big) (NNS cities)) (SQ (VP (VBD fell))))")))
    (TOP (QH (QW which) (QF city)) (QC big_city) (SBARQ (WHNP (WDT which) (JJ big) (NN-F city)) (SQ (VP (VB fall)))))
    """
    read = QuestionTree(tree)
    return _focus_tree(read, focus_of(read))


def _focus_tree(tree: QuestionTree, focus: Focus) -> Tree:
    top = [Tree._trusted("QW", (Tree(focus.word or _NOTHING),))]
    if focus.head is not None:
        top.append(Tree._trusted("QF", (Tree(focus.head),)))
    parts = [Tree._trusted("QH", tuple(top))]
    if focus.head is not None and focus.modifiers:
        parts.append(Tree._trusted("QC", (Tree(f"{focus.modifiers[-1]}_{focus.head}"),)))
    return Tree._trusted("TOP", (*parts, _lemmatized(tree, focus.position)))


def _focus_vectors(vectors: NDArray[Any], focus: Focus) -> NDArray[Any]:
    """Return the vectors of the leaves of a focus tree: those on top are words of the question once more."""
    top = [focus.asked]
    if focus.position is not None:
        top += [focus.position] * (2 if focus.modifiers else 1)
    return np.concatenate([vectors[top], vectors])


def lemma_tree(tree: Tree) -> Tree:
    """Return a constituent tree with lemmas for words and without inflection and function tags in its labels.

    >>> print(lemma_tree(Tree.fromstring("(NP-SBJ (DT The) (NNS dogs))")))
    (NP (DT the) (NN dog))
    """
    return _lemmatized(QuestionTree(tree), None)


def _lemmatized(tree: QuestionTree, marked: int | None) -> Tree:
    built: list[Any] = [None] * len(tree)
    # Places are numbered in pre-order, so that from the end children come before their parents.
    for at in range(len(tree) - 1, -1, -1):
        children = tree.children[at]
        if not children:
            word = tree.first[at]
            # A tag builds its own word, with a mark if it is the focus; what stands beside others has none.
            built[at] = None if tree.tags[word] and at > 1 else _word(tree.words[word], tree.tags[word])
        elif built[children[0]] is None:
            built[at] = _preterminal(tree.bare[at], tree.labels[children[0]], marked == tree.first[at])
        else:
            built[at] = Tree._trusted(tree.bare[at], tuple([built[child] for child in children]))
    return built[0]  # type: ignore[no-any-return]


# The words of long texts do not end: the caches hold the frequent ones, in a few megabytes.
@lru_cache(maxsize=1 << 12)
def _word(word: str, tag: str) -> Tree:
    return Tree(lemma(word, tag))


@lru_cache(maxsize=1 << 12)
def _preterminal(tag: str, word: str, marked: bool) -> Tree:
    return Tree(base_tag(tag) + ("-F" if marked else ""), (_word(word, tag),))


# Questions are about their content words, so auxiliaries depend on the verb and not the other way round.
_HEADS = HeadTable(
    {
        "ADJP": ("right", [["JJ", "JJR", "JJS", "VBN", "VBG", "ADJP", "QP", "CD"], ["NN", "NNS", "RB"]]),
        "ADVP": ("right", [["RB", "RBR", "RBS", "ADVP"]]),
        "FRAG": ("left", [["SQ", "S", "VP"], ["NP"]]),
        "NAC": ("right", [NOUN_TAGS]),
        "NX": ("right", [NOUN_TAGS]),
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
        "WHNP": ("right", [[*NOUN_TAGS, "NX", "NP", "NML"], ["WHNP"], ["WP", "WDT", "WP$", "WHADJP"]]),
        "WHPP": ("left", [["IN", "TO"]]),
    }
)

_FOCUS = "FOCUS"
_CATEGORIES = {"N": "n", "V": "v", "J": "j", "R": "r", "W": "w", "I": "i", "D": "d", "P": "p", "C": "c", "M": "v"}


def lexical_tree(tree: Tree) -> Tree:
    """Return a tree with words on its nodes, each above the words that depend on it.

    Every node ``lemma::category`` ends with two leaves: its tag, and the phrase it heads within the phrase above. The
    focus has a third leaf, and stands once more on top, under the question word. Heads are found by a table;
    punctuation is left out.

    >>> print(lexical_tree(Tree.fromstring("(SBARQ (WHNP (WDT Which) (NNS countries)) (SQ (VP (VBD fell))))")))
    (TOP (which::q (country::n FOCUS)) (fall::v (country::n (which::w WDT WHNP>WDT) NN SBARQ>WHNP FOCUS) VB SBARQ))
    """
    read = QuestionTree(tree)
    return _lexical_tree(read, focus_of(read))


def _lexical_tree(tree: QuestionTree, focus: Focus) -> Tree:
    asked = () if focus.head is None else (Tree._trusted(f"{focus.head}::n", (_label(_FOCUS),)),)
    return Tree._trusted(
        "TOP", (Tree._trusted(f"{focus.word or _NOTHING}::q", asked), _dependencies(tree, focus.position))
    )


def _dependencies(tree: QuestionTree, marked: int | None) -> Tree:
    entries = [_entry(word, tag) for word, tag in zip(tree.words, tree.tags, strict=True)]
    below: list[list[int]] = [[] for _ in entries]  # what depends on each word, in order
    relation = [""] * len(entries)
    heads = [-1] * len(tree)  # the head word of every place; -1 where everything is punctuation
    # From the end, so that children come before their parents.
    for at in range(len(tree) - 1, -1, -1):
        children = tree.children[at]
        if not children:
            word = tree.first[at]
            heads[at] = -1 if entries[word] is None else word
            continue
        kept = [child for child in children if heads[child] >= 0]
        if len(kept) < 2:
            heads[at] = heads[kept[0]] if kept else -1
            continue
        # The head child of a constituent governs the others.
        names = tuple([tree.bare[child] if tree.children[child] else "X" for child in kept])
        chosen, relations = _head_child(tree.bare[at], names)
        own = [heads[child] for child in kept]
        head = heads[at] = own.pop(chosen)
        for word, name in zip(own, relations[:chosen] + relations[chosen + 1 :], strict=True):
            relation[word] = name
        below[head] = own[:chosen] + below[head] + own[chosen:]
    root = heads[0]
    if root < 0:
        return Tree(f"{_NOTHING}::x", ["X"])
    relation[root] = tree.bare[0] if tree.children[0] else "X"
    order = [root]
    for word in order:
        order += below[word]
    built: list[Any] = [None] * len(entries)
    for word in reversed(order):
        label, tag = entries[word]  # type: ignore[misc]
        leaves = (tag, _label(relation[word]), _label(_FOCUS)) if word == marked else (tag, _label(relation[word]))
        built[word] = Tree._trusted(label, (*(built[child] for child in below[word]), *leaves))
    return built[root]  # type: ignore[no-any-return]


@lru_cache(maxsize=1 << 12)
def _entry(word: str, tag: str) -> tuple[str, Tree] | None:
    """Return what stands on the node of a word, and the leaf with its tag; None for punctuation."""
    if (tag and not tag[0].isalpha()) or tag in ("HYPH", "NFP"):
        return None
    return f"{lemma(word, tag)}::{_CATEGORIES.get(tag[:1], 'x')}", _label(base_tag(tag) or "X")


@lru_cache(maxsize=1 << 14)
def _head_child(label: str, children: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """Return which child is the head, and what every child is to the phrase."""
    return _HEADS(label, children), tuple(f"{label}>{base_tag(child)}" for child in children)


@lru_cache(maxsize=1 << 14)
def _label(label: str) -> Tree:
    return Tree(label)


def word_counts(words: Sequence[str], *, longest: int = 2) -> dict[str, float]:
    """Return how often each word and each run of up to ``longest`` words occurs, in lower case; 1 + log of the count.

    >>> word_counts(["Who", "was", "who"])
    {'who': 1.6931471805599454, 'was': 1.0, 'who was': 1.0, 'was who': 1.0}
    """
    lower = [word.lower() for word in words] or [_NOTHING]
    runs = list(lower)
    for size in range(2, longest + 1):
        runs += map(" ".join, zip(*(lower[at:] for at in range(size)), strict=False))
    if len(counts := dict.fromkeys(runs, 1.0)) < len(runs):
        counts |= {run: 1.0 + math.log(count) for run, count in Counter(runs).items() if count > 1}
    return counts

"""Constituents with their heads, and the dependencies that follow from them.

A table of head rules says which child of each constituent is its head; every other child then depends on it. The names
of the relations (subject, object, modifier and so on) come from the labels of the two constituents that meet. Which
child is the head belongs to ``heads``; reading dependencies from files to ``sapwood.corpora``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sapwood.errors import TreeError
from sapwood.penn import BE, NOUN_TAGS, PUNCTUATION_TAGS
from sapwood.trees.heads import HeadTable, bare_label
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree

__all__ = ["Constituents", "Dependencies", "dependencies", "head_constituents", "joined_constituents"]

_PUNCTUATION = frozenset([*PUNCTUATION_TAGS, "SYM", "#", "$"])
_NOMINAL = frozenset([*NOUN_TAGS, "NP", "PRP", "NX", "NML", "WHNP", "CD", "QP", "EX", "DT"])
_CLAUSES = frozenset(["S", "SINV", "SQ", "SBARQ"])


@dataclass(frozen=True)
class Constituents:
    """The nodes above the words of a tree, each before those below it.

    Attributes
    ----------
    labels : tuple of str
        Without function tags.
    first, last : tuple of int
        Numbers of the first and the last word, counted from 0.
    parents : tuple of int
        Number of the node above; -1 for a root.
    heads : tuple of int
        Number of the head word.
    words, tags : tuple of str
        The leaves, and the labels right above them.
    """

    labels: tuple[str, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    parents: tuple[int, ...]
    heads: tuple[int, ...]
    words: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Dependencies:
    """A dependency tree over the words of a sentence.

    Attributes
    ----------
    words, tags : tuple of str
        Words and parts of speech.
    heads : tuple of int
        Number of each word's head, counted from 0; -1 for the root's.
    relations : tuple of str
        What each word is to its head.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


def head_constituents(tree: Tree, heads: Callable[[str, Any], int] | None = None) -> Constituents:
    """List the constituents of a tree with their spans and head words.

    Parameters
    ----------
    tree : Tree
        With a part of speech above every word, as in the Penn Treebank.
    heads : callable, optional
        From a label and those of its children to the number of the head child; ``HeadTable()`` by default.

    Raises
    ------
    TreeError
        If a word has siblings, so that it has no part of speech of its own.

    Examples
    --------
    >>> found = head_constituents(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD barked)))"))
    >>> list(zip(found.labels, found.first, found.last, found.heads))
    [('S', 0, 2, 2), ('NP', 0, 1, 1), ('DT', 0, 0, 0), ('NN', 1, 1, 1), ('VP', 2, 2, 2), ('VBD', 2, 2, 2)]
    """
    choose = _default_head if heads is None else heads
    if tree.is_leaf:
        raise TreeError(
            f"{tree.label!r} is a word without a part of speech; expected a tree such as (NN {tree.label})."
        )
    at = Positions(tree)
    for leaf in at.leaves:
        if len(at.children[at.parent[leaf]]) > 1:
            raise TreeError(
                f"the word {at.labels[leaf]!r} under {at.labels[at.parent[leaf]]!r} has no part of speech of its own; "
                f"expected a node such as (NN {at.labels[leaf]}) around every word."
            )
    places = [place for place, below in enumerate(at.children) if below]
    number = {place: position for position, place in enumerate(places)}
    # A part of speech such as -LRB- or PRP$ keeps its name; only phrases carry tags behind theirs.
    labels = [bare_label(label) for label in at.labels]
    head = list(at.first)
    for place in reversed(places):
        below = at.children[place]
        if at.children[below[0]]:  # no part of speech
            head[place] = head[below[choose(labels[place], tuple([labels[child] for child in below]))]]
    return Constituents(
        labels=tuple([labels[place] for place in places]),
        first=tuple([at.first[place] for place in places]),
        last=tuple([at.last[place] for place in places]),
        parents=tuple([number.get(at.parent[place], -1) for place in places]),
        heads=tuple([head[place] for place in places]),
        words=tuple([at.labels[leaf] for leaf in at.leaves]),
        tags=tuple([labels[at.parent[leaf]] for leaf in at.leaves]),
    )


def joined_constituents(parts: Sequence[Constituents]) -> Constituents:
    """Put the constituents of sentences that follow each other into one list, with a root for each."""
    made = Constituents((), (), (), (), (), (), ())
    for part in parts:
        nodes, words = len(made.labels), len(made.words)
        made = Constituents(
            made.labels + part.labels,
            made.first + tuple(word + words for word in part.first),
            made.last + tuple(word + words for word in part.last),
            made.parents + tuple(node + nodes if node >= 0 else -1 for node in part.parents),
            made.heads + tuple(word + words for word in part.heads),
            made.words + part.words,
            made.tags + part.tags,
        )
    return made


def dependencies(tree: Tree | Constituents, heads: Callable[[str, Any], int] | None = None) -> Dependencies:
    """Turn a constituency tree into dependencies.

    Parameters
    ----------
    tree : Tree or Constituents
        What to convert.
    heads : callable, optional
        As for ``head_constituents``.

    Examples
    --------
    >>> found = dependencies(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP me))))"))
    >>> list(zip(found.words, found.heads, found.relations))
    [('the', 1, 'NMOD'), ('dog', 2, 'SBJ'), ('saw', -1, 'ROOT'), ('me', 2, 'OBJ')]
    """
    nodes = tree if isinstance(tree, Constituents) else head_constituents(tree, heads)
    count = len(nodes.words)
    head, relation = [-1] * count, ["ROOT"] * count
    conjoined = [False] * len(nodes.labels)
    for number, label in enumerate(nodes.labels):
        if label in ("CC", "CONJP") and nodes.parents[number] >= 0:
            conjoined[nodes.parents[number]] = True
    # The head child of a node is the one whose head word is the node's own.
    kind: dict[int, str] = {}
    for number in range(1, len(nodes.labels)):
        parent = nodes.parents[number]
        if nodes.heads[number] == nodes.heads[parent]:
            kind[parent] = nodes.labels[number]
    for number in range(1, len(nodes.labels)):
        parent = nodes.parents[number]
        word, above = nodes.heads[number], nodes.heads[parent]
        if word != above:
            head[word] = above
            relation[word] = _relation(
                nodes.labels[parent],
                nodes.labels[number],
                kind[parent],
                before=word < above,
                conjoined=conjoined[parent],
                verb=nodes.words[above].lower(),
            )
    return Dependencies(nodes.words, nodes.tags, tuple(head), tuple(relation))


@lru_cache(maxsize=1 << 16)
def _default_head(label: str, children: tuple[str, ...]) -> int:
    # Most sentences are made of a few thousand productions.
    return HeadTable()(label, children)


def _relation(parent: str, child: str, head: str, *, before: bool, conjoined: bool, verb: str) -> str:
    if child in _PUNCTUATION:
        return "P"
    if child in ("CC", "CONJP"):
        return "CC"
    if conjoined and not before and (child == head or child[:2] == head[:2]):
        return "CONJ"
    if parent in _CLAUSES:
        if before:
            return "SBJ" if child in _NOMINAL else "ADV"
        return "VC" if child == "VP" else "PRD" if child in ("ADJP", "NP") else "ADV"
    if parent == "VP":
        if child == "VP":
            return "VC"
        if child in ("PRT", "RP"):
            return "PRT"
        if child in _NOMINAL or child == "ADJP":
            return "ADV" if before else "PRD" if verb in BE or child == "ADJP" else "OBJ"
        if child in ("S", "SBAR"):
            return "COMP"
        return "NEG" if verb in ("not", "n't") else "ADV"
    if parent in ("PP", "WHPP"):
        return "PMOD"
    if parent in ("NP", "NX", "NML", "WHNP", "NAC"):
        return "REL" if child in ("SBAR", "S", "VP", "RRC") else "PPMOD" if child == "PP" else "NMOD"
    if parent in ("SBAR", "SBARQ"):
        return "SUB"
    return "AMOD" if parent in ("ADJP", "ADVP", "QP", "WHADJP", "WHADVP") else "DEP"

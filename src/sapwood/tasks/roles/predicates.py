"""Which words are predicates, and their voice. Words and tags are Penn's."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sapwood.penn import ADJECTIVE_TAGS, AUXILIARY_TAGS, NOUN_TAGS, VERB_TAGS
from sapwood.trees.heads import bare_label
from sapwood.trees.positions import Positions
from sapwood.words.lemmas import lemma as base_form

__all__ = ["NOMINAL_TAGS", "VERBAL_TAGS", "find_predicates", "is_auxiliary", "is_prenominal", "voice"]

VERBAL_TAGS = frozenset([*VERB_TAGS, *AUXILIARY_TAGS])
# What is not a verb but may be a predicate; names never are.
NOMINAL_TAGS = frozenset([*NOUN_TAGS[:2], *ADJECTIVE_TAGS])
_ADDRESS = re.compile(r"[@#]|://|^www\.")
_AUXILIARIES = frozenset(["be", "have", "do", "get"])


def is_auxiliary(at: Positions, word: int) -> bool:
    """Whether a form of be, have, do or get helps another verb: a verb phrase stands beside it.

    >>> from sapwood.trees import Tree
    >>> at = Positions(Tree.fromstring("(S (NP (PRP I)) (VP (VBP have) (VP (VBN had) (NP (NN tea)))))"))
    >>> is_auxiliary(at, 1), is_auxiliary(at, 2)
    (True, False)
    """
    tag = at.tag(word)
    if _verb(at, word) not in _AUXILIARIES:
        return False
    beside = at.children[at.parent[tag]] if at.parent[tag] >= 0 else []
    return any(node > tag and bare_label(at.labels[node]) == "VP" for node in beside)


def is_prenominal(at: Positions, word: int) -> bool:
    """Whether a participle stands in a noun phrase before its noun: *the painted wall*.

    >>> from sapwood.trees import Tree
    >>> at = Positions(Tree.fromstring("(NP (DT the) (VBN painted) (NN wall))"))
    >>> is_prenominal(at, 1)
    True
    """
    tag = at.tag(word)
    above = at.parent[tag]
    if at.labels[tag] not in ("VBN", "VBG") or above < 0 or bare_label(at.labels[above]) not in ("NP", "NML", "ADJP"):
        return False
    return at.children[above][-1] != tag


def find_predicates(
    at: Positions, *, auxiliaries: bool = True, prenominal: bool = True, nouns: Iterable[str] = ()
) -> list[int]:
    """Return the words that are predicates: all verbs, perhaps without auxiliaries, perhaps with some nouns.

    Parameters
    ----------
    at : Positions
        The places of a parse with Penn tags.
    auxiliaries : bool
        Whether auxiliaries are predicates, as in PropBank 3; they are not in CoNLL-2005. A main verb *be*, *have*,
        *do* or *get* always is.
    prenominal : bool
        Whether participles before a noun are predicates.
    nouns : collection of str
        Nouns and adjectives that are predicates, as ``word/TAG`` in lower and upper case: ``"sale/NN"``.

    Examples
    --------
    >>> from sapwood.trees import Tree
    >>> at = Positions(Tree.fromstring("(S (NP (PRP It)) (VP (VBD was) (VP (VBN sold))))"))
    >>> find_predicates(at), find_predicates(at, auxiliaries=False)
    ([1, 2], [2])
    """
    wanted = nouns if isinstance(nouns, (set, frozenset)) else set(nouns)
    found = []
    for word, leaf in enumerate(at.leaves):
        above = at.parent[leaf]
        # Signs, addresses and names of accounts may get any tag.
        if above < 0 or not any(map(str.isalpha, at.labels[leaf])) or _ADDRESS.search(at.labels[leaf]):
            continue
        tag = at.labels[above]
        if tag in VERBAL_TAGS:
            if (auxiliaries or not is_auxiliary(at, word)) and (prenominal or not is_prenominal(at, word)):
                found.append(word)
        elif wanted and tag in NOMINAL_TAGS and f"{at.labels[leaf].lower()}/{tag}" in wanted:
            found.append(word)
    return found


def voice(at: Positions, predicate: int) -> str:
    """Return ``passive`` or ``active``.

    A past participle is passive after a form of *be* or *get*, and where no auxiliary stands before it at all
    (*the book given to her*).

    >>> from sapwood.trees import Tree
    >>> at = Positions(Tree.fromstring("(S (NP (NN tea)) (VP (VBD was) (RB not) (VP (VBN served))))"))
    >>> voice(at, 3), voice(at, 1)
    ('passive', 'active')
    """
    tag = at.tag(predicate)
    if at.labels[tag] not in ("VBN", "VBD"):
        return "active"
    node = tag
    while at.parent[node] >= 0 and bare_label(at.labels[at.parent[node]]) in ("VP", "SQ", "SINV", "ADJP"):
        above = at.parent[node]
        for sister in reversed(at.children[above]):
            if sister < node and at.is_tag(sister):
                helping = _verb(at, at.first[sister])
                if helping in ("be", "get"):
                    return "passive"
                if helping == "have":
                    return "active"
        node = above
    return "passive" if at.labels[tag] == "VBN" else "active"


def _verb(at: Positions, word: int) -> str:
    """Return the base form of a verb; nothing for other words."""
    tag = at.labels[at.tag(word)]
    return base_form(at.labels[at.leaves[word]], tag) if tag in VERBAL_TAGS else ""

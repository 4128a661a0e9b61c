"""Semantic roles in the nursery: who did what to whom, written as PropBank writes it.

Events know what fills their slots, and constructions know what a question asks for; this layer puts roles on both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, Proposition, RoleSentence

if TYPE_CHECKING:
    from sapwood.corpora.nursery.corpus import NurserySentence

__all__ = ["with_roles"]

_SLOT_ROLES: Mapping[str, str] = {
    "agent": "A0",
    "theme": "A1",
    "recipient": "A2",
    "instrument": "A3",
    "place": "AM-LOC",
    "time": "AM-TMP",
}
_ASKED: Mapping[str, str] = {
    "who": "A0",
    "which agent": "A0",
    "which theme": "A1",
    "passive theme": "A1",
    "what": "A1",
    "how many": "A1",
    "whom": "A2",
    "where": "AM-LOC",
    "in which place": "AM-LOC",
    "when": "AM-TMP",
    "what year": "AM-TMP",
    "why": "AM-CAU",
    "what reason": "AM-CAU",
    "how": "AM-MNR",
    "with what": "A3",
}


def with_roles(sentence: NurserySentence, name: str) -> RoleSentence:
    """Return a sentence of the nursery with its propositions."""
    words, verb = sentence.words, sentence.predicate
    found = [Argument("V", verb, verb)]
    for slot, (first, last) in sentence.spans.items():
        # The agent of a passive comes with its preposition.
        by = slot == "agent" and first > 0 and words[first - 1] == "by"
        found.append(Argument(_SLOT_ROLES[slot], first - by, last))
    at = Positions(sentence.tree)
    propositions = []
    if sentence.construction in _ASKED:
        asked = at.children[0][0]
        found.append(Argument(_ASKED[sentence.construction], at.first[asked], at.last[asked]))
    elif sentence.construction == "name the":
        relative = next(node for node, label in enumerate(at.labels) if label == "WHNP")
        found.append(Argument("R-A1", at.first[relative], at.last[relative]))
        found.append(Argument("A1", 1, at.first[relative] - 1))
        named = (Argument("V", 0, 0), Argument("A1", 1, len(words) - 2))
        propositions.append(Proposition(0, "name", named, "name.01"))
    for word in range(len(words)):
        tag = at.labels[at.tag(word)]
        if tag == "MD":
            found.append(Argument("AM-MOD", word, word))
        elif tag == "RB" and words[word] == "not":
            found.append(Argument("AM-NEG", word, word))
    arguments = tuple(sorted(found, key=lambda one: one.first))
    lemma = sentence.event.verb.base
    propositions.append(Proposition(verb, lemma, arguments, f"{lemma}.01"))
    return RoleSentence(words, tuple(propositions), sentence.tree, name)

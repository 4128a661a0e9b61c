"""Which words are predicates, their base forms, their voice and their most frequent sense.

Words and tags are Penn's. What is learnt from data (base forms, nouns that are predicates, senses) is in ``Lexicon``;
the base forms of other words are found by the rules of ``words.lemmas``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sapwood.penn import ADJECTIVE_TAGS, AUXILIARY_TAGS, NOUN_TAGS, VERB_TAGS
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import RoleSentence
from sapwood.words.lemmas import lemma as base_form

__all__ = ["VERBAL_TAGS", "Lexicon", "find_predicates", "is_auxiliary", "is_prenominal", "voice"]

VERBAL_TAGS = frozenset([*VERB_TAGS, *AUXILIARY_TAGS])
# What is not a verb but may be a predicate; names never are.
_NOMINAL = frozenset([*NOUN_TAGS[:2], *ADJECTIVE_TAGS])
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
    return any(node > tag and _bare(at.labels[node]) == "VP" for node in beside)


def is_prenominal(at: Positions, word: int) -> bool:
    """Whether a participle stands in a noun phrase before its noun: *the painted wall*.

    >>> from sapwood.trees import Tree
    >>> at = Positions(Tree.fromstring("(NP (DT the) (VBN painted) (NN wall))"))
    >>> is_prenominal(at, 1)
    True
    """
    tag = at.tag(word)
    above = at.parent[tag]
    if at.labels[tag] not in ("VBN", "VBG") or above < 0 or _bare(at.labels[above]) not in ("NP", "NML", "ADJP"):
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
        if above < 0:
            continue
        tag = at.labels[above]
        if tag in VERBAL_TAGS:
            if (auxiliaries or not is_auxiliary(at, word)) and (prenominal or not is_prenominal(at, word)):
                found.append(word)
        elif wanted and tag in _NOMINAL and f"{at.labels[leaf].lower()}/{tag}" in wanted:
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
    while at.parent[node] >= 0 and _bare(at.labels[at.parent[node]]) in ("VP", "SQ", "SINV", "ADJP"):
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


def _bare(label: str) -> str:
    return label.partition("-")[0] or label


@dataclass
class Lexicon:
    """What sentences with propositions teach about predicates.

    Attributes
    ----------
    lemmas : dict of str to str
        ``word/TAG`` to the base form seen most often.
    senses : dict of str to str
        Base form to the roleset seen most often.
    roles : dict of str to tuple of str
        Roleset to the roles seen with it.
    counts : dict of str to int
        How often each roleset was seen.
    nouns : set of str
        ``word/TAG`` of nouns and adjectives that are predicates more often than not.
    auxiliaries, prenominal : bool
        Whether auxiliaries, and participles before nouns, mostly were predicates.
    """

    lemmas: dict[str, str] = field(default_factory=dict)
    senses: dict[str, str] = field(default_factory=dict)
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    nouns: set[str] = field(default_factory=set)
    auxiliaries: bool = True
    prenominal: bool = True
    _legal: dict[str, tuple[int, tuple[str, ...]]] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def learn(cls, sentences: Iterable[RoleSentence]) -> Lexicon:
        """Count base forms, senses, roles per sense, and nouns that are predicates."""
        lemmas: defaultdict[str, Counter[str]] = defaultdict(Counter)
        senses: defaultdict[str, Counter[str]] = defaultdict(Counter)
        roles: defaultdict[str, set[str]] = defaultdict(set)
        seen: Counter[str] = Counter()
        nouns: Counter[str] = Counter()
        others: Counter[str] = Counter()
        helping: Counter[bool] = Counter()
        before: Counter[bool] = Counter()
        for sentence in sentences:
            if sentence.tree is None:
                continue
            at = Positions(sentence.tree)
            marked = {proposition.predicate: proposition for proposition in sentence.propositions}
            for word, leaf in enumerate(at.leaves):
                tag = at.labels[at.parent[leaf]] if at.parent[leaf] >= 0 else ""
                key = f"{at.labels[leaf].lower()}/{tag}"
                if tag in _NOMINAL:
                    (nouns if word in marked else others)[key] += 1
                elif tag in VERBAL_TAGS and is_auxiliary(at, word):
                    helping[word in marked] += 1
                elif tag in VERBAL_TAGS and is_prenominal(at, word):
                    before[word in marked] += 1
                if word in marked:
                    proposition = marked[word]
                    lemmas[key][proposition.lemma] += 1
                    if proposition.roleset:
                        senses[proposition.lemma][proposition.roleset] += 1
                    name = proposition.roleset or proposition.lemma
                    seen[name] += 1
                    roles[name].update(argument.role for argument in proposition.roles)
        return cls(
            {key: _most(counts) for key, counts in lemmas.items()},
            {lemma: _most(counts) for lemma, counts in senses.items()},
            {name: tuple(sorted(found)) for name, found in roles.items()},
            dict(seen),
            {key for key, count in nouns.items() if count > others[key]},
            helping[True] >= helping[False],
            before[True] >= before[False],
        )

    def lemma(self, word: str, tag: str) -> str:
        """Return the base form seen most often, or find it by rule."""
        return self.lemmas.get(f"{word.lower()}/{tag}") or base_form(word, tag)

    def roleset(self, lemma: str) -> str:
        """Return the sense seen most often; ``lemma.01``, a guess, for verbs that ``knows`` says were never seen."""
        return self.senses.get(lemma, f"{lemma}.01")

    def knows(self, lemma: str) -> bool:
        """Whether any sense of a predicate was seen.

        >>> Lexicon(senses={"shrink": "shrink.02"}).knows("fling")
        False
        """
        return lemma in self.senses

    def legal(self, lemma: str, least: int) -> tuple[str, ...] | None:
        """Return the roles that any sense of a predicate has had, or None if it was seen less often than ``least``.

        The sense of a new occurrence is a guess, so roles of one sense alone would rule out too much.
        """
        if self._legal is None:
            self._legal = {}
            for name, found in self.roles.items():
                base = name.rpartition(".")[0] or name
                times, roles = self._legal.get(base, (0, ()))
                self._legal[base] = (times + self.counts.get(name, 0), tuple(sorted({*roles, *found})))
        times, roles = self._legal.get(lemma, (0, ()))
        return roles if times >= least else None

    def to_json(self) -> dict[str, Any]:
        """Give everything as JSON data."""
        return {
            "lemmas": self.lemmas,
            "senses": self.senses,
            "roles": {name: list(found) for name, found in self.roles.items()},
            "counts": self.counts,
            "nouns": sorted(self.nouns),
            "auxiliaries": self.auxiliaries,
            "prenominal": self.prenominal,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Lexicon:
        """Take what ``to_json`` gave."""
        return cls(
            dict(data["lemmas"]),
            dict(data["senses"]),
            {name: tuple(found) for name, found in data["roles"].items()},
            dict(data["counts"]),
            set(data["nouns"]),
            bool(data["auxiliaries"]),
            bool(data["prenominal"]),
        )


def _most(counts: Counter[str]) -> str:
    # The first in the alphabet among equals, so that the order of sentences does not matter.
    return min(counts, key=lambda name: (-counts[name], name))

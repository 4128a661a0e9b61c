"""What training data teaches about predicates: base forms, senses, roles, and nouns that are predicates.

The base forms of words that were not seen are found by the rules of ``words.lemmas``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from sapwood.corpora.rolesets import Roleset
from sapwood.layouts import Field
from sapwood.registry import Reader
from sapwood.tasks.roles.predicates import NOMINAL_TAGS, VERBAL_TAGS, is_auxiliary, is_prenominal
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, RoleSentence
from sapwood.words.lemmas import lemma as base_form

__all__ = ["LEXICON", "PredicateLexicon"]


@dataclass
class PredicateLexicon:
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
    meanings : dict of str to (str, dict of str to str)
        What rolesets mean, and their numbered roles; see ``describe``.
    """

    lemmas: dict[str, str] = field(default_factory=dict)
    senses: dict[str, str] = field(default_factory=dict)
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    nouns: set[str] = field(default_factory=set)
    auxiliaries: bool = True
    prenominal: bool = True
    meanings: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)

    @classmethod
    def learn(cls, sentences: Iterable[RoleSentence]) -> PredicateLexicon:
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
                if tag in NOMINAL_TAGS:
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

    def joined(self, other: PredicateLexicon) -> PredicateLexicon:
        """Return what both know; where both know of a predicate, the other one is right."""
        names = {**self.roles, **other.roles}
        return PredicateLexicon(
            self.lemmas | other.lemmas,
            self.senses | other.senses,
            {name: tuple(sorted({*self.roles.get(name, ()), *other.roles.get(name, ())})) for name in names},
            {name: self.counts.get(name, 0) + other.counts.get(name, 0) for name in names},
            self.nouns | other.nouns,
            other.auxiliaries,
            other.prenominal,
            self.meanings | other.meanings,
        )

    def lemma(self, word: str, tag: str) -> str:
        """Return the base form seen most often, or find it by rule; in American spelling, if only that is known.

        >>> PredicateLexicon(lemmas={"r/VBP": "be"}).lemma("r", "VB")
        'be'
        >>> lexicon = PredicateLexicon(senses={"analyze": "analyze.01", "favor": "favor.01", "advise": "advise.01"})
        >>> [lexicon.lemma(word, "VBD") for word in ("analysed", "favoured", "advised", "surprised")]
        ['analyze', 'favor', 'advise', 'surprise']
        """
        form = word.lower()
        found = self.lemmas.get(f"{form}/{tag}") or self.lemmas.get(f"{form}/{_SAME_FORMS.get(tag)}")
        if found:
            return found
        base = base_form(word, tag)
        if base in self.senses or base in self._described:
            return base
        others = (base.removesuffix(british) + american for british, american in _SPELLINGS if base.endswith(british))
        return next((other for other in others if other in self.senses or other in self._described), base)

    def roleset(self, lemma: str) -> str:
        """Return the sense seen most often, else the first that is described, else ``lemma.01``."""
        return self.senses.get(lemma) or (self._described.get(lemma) or [f"{lemma}.01"])[0]

    def knows(self, lemma: str) -> bool:
        """Whether ``roleset`` is no guess: a sense of the predicate was seen, or there is only one.

        >>> lexicon = PredicateLexicon(senses={"shrink": "shrink.02"})
        >>> lexicon.describe([Roleset("undergo.28", "experience", {})])
        >>> lexicon.knows("undergo"), lexicon.roleset("undergo"), lexicon.knows("fling")
        (True, 'undergo.28', False)
        """
        return lemma in self.senses or len(self._described.get(lemma, ())) == 1

    def helps(self, roleset: str, arguments: Iterable[Argument]) -> bool:
        """Whether a predicate only helps another: it has no role, and its roleset is often seen and never has one.

        So it is with *going* in *it is going to rain*, and with what is left in *it does not*, where *not* may stand.
        In *it does not have to* that is worth keeping.
        """
        allowed = {"V", "AM-NEG", "AM-MOD"} if roleset in _LEFT_OVER else {"V"}
        often = self.counts.get(roleset, 0) >= _OFTEN and not self.roles.get(roleset)
        return often and all(one.role in allowed for one in arguments)

    def describe(self, rolesets: Iterable[Roleset]) -> None:
        """Keep what rolesets and roles mean, in place of what was known of that.

        >>> lexicon = PredicateLexicon()
        >>> lexicon.describe([Roleset("chase.01", "follow, pursue", {"A1": "thing followed"})])
        >>> lexicon.meaning("chase.01"), lexicon.meaning("chase.01", "A1"), lexicon.meaning("chase.01", "AM-TMP")
        ('follow, pursue', 'thing followed', 'when')
        """
        self.meanings = {one.name: (one.meaning, dict(one.roles)) for one in rolesets}
        self.__dict__.pop("_described", None)

    def meaning(self, roleset: str, role: str = "") -> str:
        """Return what a roleset means, or one of its roles; empty text where that is not known."""
        if not self.meanings:
            return ""
        known, roles = self.meanings.get(roleset, ("", {}))
        # What continues or refers to an argument means the same.
        bare = role.removeprefix("C-").removeprefix("R-")
        return known if not role else roles.get(bare) or _MODIFIERS.get(bare, "")

    def legal(self, lemma: str, least: int) -> tuple[str, ...] | None:
        """Return the roles that any sense of a predicate has had, or None if it was seen less often than ``least``.

        The sense of a new occurrence is a guess, so roles of one sense alone would rule out too much.
        """
        times, roles = self._by_lemma.get(lemma, (0, ()))
        return roles if times >= least else None

    @cached_property
    def _described(self) -> dict[str, list[str]]:
        """For each base form, the rolesets that are described, in their order."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self.meanings):
            found[name.rpartition(".")[0]].append(name)
        return dict(found)

    @cached_property
    def _by_lemma(self) -> dict[str, tuple[int, tuple[str, ...]]]:
        """For each base form, how often it was seen, and the roles of all its senses."""
        found: dict[str, tuple[int, tuple[str, ...]]] = {}
        for name, known in self.roles.items():
            base = name.rpartition(".")[0] or name
            times, roles = found.get(base, (0, ()))
            found[base] = (times + self.counts.get(name, 0), tuple(sorted({*roles, *known})))
        return found


_OFTEN = 20
_SAME_FORMS = {"VB": "VBP", "VBP": "VB"}
_LEFT_OVER = frozenset(["be.03", "do.01", "have.01"])
# Ends of base forms, British and American.
_SPELLINGS = (
    ("ise", "ize"), ("yse", "yze"), ("our", "or"), ("ise", "ice"), ("l", "ll"), ("ogue", "og"), ("amme", "am"),
    ("tre", "ter"), ("tr", "ter"), ("ence", "ense"), ("oeuvre", "euver"),
)  # fmt: skip

# What modifiers say, in words that fit beside "thing followed".
_MODIFIERS = {
    "AM-ADJ": "description", "AM-ADV": "circumstance", "AM-CAU": "why", "AM-COM": "together with whom",
    "AM-DIR": "which way", "AM-DIS": "link to the text before", "AM-DSP": "direct speech", "AM-EXT": "how much",
    "AM-GOL": "where to, or for whom", "AM-LOC": "where", "AM-LVB": "light verb", "AM-MNR": "how",
    "AM-MOD": "modal verb", "AM-NEG": "negation", "AM-PRD": "state of an argument", "AM-PRP": "what for",
    "AM-PRR": "noun of a light verb", "AM-REC": "reciprocal", "AM-TMP": "when", "AM-CXN": "construction",
}  # fmt: skip


def _most(counts: Counter[str]) -> str:
    # The first in the alphabet among equals, so that the order of sentences does not matter.
    return min(counts, key=lambda name: (-counts[name], name))


def _read(data: Any, reader: Reader) -> PredicateLexicon:
    return PredicateLexicon(
        reader.table(data["lemmas"], reader.text),
        reader.table(data["senses"], reader.text),
        reader.table(data["roles"], lambda found: tuple(reader.texts(found))),
        reader.table(data["counts"], reader.count),
        set(reader.texts(data["nouns"])),
        bool(data["auxiliaries"]),
        bool(data["prenominal"]),
        reader.table(
            data.get("meanings", {}), lambda found: (reader.text(found[0]), reader.table(found[1], reader.text))
        ),
    )


LEXICON = Field(lambda lexicon, writer: {**asdict(lexicon), "nouns": sorted(lexicon.nouns)}, _read)
"""A lexicon in model files."""

"""Making a nursery: events are drawn from the lexicon and told in many ways.

One third of the sentences are statements, one third questions, one third partners of these: paraphrases and near
misses. Every draw comes from one seeded generator, so the same seed gives the same corpus on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from sapwood.checks import check_count, is_whole
from sapwood.corpora.nursery.corpus import Nursery, NurseryPair, NurserySentence
from sapwood.corpora.nursery.grammar import Event, Phrase, realize
from sapwood.corpora.nursery.lexicon import Noun, Verb, lexicon
from sapwood.corpora.nursery.variation import near_miss, paraphrase
from sapwood.errors import ParameterError

__all__ = ["generate"]

T = TypeVar("T")

_DAYS = ("Monday", "Tuesday", "Friday", "Sunday")
_YEARS = ("1987", "1994", "2003", "2011")
_LABELS = {
    "person": ("HUM", "ind"),
    "animal": ("ENTY", "animal"),
    "tool": ("ENTY", "instru"),
    "food": ("ENTY", "food"),
    "thing": ("ENTY", "other"),
    "city": ("LOC", "city"),
    "building": ("LOC", "other"),
    "place": ("LOC", "other"),
}


def generate(*, seed: int = 0, size: int = 3000) -> Nursery:
    """Generate a nursery; the same seed and size give the same sentences everywhere.

    Parameters
    ----------
    seed : int
        Where the draws begin.
    size : int
        How many sentences; at most about 10,000, since no sentence comes twice.

    Examples
    --------
    >>> corpus = generate(size=30)
    >>> corpus
    Nursery(30 sentences, 14 of them questions; 10 pairs; seed 0)
    >>> corpus.sentences[0].tree == generate(size=30).sentences[0].tree
    True
    """
    check_count(size, "size", 3, 10_000)
    if not is_whole(seed):
        raise ParameterError(f"seed must be an integer, got {seed!r}.")
    generator = _Generator(seed)
    third = size // 3
    while len(generator.sentences) < size - third:
        event = generator.event()
        generator.add(event, question=len(generator.sentences) % 2 == 1)
    bases: list[int] = []
    pairs: list[NurseryPair] = []
    while len(pairs) < third:
        if not bases:
            bases = list(range(size - third))
        pair = generator.partner(generator.take(bases), same=len(pairs) % 2 == 0)
        if pair is not None:
            pairs.append(pair)
    return Nursery(tuple(generator.sentences), tuple(pairs), generator.words, seed)


class _Generator:
    """Draws events and keeps the sentences made from them."""

    def __init__(self, seed: int) -> None:
        # Only random() is promised to stay the same across Python versions, so every draw goes through it.
        self._uniform = Random(f"nursery {seed}").random
        self.words = lexicon()
        self._verbs = [verb for verb in self.words.verbs.values() if verb.base == verb.synonyms[0]]
        self.sentences: list[NurserySentence] = []
        self._seen: set[str] = set()
        self._groups = 0

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._uniform() * len(options))]

    def take(self, options: list[T]) -> T:
        return options.pop(int(self._uniform() * len(options)))

    def chance(self, probability: float) -> bool:
        return self._uniform() < probability

    def event(self) -> Event:
        verb = self.pick(self._verbs)
        slots = verb.slots
        tense = self.pick(("past",) * 5 + ("present",) * 2 + ("future",))
        phrases = {"agent": self.phrase(self.pick(self.words.under(*slots["agent"])))}
        theme = self._other(slots["theme"], phrases)
        phrases["theme"] = self.phrase(theme, conjunct=self.chance(0.1))
        if "to" in slots:
            phrases["recipient"] = self.phrase(self._other(slots["to"], phrases))
        if "with" in slots and self.chance(0.5):
            phrases["instrument"] = self.phrase(self.pick(self.words.under(*slots["with"])), plain=True)
        elif self.words.is_a(theme, "living") and not theme.name and self.chance(0.5):
            phrases["theme"] = replace(phrases["theme"], inside=("with", self._belonging(verb)))
        prepositions = {}
        if self.chance(0.4):
            place = self.phrase(self.pick(self.words.under("place")), plain=True, singular=True)
            preposition = "in" if not self.words.is_a(place.noun, "premises") else self.pick(("in", "near", "behind"))
            if not verb.low:
                phrases["place"], prepositions["place"] = place, preposition
            elif not theme.name and phrases["theme"].inside is None:
                phrases["theme"] = replace(phrases["theme"], inside=(preposition, place))
        time = ""
        if self.chance(0.4) and tense != "present":
            time = self.pick((*_DAYS, *_YEARS, "yesterday") if tense == "past" else _DAYS)
        return Event(self._synonymous(verb), phrases, tense, self.chance(0.05), prepositions, time)

    def phrase(self, noun: Noun, *, plain: bool = False, singular: bool = False, conjunct: bool = False) -> Phrase:
        if noun.name:
            return Phrase(noun, noun.singular, "")
        noun = self.words.nouns[self.pick(noun.synonyms)]
        plural = not singular and self.chance(0.15 if plain else 0.25)
        modifiers: list[tuple[str, str]] = []
        if self.chance(0.2 if plain else 0.4):
            fitting = [words for concept, words in self.words.adjectives.items() if self.words.is_a(noun, concept)]
            modifiers.append(self.pick(fitting[-1]))
        for concept, compound in self.words.compounds.items():
            if self.words.is_a(noun, concept) and self.chance(0.2):
                modifiers.append((compound, "NN"))
        word = noun.plural if plural else noun.singular
        determiner = self.pick(("the", "the", "some", "") if plural else ("the", "the", "a", "this"))
        if determiner == "a" and (modifiers[0][0] if modifiers else word)[0] in "aeiou":
            determiner = "an"
        if plural and not determiner and self.chance(0.5):
            modifiers.insert(0, (self.pick(("two", "three", "four")), "CD"))
        made = Phrase(noun, word, determiner, tuple(modifiers), plural)
        sisters = [other for other in self.words.sisters(noun) if not other.name]
        if conjunct and sisters:
            second = self.pick(sisters)
            # A bare plural after an adjective: "old men and women", where the adjective may cover one or both.
            also = Phrase(second, second.plural if plural else second.singular, "" if plural else "the", (), plural)
            made = replace(made, also=also)
        return made

    def add(
        self, event: Event, *, question: bool, construction: str | None = None, group: int | None = None
    ) -> int | None:
        """Make a sentence; return its number, or None if the same words are there already."""
        label: tuple[str, str] | None = None
        kind = None
        if question:
            event = replace(event, negated=False)
            options = self.questions_about(event)
            if construction is not None:
                options = [option for option in options if option[0] == construction]
            if not options:
                return None
            construction, label, concept, slot = self.pick(options)
            if concept:
                noun = self.pick(self.words.kinds[concept])
                kind = Phrase(noun, noun.singular)
            if slot in ("agent", "theme") and construction != "how many":
                event = _singular(event, slot)
        elif construction is None:
            construction = self.pick(statements_about(event))
        made = realize(event, construction, kind=kind)
        text = " ".join(made.tree.leaves())
        if text in self._seen:
            return None
        self._seen.add(text)
        if group is None:
            group = self._groups
            self._groups += 1
        self.sentences.append(NurserySentence(made.tree, event, construction, made.predicate, made.spans, group, label))
        return len(self.sentences) - 1

    def partner(self, first: int, *, same: bool) -> NurseryPair | None:
        """Make a paraphrase or a near miss of a sentence, if there is one."""
        base = self.sentences[first]
        question = base.label is not None
        options = self.questions_about(base.event) if question else []
        labels = {name: label for name, label, _, _ in options}
        change = paraphrase if same else near_miss
        found = change(base.event, base.construction, labels, self.words, self.pick, statements_about(base.event))
        if found is None:
            return None
        event, construction, how = found
        group = base.group if same or event == base.event else None
        second = self.add(event, question=question, construction=construction, group=group)
        return None if second is None else NurseryPair(first, second, same, how)

    def questions_about(self, event: Event) -> list[tuple[str, tuple[str, str], str, str]]:
        """List the questions that an event answers: construction, type, concept asked for, slot asked for."""
        slots, verb = event.slots, event.verb
        agent, theme = self._asked(slots["agent"].noun), self._asked(slots["theme"].noun)
        found = [("which agent", _LABELS[agent], agent, "agent")]
        if agent == "person":
            found.append(("who", ("HUM", "ind"), "", "agent"))
        found += [(name, _LABELS[theme], theme, "theme") for name in ("which theme", "name the", "passive theme")]
        if all(concept not in ("living", "person", "animal") for concept in verb.slots["theme"]):
            found.append(("what", _LABELS[theme], "", "theme"))
        if slots["theme"].plural:
            found += [("how many", ("NUM", "count"), "", "theme")] * 2
        if "recipient" in slots:
            found.append(("whom", ("HUM", "ind"), "", "recipient"))
        # Not every event has a place and a time, so questions for them are drawn more often where there is one.
        if "place" in slots:
            asked = self._asked(slots["place"].noun)
            found.append(("where", ("LOC", "other"), "", "place"))
            found += [("in which place", _LABELS[asked], asked, "place")] * 4
        if event.time:
            found += [("when", ("NUM", "date"), "", "time")] * 3
        if event.time.isdigit():
            found += [("what year", ("NUM", "date"), "", "time")] * 2
        found += [(name, ("DESC", "reason"), "", "") for name in ("why", "what reason")]
        if not verb.low and "instrument" not in slots:
            found.append(("how", ("DESC", "manner"), "", ""))
        if "instrument" in slots:
            found.append(("with what", ("ENTY", "instru"), "tool", "instrument"))
        return found

    def _asked(self, noun: Noun) -> str:
        """Return the nearest concept by which questions can ask for a noun."""
        return next(
            concept for concept in (noun.concept, *self.words.ancestors(noun.concept)) if concept in self.words.kinds
        )

    def _other(self, concepts: Sequence[str], phrases: Mapping[str, Phrase]) -> Noun:
        """Draw a noun that is not in the event yet."""
        used = {phrase.noun.synonyms for phrase in phrases.values()}
        return self.pick([noun for noun in self.words.under(*concepts) if noun.synonyms not in used])

    def _belonging(self, verb: Verb) -> Phrase:
        """Draw what a person or animal has on or with it, and what the verb cannot be done with."""
        own = [
            noun
            for noun in self.words.under("accessory", "optic", "blade", "beater")
            if not self.words.is_a(noun, *verb.slots.get("with", ()))
        ]
        return self.phrase(self.pick(own), plain=True)

    def _synonymous(self, verb: Verb) -> Verb:
        return self.words.verbs[self.pick(verb.synonyms)]


def statements_about(event: Event) -> list[str]:
    """List the ways to state an event."""
    found = ["active", "active"]
    if event.time:
        found.append("fronted")
    if "recipient" in event.slots:
        found.append("dative")
    elif not event.verb.low:
        found.append("passive")
    return found


def _singular(event: Event, slot: str) -> Event:
    """Make the phrase a question asks for singular, so that the verb agrees with the question word."""
    phrase = event.slots[slot]
    if phrase.noun.name or phrase.third_singular:
        return event
    one = replace(phrase, plural=False, also=None, word=phrase.noun.singular, determiner="the", modifiers=())
    return replace(event, slots={**event.slots, slot: one})

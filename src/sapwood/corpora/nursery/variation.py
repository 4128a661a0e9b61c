"""Saying the same in other words, and saying something else in almost the same words.

A paraphrase changes words to synonyms or the construction to one of the same meaning; a near miss swaps who and whom,
names a sister concept, denies, or asks for something else. Both take an event and give one back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sapwood.corpora.nursery.grammar import Event, Phrase
from sapwood.corpora.nursery.lexicon import Lexicon

__all__ = ["near_miss", "paraphrase"]

Pick = Callable[[Sequence[Any]], Any]
Change = tuple[Event, str, str]

# Questions of one meaning.
_SAME_QUESTION = (
    {"which theme", "name the", "passive theme"},
    {"when", "what year"},
    {"why", "what reason"},
)


def paraphrase(
    event: Event,
    construction: str,
    questions: Mapping[str, tuple[str, str]],
    words: Lexicon,
    pick: Pick,
    statements: Sequence[str],
) -> Change | None:
    """Return an event, a construction and a name for how it was changed, with the meaning kept.

    Parameters
    ----------
    event, construction
        The sentence.
    questions : mapping
        The questions that the event answers, with their types; empty for statements.
    words : Lexicon
        Where synonyms come from.
    pick : callable
        Draws one of a sequence.
    statements : sequence of str
        The ways to state the event.
    """
    if construction in questions:
        ways = {
            other
            for group in _SAME_QUESTION
            for other in group
            if construction in group and other in questions and other != construction
        }
    else:
        ways = {other for other in statements if other != construction}
    changed, how = _synonyms(event, words, pick)
    if not ways or (how and pick((True, False))):
        return (changed, construction, how) if how else None
    way = pick(sorted(ways))
    # Half of the time both change, which is what makes paraphrases hard.
    return (changed, way, f"{how}, {way}") if how and pick((True, False)) else (event, way, way)


def near_miss(
    event: Event,
    construction: str,
    questions: Mapping[str, tuple[str, str]],
    words: Lexicon,
    pick: Pick,
    statements: Sequence[str],
) -> Change | None:
    """Return an event, a construction and a name for how it was changed, with another meaning; see ``paraphrase``."""
    changes: list[Change] = []
    slots = event.slots
    agent, theme = slots["agent"], slots["theme"]
    if theme.inside is None and theme.also is None and words.is_a(theme.noun, *event.verb.slots["agent"]):
        swapped = {**slots, "agent": theme, "theme": agent}
        if words.is_a(agent.noun, *event.verb.slots["theme"]):
            changes.append((replace(event, slots=swapped), construction, "swapped"))
    for slot, phrase in slots.items():
        sisters = words.sisters(phrase.noun)
        if sisters and phrase.also is None:
            other = _renamed(phrase, pick(sisters), words)
            changes.append((replace(event, slots={**slots, slot: other}), construction, f"other {slot}"))
    rivals = [
        verb
        for verb in words.verbs.values()
        if verb.synonyms != event.verb.synonyms
        and verb.low == event.verb.low
        and {"to", "with"} & verb.slots.keys() == {"to", "with"} & event.verb.slots.keys()
        and all(words.is_a(slots[slot].noun, *verb.slots[slot]) for slot in ("agent", "theme"))
        and ("instrument" not in slots or words.is_a(slots["instrument"].noun, *verb.slots["with"]))
    ]
    if rivals:
        changes.append((replace(event, verb=pick(rivals)), construction, "other verb"))
    if construction in questions:
        others = sorted(
            name for name, label in questions.items() if label != questions[construction] and name != construction
        )
        if others:
            other_question = pick(others)
            changes.append((event, other_question, f"asks {other_question}"))
        # A change of what is asked for would not show in the question.
        hidden = {"who": "agent", "which agent": "agent", "where": "place", "in which place": "place"}
        hidden |= {name: "theme" for name in ("which theme", "name the", "passive theme", "what", "how many")}
        hidden |= {"whom": "recipient", "with what": "instrument"}
        changes = [change for change in changes if change[2] != f"other {hidden.get(construction)}"]
        if construction in hidden:
            changes = [change for change in changes if change[2] != "swapped"]
    else:
        changes.append((replace(event, negated=not event.negated), construction, "denied"))
    return pick(changes) if changes else None


def _synonyms(event: Event, words: Lexicon, pick: Pick) -> tuple[Event, str]:
    """Put synonyms for the verb, nouns and adjectives that have them; at least one, each by an even chance."""
    options: list[str] = ["verb"] if len(event.verb.synonyms) > 1 else []
    for slot, phrase in event.slots.items():
        if len(phrase.noun.synonyms) > 1:
            options.append(slot)
        if any(word in words.same_adjectives for word, _ in phrase.modifiers):
            options.append(f"adjective of {slot}")
    if not options:
        return event, ""
    chosen = {pick(options)} | {option for option in options if pick((True, False))}
    for option in options:
        if option not in chosen:
            continue
        if option == "verb":
            others = [base for base in event.verb.synonyms if base != event.verb.base]
            event = replace(event, verb=words.verbs[pick(others)])
            continue
        slot = option.removeprefix("adjective of ")
        phrase = event.slots[slot]
        if option == slot:
            others = [word for word in phrase.noun.synonyms if word != phrase.noun.singular]
            phrase = _renamed(phrase, words.nouns[pick(others)], words)
        else:
            same = words.same_adjectives
            phrase = _article(replace(phrase, modifiers=tuple((same.get(w, w), tag) for w, tag in phrase.modifiers)))
        event = replace(event, slots={**event.slots, slot: phrase})
    return event, "synonyms"


def _renamed(phrase: Phrase, noun: Any, words: Lexicon) -> Phrase:
    if noun.name or phrase.noun.name:
        # A name takes no article, number or adjective, and another noun instead of a name needs an article.
        determiner = "" if noun.name else "the"
        return Phrase(noun, noun.singular, determiner, (), False, None if noun.name else phrase.inside)
    return _article(replace(phrase, noun=noun, word=noun.plural if phrase.plural else noun.singular))


def _article(phrase: Phrase) -> Phrase:
    if phrase.determiner not in ("a", "an"):
        return phrase
    following = phrase.modifiers[0][0] if phrase.modifiers else phrase.word
    return replace(phrase, determiner="an" if following[0] in "aeiou" else "a")

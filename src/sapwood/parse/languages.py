"""Whether a sentence is English, as far as its script and its most frequent words tell; no models and no data.

Models of an English package have ``language = "en"``; text that does not look English is then told of, since a parser
finds a tree for anything. What is in another script is not parsed at all. Nothing is checked for models that do not
say their language.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sapwood.callers import levels_to_user

__all__ = ["LanguageCheck", "not_english", "other_script", "warn_of_language"]

_ENGLISH_WORDS = """
the of and to in a is it you that he was for on are with as his they be at one have this from or had by not but what
all were we when your can said there an each which she do how their if will up other about out many then them these so
some her would make like him into has more no my than been who its did get may i'm n't 's 're 've 'll ca wo gon na am
any because before being between both could does down during every few here just me most much must new now off only our
over own same should such through too under until us very where while why yes please thanks two three after again also
since ever never still though those well without within against
"""
# Frequent in languages of the Latin script, and no words of English, or rare ones.
_OTHER_WORDS = """
de los las una que y en es por para con del se lo como su pero más está le les et une est dans qui pas au ce il elle
nous vous je ne sont avec mais ou où der das und ist nicht ein eine dem von zu mit auf für im sich auch sie wir ich
werden wird dass bei aus nach sind alle di che è non sono della gli dei nel alla anche questo os um uma não em com dos
mais foi ao het een niet dat zijn worden te voor op maar ook wordt och att det som på av är inte till med har jag ett og
ikke til af vi ve bir bu için ile çok olan nie się jest że jak są v je že od nem egy hogy az és
"""
_ENGLISH, _OTHERS = frozenset(_ENGLISH_WORDS.split()), frozenset(_OTHER_WORDS.split())
# In shorter sentences only the script counts; in others so few frequent words of English are suspicious.
_LEAST_WORDS, _FEW = 5, 0.1


def not_english(words: Sequence[str]) -> str | None:
    """Return why a sentence does not look English, or None if it may be.

    Another script is enough; of words in Latin letters there must be several, few of them frequent in English, and more
    that are frequent in other languages or have letters with accents.

    Examples
    --------
    >>> not_english("Les êtres humains naissent libres et égaux en dignité et en droits .".split())
    '0 % of its words are frequent in English, 66 % in other languages'
    >>> not_english("Все люди рождаются свободными".split())
    '100 % of its letters are Cyrillic'
    >>> not_english("All human beings are born free and equal in dignity and rights .".split()) is None
    True
    """
    if (script := other_script(words)) is not None:
        return script
    known = [word for word in words if word[:1].isalpha() or word[:1] == "'"]
    # In small letters it is a word of Polish and others.
    english = sum(word == "I" or word.lower() in _ENGLISH for word in known)
    others = sum(word.lower() in _OTHERS or any(map(_is_foreign, word)) for word in known)
    if len(known) < _LEAST_WORDS or english > _FEW * len(known) or others < max(2, 2 * english):
        return None
    shares = [100 * count // len(known) for count in (english, others)]
    return f"{shares[0]} % of its words are frequent in English, {shares[1]} % in other languages"


def other_script(words: Sequence[str]) -> str | None:
    """Return why a sentence is in another script than English, or None if it is not.

    >>> other_script(["λ", "=", "0.4"]) is None  # a single letter is a symbol
    True
    """
    if all(map(str.isascii, words)):
        return None
    letters = Counter(_script(letter) for word in words for letter in word if letter.isalpha())
    if not letters:
        return None
    (script, count), total = letters.most_common(1)[0], letters.total()
    if script == "Latin" or 2 * count <= total or count == 1:
        return None
    return f"{100 * count // total} % of its letters are {script}"


def _is_foreign(letter: str) -> bool:
    return not letter.isascii() and letter.isalpha()


def _script(letter: str) -> str:
    """Return the script of a letter, as the first word of its name says it."""
    if letter.isascii():
        return "Latin"
    name = unicodedata.name(letter, "unknown").partition(" ")[0]
    return {"CJK": "Chinese characters", "FULLWIDTH": "Latin"}.get(name, name.capitalize())


class LanguageCheck:
    """Counts the sentences of a text that are not in the language of a model.

    Parameters
    ----------
    language : str or None
        The language of the model; other than ``"en"``, nothing is counted.
    """

    def __init__(self, language: str | None) -> None:
        self.language, self.total, self.count = language, 0, 0
        self.places: list[Any] = []
        self.first = ""

    def add(self, words: Sequence[str], place: Any) -> None:
        """Look at one sentence; ``place`` is what it is called in the message."""
        if self.language != "en":
            return
        self.total += 1
        reason = not_english(words)
        if reason is not None:
            self.first = self.first or f"{' '.join(words)[:60]!r}: {reason}"
            self.count += 1
            # A handful of places is enough to go and look.
            if len(self.places) < 5 and place not in self.places:
                self.places.append(place)

    def message(self, places: str) -> str | None:
        """Return what to tell of the text, or None if there is nothing; ``places`` is what places are called."""
        if not self.count:
            return None
        more = " and others" if self.count > len(self.places) else ""
        where = f"{places} {', '.join(map(str, self.places))}{more}"
        return (
            f"{self.count:,} of {self.total:,} sentences do not look like English, which the model is for: {where}. "
            f"{self.first}. Its answers for them are not reliable."
        )


def warn_of_language(language: str | None, sentences: Iterable[Sequence[str]]) -> None:
    """Warn once if sentences are not in the language of a model."""
    check = LanguageCheck(language)
    for number, words in enumerate(sentences):
        check.add(words, number)
    message = check.message("sentence" if len(check.places) == 1 else "sentences")
    if message is not None:
        warnings.warn(message, UserWarning, stacklevel=levels_to_user())

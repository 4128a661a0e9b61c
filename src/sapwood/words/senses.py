"""What kinds of things words mean: WordNet's supersenses.

A supersense is the lexicographer's file that a word's most frequent sense stands in: one of 45 classes such as
``noun.person`` or ``verb.motion``. How similar two words are belongs to ``wordnet`` and ``taxonomy``.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.callers import levels_to_user
from sapwood.errors import DataError
from sapwood.registry import Reader, Writer, register
from sapwood.words.lemmas import lemma
from sapwood.words.wordnet_files import WordNetFiles, base_forms, open_wordnet

__all__ = ["WordSenses", "find_senses"]

# The lexicographers' files in the order of their numbers; not every WordNet comes with its list of them.
_NOUNS = """Tops act animal artifact attribute body cognition communication event feeling food group location motive
object person phenomenon plant possession process quantity relation shape state substance time"""
_VERBS = """body change cognition communication competition consumption contact creation emotion motion perception
possession social stative weather"""
_NAMES = [
    "adj.all",
    "adj.pert",
    "adv.all",
    *(f"noun.{name}" for name in _NOUNS.split()),
    *(f"verb.{name}" for name in _VERBS.split()),
    "adj.ppl",
]
_PARTS = {"NN": "noun", "VB": "verb", "JJ": "adj", "RB": "adv"}


@dataclass(frozen=True)
class _Files:
    """Words of one part of speech in WordNet's own files."""

    files: WordNetFiles

    def first_sense(self, form: str, *, inflected: bool) -> int | None:
        """Return the number of the lexicographer's file of the first sense of a word in lower case, if it has one."""
        found = self.files.synsets(form, inflected=inflected)
        return int(self.files.fields(found[0])[1]) if found else None


@dataclass(frozen=True)
class _Listed:
    """The same as model files carry it: the number of each word's first sense, and base forms of irregular words."""

    part: str
    numbers: dict[str, int]
    exceptions: dict[str, list[str]]

    @classmethod
    def of(cls, words: _Files | _Listed) -> _Listed:
        """List what WordNet's files say."""
        return words if isinstance(words, _Listed) else cls._of_files(words.files)

    @classmethod
    def _of_files(cls, files: WordNetFiles) -> _Listed:
        # Tokens have no spaces, so compounds are looked up as base forms alone.
        exceptions = {form: found for form, found in sorted(files.exceptions.items()) if "_" not in form}
        bases = {base for some in exceptions.values() for base in some}
        words = sorted(word for word in files.words if "_" not in word or word in bases)
        senses = ((word, _Files(files).first_sense(word, inflected=False)) for word in words)
        return cls(files.part, {word: number for word, number in senses if number is not None}, exceptions)

    def first_sense(self, form: str, *, inflected: bool) -> int | None:
        """Return the same."""
        number = self.numbers.get(form)
        if number is None and inflected:
            bases = base_forms(form, self.part, self.exceptions)
            number = next((self.numbers[base] for base in bases if base in self.numbers), None)
        return number


class WordSenses:
    """Supersenses from WordNet.

    Model files carry them for all single words, so that what is loaded needs no WordNet.

    Parameters
    ----------
    path : str, optional
        The folder with WordNet's files; by default NLTK's data folders and the system's usual places are searched.

    Raises
    ------
    DataError
        If no WordNet is found, or not the whole of it: where it was looked for and what to install.
    """

    def __init__(self, path: str | None = None) -> None:
        self._parts: dict[str, _Files | _Listed] = {
            tag: _Files(open_wordnet(path, part)) for tag, part in _PARTS.items()
        }

    def supersense(self, word: str, tag: str) -> str:
        """Return the supersense of the first sense of a word with this Penn tag; empty if it has none.

        The word is looked up by its base form or, if WordNet does not list that, as WordNet itself finds base forms.
        """
        words = self._parts.get(tag[:2])
        if words is None:
            return ""
        form = word.replace(" ", "_")
        number = words.first_sense(lemma(form, tag), inflected=False)
        if number is None:
            number = words.first_sense(form.lower(), inflected=not tag.startswith("NNP"))
        return _NAMES[number] if number is not None and number < len(_NAMES) else ""


def find_senses() -> WordSenses | None:
    """Return WordNet's supersenses, or None with a warning that says what to install."""
    try:
        return WordSenses()
    except DataError as error:
        warnings.warn(
            f"supersenses are left out, which costs a little accuracy: {error}",
            UserWarning,
            stacklevel=levels_to_user(),
        )
        return None


def _write(senses: WordSenses, writer: Writer) -> dict[str, Any]:
    data = {}
    for tag, words in senses._parts.items():
        listed = _Listed.of(words)
        exceptions = (" ".join([form, *bases]) for form, bases in listed.exceptions.items())
        data[tag] = {
            "words": writer.array(np.frombuffer("\n".join(listed.numbers).encode(), np.uint8)),
            "senses": writer.array(np.array(list(listed.numbers.values()), np.uint8)),
            "exceptions": writer.array(np.frombuffer("\n".join(exceptions).encode(), np.uint8)),
        }
    return data


def _read(data: dict[str, Any], reader: Reader) -> WordSenses:
    def lines(name: Any) -> list[str]:
        text = reader.array(name, np.uint8, 1).tobytes().decode()
        return text.split("\n") if text else []

    senses = WordSenses.__new__(WordSenses)
    senses._parts = {}
    for tag, part in _PARTS.items():
        words = lines(data[tag]["words"])
        numbers = reader.indices(data[tag]["senses"], len(_NAMES), np.uint8, count=len(words)).tolist()
        exceptions = {form: bases for form, *bases in map(str.split, lines(data[tag]["exceptions"]))}
        senses._parts[tag] = _Listed(part, dict(zip(words, numbers, strict=True)), exceptions)
    return senses


register("WordSenses", WordSenses, _write, _read)

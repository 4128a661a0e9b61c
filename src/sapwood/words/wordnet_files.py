"""WordNet's own files: where they are, and what they say of a word; NLTK is not needed, but its data is found.

How similar words are belongs to ``wordnet``, what kind of thing they mean to ``senses``.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from sapwood.errors import DataError
from sapwood.nltk_data import nltk_search_path

__all__ = ["WordNetFiles", "age", "base_forms", "find_wordnet", "open_wordnet"]

_FILES = ("index.noun", "data.noun")
# How words lose their endings, longest first.
_ENDINGS = {
    "noun": "ches:ch shes:sh ses:s xes:x zes:z men:man ies:y s:",
    "verb": "ies:y ing:e ing: es:e es: ed:e ed: s:",
    "adj": "est:e est: er:e er:",
    "adv": "",
}
_RULES = {part: [rule.split(":") for rule in text.split()] for part, text in _ENDINGS.items()}


class WordNetFiles:
    """The files of one part of speech.

    Parameters
    ----------
    place : str
        A folder or an archive.
    part : {"noun", "verb", "adj", "adv"}
        The ending of their names.

    Raises
    ------
    DataError
        If one of them is missing. Without exceptions, irregular forms are not found.
    """

    def __init__(self, place: str, part: str) -> None:
        self.place, self.part = place, part
        try:
            self.data = _read(place, f"data.{part}")
            lines = _read(place, f"index.{part}").splitlines()
        except OSError as error:
            raise DataError(
                f"{place}: WordNet's files for {part}s are missing ({error}); install the whole of WordNet."
            ) from None
        # Lines that begin with a space are the licence.
        entries = [line for line in lines if line and not line.startswith(b" ")]
        self._index = {line[: line.index(b" ")].decode("utf-8", "replace"): line for line in entries}

    @property
    def words(self) -> Iterable[str]:
        """All words, those of compounds with ``_`` between them."""
        return self._index.keys()

    @cached_property
    def exceptions(self) -> dict[str, list[str]]:
        """The base forms of irregular forms."""
        try:
            lines = _read(self.place, f"{self.part}.exc").decode("utf-8", "replace").splitlines()
        except OSError:
            return {}
        return {form: bases for form, *bases in map(str.split, filter(str.strip, lines))}

    def synsets(self, form: str, *, inflected: bool = True) -> list[int]:
        """Return the synsets of a word in lower case, the most frequent first; none if it is not listed.

        Parameters
        ----------
        form : str
            With ``_`` between the words of a compound.
        inflected : bool
            Whether a word that is not listed is looked up by its base forms.
        """
        line = self._index.get(form)
        if line is None and inflected:
            bases = base_forms(form, self.part, self.exceptions)
            line = next((self._index[base] for base in bases if base in self._index), None)
        if line is None:
            return []
        fields = line.split()
        return [int(offset) for offset in fields[len(fields) - int(fields[2]) :]]

    def fields(self, synset: int) -> list[bytes]:
        """Return what the line of a synset says before its gloss.

        Raises
        ------
        DataError
            If there is no synset at this place.
        """
        fields = self.data[synset : self.data.find(b"\n", synset)].split(b" | ", 1)[0].split()
        if len(fields) < 5 or not fields[0].isdigit() or int(fields[0]) != synset:
            raise DataError(
                f"{self.place}: data.{self.part} has no synset at {synset}, where index.{self.part} or a pointer says "
                "there is one; the files belong to different versions or are damaged. Install WordNet again."
            )
        return fields


def base_forms(form: str, part: str, exceptions: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what may be the base form of a word in lower case, as WordNet does.

    >>> list(base_forms("boxes", "noun", {"oxen": ["ox"]})), list(base_forms("oxen", "noun", {"oxen": ["ox"]}))
    (['box', 'boxe'], ['ox'])
    """
    yield from exceptions.get(form, [])
    # Words such as "is" or "gas" are not plurals of one or two letters.
    if len(form) > 3 and not form.endswith("ss"):
        for ending, stem in _RULES[part]:
            if form.endswith(ending):
                yield form[: len(form) - len(ending)] + stem


@lru_cache(maxsize=8)
def _load(place: str, part: str, age: int) -> WordNetFiles:
    return WordNetFiles(place, part)


def open_wordnet(path: str | None, part: str) -> WordNetFiles:
    """Return the files of one part of speech; they are large, and read once per process unless they change."""
    place = find_wordnet(path)
    return _load(place, part, age(place))


def age(place: str) -> int:
    """Return when a file, or the WordNet in a folder, was last changed."""
    return os.stat(place if os.path.isfile(place) else os.path.join(place, "data.noun")).st_mtime_ns


def _candidates() -> list[str]:
    places = [os.environ["WNSEARCHDIR"]] if os.environ.get("WNSEARCHDIR") else []
    places += [os.path.join(os.environ["WNHOME"], "dict")] if os.environ.get("WNHOME") else []
    for root in nltk_search_path():
        places += [os.path.join(root, "corpora", "wordnet"), os.path.join(root, "corpora", "wordnet.zip")]
    return [*places, "/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/local/WordNet-3.0/dict"]


def find_wordnet(path: str | None = None) -> str:
    """Return the folder or archive in which WordNet's nouns lie: the one given, or the first of the usual places.

    Raises
    ------
    DataError
        If there is none: where it was looked for and what to install.
    """
    places = _candidates() if path is None else [path]
    for place in places:
        if _holds(place):
            return place
    raise DataError(
        f"no WordNet found: looked for {' and '.join(_FILES)} in {', '.join(places)}. "
        "Install it with `apt-get install wordnet-base` or `python -m nltk.downloader wordnet`, or say where it is "
        "with WordNet(path=...)."
    )


def _holds(place: str) -> bool:
    if place.endswith(".zip") and os.path.isfile(place):
        try:
            with zipfile.ZipFile(place) as archive:
                names = {name.rsplit("/", 1)[-1] for name in archive.namelist()}
        except (OSError, zipfile.BadZipFile):
            return False
        return names.issuperset(_FILES)
    return all(os.path.isfile(os.path.join(place, name)) for name in _FILES)


def _read(place: str, name: str) -> bytes:
    if not place.endswith(".zip"):
        return Path(place, name).read_bytes()
    with zipfile.ZipFile(place) as archive:
        for member in archive.namelist():
            if member.rsplit("/", 1)[-1] == name:
                return archive.read(member)
    raise FileNotFoundError(f"no {name} in the archive")

"""WordNet's nouns as a taxonomy, read from its own files; NLTK is not needed, but its data is found.

Where the files are, how they are read and which lemma a word belongs to is here; the similarity itself is that of
``taxonomy``.
"""

from __future__ import annotations

import gzip
import os
import sys
import zipfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.errors import DataError, ParameterError
from sapwood.words.hierarchy import Hierarchy, information_content
from sapwood.words.taxonomy import Superconcepts

__all__ = ["WordNet", "find_wordnet"]

# How English nouns lose their endings, longest first.
_ENDINGS = (
    ("ches", "ch"),
    ("shes", "sh"),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("men", "man"),
    ("ies", "y"),
    ("s", ""),
)
_FILES = ("index.noun", "data.noun")
_MOST_SENSES = 6


class WordNet(Superconcepts):
    """Words compared through the noun hierarchy of WordNet.

    A word stands for its most frequent noun sense, whatever its part of speech; words without one are unknown. A
    compound that WordNet does not list stands for its head: ``baseball_fan`` for ``fan``, but not ``prime_minister``
    for ``minister``.
    Instances ("Paris") lie under what they are instances of.

    Parameters
    ----------
    weights : {"lin", "full", "path", "wu-palmer", "resnik"}
        How superconcepts are weighted; see ``Taxonomy``.
    senses : {"first", "all"}
        The first noun sense only, or up to six senses, each of length 1 and divided by its rank.
    information : str
        Where P of a concept comes from: ``"intrinsic"`` counts the synsets under it; anything else is an information
        content file in the format of WordNet::Similarity (plain or gzipped), as a path or as the name of a file
        in NLTK's ``wordnet_ic``, such as ``"ic-brown.dat"``. Used by the Lin and Resnik weights.
    inflected : bool
        Whether words that WordNet does not list are looked up by their singular.
    normalized : bool
        Whether a word is 1 with itself.
    path : str, optional
        The folder with ``index.noun`` and ``data.noun``. By default NLTK's data folders and the system's usual
        places are searched.

    Raises
    ------
    DataError
        If no WordNet is found: where it was looked for and what to install.

    Examples
    --------
    Files are read when the first word is looked up, so a kernel can be written down without them.

    >>> WordNet(weights="path", senses="all")
    WordNet(weights='path', senses='all')
    """

    def __init__(
        self,
        *,
        weights: str = "lin",
        senses: str = "first",
        information: str = "intrinsic",
        inflected: bool = True,
        normalized: bool = True,
        path: str | None = None,
    ) -> None:
        super().__init__()
        self.weights, self.senses, self.information = weights, senses, information
        self.inflected, self.normalized, self.path = inflected, normalized, path
        self._check()
        if senses not in ("first", "all"):
            raise ParameterError(f'senses must be "first" or "all", got {senses!r}.')
        if not isinstance(inflected, (bool, np.bool_)):
            raise ParameterError(f"inflected must be True or False, got {inflected!r}.")
        for name, value in (("information", information), ("path", path or "")):
            if not isinstance(value, (str, os.PathLike)):
                raise ParameterError(f"{name} must be text, got {value!r}.")
        self._loaded: _Nouns | None = None

    @staticmethod
    def installed() -> bool:
        """Whether WordNet is found in one of the usual places; nothing is read."""
        return any(_holds(place) for place in _candidates())

    def _nouns(self) -> _Nouns:
        # Files are read when the first word is looked up, so that a kernel can be written down anywhere.
        if self._loaded is None:
            place = find_wordnet(None if self.path is None else os.fspath(self.path))
            counts = None
            if self.weights in ("lin", "resnik") and self.information != "intrinsic":
                counts = _find_counts(os.fspath(self.information))
            self._loaded = _load(place, counts, (_age(place), counts and _age(counts)))
        return self._loaded

    def _hierarchy(self) -> Hierarchy:
        return self._nouns()

    def _width(self) -> int:
        return self._nouns().width

    def _senses(self, word: str) -> Sequence[int]:
        found = self._nouns().senses(word, inflected=bool(self.inflected))
        return found[: 1 if self.senses == "first" else _MOST_SENSES]

    def _key(self) -> tuple[Any, ...]:
        return self.weights, self.senses, self.information, self.inflected, self.normalized, self.path

    def __repr__(self) -> str:
        shown = [f"weights={self.weights!r}"]
        defaults = (("senses", "first"), ("information", "intrinsic"), ("inflected", True), ("normalized", True))
        shown += [f"{name}={getattr(self, name)!r}" for name, default in defaults if getattr(self, name) != default]
        shown += [] if self.path is None else [f"path={os.fspath(self.path)!r}"]
        return f"WordNet({', '.join(shown)})"


class _Nouns(Hierarchy):
    """The noun files; concepts are the byte offsets of synsets in data.noun."""

    def __init__(self, place: str, counts: str | None) -> None:
        super().__init__()
        self._data = _read(place, "data.noun")
        self.width = len(self._data)
        self._index: dict[str, bytes] = {}
        for line in _read(place, "index.noun").splitlines():
            if line and not line.startswith(b" "):
                self._index[line[: line.index(b" ")].decode("utf-8", "replace")] = line
        self._exceptions: dict[str, list[str]] = {}
        try:
            lines = _read(place, "noun.exc").decode("utf-8", "replace").splitlines()
        except (OSError, KeyError):
            lines = []
        for words in map(str.split, lines):
            if len(words) > 1:
                self._exceptions[words[0]] = words[1:]
        self._place = place
        self._parents: dict[int, tuple[int, ...]] = {}
        self._counts: dict[int, float] | None = None
        self._total = self._least = 1.0
        if counts is not None:
            self._use(*_read_counts(counts))

    def parents(self, concept: int) -> tuple[int, ...]:
        known = self._parents.get(concept)
        if known is None:
            known = self._parents[concept] = self._parse(concept)
        return known

    def information(self, concept: int) -> float:
        if self._counts is None:
            self._count_synsets()
        assert self._counts is not None
        return information_content(max(self._counts.get(concept, 0.0), self._least), self._total)

    def senses(self, word: str, *, inflected: bool) -> Sequence[int]:
        form = word.lower().replace(" ", "_")
        line = self._find(form, inflected)
        while line is None and "_" in form:
            form = form.partition("_")[2]
            line = self._find(form, inflected)
        if line is None:
            return []
        fields = line.split()
        return [int(offset) for offset in fields[len(fields) - int(fields[2]) :]]

    def _find(self, form: str, inflected: bool) -> bytes | None:
        line = self._index.get(form)
        if line is None and inflected:
            line = next((self._index[base] for base in self._bases(form) if base in self._index), None)
        return line

    def _bases(self, form: str) -> Iterator[str]:
        yield from self._exceptions.get(form, [])
        # Words such as "is" or "gas" are not plurals of one or two letters.
        if len(form) > 3 and not form.endswith("ss"):
            for ending, singular in _ENDINGS:
                if form.endswith(ending):
                    yield form[: len(form) - len(ending)] + singular

    def _parse(self, offset: int) -> tuple[int, ...]:
        line = self._data[offset : self._data.find(b"\n", offset)]
        fields = line.split(b" | ", 1)[0].split()
        if len(fields) < 5 or not fields[0].isdigit() or int(fields[0]) != offset:
            raise DataError(
                f"{self._place}: data.noun has no synset at {offset}, where index.noun or a pointer says there is one; "
                "the files belong to different versions or are damaged. Install WordNet again."
            )
        at = 4 + 2 * int(fields[3], 16)
        pointers = fields[at + 1 : at + 1 + 4 * int(fields[at])]
        above = [
            int(pointers[k + 1])
            for k in range(0, len(pointers), 4)
            if pointers[k] in (b"@", b"@i") and pointers[k + 2] == b"n"
        ]
        return tuple(dict.fromkeys(above))

    def _count_synsets(self) -> None:
        counts: dict[int, float] = {}
        start, total = 0, 0
        while start < len(self._data):
            end = self._data.find(b"\n", start)
            if self._data[start : start + 1] != b" ":
                total += 1
                for ancestor in self.ancestors(start):
                    counts[ancestor] = counts.get(ancestor, 0.0) + 1.0
            start = end + 1 if end >= 0 else len(self._data)
        self._use(counts, float(total))

    def _use(self, counts: dict[int, float], total: float) -> None:
        self._counts, self._total = counts, total
        # A synset never seen counts as the rarest one that was.
        self._least = min(count for count in counts.values() if count > 0)


@lru_cache(maxsize=4)
def _load(place: str, counts: str | None, ages: object) -> _Nouns:
    """Read the files once per process: they are large, and similarities are made by the dozen in a search."""
    return _Nouns(place, counts)


def _age(place: str) -> int:
    return os.stat(place if os.path.isfile(place) else os.path.join(place, "data.noun")).st_mtime_ns


def _roots() -> list[str]:
    """Return the folders where NLTK keeps its data, without importing it."""
    nltk = sys.modules.get("nltk.data")
    roots = [str(entry) for entry in getattr(nltk, "path", [])]
    roots += [entry for entry in os.environ.get("NLTK_DATA", "").split(os.pathsep) if entry]
    roots.append(os.path.expanduser("~/nltk_data"))
    roots += [os.path.join(sys.prefix, *rest) for rest in (["nltk_data"], ["share", "nltk_data"], ["lib", "nltk_data"])]
    roots += [f"{start}/{rest}/nltk_data" for rest in ("share", "lib") for start in ("/usr", "/usr/local")]
    return list(dict.fromkeys(roots))


def _candidates() -> list[str]:
    places = [os.environ[name] for name in ("WNSEARCHDIR",) if os.environ.get(name)]
    places += [os.path.join(os.environ[name], "dict") for name in ("WNHOME",) if os.environ.get(name)]
    for root in _roots():
        places += [os.path.join(root, "corpora", "wordnet"), os.path.join(root, "corpora", "wordnet.zip")]
    return [*places, "/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/local/WordNet-3.0/dict"]


def find_wordnet(path: str | None = None) -> str:
    """Return the folder or archive in which WordNet's nouns lie, if not in the one given then in the usual places.

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
    raise KeyError(name)


def _find_counts(name: str) -> str:
    places = [name]
    if not os.path.dirname(name):
        folders = [os.path.join(root, "corpora", "wordnet_ic") for root in _roots()]
        places += [os.path.join(folder, name + ending) for folder in folders for ending in ("", ".gz")]
    for place in places:
        if os.path.isfile(place):
            return place
    raise DataError(
        f"no information content file: looked for {', '.join(places)}. Install NLTK's with "
        '`python -m nltk.downloader wordnet_ic`, give the path of one, or use information="intrinsic".'
    )


def _read_counts(path: str) -> tuple[dict[int, float], float]:
    """Return the frequency of every synset, with all below it, and that of all roots together."""
    counts: dict[int, float] = {}
    total = 0.0
    try:
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as stream:
            for number, line in enumerate(stream, 1):
                fields = line.split()
                if number == 1 and line.startswith("wnver"):
                    continue
                if len(fields) not in (2, 3) or fields[0][-1] not in "nv":
                    raise ValueError(f"line {number}: expected something like '1740n 1915712 ROOT'")
                if fields[0].endswith("n"):
                    counts[int(fields[0][:-1])] = float(fields[1])
                    total += float(fields[1]) if len(fields) == 3 else 0.0
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: is no information content file ({error}).") from None
    if total <= 0 or not any(count > 0 for count in counts.values()):
        raise DataError(f"{path}: is no information content file (it has no noun root with a count).")
    return counts, total

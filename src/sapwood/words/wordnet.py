"""WordNet's nouns as a taxonomy, with counts of their own or of a file.

Where WordNet is and how its files are read belongs to ``wordnet_files``; the similarity itself is that of
``taxonomy``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from sapwood.checks import check_choice, check_flag
from sapwood.errors import DataError, ParameterError
from sapwood.nltk_data import nltk_search_path
from sapwood.text_files import lines
from sapwood.words.hierarchy import Hierarchy, information_content
from sapwood.words.taxonomy import Superconcepts
from sapwood.words.wordnet_files import age, find_wordnet, open_wordnet

__all__ = ["WordNet"]

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
        content file in the format of WordNet::Similarity (plain or compressed), as a path or as the name of a file
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
        check_choice(senses, "senses", ("first", "all"))
        check_flag(inflected, "inflected")
        for name, value in (("information", information), ("path", path or "")):
            if not isinstance(value, (str, os.PathLike)):
                raise ParameterError(f"{name} must be text, got {value!r}.")
        self.weights, self.senses, self.information = weights, senses, os.fspath(information)
        self.inflected, self.normalized, self.path = inflected, normalized, None if path is None else os.fspath(path)
        self._check()
        self._loaded: _Nouns | None = None

    @staticmethod
    def installed() -> bool:
        """Whether WordNet is found in one of the usual places; nothing is read."""
        try:
            return bool(find_wordnet())
        except DataError:
            return False

    def _nouns(self) -> _Nouns:
        # Files are read when the first word is looked up, so that a kernel can be written down anywhere.
        if self._loaded is None:
            place = find_wordnet(self.path)
            counts = None
            if self.weights in ("lin", "resnik") and self.information != "intrinsic":
                counts = _find_counts(self.information)
            self._loaded = _load(place, counts, (age(place), counts and age(counts)))
        return self._loaded

    def _hierarchy(self) -> Hierarchy:
        return self._nouns()

    def _width(self) -> int:
        return self._nouns().width

    def _senses(self, word: str) -> Sequence[int]:
        found = self._nouns().senses(word, inflected=bool(self.inflected))
        return found[: 1 if self.senses == "first" else _MOST_SENSES]


class _Nouns(Hierarchy):
    """The noun files; concepts are the byte offsets of synsets in data.noun."""

    def __init__(self, place: str, counts: str | None) -> None:
        super().__init__()
        self._files = open_wordnet(place, "noun")
        self.width = len(self._files.data)
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
        found = self._files.synsets(form, inflected=inflected)
        while not found and "_" in form:
            form = form.partition("_")[2]
            found = self._files.synsets(form, inflected=inflected)
        return found

    def _parse(self, synset: int) -> tuple[int, ...]:
        fields = self._files.fields(synset)
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
        for line in self._files.data.splitlines(keepends=True):
            if not line.startswith(b" "):
                total += 1
                for ancestor in self.ancestors(start):
                    counts[ancestor] = counts.get(ancestor, 0.0) + 1.0
            start += len(line)
        self._use(counts, float(total))

    def _use(self, counts: dict[int, float], total: float) -> None:
        self._counts, self._total = counts, total
        # A synset never seen counts as the rarest one that was.
        self._least = min(count for count in counts.values() if count > 0)


@lru_cache(maxsize=4)
def _load(place: str, counts: str | None, ages: object) -> _Nouns:
    """Read the files once per process: they are large, and similarities are made by the dozen in a search."""
    return _Nouns(place, counts)


def _find_counts(name: str) -> str:
    places = [name]
    if not os.path.dirname(name):
        folders = [os.path.join(root, "corpora", "wordnet_ic") for root in nltk_search_path()]
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
    for line in lines(path):
        fields = line.text.split()
        if line.number == 1 and line.text.startswith("wnver"):
            continue
        try:
            if len(fields) not in (2, 3) or fields[0][-1] not in "nv":
                raise ValueError
            if fields[0].endswith("n"):
                counts[int(fields[0][:-1])] = float(fields[1])
                total += float(fields[1]) if len(fields) == 3 else 0.0
        except ValueError:
            fault = "this is no information content file: expected something like '1740n 1915712 ROOT'"
            raise line.fault(fault) from None
    if total <= 0 or not any(count > 0 for count in counts.values()):
        raise DataError(f"{path}: is no information content file (it has no noun root with a count).")
    return counts, total

"""Base forms and supersenses of words, read from WordNet's files.

A supersense is the lexicographer's file that a word's most frequent sense stands in: one of 45 classes such as
``noun.person`` or ``verb.motion``. How alike two words are belongs to ``wordnet`` and ``taxonomy``.
"""

from __future__ import annotations

from functools import lru_cache

from sapwood.errors import DataError
from sapwood.words.lemmas import lemma as rule_lemma
from sapwood.words.wordnet import _age, _read, find_wordnet

__all__ = ["WordSenses", "plain_lemma"]

# The lexicographers' files in the order of their numbers.
_NAMES = [
    "adj.all",
    "adj.pert",
    "adv.all",
    "noun.Tops",
    "noun.act",
    "noun.animal",
    "noun.artifact",
    "noun.attribute",
    "noun.body",
    "noun.cognition",
    "noun.communication",
    "noun.event",
    "noun.feeling",
    "noun.food",
    "noun.group",
    "noun.location",
    "noun.motive",
    "noun.object",
    "noun.person",
    "noun.phenomenon",
    "noun.plant",
    "noun.possession",
    "noun.process",
    "noun.quantity",
    "noun.relation",
    "noun.shape",
    "noun.state",
    "noun.substance",
    "noun.time",
    "verb.body",
    "verb.change",
    "verb.cognition",
    "verb.communication",
    "verb.competition",
    "verb.consumption",
    "verb.contact",
    "verb.creation",
    "verb.emotion",
    "verb.motion",
    "verb.perception",
    "verb.possession",
    "verb.social",
    "verb.stative",
    "verb.weather",
    "adj.ppl",
]
_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_ENDINGS = {
    "n": "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
    "v": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "a": "er: est: er:e est:e",
    "r": "",
}
_RULES = {
    part: [tuple(rule.partition(":")[::2]) for rule in sorted(text.split(), key=lambda rule: -rule.index(":"))]
    for part, text in _ENDINGS.items()
}
_PRONOUNS = {
    "am": "be", "are": "be", "is": "be", "was": "be", "were": "be", "been": "be", "being": "be", "'s": "be",
    "'re": "be", "'m": "be", "has": "have", "had": "have", "'ve": "have", "having": "have", "does": "do", "did": "do",
    "done": "do", "n't": "not", "ca": "can", "wo": "will", "'ll": "will", "'d": "would",
}  # fmt: skip


def part_of_speech(tag: str) -> str:
    """Return WordNet's part of speech for a Penn tag: n, v, a, r, or nothing.

    >>> [part_of_speech(tag) for tag in ("NNS", "VBZ", "JJR", "RB", "IN")]
    ['n', 'v', 'a', 'r', '']
    """
    return {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}.get(tag[:2], "")


def plain_lemma(word: str, tag: str) -> str:
    """Find the base form of an English word by rule; the resort where there is no WordNet.

    >>> plain_lemma("dogs", "NNS"), plain_lemma("is", "VBZ"), plain_lemma("barked", "VBD")
    ('dog', 'be', 'bark')
    """
    form = word.lower()
    if tag[:1] in "VM" or tag == "RB":
        known = _PRONOUNS.get(form)
        if known is not None:
            return known
    return rule_lemma(word, tag)


class WordSenses:
    """Base forms and supersenses from WordNet.

    Parameters
    ----------
    path : str, optional
        The folder with WordNet's files; by default NLTK's data folders and the system's usual places are searched.

    Raises
    ------
    DataError
        If no WordNet is found: where it was looked for and what to install.
    """

    def __init__(self, path: str | None = None) -> None:
        place = find_wordnet(path)
        self._files = _load(place, _age(place))

    def lemma(self, word: str, tag: str) -> str:
        """Return the base form of a word with this Penn tag; its lower-case form if WordNet has none."""
        form = word.lower()
        part = part_of_speech(tag)
        if part == "v" or tag in ("MD", "RB"):
            known = _PRONOUNS.get(form)
            if known is not None:
                return known
        if not part or tag.startswith("NNP"):
            return form
        index, exceptions = self._files[part][0], self._files[part][1]
        # "To found" and "they lay" are base forms, though "found" and "lay" are exceptions as well.
        if tag in ("VB", "VBP") and form in index:
            return form
        if form in exceptions:
            return exceptions[form]
        if tag == "NN" and form in index:
            return form
        for ending, stem in _RULES[part]:
            if form.endswith(ending) and len(form) > len(ending) + 1 and not (ending == "s" and form.endswith("ss")):
                base = form[: len(form) - len(ending)] + stem
                if base in index:
                    return base
                # A doubled consonant belongs to the ending: running, bigger.
                if stem == "" and len(base) > 3 and base[-1] == base[-2] and base[:-1] in index:
                    return base[:-1]
        return form

    def supersense(self, lemma: str, tag: str) -> str:
        """Return the supersense of the first sense of a base form with this Penn tag; empty if it has none."""
        part = part_of_speech(tag)
        if not part:
            return ""
        index, _, data = self._files[part]
        line = index.get(lemma.lower().replace(" ", "_"))
        if line is None:
            return ""
        fields = line.split()
        offset = int(fields[len(fields) - int(fields[2])])
        number = data[offset : offset + 20].split()[1]
        return _NAMES[int(number)] if number.isdigit() and int(number) < len(_NAMES) else ""


@lru_cache(maxsize=2)
def _load(place: str, age: int) -> dict[str, tuple[dict[str, bytes], dict[str, str], bytes]]:
    """Read the files once per process."""
    found = {}
    for part, name in _FILES.items():
        index: dict[str, bytes] = {}
        exceptions: dict[str, str] = {}
        try:
            for line in _read(place, f"index.{name}").splitlines():
                if not line.startswith(b" "):
                    index[line[: line.index(b" ")].decode("utf-8", "replace")] = line
            for words in map(str.split, _read(place, f"{name}.exc").decode("utf-8", "replace").splitlines()):
                if len(words) > 1:
                    exceptions.setdefault(words[0], words[1])
            found[part] = index, exceptions, _read(place, f"data.{name}")
        except (OSError, KeyError) as error:
            raise DataError(
                f"{place}: WordNet's files for {name}s are missing ({error}); install the whole of WordNet."
            ) from None
    return found

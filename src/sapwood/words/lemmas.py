"""The base form of English words by rule: without a dictionary, so that models do not depend on what is installed.

Inflection is all that is undone: plurals, tenses, degrees. Rare words may come out a letter short, but all forms of a
word come out the same. Looking words up in WordNet belongs to ``wordnet_files``.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from sapwood.penn import ADJECTIVE_TAGS, ADVERB_TAGS, AUXILIARY_TAGS

__all__ = ["lemma", "singular"]

_VOWELS = frozenset("aeiouy")


def _read_forms() -> dict[str, dict[str, str]]:
    """Return the base form of every irregular form, by kind of word."""
    tables: dict[str, dict[str, str]] = {}
    for line in files("sapwood.words").joinpath("irregular_forms.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            table = tables[line.strip("[]")] = {}
        elif line and not line.startswith("#"):
            base, *forms = line.split()
            table.update(dict.fromkeys(forms, base))
    return tables


_VERBS, _MODALS, _NOUNS, _DEGREES = map(_read_forms().__getitem__, ("verbs", "modals", "nouns", "degrees"))
_BASES = frozenset(_VERBS.values())
# Irregular verbs stay so after these: "rewrote", "misled", "withheld".
_PREFIXES = ("re", "un", "over", "under", "out", "mis", "with", "up", "be", "fore", "for", "inter", "pre")

# Singulars that look like plurals.
_SINGULAR = frozenset([
    "gas", "lens", "bus", "news", "mathematics", "physics", "politics", "athletics", "gymnastics", "electronics",
    "genetics", "olympics", "headquarters", "odds", "clothes", "rabies", "us", "is", "this",
])  # fmt: skip
# Plurals of words in -e that look like plurals of words in -o, -us or -ch.
_FINAL_E = frozenset(["toes", "hoes", "foes", "uses", "causes", "muses", "ruses", "aches", "headaches", "axes"])


@lru_cache(maxsize=1 << 14)
def lemma(word: str, tag: str) -> str:
    """Return the base form of a word in lower case.

    Parameters
    ----------
    word : str
        As it stands in the text.
    tag : str
        Its part of speech in the Penn tag set; only nouns (but no names), verbs, modals and graded words change.

    Examples
    --------
    >>> lemma("countries", "NNS"), lemma("Women", "NNS"), lemma("was", "VBD"), lemma("best", "JJS")
    ('country', 'woman', 'be', 'good')
    >>> lemma("stopped", "VBD"), lemma("invented", "VBD"), lemma("written", "VBN"), lemma("United", "NNP")
    ('stop', 'invent', 'write', 'united')
    >>> lemma("flung", "VBD"), lemma("overthrew", "VBD"), lemma("lay", "VBD"), lemma("lay", "VBP")
    ('fling', 'overthrow', 'lie', 'lay')
    """
    form = word.lower()
    return _inflected(form, tag) or form


def _inflected(form: str, tag: str) -> str:
    if tag in ("NNS", "NNPS", "NN"):
        if form in _NOUNS:
            return _NOUNS[form]
        return form if tag == "NN" else singular(form)
    if tag == "MD":
        return _MODALS.get(form, form)
    if tag.startswith("VB") or tag in AUXILIARY_TAGS:
        return _irregular_base(form, tag) or _base(form, tag)
    if tag in (*ADJECTIVE_TAGS[1:], *ADVERB_TAGS[1:]):
        return _DEGREES.get(form) or _positive(form)
    return "not" if form == "n't" else form


def singular(form: str) -> str:
    """Return a form in lower case without the ending of a plural, which is that of the third person as well.

    >>> singular("cities"), singular("prizes"), singular("goes"), singular("is")
    ('city', 'prize', 'go', 'is')
    """
    if form.endswith("men"):
        return form[:-3] + "man"
    if form in _SINGULAR or not form.endswith("s") or form.endswith(("ss", "us", "is")) or len(form) <= 3:
        return form
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    if form.endswith(("ches", "shes", "sses", "xes", "zzes", "oes", "uses")):
        return form[:-1] if form in _FINAL_E or form.endswith(("ouses", "fuses", "shoes")) else form[:-2]
    return form[:-2] if form.endswith("'s") else form[:-1]


def _irregular_base(form: str, tag: str) -> str:
    """Return the base form of an irregular verb; nothing if this is none."""
    if tag in ("VB", "VBP") and form in _BASES:
        return form  # "to found", "they lay": another verb than "find" and "lie"
    if form in _VERBS:
        return _VERBS[form]
    if tag in ("VBD", "VBN"):
        for prefix in (form[: form.rfind("-") + 1], *_PREFIXES):
            rest = form[len(prefix) :]
            if prefix and len(rest) > 2 and form.startswith(prefix) and rest in _VERBS:
                return prefix + _VERBS[rest]
    return ""


def _base(form: str, tag: str) -> str:
    if form.endswith("s") and tag in ("VBZ", "AUX"):
        if form.endswith("ies") and len(form) > 4:
            return form[:-3] + "y"
        return form[:-2] if form.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")) else singular(form)
    if tag in ("VB", "VBP"):
        return form
    if form.endswith("ied"):
        return form[:-3] + "y"
    for ending in ("eed", "ed", "ing"):
        stem = form[: len(form) - len(ending)]
        if form.endswith(ending) and (ending == "eed" or any(letter in _VOWELS for letter in stem)):
            return form if ending == "eed" and len(form) < 6 else _restore(stem + ("ee" if ending == "eed" else ""))
    return form


def _positive(form: str) -> str:
    for ending in ("iest", "ier"):
        if form.endswith(ending):
            return form[: len(form) - len(ending)] + "y"
    for ending in ("est", "er"):
        stem = form[: len(form) - len(ending)]
        if form.endswith(ending) and len(stem) > 2:
            return _restore(stem)
    return form


def _restore(stem: str) -> str:
    """Give a stem back what its ending took: a final e, or the second of a doubled consonant."""
    if len(stem) < 2 or stem.endswith("ee"):
        return stem
    last, before = stem[-1], stem[-2]
    if (last == before and last not in "lszfeo") or (
        stem.endswith("ell") and len(stem) > 5 and not stem.endswith(("spell", "tell", "well", "sell"))
    ):
        return stem[:-1]
    if last in "aeoyxwh" or (last == "l" and before == "l") or (last == "s" and before == "s"):
        return stem + "e" if stem.endswith("th") and before == "t" and stem[-3:-2] in ("a", "o") else stem
    if last in "vcuz" or (last == "s" and before != "s"):
        return stem + "e"
    if last == "g":
        return stem + "e" if before in "draleiu" or (stem.endswith(("ang", "eng", "ung")) and len(stem) > 4) else stem
    if last == "l" and before not in _VOWELS and before not in "rw":
        return stem + "e"
    if before in _VOWELS and before != "y":
        if len(stem) > 2 and stem[-3] in _VOWELS and stem[-3:-1] != "ui":
            return stem + "e" if stem.endswith(("iat", "uat")) else stem
        syllables = sum(
            letter in _VOWELS and (at == 0 or stem[at - 1] not in _VOWELS) for at, letter in enumerate(stem)
        )
        # One short syllable before one consonant ("nam", "hop") had an e; longer stems mostly by their ending.
        if syllables == 1 or stem.endswith(_WITH_E):
            return stem + "e"
    return stem


# Last letters of longer stems that mostly go with an e, as in "provid" or "determin".
_WITH_E = (
    "at", "ir", "ar", "ur", "gnor", "plor", "stor", "ador", "in", "id", "ud", "ad", "ced", "sed", "od", "um", "am",
    "ut", "ot", "ik", "ak", "ok", "uk", "ap", "is", "av", "iv", "ib", "il", "ul",
)  # fmt: skip

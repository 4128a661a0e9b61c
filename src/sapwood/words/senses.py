"""What kinds of things words mean: WordNet's supersenses.

A supersense is the lexicographer's file that a word's most frequent sense stands in: one of 45 classes such as
``noun.person`` or ``verb.motion``. How similar two words are belongs to ``wordnet`` and ``taxonomy``.
"""

from __future__ import annotations

from sapwood.words.lemmas import lemma
from sapwood.words.wordnet_files import open_wordnet

__all__ = ["WordSenses"]

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


class WordSenses:
    """Supersenses from WordNet.

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
        self._files = {tag: open_wordnet(path, part) for tag, part in _PARTS.items()}

    def supersense(self, word: str, tag: str) -> str:
        """Return the supersense of the first sense of a word with this Penn tag; empty if it has none.

        The word is looked up by its base form or, if WordNet does not list that, as WordNet itself finds base forms.
        """
        files = self._files.get(tag[:2])
        if files is None:
            return ""
        form = word.replace(" ", "_")
        found = files.synsets(lemma(form, tag), inflected=False)
        found = found or files.synsets(form.lower(), inflected=not tag.startswith("NNP"))
        number = int(files.fields(found[0])[1]) if found else len(_NAMES)
        return _NAMES[number] if number < len(_NAMES) else ""

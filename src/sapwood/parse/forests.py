"""Forests of alternative attachments, and the classes of the words that are attached.

``incremental`` makes them from connection paths; learning to choose from them belongs to ``tasks.attachment``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError, ParameterError
from sapwood.penn import ADJECTIVE_TAGS, ADVERB_TAGS, NOUN_TAGS, PUNCTUATION_TAGS, VERB_TAGS
from sapwood.trees import TreeArray

__all__ = ["FOOT_CLASSES", "Forests", "word_classes"]

FOOT_CLASSES: Mapping[str, tuple[str, ...]] = {
    "noun": (*NOUN_TAGS, "PRP", "EX", "WP"),
    "verb": (*VERB_TAGS, "MD"),
    "preposition": ("IN", "TO"),
    "article": ("DT", "PDT", "WDT", "CD"),
    "punctuation": PUNCTUATION_TAGS,
    "adjective": (*ADJECTIVE_TAGS, "$", "#"),
    "adverb": (*ADVERB_TAGS, "WRB", "RP"),
    "conjunction": ("CC",),
    "possessive": ("POS", "PRP$", "WP$"),
}
"""Penn tags by word class, for learners that specialise; any other tag is of the class ``"other"``."""


def word_classes(
    tags: Iterable[str], classes: Mapping[str, Iterable[str]] = FOOT_CLASSES, *, other: str = "other"
) -> NDArray[Any]:
    """Return the word class of each tag.

    Parameters
    ----------
    tags : iterable of str
        Tags, such as ``Forests.feet``.
    classes : mapping of str to iterable of str
        Tags per class. A tag may be in one class only.
    other : str
        The class of all other tags.

    Examples
    --------
    >>> word_classes(["NNP", "MD", "FW"]).tolist()
    ['noun', 'verb', 'other']
    """
    table: dict[str, str] = {}
    for name, members in classes.items():
        for tag in members:
            if table.setdefault(tag, name) != name:
                raise ParameterError(f"tag {tag!r} is in two classes, {table[tag]!r} and {name!r}; leave it in one.")
    return np.array([table.get(tag, other) for tag in tags], dtype=object).astype(str)


@dataclass(frozen=True, repr=False)
class Forests:
    """Forests of alternative trees, one after the other.

    Attributes
    ----------
    trees : TreeArray
        The trees of all forests.
    ends : array of int
        Per forest, where its trees end.
    gold : array of int
        Per forest, which of its trees is right; -1 if none is.
    depth, path : array of int
        Per tree, the depth of the anchor and the number of the connection path; -1 for a path that is not known.
    sentence, word : array of int
        Per forest, which word of which sentence is attached.
    feet : array of str
        Per forest, the tag of that word.
    steps, missing, alone : int
        Words looked at, those whose right path is not known, and those left out since there is one way only.
    """

    trees: TreeArray
    ends: NDArray[np.int64]
    gold: NDArray[np.int64]
    depth: NDArray[np.int64]
    path: NDArray[np.int64]
    sentence: NDArray[np.int64]
    word: NDArray[np.int64]
    feet: NDArray[Any]
    steps: int
    missing: int
    alone: int

    def __len__(self) -> int:
        return len(self.ends)

    def __repr__(self) -> str:
        return f"Forests({len(self):,} forests of {len(self.trees):,} trees)"

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of trees per forest."""
        return np.diff(self.ends, prepend=0)

    @property
    def groups(self) -> NDArray[np.int64]:
        """Per tree, the number of its forest: what rankers take as groups."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def y(self) -> NDArray[np.int64]:
        """Per tree, 1 if it is the right one, else 0."""
        y = np.zeros(len(self.trees), dtype=np.int64)
        known = self.gold >= 0
        y[(self.ends - self.sizes + self.gold)[known]] = 1
        return y

    def select(self, chosen: NDArray[Any]) -> Forests:
        """Return some of the forests, given by a mask or their numbers; the trees share the store."""
        try:
            index = np.arange(len(self))[chosen]
        except (IndexError, ValueError):
            raise DataError(f"chosen must be a mask of {len(self)} forests or their numbers.") from None
        begins = self.ends - self.sizes
        parts = [np.arange(begins[f], self.ends[f]) for f in index.tolist()]
        members = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
        return Forests(
            trees=self.trees[members],
            ends=np.cumsum(self.sizes[index], dtype=np.int64),
            gold=self.gold[index],
            depth=self.depth[members],
            path=self.path[members],
            sentence=self.sentence[index],
            word=self.word[index],
            feet=self.feet[index],
            steps=self.steps,
            missing=self.missing,
            alone=self.alone,
        )

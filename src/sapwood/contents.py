"""What text a model file holds: for those who ship models and must not ship the sentences that they learnt from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from sapwood.errors import ModelFileError
from sapwood.files import read_document
from sapwood.registry import Reader

__all__ = ["count_words", "long_texts", "texts"]

# What stands between the words of a feature or of a list of words; names of labels are one word.
_BETWEEN = re.compile(r"[\s|\0/=]+")
# Values of features that are no words of a text: voice and position.
_VALUES = frozenset(["active", "passive", "before", "after"])
# An address of the web is one word, whatever stands in it.
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s|\0]*")


def texts(path: str | os.PathLike[str]) -> Iterator[tuple[str, str]]:
    """Yield every text in a model file with the place where it stands.

    Text is what stands in its JSON, what arrays of bytes hold between line ends and zero bytes, and the words of every
    tree, one after the other.
    """
    document, reader = read_document(path)
    yield from _texts_in(document["object"], "", reader)


def long_texts(path: str | os.PathLike[str], most: int = 3) -> list[tuple[str, str]]:
    """Return the texts of more than so many words, with their places, the longest first."""
    found = [(place, text) for place, text in texts(path) if count_words(text) > most]
    return sorted(found, key=lambda one: -count_words(one[1]))


def count_words(text: str) -> int:
    """Return how many words a text has; tags and paths of tags, which have no small letters, are none, nor are values.

    >>> count_words("take into account.v"), count_words("chase|NP^S!VP!VBD"), count_words("Being_in_control")
    (3, 1, 1)
    """
    parts = _BETWEEN.split(_ADDRESS.sub("address", text))
    return sum(part not in _VALUES and any(letter.islower() for letter in part) for part in parts)


def _texts_in(value: Any, place: str, reader: Reader) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        if value.get("class") == "TreeArray":
            yield from _texts_of_trees(value, place, reader)
        for key, part in value.items():
            yield place, str(key)
            yield from _texts_in(part, f"{place}.{key}" if place else str(key), reader)
    elif isinstance(value, list):
        for part in value:
            yield from _texts_in(part, place, reader)
    elif isinstance(value, str):
        yield place, value
        if re.fullmatch(r"a\d+", value):
            yield from _texts_in_bytes(value, place, reader)


def _texts_in_bytes(name: str, place: str, reader: Reader) -> Iterator[tuple[str, str]]:
    try:
        data = reader.array(name, np.uint8, 1).tobytes()
    except ModelFileError:
        return  # no array, or one of numbers
    for line in re.split(r"[\n\0]+", data.decode("utf-8", "replace")):
        yield place, line


def _texts_of_trees(value: dict[str, Any], place: str, reader: Reader) -> Iterator[tuple[str, str]]:
    trees = reader.part(value)
    for words in trees.leaves():
        yield place, " ".join(map(str, words))

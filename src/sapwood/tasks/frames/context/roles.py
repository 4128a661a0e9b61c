"""The roles of a lexicon as numbers, with what they have in common with others: their keys, and their names as text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sapwood.corpora.framenet.lexicon import Lexicon
from sapwood.tasks.frames.hashing import Numbers
from sapwood.tasks.frames.instances import role_keys

__all__ = ["RoleNumbers", "key_numbers", "role_phrases"]


class RoleNumbers:
    """Numbers of roles: those of a frame stand together, frames in the order of the lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._ranges: dict[str, Numbers] = {}
        self.count = 0
        for name, frame in lexicon.frames.items():
            self._ranges[name] = np.arange(self.count, self.count + len(frame.elements))
            self.count += len(frame.elements)

    def of(self, frame: str) -> Numbers:
        """Return the numbers of the roles of a frame."""
        return self._ranges[frame]


def key_numbers(lexicon: Lexicon, inherit: bool) -> tuple[Numbers, int]:
    """Return the keys of every role, numbered from 1 on and filled up with 0, and how many there are with 0."""
    keys = [[key for key, _ in each] for name in lexicon.frames for each in role_keys(lexicon, name, inherit)]
    numbers = {key: number for number, key in enumerate(sorted({key for each in keys for key in each}), 1)}
    table = np.zeros((len(keys), max(map(len, keys), default=1)), np.int64)
    for row, each in zip(table, keys, strict=True):
        row[: len(each)] = [numbers[key] for key in each]
    return table, len(numbers) + 1


def role_phrases(lexicon: Lexicon) -> Iterator[tuple[list[str], int]]:
    """Yield every role as words, and how many of them are its name: an encoder knows what most roles mean."""
    for frame in lexicon.frames.values():
        for element in frame.elements:
            name = element.name.replace("_", " ").lower().split()
            yield [*name, "of", *frame.name.replace("_", " ").lower().split()], len(name)

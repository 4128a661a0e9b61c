"""The sentences of the experiment: parts of a treebank by seed, and the forests of those that are not learnt from."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sapwood.errors import DataError
from sapwood.experiments.kept import Kept
from sapwood.experiments.places import place_of
from sapwood.experiments.tables import Setting
from sapwood.parse.incremental import ConnectionPaths, Forests, attachment_trees
from sapwood.tasks.attachment import AttachmentErrors, evaluate, frequency_utility
from sapwood.trees import TreeArray
from sapwood.trees.treebank import read_trees

__all__ = ["REDUCTION", "Data", "read_penn", "read_web"]

REDUCTION = 1
"""Levels kept of subtrees off the right frontier: their labels."""

# As many as the error needs to be known to half a percent or so; a tenth of small corpora.
_TEST, _VALIDATION = 400, 300


@dataclass(frozen=True)
class Data:
    """A treebank in three parts, in random order.

    Attributes
    ----------
    name : str
        Of the corpus.
    train, validation, test : TreeArray
        Trees over tags.
    seed : int
        Of the order, and of everything that is learnt.
    """

    name: str
    train: TreeArray
    validation: TreeArray
    test: TreeArray
    seed: int

    @cached_property
    def paths(self) -> ConnectionPaths:
        """The connection paths of the training part, ways up and down recombined."""
        return ConnectionPaths.from_trees(self.train).recombined()

    @cached_property
    def validation_forests(self) -> Forests:
        """What there is to choose from in the validation part."""
        return self.paths.forests(self.validation, reduction=REDUCTION)

    @cached_property
    def test_forests(self) -> Forests:
        """What there is to choose from in the test part."""
        return self.paths.forests(self.test, reduction=REDUCTION)

    @cached_property
    def baseline(self) -> AttachmentErrors:
        """The errors of the choice to be beaten in the test part: the most frequent path, at the lowest anchor."""
        return evaluate(self.test_forests, frequency_utility(self.test_forests, self.paths.counts))

    def kept(self, setting: Setting) -> Kept:
        """Give the results on this data that the cache has."""
        return Kept(setting, "attachment", self.seed, REDUCTION, self.train, self.validation, self.test)

    @property
    def notes(self) -> tuple[str, ...]:
        """What every table has to say about its data."""
        parts = f"{len(self.train):,} sentences to learn from, {len(self.validation):,} for validation"
        return (f"{self.name}, order by seed {self.seed}: {parts}, {len(self.test):,} for the test.",)


def read_penn(setting: Setting) -> Data:
    """Split the Penn Treebank sample."""
    return _split("Penn Treebank sample", _read(setting, "penn-sample", ""), setting.seed)


def read_web(setting: Setting) -> Data:
    """Split the training part of the English Web Treebank, of which 10,000 sentences are learnt from at most."""
    return _split("English Web Treebank", _read(setting, "ewt", "train"), setting.seed, most=10_000)


def _read(setting: Setting, corpus: str, part: str) -> TreeArray:
    place = place_of(setting, corpus)
    path: str | list[str] = place
    if part:
        path = [one for one in sorted(glob.glob(place)) if part in os.path.basename(one)] or place
    return attachment_trees(read_trees(path, drop_traces=True, drop_function_tags=True, collapse_unary=True))


def _split(name: str, trees: TreeArray, seed: int, most: int | None = None) -> Data:
    if len(trees) < 20:
        raise DataError(f"{name} has {len(trees)} trees; this experiment needs at least 20.")
    order = np.random.default_rng(seed).permutation(len(trees))
    test, validation = min(_TEST, len(trees) // 5), min(_VALIDATION, len(trees) // 10)
    rest = order[test + validation :][:most]
    return Data(name, trees[rest], trees[order[test : test + validation]], trees[order[:test]], seed)

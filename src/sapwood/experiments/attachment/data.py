"""The sentences of the experiment: parts of a treebank by seed, and the forests of those that are not learnt from."""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sapwood.errors import DataError
from sapwood.experiments.result_cache import ResultCache
from sapwood.experiments.setting import Setting
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
    """A treebank in three parts of trees over tags, in random order, with what has been learnt from it so far."""

    name: str
    train: TreeArray
    validation: TreeArray
    test: TreeArray
    setting: Setting

    @property
    def seed(self) -> int:
        """The seed of the order, and of everything that is learnt."""
        return self.setting.seed

    @cached_property
    def cache(self) -> ResultCache:
        """Results on this data that are finished."""
        parts = (self.train, self.validation, self.test)
        return ResultCache(self.setting, "attachment", self.seed, REDUCTION, *parts)

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

    @property
    def notes(self) -> tuple[str, ...]:
        """What every table has to say about its data."""
        parts = f"{len(self.train):,} sentences to learn from, {len(self.validation):,} for validation"
        return (f"{self.name}, order by seed {self.seed}: {parts}, {len(self.test):,} for the test.",)


def read_penn(setting: Setting) -> Data:
    """Split the Penn Treebank sample."""
    return _split("Penn Treebank sample", setting.path("penn-sample"), setting)


def read_web(setting: Setting) -> Data:
    """Split the training part of the English Web Treebank, of which 10,000 sentences are learnt from at most."""
    place = setting.path("ewt")
    files = [one for one in sorted(glob.glob(place)) if "train" in os.path.basename(one)]
    return _split("English Web Treebank", files or place, setting, most=10_000)


def _split(name: str, path: str | list[str], setting: Setting, most: int | None = None) -> Data:
    trees = attachment_trees(read_trees(path, drop_traces=True, drop_function_tags=True, collapse_unary=True))
    if len(trees) < 20:
        raise DataError(f"{name} has {len(trees)} trees; this experiment needs at least 20.")
    order = np.random.default_rng(setting.seed).permutation(len(trees))
    test, validation = min(_TEST, len(trees) // 5), min(_VALIDATION, len(trees) // 10)
    rest = order[test + validation :][:most]
    return Data(name, trees[rest], trees[order[test : test + validation]], trees[order[:test]], setting)

"""The sentences of the experiment: parts of a treebank by seed, and the forests of those that are not learnt from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sapwood.errors import DataError
from sapwood.experiments.result_cache import ResultCache
from sapwood.experiments.setting import Setting
from sapwood.parse.incremental import ConnectionPaths, Forests, attachment_trees, flatten_phrases
from sapwood.tasks.attachment import AttachmentErrors, evaluate, frequency_utility
from sapwood.trees import TreeArray, concatenate
from sapwood.trees.treebank import read_trees

__all__ = ["REDUCTION", "Data", "read_all", "read_penn"]

REDUCTION = 1
"""Levels kept of subtrees off the right frontier: their labels."""

# As many as the error needs to be known to half a percent or so; a tenth of small corpora.
_TEST, _VALIDATION = 400, 300
# Of all treebanks together, which are a hundred times as large as the smallest sample; paths that are seen less often
# would double the forests for one word in two hundred.
_ALL = ("penn-sample", "ewt", "craft")
_MOST, _MIN_COUNT = 40_000, 3


@dataclass(frozen=True)
class Data:
    """A treebank in three parts of trees over tags, in random order, with what has been learnt from it so far.

    Connection paths are recombined, or those that were seen less often than ``min_count`` are left out. ``suffix`` is
    part of the names of its tables.
    """

    name: str
    train: TreeArray
    validation: TreeArray
    test: TreeArray
    setting: Setting
    recombine: bool = True
    min_count: int = 1
    suffix: str = ""

    def flattened(self) -> Data:
        """Return the same sentences with flat phrases, which the paper's errors by word class suggest."""
        train, validation, test = map(flatten_phrases, (self.train, self.validation, self.test))
        return replace(self, train=train, validation=validation, test=test, suffix="-flat")

    def wants(self, *tables: str) -> bool:
        """Whether one of these tables is asked for."""
        return self.setting.wants(*(f"{name}{self.suffix}" for name in tables))

    @property
    def seed(self) -> int:
        """The seed of the order, and of everything that is learnt."""
        return self.setting.seed

    @cached_property
    def cache(self) -> ResultCache:
        """Results on this data that are finished."""
        parts = (self.train, self.validation, self.test)
        return ResultCache(self.setting, "attachment", self.seed, REDUCTION, self.recombine, self.min_count, *parts)

    @cached_property
    def paths(self) -> ConnectionPaths:
        """The connection paths of the training part."""
        paths = ConnectionPaths.from_trees(self.train)
        return paths.recombined() if self.recombine else paths

    @cached_property
    def validation_forests(self) -> Forests:
        """What there is to choose from in the validation part."""
        return self.paths.forests(self.validation, reduction=REDUCTION, min_count=self.min_count)

    @cached_property
    def test_forests(self) -> Forests:
        """What there is to choose from in the test part."""
        return self.paths.forests(self.test, reduction=REDUCTION, min_count=self.min_count)

    @cached_property
    def baseline(self) -> AttachmentErrors:
        """The errors of the choice to be beaten in the test part: the most frequent path, at the lowest anchor."""
        return evaluate(self.test_forests, frequency_utility(self.test_forests, self.paths.counts))

    @property
    def notes(self) -> tuple[str, ...]:
        """What every table has to say about its data."""
        parts = f"{len(self.train):,} sentences to learn from, {len(self.validation):,} for validation"
        first = f"{self.name}, order by seed {self.seed}: {parts}, {len(self.test):,} for the test."
        flat = (
            "A phrase that begins with a phrase of its own label, beside others, takes the children of that one; every "
            "phrase takes those of its NML, which the Penn sample does not have."
        )
        return (first, flat) if self.suffix else (first,)


def read_penn(setting: Setting) -> Data:
    """Split the Penn Treebank sample."""
    return _split("Penn Treebank sample", _trees(setting, "penn-sample"), setting)


def read_all(setting: Setting) -> Data:
    """Split all treebanks that are there, put together, of which 40,000 sentences are learnt from at most."""
    found = [name for name in _ALL if setting.find(name) is not None]
    trees = concatenate([_trees(setting, name) for name in found or _ALL[:1]])
    titles = {"penn-sample": "Penn Treebank sample", "ewt": "English Web Treebank", "craft": "CRAFT"}
    data = _split(" + ".join(titles[name] for name in found), trees, setting, most=_MOST)
    return replace(data, recombine=False, min_count=_MIN_COUNT)


def _trees(setting: Setting, name: str) -> TreeArray:
    found = read_trees(setting.path(name), drop_traces=True, drop_function_tags=True, collapse_unary=True)
    return attachment_trees(found)


def _split(name: str, trees: TreeArray, setting: Setting, most: int | None = None) -> Data:
    if len(trees) < 20:
        raise DataError(f"{name} has {len(trees)} trees; this experiment needs at least 20.")
    order = np.random.default_rng(setting.seed).permutation(len(trees))
    test, validation = min(_TEST, len(trees) // 5), min(_VALIDATION, len(trees) // 10)
    rest = order[test + validation :][:most]
    return Data(name, trees[rest], trees[order[test : test + validation]], trees[order[:test]], setting)

"""First-pass attachment: a kernel against a recursive network (Menchetti et al. 2005, tables 1, 2, 4, 5 and figure 2).

All learners choose from the same forests: their connection paths are those of the whole training part, as in the paper.
Learning curves are of all treebanks that are there, everything else is of the Penn Treebank sample.
Subtrees off the right frontier are cut to their labels. Whatever is tuned is tuned on validation sentences. With a
cache, what has been trained and tested is not done again.
"""

from __future__ import annotations

from collections.abc import Iterator

from sapwood.experiments.attachment import curves, pictures, subsets
from sapwood.experiments.attachment.data import read_all, read_penn
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Table

__all__ = ["run"]


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables that are wanted, the quick ones first."""
    if setting.wants("forests", "subsets", "states", "losses", "iterations", "pca"):
        data = read_penn(setting)
        if setting.wants("forests"):
            yield subsets.forests(data)
        if setting.wants("iterations"):
            yield pictures.iterations(data)
        if setting.wants("pca"):
            yield pictures.components(data)
        if setting.wants("subsets", "states", "losses"):
            yield from subsets.run(data)
    if setting.wants("curve", "cost"):
        yield from curves.run(read_all(setting))

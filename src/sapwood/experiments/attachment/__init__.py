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
    """Make the tables that are wanted, the quick ones first; those with ``-flat`` are of flat phrases."""
    of_subsets, of_curves = ("subsets", "states", "losses"), ("curve", "cost")
    flat_subsets, flat_curves = ([f"{name}-flat" for name in names] for names in (of_subsets, of_curves))
    if setting.wants("forests", "iterations", "pca", *of_subsets, *flat_subsets):
        data = read_penn(setting)
        if setting.wants("forests"):
            yield subsets.forests(data)
        if setting.wants("iterations"):
            yield pictures.iterations(data)
        if setting.wants("pca"):
            yield pictures.components(data)
        if setting.wants(*of_subsets):
            yield from subsets.run(data)
        if setting.wants(*flat_subsets):
            yield from subsets.run(data.flattened())
    if setting.wants(*of_curves, *flat_curves):
        data = read_all(setting)
        if setting.wants(*of_curves):
            yield from curves.run(data)
        if setting.wants(*flat_curves):
            yield from curves.run(data.flattened())

"""First-pass attachment: a kernel against a recursive network (Menchetti et al. 2005, tables 1, 2, 4, 5 and figure 2).

All learners choose from the same forests: their connection paths are those of the whole training part, as in the paper.
Subtrees off the right frontier are cut to their labels. Whatever is tuned is tuned on validation sentences. With a
cache, what has been trained and tested is not done again.
"""

from __future__ import annotations

from collections.abc import Iterator

from sapwood.experiments.attachment import curves, pictures, subsets
from sapwood.experiments.attachment.data import read_penn, read_web
from sapwood.experiments.tables import Setting, Table

__all__ = ["run"]


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables that are wanted, the quick ones first."""
    if any(map(setting.wants, ("forests", "subsets", "states", "losses", "iterations", "pca", "curve", "cost"))):
        data = read_penn(setting)
        if setting.wants("forests"):
            yield subsets.forests(data)
        if setting.wants("iterations"):
            yield pictures.iterations(setting, data)
        if setting.wants("pca"):
            yield pictures.components(setting, data)
        yield from subsets.run(setting, data)
        yield from curves.run(setting, data)
    if setting.wants("web"):
        yield curves.web(setting, read_web(setting))

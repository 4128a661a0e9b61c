"""Sapwood learns from parse trees.

>>> import sapwood as sw
>>> sw.kernels.SubsetTree(decay=1.0)("(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))")
3.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

__version__ = "0.1.0"

# Packages are loaded when they are first used: importing scikit-learn alone takes longer than most scripts.
_HOMES = {
    "BracketError": "errors",
    "Examples": "trees",
    "SapwoodError": "errors",
    "Tree": "trees",
    "TreeArray": "trees",
    "corpora": None,
    "decode": None,
    "draw": None,
    "errors": None,
    "kernels": None,
    "learn": None,
    "load": "files",
    "metrics": None,
    "options": "settings",
    "parse": None,
    "read_trees": "trees",
    "save": "files",
    "scale": None,
    "search": None,
    "tasks": None,
    "trees": None,
    "words": None,
    "write_trees": "trees",
}

__all__ = [
    "BracketError",
    "Examples",
    "SapwoodError",
    "Tree",
    "TreeArray",
    "corpora",
    "decode",
    "draw",
    "errors",
    "kernels",
    "learn",
    "load",
    "metrics",
    "options",
    "parse",
    "read_trees",
    "save",
    "scale",
    "search",
    "tasks",
    "trees",
    "words",
    "write_trees",
]

if TYPE_CHECKING:
    from sapwood import (
        corpora,
        decode,
        draw,
        errors,
        kernels,
        learn,
        metrics,
        parse,
        scale,
        search,
        tasks,
        trees,
        words,
    )
    from sapwood.errors import BracketError, SapwoodError
    from sapwood.files import load, save
    from sapwood.settings import options
    from sapwood.trees import Examples, Tree, TreeArray, read_trees, write_trees

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

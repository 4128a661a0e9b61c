"""Sapwood learns from parse trees.

>>> import sapwood as sw
>>> sw.kernels.SubsetTree(decay=1.0)("(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))")
3.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Rooms are loaded when they are first used: importing scikit-learn alone takes longer than most scripts.
_HOMES = {
    "BracketError": "errors",
    "Examples": "trees",
    "SapwoodError": "errors",
    "Tree": "trees",
    "TreeArray": "trees",
    "corpora": None,
    "decode": None,
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
    "trees",
    "words",
    "write_trees",
]

if TYPE_CHECKING:
    from sapwood import corpora, decode, errors, kernels, learn, metrics, parse, scale, trees, words
    from sapwood.errors import BracketError, SapwoodError
    from sapwood.files import load, save
    from sapwood.settings import options
    from sapwood.trees import Examples, Tree, TreeArray, read_trees, write_trees


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'sapwood' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"sapwood.{name}") if home is None else getattr(import_module(f"sapwood.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

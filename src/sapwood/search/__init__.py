"""Find trees: the nearest of a tree, near-duplicates, copies in source code, and how far two trees are apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

_HOMES = {
    "EditDistance": "edit",
    "TreeIndex": "index",
    "find_clones": "clones",
    "teds": "scores",
    "tsed": "scores",
}

__all__ = ["EditDistance", "TreeIndex", "find_clones", "teds", "tsed"]

if TYPE_CHECKING:
    from sapwood.search.clones import find_clones
    from sapwood.search.edit import EditDistance
    from sapwood.search.index import TreeIndex
    from sapwood.search.scores import teds, tsed

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

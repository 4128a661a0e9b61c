"""Distributed computing: long work cut into pieces that a Dask cluster computes, and that are never computed twice.

Here are the pieces: tiles of a Gram matrix (``gram``), shards of feature maps (``shards``), models trained from them
(``linear``), predictions (``answers``), shards of an index of trees (``search``); who computes them
(``sapwood.cluster``) and who remembers what is finished (``ledger``); what it will cost (``costs``) and how cost grows
on one machine (``growth``). What is computed belongs to kernels, learners and tasks. Dask and Zarr come with
``pip install sapwood[scale]`` and are loaded when first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

# Loaded when first used, as everywhere: a single name should not cost the import of all.
_HOMES = {
    "ClusterLabeler": "answers",
    "GramStore": "gram",
    "ShardClassifier": "linear",
    "Shards": "shards",
    "gram_to_zarr": "gram",
    "in_parts": "parts",
    "index_to_shards": "search",
    "map_to_shards": "shards",
    "nearest_in_shards": "search",
    "predict": "answers",
}

__all__ = [
    "ClusterLabeler",
    "GramStore",
    "ShardClassifier",
    "Shards",
    "gram_to_zarr",
    "in_parts",
    "index_to_shards",
    "map_to_shards",
    "nearest_in_shards",
    "predict",
]

if TYPE_CHECKING:
    from sapwood.scale.answers import ClusterLabeler, predict
    from sapwood.scale.gram import GramStore, gram_to_zarr
    from sapwood.scale.linear import ShardClassifier
    from sapwood.scale.parts import in_parts
    from sapwood.scale.search import index_to_shards, nearest_in_shards
    from sapwood.scale.shards import Shards, map_to_shards

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

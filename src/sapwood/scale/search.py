"""The search for similar trees in an index that is cut into shards, which the workers of a cluster hold.

Each shard answers for itself, and the answers are merged: what no shard has is not there. How a shard is searched is
the business of ``sapwood.search``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from sapwood import cluster
from sapwood.checks import check_count
from sapwood.errors import ParameterError
from sapwood.files import save
from sapwood.kernels import Kernel
from sapwood.search.index import TreeIndex, load_index, merge_neighbors
from sapwood.search.results import Neighbors
from sapwood.trees.array import TreeArray

__all__ = ["index_to_shards", "nearest_in_shards"]


def index_to_shards(
    parts: Iterable[Any],
    folder: str | os.PathLike[str],
    *,
    kernel: Kernel | None = None,
    mapped: bool = False,
    client: Any = None,
) -> list[str]:
    """Save an index of each part, and return the paths of the files in their order.

    Parameters
    ----------
    parts : iterable of TreeArray or lists of trees
        What is searched, in parts that fit in the memory of a worker.
    folder : path
        Where the files go; all workers must see it.
    kernel : Kernel, optional
        As for ``TreeIndex``.
    mapped : bool
        Whether the files are those of ``TreeIndex.save_mapped``: larger ones, which a worker opens at once and does not
        read into its memory.
    client : distributed.Client, optional
        The cluster; without one, everything happens here.

    Examples
    --------
    >>> import tempfile
    >>> shards = index_to_shards([["(A (B c))", "(A (B d))"], ["(A (B c))"]], tempfile.mkdtemp())
    >>> nearest_in_shards(shards, ["(A (B c))"], 2)[0].numbers
    array([0, 2])
    """
    os.makedirs(folder, exist_ok=True)
    tasks = ((os.path.join(os.fspath(folder), f"shard-{number:05}.sap"), part) for number, part in enumerate(parts))
    found = cluster.run(client, _index, tasks, shared=(kernel, mapped), ordered=True, what="shards")
    return [path for (path, _), _ in found]


def nearest_in_shards(
    shards: Sequence[str | os.PathLike[str] | TreeIndex],
    queries: TreeArray | Sequence[Any],
    k: int = 10,
    *,
    at_least: float = 0.0,
    time_limit: float | None = None,
    client: Any = None,
) -> list[Neighbors]:
    """Find the most similar trees of each query in all shards together, with the certificate of one index.

    Parameters
    ----------
    shards : sequence of paths
        Files of ``index_to_shards``, or indexes. A worker keeps the shards that it has loaded last.
    queries, k, at_least
        As for ``TreeIndex.nearest``. Trees are numbered through all shards in their order.
    time_limit : float, optional
        Seconds that each shard has for all queries, once it is loaded.
    client : distributed.Client, optional
        The cluster; without one, everything happens here.
    """
    check_count(k, "k")
    if isinstance(shards, (str, os.PathLike, TreeIndex)):
        raise ParameterError("shards must be a list of paths; put a single one into a list.")
    trees = TreeArray(queries)
    shared = (cluster.share(client, trees), k, at_least, time_limit)
    answers = cluster.run(client, _nearest, ((shard,) for shard in shards), shared=shared, ordered=True, what="shards")
    found: list[list[Neighbors]] = [[] for _ in range(len(trees))]
    begin = 0
    for _, (size, rows) in answers:
        for row, one in zip(found, rows, strict=True):
            row.append(Neighbors(one.numbers + begin, *_others(one)))
        begin += size
    return [merge_neighbors(row, k, at_least) for row in found]


def _others(one: Neighbors) -> tuple[Any, ...]:
    return one.similarities, one.exact, one.bound, one.evaluated, one.discarded


def _index(kernel: Kernel | None, mapped: bool, path: str, part: Any) -> None:
    index = TreeIndex(part, kernel)
    if mapped:
        index.save_mapped(path)
    else:
        save(index, path)


def _nearest(
    trees: TreeArray, k: int, at_least: float, time_limit: float | None, shard: Any
) -> tuple[int, list[Neighbors]]:
    index = shard if isinstance(shard, TreeIndex) else _loaded(os.fspath(shard), os.stat(shard).st_mtime_ns)
    len(index)  # so that what is prepared once takes nothing from the limit
    return index._next, index.nearest(trees, k, at_least=at_least, time_limit=time_limit)


@lru_cache(maxsize=4)
def _loaded(path: str, changed: int) -> TreeIndex:
    """Load a shard, unless it was loaded before and has not changed since."""
    return load_index(path)

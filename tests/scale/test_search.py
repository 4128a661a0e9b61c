"""Shards of an index answer like one index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sapwood as sw
from sapwood.corpora.sampled import sample_brackets
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import Subtree
from sapwood.scale import index_to_shards, nearest_in_shards
from sapwood.search import TreeIndex


def check(shards: list, trees: sw.TreeArray, client: object = None) -> None:
    queries = trees[::17]
    whole = TreeIndex(trees).nearest(queries, 5)
    for one, other in zip(nearest_in_shards(shards, queries, 5, client=client), whole, strict=True):
        assert one.numbers.tolist() == other.numbers.tolist()
        np.testing.assert_allclose(one.similarities, other.similarities, rtol=1e-12)
        assert (one.exact, one.evaluated, one.discarded) == (True, len(trees), 0)
        assert one.bound == pytest.approx(other.bound)


@pytest.mark.parametrize("mapped", [False, True])
def test_shards_answer_like_one_index(mapped: bool, tmp_path: Path) -> None:
    trees = sw.TreeArray(sample_brackets(100, seed=9))
    parts = [trees[:30], trees[30:31], trees[31:]]
    shards = index_to_shards(parts, tmp_path / "shards", mapped=mapped)
    check(shards, trees)
    if mapped:
        assert len(TreeIndex.load_mapped(shards[2])) == 69
    check([TreeIndex(part) for part in parts], trees)


@pytest.mark.slow
def test_shards_on_a_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    trees = sw.TreeArray(sample_brackets(60, seed=9))
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as workers,
        distributed.Client(workers) as client,
    ):
        check(index_to_shards([trees[:30], trees[30:]], tmp_path, client=client), trees, client)


def test_bad_shards(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="shards must be a list"):
        nearest_in_shards("shard.sap", ["(A b)"])
    sw.save(Subtree(), tmp_path / "kernel.sap")
    with pytest.raises(DataError, match="holds a Subtree, not an index"):
        nearest_in_shards([tmp_path / "kernel.sap"], ["(A b)"])
    assert nearest_in_shards([], ["(A b)"])[0].numbers.tolist() == []

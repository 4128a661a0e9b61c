"""Indexes that stay in a file: beside the same index in memory, and what they cost there."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw
from sapwood.corpora.sampled import sample_brackets
from sapwood.errors import ModelFileError, ParameterError
from sapwood.kernels import PartialTree, SubsetTree, Subtree
from sapwood.search import TreeIndex, segments

KERNELS = [
    SubsetTree(0.4).normalized(),
    SubsetTree(1.0, bag_of_words=True).normalized(),
    SubsetTree(0.5, max_depth=2).normalized(),
    Subtree(0.7).normalized(),
    PartialTree(0.4, 0.6).normalized(),
    0.25 * SubsetTree(0.4).normalized() + 0.75 * PartialTree(0.6).normalized(),
    (SubsetTree(0.4) + 2 * Subtree(0.3)).normalized(),
]


def same(one: TreeIndex, other: TreeIndex, queries: sw.TreeArray) -> None:
    assert one.numbers.tolist() == other.numbers.tolist()
    for k, least in ((5, 0.0), (100, 0.6)):
        for found, expected in zip(
            one.nearest(queries, k, at_least=least), other.nearest(queries, k, at_least=least), strict=True
        ):
            assert found.certificate() == expected.certificate()
            assert list(found) == list(expected)
    assert list(one.pairs(0.7)) == list(other.pairs(0.7))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("bounds", [False, True])
def test_a_mapped_index_answers_like_one_in_memory(
    kernel: object, bounds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bounds:
        for name, value in (("_WORTH_READING", 0), ("_HIGH", 0.0), ("_SHARE", 1e9)):
            monkeypatch.setattr(segments, name, value)
    trees = sw.TreeArray(sample_brackets(150, seed=1) + sample_brackets(10, seed=1))
    queries = sw.TreeArray([*sample_brackets(6, seed=2), *trees[:3], "(Unknown (Word here))", "(S (NP (DT the)))"])
    index = TreeIndex(trees, kernel)
    index.save_mapped(tmp_path / "index.map")
    for check in (True, False):
        mapped = TreeIndex.load_mapped(tmp_path / "index.map", check=check)
        assert mapped.kernel == kernel
        assert len(mapped) == len(trees)
        same(mapped, index, queries)
    for number in (0, 77, 159):
        assert mapped[number] == trees[number]
        assert str(mapped.explain(queries[0], number)) == str(index.explain(queries[0], number))
    early = mapped.nearest(queries, 3, time_limit=1e-9)[-1]
    assert not early.exact


def test_adding_and_removing_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    path, kernel = tmp_path / "index.map", SubsetTree(0.4).normalized()
    trees = sw.TreeArray(sample_brackets(200, seed=4))
    index = TreeIndex(trees[:150], kernel)
    index.remove([3, 8])
    index.save_mapped(path)
    before = path.read_bytes()
    mapped = TreeIndex.load_mapped(path)
    for one in (index, mapped):
        assert one.add(trees[150:]).tolist() == list(range(150, 200))
        one.remove([0, 149, 150, 199, *range(20, 140)])
        assert 0 not in one
        assert 151 in one
    same(mapped, index, trees[:20])
    assert path.read_bytes() == before
    # Pairs put everything together in memory; what is saved again is what is left.
    mapped.save_mapped(path)
    again = TreeIndex.load_mapped(path)
    same(again, index, trees[:20])
    assert again.add(["(A b)"]).tolist() == [200]
    assert path.stat().st_size < len(before)
    for copied in (pickle.loads(pickle.dumps(again)), again):
        sw.save(copied, tmp_path / "index.sap")
        loaded = sw.load(tmp_path / "index.sap")
        found, expected = loaded.nearest(trees[5]), again.nearest(trees[5])
        assert found.numbers.tolist() == expected.numbers.tolist()
        np.testing.assert_allclose(found.similarities, expected.similarities, rtol=1e-12)
    assert loaded.numbers.tolist() == again.numbers.tolist()


def test_a_mapped_index_is_added_to_without_being_read(tmp_path: Path) -> None:
    TreeIndex(sample_brackets(30, seed=4)).save_mapped(tmp_path / "index.map")
    mapped = TreeIndex.load_mapped(tmp_path / "index.map")
    for seed in range(20):
        mapped.add(sample_brackets(10, seed=seed))
        mapped.nearest("(A (B c))")
    in_file = [part.mapped for part in mapped._parts()]
    assert (in_file[0], any(in_file[1:])) == (True, False)
    mapped.remove(range(30))
    assert not any(part.mapped for part in mapped._parts())


@pytest.mark.parametrize("trees", [[], ["leaf"], [["(A (B c))", "(D e)"], ["(A (B c))"]]], ids=["none", "leaf", "bags"])
@pytest.mark.filterwarnings("ignore:.*share nothing even with themselves")
def test_small_and_odd_indexes(trees: list, tmp_path: Path) -> None:
    index = TreeIndex(trees)
    index.save_mapped(tmp_path / "index.map")
    mapped = TreeIndex.load_mapped(tmp_path / "index.map")
    assert repr(mapped) == repr(index)
    assert [mapped[number] for number in mapped] == [index[number] for number in index]
    query = trees[:1] or ["(A (B c))"]
    assert [list(one) for one in mapped.nearest(query)] == [list(one) for one in index.nearest(query)]
    assert mapped.add(trees[:1] or ["(A b)"]).tolist() == [len(trees)]


def test_what_was_removed_is_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "index.map"
    TreeIndex(["(A (B c))", "(A (B secretword))", "(A (D e))"]).save_mapped(path)
    assert b"secretword" in path.read_bytes()
    mapped = TreeIndex.load_mapped(path)
    mapped.remove([1])
    mapped.save_mapped(path)
    assert b"secretword" not in path.read_bytes()
    assert TreeIndex.load_mapped(path).numbers.tolist() == [0, 2]


def test_only_what_is_prepared_can_be_mapped(tmp_path: Path) -> None:
    index = TreeIndex(["(A b)"], (SubsetTree(0.4) * Subtree(0.4)).normalized())
    with pytest.raises(ParameterError, match=r"nothing is prepared that a file could hold; use sapwood.save"):
        index.save_mapped(tmp_path / "index.map")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "index.map"
    TreeIndex(sample_brackets(30, seed=4)).save_mapped(path)
    data = path.read_bytes()
    with pytest.raises(ModelFileError, match=r"mapped index; open it with TreeIndex.load_mapped"):
        sw.load(path)
    path.write_bytes(data[:-64])
    with pytest.raises(ModelFileError, match="truncated or damaged"):
        TreeIndex.load_mapped(path, check=False)
    path.write_bytes(data[:-1000] + bytes([data[-1000] ^ 1]) + data[-999:])
    with pytest.raises(ModelFileError, match="its content is not what was saved"):
        TreeIndex.load_mapped(path)
    path.write_bytes(data[:100])
    with pytest.raises(ModelFileError, match="truncated"):
        TreeIndex.load_mapped(path)
    with pytest.raises(ModelFileError, match="no such file"):
        TreeIndex.load_mapped(tmp_path / "other.map")
    sw.save(TreeIndex(["(A b)"]), tmp_path / "index.sap")
    with pytest.raises(ModelFileError, match=r"no mapped index; load it with sapwood.load"):
        TreeIndex.load_mapped(tmp_path / "index.sap")
    for change in ('"order": "little"', '"order": "big"'), ('"next": 30', '"next": -1'):
        path.write_bytes(data.replace(json.dumps(change[0])[1:-1].encode(), json.dumps(change[1])[1:-1].encode()))
        with pytest.raises(ModelFileError):
            TreeIndex.load_mapped(path, check=False)


_MEMORY = """
import re, sys
import sapwood as sw
from sapwood.search import TreeIndex

def own() -> int:
    return 1024 * int(re.search(r"RssAnon:\\s*(\\d+)", open("/proc/self/status").read())[1])

queries = sw.read_trees(sys.argv[2])
TreeIndex(queries).nearest(queries)
before = own()
index = TreeIndex.load_mapped(sys.argv[1])
with sw.options(threads=1):
    index.nearest(queries, 10)
print(own() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory of a process is read from /proc")
def test_a_mapped_index_takes_little_memory(tmp_path: Path) -> None:
    trees = sw.TreeArray(sample_brackets(20_000, seed=1))
    TreeIndex(trees).save_mapped(tmp_path / "index.map")
    sw.write_trees(trees[np.arange(5)], tmp_path / "queries.mrg")
    arguments = [str(tmp_path / "index.map"), str(tmp_path / "queries.mrg")]
    found = subprocess.run([sys.executable, "-c", _MEMORY, *arguments], capture_output=True, text=True, check=True)
    # The values of all trees, and what the system gives in larger pieces.
    assert int(found.stdout) < (tmp_path / "index.map").stat().st_size / 8

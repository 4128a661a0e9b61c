"""Gram matrices in Zarr: the kernel's values whoever computes them; resumed, checked, refused where they must be."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from distributed import Client
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from sapwood.corpora.sampled import sample_labeled
from sapwood.errors import DataError, KernelError, ModelFileError, ParameterError
from sapwood.kernels import Linear, PartialTree, SubsetTree, Subtree
from sapwood.scale import GramStore, gram_to_zarr
from scale.conftest import content
from strategies import internal_trees

TREES, _ = sample_labeled(130, seed=3)

# Sums of powers of two are exact in whatever order they are made.
EXACT = [
    Subtree(decay=0.5),
    SubsetTree(decay=0.5),
    SubsetTree(decay=0.25, bag_of_words=True),
    PartialTree(decay=0.5, depth_decay=0.5),
    2.0 * SubsetTree(decay=0.5, max_depth=2) + PartialTree(decay=1.0, depth_decay=0.25) * Subtree(decay=1.0),
]


@settings(max_examples=25)
@given(
    trees=st.lists(internal_trees(4), min_size=1, max_size=9),
    kernel=st.sampled_from([*EXACT, Subtree(decay=0.4), SubsetTree(decay=0.7)]),
    tile=st.integers(1, 10),
)
def test_tiles_put_together_are_the_gram_matrix_bit_for_bit(trees: list[sw.Tree], kernel: Any, tile: int) -> None:
    X = sw.TreeArray(trees)
    with tempfile.TemporaryDirectory() as folder:
        store = gram_to_zarr(kernel, X, folder, tile=tile)
        count = -(-len(X) // tile)
        assert store.computed == len(store.tiles) == count * (count + 1) // 2
        np.testing.assert_array_equal(store[:], kernel(X))
        np.testing.assert_array_equal(zarr.open_array(Path(folder) / "gram.zarr", mode="r")[:], kernel(X))


@settings(max_examples=10)
@given(
    rows=st.lists(internal_trees(4), min_size=1, max_size=7),
    columns=st.lists(internal_trees(4), min_size=1, max_size=7),
    kernel=st.sampled_from(EXACT),
    tile=st.integers(1, 5),
)
def test_two_sets_of_trees(rows: list[sw.Tree], columns: list[sw.Tree], kernel: Any, tile: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = gram_to_zarr(kernel, rows, folder, Y=columns, tile=tile)
        assert store.computed == -(-len(rows) // tile) * -(-len(columns) // tile)
        np.testing.assert_array_equal(store[:], kernel(sw.TreeArray(rows), sw.TreeArray(columns)))


@pytest.mark.parametrize("kernel", [SubsetTree().normalized(), PartialTree().normalized(), 0.3 * PartialTree() + 1.0])
def test_tiles_of_real_sized_trees(kernel: Any, tmp_path: Path) -> None:
    store = gram_to_zarr(kernel, TREES, tmp_path / "gram", tile=50)
    K = store[:]
    np.testing.assert_array_equal(K, K.T)
    # A sum in another order may differ in its last bits.
    np.testing.assert_allclose(K, kernel(TREES), rtol=1e-13, atol=0)
    rows, columns = TREES[:50].detach(), TREES[100:].detach()
    np.testing.assert_array_equal(store[:50, 100:], kernel(rows, columns))
    np.testing.assert_array_equal(store[100:, :50], kernel(rows, columns).T)


def test_examples_and_matrices(tmp_path: Path) -> None:
    flat = np.arange(12.0).reshape(6, 2)
    E = sw.Examples(tree=TREES[:6], flat=flat)
    kernel = SubsetTree(decay=0.5).on("tree") + Linear().on("flat")
    np.testing.assert_array_equal(gram_to_zarr(kernel, E, tmp_path / "views", tile=4)[:], kernel(E))
    np.testing.assert_array_equal(gram_to_zarr(Linear(), flat, tmp_path / "flat", tile=4)[:], Linear()(flat))


def test_storage(tmp_path: Path) -> None:
    kernel = SubsetTree()
    single = gram_to_zarr(kernel, TREES, tmp_path / "single", tile=60, dtype="float32")
    np.testing.assert_array_equal(single[:], kernel(TREES).astype(np.float32))
    packed = gram_to_zarr(kernel, TREES, tmp_path / "packed", tile=60, compress=True)
    np.testing.assert_array_equal(packed[:], gram_to_zarr(kernel, TREES, tmp_path / "plain", tile=60)[:])
    assert packed.array.attrs["kernel"] == "SubsetTree(decay=0.4)"


def test_bytes_do_not_depend_on_the_workers(client: Client, tmp_path: Path) -> None:
    kernel = PartialTree().normalized()
    alone = gram_to_zarr(kernel, TREES, tmp_path / "alone", tile=40)
    spread = gram_to_zarr(kernel, TREES, tmp_path / "spread", tile=40, client=client)
    assert alone.computed == spread.computed == 10
    assert content(alone.folder) == content(spread.folder)


def test_a_killed_worker_costs_its_tile(client: Client, tmp_path: Path) -> None:
    X, _ = sample_labeled(400, seed=4)
    kernel = PartialTree()
    folder = tmp_path / "killed"
    victims = sorted(client.run(os.getpid).values())

    def kill() -> None:
        while not (folder / "done").exists() or len(list((folder / "done").iterdir())) < 25:
            time.sleep(0.005)
        os.kill(victims[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    store = gram_to_zarr(kernel, X, folder, tile=40, client=client)
    thread.join()
    assert store.computed == len(store.tiles) == 55
    assert victims[0] not in client.run(os.getpid).values()
    assert content(folder) == content(gram_to_zarr(kernel, X, tmp_path / "whole", tile=40).folder)


def test_finished_tiles_are_not_computed_again(client: Client, tmp_path: Path) -> None:
    kernel = SubsetTree()
    folder = tmp_path / "gram"
    whole = gram_to_zarr(kernel, TREES, folder, tile=30)
    assert whole.computed == 15
    before = content(folder)
    written = {path: path.stat().st_mtime_ns for path in (folder / "gram.zarr").rglob("*") if path.is_file()}
    assert gram_to_zarr(kernel, TREES, folder, tile=30, client=client).computed == 0
    for tile in ("000001-000003", "000004-000004"):
        (folder / "done" / f"{tile}.json").unlink()
    store = GramStore(folder)
    assert store.missing() == [(1, 3), (4, 4)]
    assert repr(store) == "GramStore(130 x 130, float64, 13 of 15 tiles)"
    with pytest.raises(DataError, match="2 of 15 tiles are missing; call gram_to_zarr"):
        store[:]
    again = gram_to_zarr(kernel, TREES, folder, tile=30, client=client)
    assert again.computed == 2
    assert content(folder) == before
    changed = {
        path.relative_to(folder / "gram.zarr" / "c").as_posix()
        for path, at in written.items()
        if path.stat().st_mtime_ns != at
    }
    assert changed == {"1/3", "3/1", "4/4"}


def test_what_a_killed_process_leaves_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "gram"
    whole = content(gram_to_zarr(SubsetTree(), TREES, folder, tile=50).folder)
    (folder / "done" / "000000-000001.json").unlink()
    # The name that Zarr gives to a chunk while it writes it.
    (folder / "gram.zarr" / "c" / "0" / f"1.{'0' * 32}.partial").write_bytes(bytes(100))
    assert gram_to_zarr(SubsetTree(), TREES, folder, tile=50).computed == 1
    assert content(folder) == whole


@pytest.mark.parametrize("what", ["flipped", "shortened", "missing", "foreign"])
@pytest.mark.parametrize("compress", [False, True])
def test_damaged_tiles_are_computed_again(what: str, compress: bool, tmp_path: Path) -> None:
    kernel = SubsetTree()
    folder = tmp_path / "gram"
    K = gram_to_zarr(kernel, TREES, folder, tile=50, compress=compress)[:]
    before = content(folder)
    chunk = folder / "gram.zarr" / "c" / "2" / "0"
    data = bytearray(chunk.read_bytes())
    if what == "flipped":
        data[1000] ^= 4
    elif what == "shortened":
        del data[200:]
    elif what == "foreign":
        data = bytearray((folder / "gram.zarr" / "c" / "0" / "2").read_bytes())
    if what == "missing":
        chunk.unlink()
    else:
        chunk.write_bytes(data)
    store = GramStore(folder)
    assert store.damaged() == [(0, 2)]
    if what == "flipped":
        with pytest.raises(DataError, match="a tile is damaged; call gram_to_zarr"):
            store[:]
    # Whoever does not ask does not get told.
    assert gram_to_zarr(kernel, TREES, folder, tile=50, compress=compress, check=False).computed == 0
    again = gram_to_zarr(kernel, TREES, folder, tile=50, compress=compress)
    assert again.computed == 1
    np.testing.assert_array_equal(again[:], K)
    assert content(folder) == before


def test_damaged_notes(tmp_path: Path) -> None:
    folder = tmp_path / "gram"
    gram_to_zarr(SubsetTree(), TREES[:20], folder, tile=10)
    (folder / "done" / "000000-000001.json").write_bytes(b'{"crc32": [1')
    (folder / "done" / "000001-000001.json").write_text('{"crc32": [1]}')
    (folder / "done" / ".000001-000001.json.part").write_text("half")
    assert gram_to_zarr(SubsetTree(), TREES[:20], folder, tile=10).computed == 2
    (folder / "run.json").write_text("{")
    with pytest.raises(ModelFileError, match=r"run\.json is damaged; remove the folder"):
        gram_to_zarr(SubsetTree(), TREES[:20], folder, tile=10)


def test_other_runs_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "gram"
    gram_to_zarr(SubsetTree(), TREES[:20], folder, tile=10)
    before = content(folder)
    refused: list[tuple[Any, Any, dict[str, Any], str]] = [
        (SubsetTree(decay=0.5), TREES[:20], {}, "holds a run with kernel .*0.4.*, not .*0.5"),
        (SubsetTree(), TREES[1:21], {}, "over other data; name another folder"),
        (SubsetTree(), TREES[:20][::-1], {}, "over other data"),
        (SubsetTree(), TREES[:21], {}, r"shape \[20, 20\], not \[21, 21\]"),
        (SubsetTree(), TREES[:20], {"tile": 11}, "tile 10, not 11"),
        (SubsetTree(), TREES[:20], {"dtype": "float32"}, "dtype float64, not float32"),
        (SubsetTree(), TREES[:20], {"Y": TREES[:20]}, "symmetric True, not False"),
    ]
    for kernel, X, others, message in refused:
        with pytest.raises(DataError, match=message):
            gram_to_zarr(kernel, X, folder, **{"tile": 10, **others})
    assert content(folder) == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match="is not empty and holds no run"):
        gram_to_zarr(SubsetTree(), TREES[:20], tmp_path / "mine")
    with pytest.raises(ModelFileError, match="holds no run of Sapwood's"):
        GramStore(tmp_path / "mine")


def test_arguments(tmp_path: Path) -> None:
    X = TREES[:4]
    for others, message in (
        ({"tile": 0}, "tile must be an integer of at least 1, got 0"),
        ({"tile": 2.5}, "tile must be an integer"),
        ({"dtype": "int8"}, "dtype must be 'float64' or 'float32'"),
        ({"client": "tcp://here"}, r"client must be a dask\.distributed\.Client or None, got str"),
    ):
        with pytest.raises(ParameterError, match=message):
            gram_to_zarr(SubsetTree(), X, tmp_path / "gram", **others)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="kernel must be a kernel"):
        gram_to_zarr("SubsetTre()", X, tmp_path / "other")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="nothing to compare"):
        gram_to_zarr(SubsetTree(), [], tmp_path / "other")
    deep = sw.Tree("a", ["b"])
    for _ in range(12):
        deep = sw.Tree("a", [deep] * 2)
    with pytest.raises(KernelError, match=r"kernel of example 0 is not finite: "):
        gram_to_zarr(SubsetTree(decay=1.0), [deep], tmp_path / "deep")


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot be used \(Not a directory\)\. Make room, or name"):
        gram_to_zarr(SubsetTree(), TREES[:4], tmp_path / "file" / "gram")
    if os.geteuid() == 0:
        pytest.skip("nothing is read-only for root")
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(DataError, match="Permission denied"):
        gram_to_zarr(SubsetTree(), TREES[:4], tmp_path / "closed" / "gram")


def test_a_full_disk_loses_nothing_finished(fresh: Any, tmp_path: Path) -> None:
    """A limit on the size of files stands in for a disk that is full: it stops the first tile that is missing."""
    folder = tmp_path / "gram"
    done = fresh(
        f"""
        import resource
        from sapwood.corpora.sampled import sample_labeled
        from sapwood.errors import DataError
        from sapwood.kernels import SubsetTree
        from sapwood.scale import gram as room, gram_to_zarr
        X, _ = sample_labeled(130, seed=3)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        whole = gram_to_zarr(SubsetTree(), X, {str(folder)!r}, tile=30)
        for tile in ("000000-000000", "000000-000004", "000004-000004"):
            (whole.folder / "done" / (tile + ".json")).unlink()
        (whole.folder / "gram.zarr/c/4/4").unlink()
        # The trees take more than that as well, but what is looked for is a tile that finds no room.
        room.save = lambda *given: None
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, hard))
        try:
            gram_to_zarr(SubsetTree(), X, {str(folder)!r}, tile=30)
        except DataError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        print(gram_to_zarr(SubsetTree(), X, {str(folder)!r}, tile=30).computed)
        """,
        timeout=240,
    )
    assert "cannot be used (File too large)" in done.stdout, done.stdout + done.stderr
    assert "12 of 15 tiles are finished; the same call goes on from there." in done.stdout
    assert done.stdout.splitlines()[-1] == "3"


@pytest.mark.skipif(sys.platform != "linux", reason="sends POSIX signals")
@pytest.mark.parametrize("workers", [0, 1])
def test_interrupt(workers: int, tmp_path: Path, interrupt: Callable[..., str]) -> None:
    """Ctrl-C stops the client at once; the next call goes on from the finished tiles, to the same bytes."""
    code = f"""
        import logging
        from distributed import Client, LocalCluster
        import sapwood as sw
        from sapwood.corpora.sampled import sample_labeled
        from sapwood.kernels import PartialTree
        from sapwood.scale import gram_to_zarr

        if __name__ == "__main__":
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
            sw.options(threads=1)
            X, _ = sample_labeled(220, seed=5)
            cluster = {workers} and LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
            client = Client(cluster) if cluster else None
            print("ready", flush=True)
            try:
                gram_to_zarr(PartialTree(), X, "gram", tile=20, client=client)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            if client:
                client.close()
                cluster.close()
            print(gram_to_zarr(PartialTree(), X, "gram", tile=20).computed, flush=True)
    """
    folder = tmp_path / "gram" / "done"
    said = interrupt(code, at_most=2.0, after=lambda: folder.exists() and len(list(folder.iterdir())) >= 5)
    interrupted, computed = said.splitlines()
    assert interrupted == "interrupted"
    assert 0 < int(computed) <= 66 - 5
    X, _ = sample_labeled(220, seed=5)
    assert content(tmp_path / "gram") == content(gram_to_zarr(PartialTree(), X, tmp_path / "whole", tile=20).folder)


def test_interrupt_inside_zarr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C within an access to Zarr, whose thread it could leave waiting forever, comes after that access."""
    X, _ = sample_labeled(20, seed=5)
    within: list[str] = []
    write = zarr.Array.__setitem__

    def interrupted_write(array: Any, key: Any, value: Any) -> None:
        if not within:
            within.append("begun")
            signal.raise_signal(signal.SIGINT)
        write(array, key, value)
        within.append("ended")

    monkeypatch.setattr(zarr.Array, "__setitem__", interrupted_write)
    with pytest.raises(KeyboardInterrupt):
        gram_to_zarr(SubsetTree(), X, tmp_path / "gram", tile=10)
    assert within == ["begun", "ended"]
    assert gram_to_zarr(SubsetTree(), X, tmp_path / "gram", tile=10).computed == 3


def test_progress(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import tqdm.auto

    seen: list[tuple[str, int]] = []

    class Bar:
        def __init__(self, *, total: int, desc: str, **others: Any) -> None:
            self.n, self.desc = 0, desc
            seen.append((desc, total))

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *error: object) -> None:
            seen.append((self.desc, -self.n))

        def update(self, steps: int) -> None:
            self.n += steps

        def refresh(self) -> bool:
            return True

        def clear(self) -> None:
            pass

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    with sw.options(progress=True):
        gram_to_zarr(SubsetTree(), TREES, tmp_path / "gram", tile=50)
    assert ("Tiles", 6) in seen
    assert ("Tiles", -6) in seen
    assert capsys.readouterr().err == ""
    gram_to_zarr(SubsetTree(), TREES, tmp_path / "silent", tile=50)
    assert capsys.readouterr() == ("", "")


def test_where_the_seconds_went(tmp_path: Path) -> None:
    spent = gram_to_zarr(SubsetTree(), TREES, tmp_path / "gram", tile=50).timings()
    assert set(spent) == {"prepare", "compute", "write"}
    assert all(0 < seconds < 60 for seconds in spent.values())

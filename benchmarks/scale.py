"""Gram tiles over Dask workers, and a million trees through maps, training and prediction.

    python benchmarks/scale.py gram [--kernel EXPR] [--trees N] [--tile N] [--workers 1 2] [--kill]
    python benchmarks/scale.py stream [--sizes 100000 1000000] [--workers 2]

``gram`` computes the Gram matrix of the Penn Treebank sample and drawn trees into a Zarr array with one worker, with
two, and with two of which one is killed at half; workers are processes of one thread. ``stream`` draws labelled trees
part by part, maps them into shards, trains a linear model from these and predicts another tenth as many, and reports
the peak memory of every process. ``main`` is a short version of the first for ``benchmarks/run.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import logging
import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

import sapwood as sw
import treebank
from sapwood.corpora.drawn import draw_brackets
from sapwood.kernels import parse_kernel
from sapwood.scale import gram_to_zarr
from table import Row, show

SAMPLE = 3914  # trees of the Penn Treebank sample


def cluster(workers: int):  # type: ignore[no-untyped-def]
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    made = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0)
    return Client(made), made


def trees(count: int) -> sw.TreeArray:
    lines = treebank.load(min(count, SAMPLE)).lines
    lines += draw_brackets(count - len(lines))
    return sw.read_trees(io.StringIO("\n".join(lines)))


def content(folder: Path) -> str:
    """Return a digest of every chunk of the array, by name."""
    digest = hashlib.sha256()
    for path in sorted((folder / "gram.zarr").rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def kill_at_half(client, folder: Path, tiles: int) -> threading.Thread:  # type: ignore[no-untyped-def]
    """Kill one worker, the way the system does when memory runs out, as soon as half of the tiles are finished."""
    victim = next(iter(client.run(os.getpid).values()))

    def wait() -> None:
        done = folder / "done"
        while not done.exists() or len(list(done.iterdir())) < tiles // 2:
            time.sleep(0.02)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def gram(
    X: sw.TreeArray, kernel: str, tile: int, workers: int, place: Path, *, kill: bool = False
) -> dict[str, object]:
    """Compute one Gram matrix and return what it took."""
    folder = place / f"{workers}-{'killed' if kill else 'whole'}"
    client, made = cluster(workers)
    try:
        client.wait_for_workers(workers)
        count = -(-len(X) // tile)
        tiles = count * (count + 1) // 2
        thread = kill_at_half(client, folder, tiles) if kill else None
        start = time.perf_counter()
        store = gram_to_zarr(parse_kernel(kernel), X, folder, client=client, tile=tile)
        seconds = time.perf_counter() - start
        if thread is not None:
            thread.join()
    finally:
        client.close()
        made.close()
    size = sum(path.stat().st_size for path in (folder / "gram.zarr").rglob("*") if path.is_file())
    moved = sum(path.stat().st_size for path in folder.glob("*.sap"))
    result = {
        "kernel": kernel,
        "trees": len(X),
        "tile": tile,
        "tiles": tiles,
        "workers": workers,
        "killed": kill,
        "seconds": round(seconds, 2),
        "worker seconds": {name: round(value, 2) for name, value in store.timings().items()},
        "computed": store.computed,
        "bytes written": size,
        "bytes read per worker": moved,
        "content": content(folder),
    }
    shutil.rmtree(folder)
    return result


def grams(options: argparse.Namespace) -> None:
    X = trees(options.trees)
    print(f"{X!r}; Penn Treebank sample and drawn trees, seed {treebank.SEED}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        for workers in options.workers:
            print(json.dumps(gram(X, options.kernel, options.tile, workers, Path(place))), flush=True)
        if options.kill:
            print(json.dumps(gram(X, options.kernel, options.tile, 2, Path(place), kill=True)), flush=True)


def main() -> list[Row]:
    """Compare two workers with one on a small Gram matrix."""
    X = trees(4000)
    with tempfile.TemporaryDirectory() as place:
        one, two = (gram(X, "PartialTree()", 500, workers, Path(place)) for workers in (1, 2))
    if one["content"] != two["content"]:
        raise SystemExit("one and two workers wrote different bytes.")
    pairs = 4000 * 4001 / 2
    return [
        Row(
            "Gram over Dask, 2 workers",
            "1 worker",
            float(str(one["seconds"])) / float(str(two["seconds"])),
            pairs / float(str(two["seconds"])),
            pairs / float(str(one["seconds"])),
            "pairs",
            note="PTK, 4,000 trees, tiles of 500; docs/scale.md has 20,000 trees",
        )
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="what")
    one = commands.add_parser("gram")
    one.add_argument("--kernel", default="PartialTree()")
    one.add_argument("--trees", type=int, default=20_000)
    one.add_argument("--tile", type=int, default=1000)
    one.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    one.add_argument("--kill", action="store_true")
    one.add_argument("--place", help="folder for the matrices (default: the system's)")
    options = parser.parse_args()
    if options.what == "gram":
        grams(options)
    else:
        print(show(main()))

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
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import sapwood as sw
import treebank
from sapwood.corpora.sampled import sample_brackets, sample_labeled
from sapwood.kernels import HashedFragmentMap, parse_kernel
from sapwood.scale import ShardClassifier, gram_to_zarr, map_to_shards, predict
from table import Row, show

PART = 10_000
SAMPLE = 3914  # trees of the Penn Treebank sample


def cluster(workers: int):  # type: ignore[no-untyped-def]
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    made = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0)
    return Client(made), made


def trees(count: int) -> sw.TreeArray:
    lines = treebank.load(min(count, SAMPLE)).lines
    lines += sample_brackets(count - len(lines))
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


def draw_part(number: int):  # type: ignore[no-untyped-def]
    """Draw one part of the stream; runs on a worker."""
    return sample_labeled(PART, seed=number)


def draw_test_part(number: int):  # type: ignore[no-untyped-def]
    return sample_labeled(PART, seed=10**9 + number)[0]


def own_peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def stream(options: argparse.Namespace) -> None:
    """Map, train and predict; each size in this process and workers of its own, so that peaks are its own."""
    if len(options.sizes) > 1:
        for size in options.sizes:
            command = [sys.executable, __file__, "stream", "--sizes", str(size), "--workers", str(options.workers)]
            subprocess.run([*command, *(["--place", options.place] if options.place else [])], check=True)
        return
    (size,) = options.sizes
    parts, tests = size // PART, max(1, size // PART // 10)
    client, made = cluster(options.workers) if options.workers else (None, None)
    # Functions of a script are not found by workers under a name.
    read = (lambda number: sample_labeled(PART, seed=number)) if client else draw_part
    read_test = (lambda number: sample_labeled(PART, seed=10**9 + number)[0]) if client else draw_test_part
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        start = time.perf_counter()
        mapping = HashedFragmentMap(max_size=2)
        shards = map_to_shards(mapping, range(parts), Path(place) / "s", read=read, client=client, dtype="float32")
        mapped = time.perf_counter()
        model = ShardClassifier(epochs=3, alpha=1e-6).fit(shards)
        trained = time.perf_counter()
        right = count = 0
        for number, answers in enumerate(predict(model, range(tests), read=read_test, client=client)):
            # The truth is drawn again rather than kept.
            right += int((answers == sample_labeled(PART, seed=10**9 + number)[1]).sum()) if number < 3 else 0
            count += len(answers)
        predicted = time.perf_counter()
        size_on_disk = sum(path.stat().st_size for path in (Path(place) / "s").glob("*.safetensors"))
        peaks = list(client.run(peak_of_worker).values()) if client else []
    print(
        json.dumps(
            {
                "trees": parts * PART,
                "workers": options.workers,
                "map seconds": round(mapped - start, 1),
                "train seconds": round(trained - mapped, 1),
                "predicted": count,
                "predict seconds": round(predicted - trained, 1),
                "accuracy on the first 30,000 at most": round(right / (min(tests, 3) * PART), 4),
                "shard bytes": size_on_disk,
                "peak MB of the client": round(own_peak() / 1e6),
                "peak MB of workers": [round(peak / 1e6) for peak in peaks],
            }
        ),
        flush=True,
    )
    if client:
        client.close()
        made.close()


def peak_of_worker() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


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
    two = commands.add_parser("stream")
    two.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    two.add_argument("--workers", type=int, default=2, help="0 does everything in one process")
    two.add_argument("--place", help="folder for the shards (default: the system's)")
    options = parser.parse_args()
    if options.what == "gram":
        grams(options)
    elif options.what == "stream":
        stream(options)
    else:
        print(show(main()))

"""Everything that a cluster can do for Sapwood, with workers that are killed all the time.

Each path gives a result that must be the one of a single process. Workers are forked from a process that has imported
everything, so that a new one costs nothing, and are replaced here: Dask's own nannies do not bring back every worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import logging
import multiprocessing
import random
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import specimens
from sapwood.corpora.sampled import sample_labeled
from sapwood.errors import DataError
from sapwood.kernels import HashedFragmentMap, PartialTree, SubsetTree
from sapwood.learn import KernelSVC
from sapwood.scale import ClusterLabeler, gram_to_zarr, in_parts, map_to_shards, predict
from sapwood.tasks.roles.runs import label_to_file

__all__ = ["PATHS", "Team", "kill_workers"]

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["distributed", "joblib", "faults.workers"])


def _work(address: str) -> None:
    """Be a worker of one thread."""
    from distributed import Worker

    logging.getLogger("distributed").setLevel(logging.CRITICAL)

    async def work() -> None:
        # Without a nanny: whoever started this process looks after it.
        async with Worker(address, nthreads=1, dashboard=False) as worker:
            await worker.finished()

    asyncio.run(work())


class Team:
    """A scheduler, a client and so many workers; a context manager."""

    def __init__(self, workers: int = 2) -> None:
        from distributed import Client, LocalCluster

        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._open = contextlib.ExitStack()
        cluster = LocalCluster(n_workers=0, processes=True, dashboard_address=":0")
        self.client = self._open.enter_context(Client(self._open.enter_context(cluster)))
        self._workers: list[Any] = []
        for _ in range(workers):
            self.start()
        self.client.wait_for_workers(workers, timeout=60)

    def start(self) -> None:
        """Start a worker."""
        process = _context.Process(target=_work, args=(self.client.scheduler.address,), daemon=True)
        process.start()
        self._workers.append(process)

    def kill(self, which: int, *, replace: bool = True) -> None:
        """Kill a worker with SIGKILL, and start another."""
        victim = self._workers.pop(which % len(self._workers))
        victim.kill()
        victim.join()
        if replace:
            self.start()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        for process in self._workers:
            process.kill()
            process.join()


Path_ = Callable[[Any, Path], Any]


@cache
def _data() -> tuple[Any, list[Any]]:
    return sample_labeled(1000, seed=9, classes=6)


def _digests(folder: Path, pattern: str) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob(pattern)
        if path.is_file() and path.suffix != ".part"
    }


def gram(client: Any, folder: Path) -> Any:
    gram_to_zarr(PartialTree(), _data()[0][:400], folder / "gram", tile=20, client=client)
    return _digests(folder / "gram" / "gram.zarr", "**/*")


def shards(client: Any, folder: Path) -> Any:
    X, y = _data()
    map_to_shards(HashedFragmentMap(n_features=4096), in_parts(X, y, size=5), folder / "shards", client=client)
    return _digests(folder / "shards", "*.safetensors")


def read_part(number: int) -> Any:
    X, y = _data()
    return X[5 * number : 5 * number + 5], y[5 * number : 5 * number + 5]


def shards_read_by_workers(client: Any, folder: Path) -> Any:
    mapping = HashedFragmentMap(n_features=4096)
    map_to_shards(mapping, range(200), folder / "shards", read=read_part, client=client)
    return _digests(folder / "shards", "*.safetensors")


@cache
def _classifier() -> Any:
    X, y = _data()
    return KernelSVC(PartialTree()).fit(X[:200], y[:200])


def predictions(client: Any, folder: Path) -> Any:
    return [label for part in predict(_classifier(), in_parts(_data()[0], size=5), client=client) for label in part]


def labelling(client: Any, folder: Path) -> Any:
    labeler = ClusterLabeler(specimens.specimen("RoleLabeler"), client, part=2)
    label_to_file(labeler, specimens.role_sentences() * 6, folder / "roles.jsonl", resume=True)
    return (folder / "roles.jsonl").read_bytes()


def _with_joblib(client: Any, work: Callable[[], Any]) -> Any:
    import joblib

    if client is None:
        return work()
    with joblib.parallel_config(backend="dask", client=client):
        return work()


def problems(client: Any, folder: Path) -> Any:
    X, y = _data()
    model = KernelSVC(SubsetTree().normalized(), C=10.0, multi_class="ovo")
    fitted = _with_joblib(client, lambda: model.fit(X, y))
    return [fitted.dual_coef_.tolist(), fitted.support_.tolist(), np.asarray(fitted.intercept_).tolist()]


PATHS: dict[str, Path_] = {
    "gram_to_zarr": gram,
    "map_to_shards": shards,
    "map_to_shards, read by workers": shards_read_by_workers,
    "predict": predictions,
    "ClusterLabeler": labelling,
    "KernelSVC.fit with joblib": problems,
}


@cache
def expected(name: str) -> Any:
    """What a single process gives."""
    with tempfile.TemporaryDirectory() as folder:
        return PATHS[name](None, Path(folder))


def kill_workers(team: Team, name: str, kills: int, seed: int = 0) -> tuple[int, int]:
    """Do the work of a path again and again until so many workers were killed in the middle of it.

    Returns how many runs that took, and how often a call had to be repeated because one piece had lost several workers
    in a row. Raises if a result differs.
    """
    dice = random.Random(f"{name} {seed}")
    wanted = expected(name)
    done = repeated = 0
    for runs in itertools.count(1):
        with tempfile.TemporaryDirectory() as folder, _killing(team, dice, kills - done) as killed:
            for _ in range(20):
                try:
                    found = PATHS[name](team.client, Path(folder))
                    break
                except DataError as error:
                    if "several workers" not in str(error):
                        raise
                    repeated += 1
        assert found == wanted, f"{name}: the result differs after workers were killed"
        done += len(killed)
        if done >= kills:
            return runs, repeated
    raise AssertionError("not reached")


@contextlib.contextmanager
def _killing(team: Team, dice: random.Random, most: int) -> Iterator[list[int]]:
    """Kill workers now and then; gives the list of those killed."""
    over = threading.Event()
    killed: list[int] = []

    def work() -> None:
        while len(killed) < most and not over.wait(dice.uniform(0.05, 1.0)):
            team.kill(dice.randrange(2))
            killed.append(len(killed))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()

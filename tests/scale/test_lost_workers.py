"""Workers that are killed in the middle of every kind of work, and clusters that lose all of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from distributed import Client

from faults.workers import PATHS, Team, kill_workers
from sapwood import cluster
from sapwood.errors import DataError, SapwoodError

# ``make faults`` has more patience.
KILLS = 50 if os.environ.get("SAPWOOD_FAULTS") == "long" else 3


@pytest.fixture(scope="module")
def team() -> Iterator[Team]:
    with Team() as made:
        yield made


@pytest.mark.parametrize("name", PATHS)
def test_the_result_is_the_same(team: Team, name: str) -> None:
    kill_workers(team, name, KILLS)


def test_a_cluster_that_has_lost_all_workers(monkeypatch: pytest.MonkeyPatch, stopwatch: Callable[..., Any]) -> None:
    """Nothing is waited for without end: not for a piece, not for a result that was lost on its way."""
    monkeypatch.setattr(cluster, "_NO_WORKER_SECONDS", 1.5)
    with Team() as team:

        def end() -> None:
            team.kill(0, replace=False)
            team.kill(0, replace=False)

        timer = threading.Timer(1.0, end)
        timer.start()
        with stopwatch(at_most=30), pytest.raises(DataError, match=r"has had no worker for 1\.5 s; start some"):
            list(cluster.run(team.client, time.sleep, ((0.2,) for _ in range(10_000))))
        timer.join()
        with pytest.raises(DataError, match=r"has had no worker for 1\.5 s; start some"):
            list(cluster.run(team.client, time.sleep, [(0.1,)]))
        # Others may come, and the same call goes on.
        team.start()
        team.client.wait_for_workers(1, timeout=60)
        assert len(list(cluster.run(team.client, time.sleep, [(0.0,)] * 5))) == 5


def test_a_time_limit_of_the_piece_itself(team: Team) -> None:
    def late() -> None:
        raise TimeoutError("the disk does not answer")

    with pytest.raises(TimeoutError, match="the disk does not answer"):
        list(cluster.run(team.client, late, [()]))


def test_a_scheduler_that_ends(stopwatch: Callable[..., Any]) -> None:
    code = """
import asyncio
from distributed import Scheduler, Worker
async def main():
    async with Scheduler(port=0, dashboard=False) as scheduler, Worker(scheduler.address, nthreads=1) as worker:
        print(scheduler.address, flush=True)
        await worker.finished()
asyncio.run(main())
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        with Client(process.stdout.readline().strip(), timeout=60) as client:
            threading.Timer(1.0, process.kill).start()
            with stopwatch(at_most=90), pytest.raises(SapwoodError, match="the connection to the cluster was lost"):
                list(cluster.run(client, time.sleep, ((0.1,) for _ in range(10_000))))
    finally:
        process.kill()
        process.communicate()

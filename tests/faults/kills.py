"""Killing jobs at random times: what was finished stays, and in the end there are the bytes of an undisturbed run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import specimens
from faults import jobs

__all__ = ["content", "empty", "in_a_child", "kill", "kill_often", "prepare", "undisturbed"]


def content(folder: Path) -> dict[str, bytes]:
    """What is left when all is done."""
    # A kill between giving a draft its name and putting it in its place is the one moment that leaves something behind.
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".part"
    }
    # Notes of tiles say how long each took; their checksums are what must be the same.
    return {name: data.partition(b', "seconds"')[0] if "/done/" in name else data for name, data in found.items()}


def empty(folder: Path) -> None:
    """Remove all that is in a folder."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def in_a_child(work: Callable[[], object]) -> int:
    """Fork, and return the child's process number; importing everything anew would take longer than the work."""
    child = os.fork()
    if child == 0:
        code = 1
        # A child that came back from here would go on with the tests of its parent.
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def prepare() -> None:
    """Make what jobs need before anything forks, so that a child only works."""
    for name in ("RoleLabeler", "QuestionClassifier"):
        specimens.specimen(name)
    jobs._given()


def undisturbed(name: str, folder: Path) -> tuple[dict[str, bytes], float]:
    """Return what a job leaves when nobody disturbs it, and how long it takes."""
    begin = time.monotonic()
    _, status = os.waitpid(in_a_child(lambda: jobs.JOBS[name](folder)), 0)
    assert status == 0
    return content(folder), time.monotonic() - begin


def kill(name: str, folder: Path, kills: int, seconds: float) -> int:
    """Kill a job so many times, looking after each what is left, and then let it finish; return how many hit it."""
    dice = random.Random(name)
    far: tuple[int, ...] = ()
    hits = 0
    for _ in range(kills):
        child = in_a_child(lambda: jobs.JOBS[name](folder))
        time.sleep(dice.uniform(0.0, min(1.0, seconds) * 0.6))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if status == 0:
            # It was faster than the kill: from the beginning again.
            empty(folder)
            far = ()
            continue
        assert os.WIFSIGNALED(status), "the job failed by itself"
        hits += 1
        now = jobs.progress(folder)
        if len(now) == len(far):
            assert now >= far, "something that was finished is lost"
        far = now
    _, status = os.waitpid(in_a_child(lambda: jobs.JOBS[name](folder)), 0)
    assert status == 0
    return hits


def kill_often(name: str, kills: int) -> tuple[int, float, bool]:
    """Kill a job so many times; return how many hit it, how long it takes, and whether the result is the same."""
    prepare()
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        expected, seconds = undisturbed(name, Path(first))
        hits = kill(name, Path(second), kills, seconds)
        return hits, seconds, content(Path(second)) == expected

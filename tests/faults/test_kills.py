"""Work that is killed at any point loses nothing that was finished, and goes on to the same bytes."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import specimens
from faults.jobs import JOBS, progress

# ``make faults`` has more patience.
KILLS = 60 if os.environ.get("SAPWOOD_FAULTS") == "long" else 4


def content(folder: Path) -> dict[str, bytes]:
    """What is left when all is done."""
    # A kill between giving a draft its name and putting it in its place is the one moment that leaves something behind.
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix != ".part"}


def in_a_child(work: Callable[[], object]) -> int:
    """Fork, and return the child's process number; importing everything anew would take longer than the work."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    return child


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    # Made before anything forks, so that a child only works.
    for name in ("RoleLabeler", "QuestionClassifier"):
        specimens.specimen(name)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[dict[str, bytes], float]]:
    """What a job leaves when nobody disturbs it, and how long it takes."""
    known: dict[str, tuple[dict[str, bytes], float]] = {}

    def get(name: str) -> tuple[dict[str, bytes], float]:
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            begin = time.monotonic()
            _, status = os.waitpid(in_a_child(lambda: JOBS[name](folder)), 0)
            assert status == 0
            known[name] = content(folder), time.monotonic() - begin
        return known[name]

    return get


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", JOBS)
def test_killed_at_random_times(
    name: str, finished: Callable[[str], tuple[dict[str, bytes], float]], tmp_path: Path
) -> None:
    expected, seconds = finished(name)
    dice = random.Random(name)
    far: tuple[int, ...] = ()
    kills = 0
    while kills < KILLS:
        child = in_a_child(lambda: JOBS[name](tmp_path))
        time.sleep(dice.uniform(0.0, min(1.0, seconds) * 0.6))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        kills += 1
        if status == 0:
            # It was faster than the kill: from the beginning again.
            for path in tmp_path.iterdir():
                path.unlink()
            far = ()
            continue
        assert os.WIFSIGNALED(status), "the job failed by itself"
        now = progress(tmp_path)
        if len(now) == len(far):
            assert now >= far, "something that was finished is lost"
        far = now
    _, status = os.waitpid(in_a_child(lambda: JOBS[name](tmp_path)), 0)
    assert status == 0
    assert content(tmp_path) == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["labelling", "network", "perceptron"])
def test_killed_at_every_kind_of_file_operation(
    name: str, finished: Callable[[str], tuple[dict[str, bytes], float]], tmp_path: Path
) -> None:
    """The process dies right before or right after its n-th write to disk, for growing n."""
    expected, _ = finished(name)

    def deadly(number: int, after: bool) -> Callable[[], None]:
        def work() -> None:
            left = number

            def wrapped(original: Callable[..., object]) -> Callable[..., object]:
                def call(*arguments: object, **keywords: object) -> object:
                    nonlocal left
                    left -= 1
                    if left == 0 and not after:
                        os.kill(os.getpid(), signal.SIGKILL)
                    result = original(*arguments, **keywords)
                    if left == 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return result

                return call

            for operation in ("fsync", "link", "replace", "unlink"):
                setattr(os, operation, wrapped(getattr(os, operation)))
            JOBS[name](tmp_path)

        return work

    killed = 0
    step = 1 if os.environ.get("SAPWOOD_FAULTS") == "long" else 3
    for number in range(1, 20, step):
        for after in (False, True):
            _, status = os.waitpid(in_a_child(deadly(number, after)), 0)
            progress(tmp_path)
            killed += os.WIFSIGNALED(status)
            if status == 0:
                assert content(tmp_path) == expected
                for path in tmp_path.iterdir():
                    path.unlink()
    assert killed > 3
    _, status = os.waitpid(in_a_child(lambda: JOBS[name](tmp_path)), 0)
    assert status == 0
    assert content(tmp_path) == expected

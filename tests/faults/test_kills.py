"""Work that is killed at any point loses nothing that was finished, and goes on to the same bytes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.jobs import JOBS, progress
from faults.kills import content, empty, in_a_child, kill, prepare, undisturbed

# ``make faults`` has more patience.
KILLS = 60 if os.environ.get("SAPWOOD_FAULTS") == "long" else 4


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    # Made before anything forks, so that a child only works.
    prepare()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[dict[str, bytes], float]]:
    """What a job leaves when nobody disturbs it, and how long it takes."""
    known: dict[str, tuple[dict[str, bytes], float]] = {}

    def get(name: str) -> tuple[dict[str, bytes], float]:
        if name not in known:
            known[name] = undisturbed(name, tmp_path_factory.mktemp(name))
        return known[name]

    return get


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", JOBS)
def test_killed_at_random_times(
    name: str, finished: Callable[[str], tuple[dict[str, bytes], float]], tmp_path: Path
) -> None:
    expected, seconds = finished(name)
    kill(name, tmp_path, KILLS, seconds)
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
                empty(tmp_path)
    assert killed > 3
    _, status = os.waitpid(in_a_child(lambda: JOBS[name](tmp_path)), 0)
    assert status == 0
    assert content(tmp_path) == expected

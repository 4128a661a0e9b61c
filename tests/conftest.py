"""What all tests share: Hypothesis profiles, data that may be present, fresh processes, Ctrl-C and the clock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import sapwood as sw
from paths import DATA, ROOT, SHARED
from treebank import sample_texts, sample_trees

# A shell that starts the tests in the background makes them ignore Ctrl-C, and with them everything that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What somebody has downloaded for their own use (`sapwood data get`, the hub's cache) would change what tests find.
for name in ("XDG_DATA_HOME", "HF_HUB_CACHE"):
    os.environ[name] = str(ROOT / "build" / "nothing-here")
os.environ.pop("SAPWOOD_DATA", None)

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("quick", max_examples=60, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=_QUIET)
settings.register_profile("long", max_examples=2000, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "quick"))


# What is in these folders starts processes and servers, or trains whole models.
SLOW_FOLDERS = ("cli", "experiments", "explorer", "faults", "scale")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(ROOT / "tests" / folder in item.path.parents for folder in SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; tests that need it are skipped where it is missing."""
    if not DATA.is_dir():
        pytest.skip(f"the corpora are not on this machine ({DATA})")
    return DATA


@pytest.fixture(scope="session")
def kernel_vectors() -> list[dict[str, Any]]:
    """Pairs of trees with kernel values that other programs agree on."""
    path = SHARED / "vectors" / "syntactic_kernels.json"
    if not path.exists():
        pytest.skip(f"the reference values are not on this machine ({path})")
    pairs: list[dict[str, Any]] = json.loads(path.read_text())["pairs"]
    return pairs


@pytest.fixture(scope="session")
def treebank_texts() -> list[str]:
    """The files of NLTK's sample of the Penn Treebank, as text."""
    return sample_texts()


@pytest.fixture(scope="session")
def treebank() -> sw.TreeArray:
    """Real trees: every tree of the sample."""
    return sample_trees()


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code in a new Python process; a crash shows as a negative return code."""

    def run(code: str, *, timeout: float = 60.0, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )

    return run


@pytest.fixture(params=["untimed", pytest.param("timed", marks=pytest.mark.timing)])
def stopwatch(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """``with stopwatch(at_most=1.0): ...`` fails if the block takes longer, in seconds of ``clock``.

    A test that asks for it comes twice: untimed in every run, where the block must succeed but may take any time; and
    timed, with the marker ``timing``, in ``make check-timing`` alone. A busy machine cannot fail the default run.
    """

    @contextmanager
    def limited(at_most: float, clock: Callable[[], float] = time.perf_counter) -> Iterator[None]:
        start = clock()
        yield
        taken = clock() - start
        assert request.param == "untimed" or taken < at_most, f"took {taken:.2f} s, at most {at_most} are allowed"

    return limited


@pytest.fixture
def interrupt(tmp_path: Path, stopwatch: Callable[..., Any]) -> Callable[..., str]:
    """Run code in a new process, send it Ctrl-C, and return what it prints from then on.

    The signal is sent ``after`` some seconds, or once ``after()`` is true, counted from the line "ready" that the code
    must print. The first line that follows it must come in ``at_most`` seconds, where a test is timed.
    """

    def run(code: str, *, at_most: float = 1.0, after: float | Callable[[], bool] = 0.5) -> str:
        script = tmp_path / "interrupted.py"
        script.write_text(textwrap.dedent(code), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
        with subprocess.Popen(
            [sys.executable, script],
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
            start_new_session=True,
        ) as process:
            # Whatever does not answer is ended, so that a failure costs minutes and not hours.
            watchdog = threading.Timer(240, process.kill)
            watchdog.start()
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                if callable(after):
                    while not after():
                        time.sleep(0.005)
                else:
                    time.sleep(after)
                with stopwatch(at_most):
                    process.send_signal(signal.SIGINT)
                    answer = process.stdout.readline()
                answer += process.stdout.read()
                assert process.wait(20) == 0, answer
                return answer
            finally:
                watchdog.cancel()
                process.kill()

    return run

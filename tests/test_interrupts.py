"""Ctrl-C while a library is at work that does not notice it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sapwood.interrupts import hold_interrupts, leave_behind


def test_results_and_errors_come_through() -> None:
    assert leave_behind(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        leave_behind(lambda: 1 // 0)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        leave_behind(lambda: np.float64(1e308) * 10)


def test_other_threads_call_directly() -> None:
    seen: list[bool] = []
    thread = threading.Thread(target=lambda: seen.append(leave_behind(threading.current_thread) is thread))
    thread.start()
    thread.join()
    assert seen == [True]


def test_waiting_ends_at_once(stopwatch: Callable[..., Any]) -> None:
    release = threading.Event()
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with stopwatch(at_most=2), pytest.raises(KeyboardInterrupt):
        leave_behind(release.wait)
    release.set()


def test_held_until_the_block_ends() -> None:
    steps = []

    def work() -> None:
        with hold_interrupts():
            signal.raise_signal(signal.SIGINT)
            steps.append("went on")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["went on"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_other_threads_hold_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)

    def look() -> None:
        with hold_interrupts():
            seen.append(signal.getsignal(signal.SIGINT) is before)

    seen: list[bool] = []
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [True]


@pytest.mark.slow
def test_landmarks_can_be_left(interrupt: Callable[..., str]) -> None:
    """The decomposition of 2,000 landmarks takes far longer than anybody waits after Ctrl-C."""
    code = """
        import os
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        import numpy as np
        from sapwood.kernels import Linear, LandmarkMap
        X = np.random.default_rng(0).random((2000, 2000))
        mapped = LandmarkMap(Linear(), n_components=2000)
        from sklearn.kernel_approximation import Nystroem
        fit, ended = Nystroem.fit, []
        def watched(self, K):
            print("ready", flush=True)
            found = fit(self, K)
            ended.append(True)
            return found
        Nystroem.fit = watched
        try:
            mapped.fit(X)
        except KeyboardInterrupt:
            print(ended, hasattr(mapped, "normalization_"), flush=True)
    """
    assert interrupt(code, after=0.1) == "[] False\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the C library cannot be asked to leave early")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_process_can_end_at_once(threads: str, fresh: Callable[..., Any]) -> None:
    """OpenBLAS crashes, or waits without end, where it is taken down while a thread is at work in it."""
    code = """
        import signal, sys, threading
        import numpy as np
        from sapwood.interrupts import hold_interrupts, leave_behind
        A = np.random.default_rng(0).random((1500, 1500))
        begun = threading.Event()
        def work():
            begun.set()
            while True:
                np.linalg.eigh(A + A.T)
        def press():
            begun.wait()
            signal.raise_signal(signal.SIGINT)
        threading.Timer(0.3, press).start()
        try:
            leave_behind(work)
        except KeyboardInterrupt:
            print("left", end="")
        sys.exit(7)
    """
    for _ in range(3):
        done = fresh(code, OPENBLAS_NUM_THREADS=threads)
        assert (done.stdout, done.returncode) == ("left", 7), done.stderr

"""Ctrl-C while a library is at work that does not notice it."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from sapwood.interrupts import leave_behind

Run = Callable[..., "subprocess.CompletedProcess[str]"]


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


def test_waiting_ends_at_once() -> None:
    release = threading.Event()
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        leave_behind(release.wait)
    assert time.monotonic() - begin < 2.0
    release.set()


def test_landmarks_can_be_left(fresh: Run) -> None:
    """The decomposition of 2,000 landmarks takes far longer than anybody waits after Ctrl-C."""
    done = fresh(
        """
        import os, signal, threading, time
        import numpy as np
        import sapwood as sw
        from sapwood.kernels import Linear, LandmarkMap
        X = np.random.default_rng(0).random((2000, 2000))
        mapped = LandmarkMap(Linear(), n_components=2000)
        from sklearn.kernel_approximation import Nystroem
        fit, at = Nystroem.fit, []
        def watched(self, K):
            at.append(time.monotonic())
            threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            return fit(self, K)
        Nystroem.fit = watched
        try:
            mapped.fit(X)
        except KeyboardInterrupt:
            print(time.monotonic() - at[0], hasattr(mapped, "normalization_"))
        """,
        OPENBLAS_NUM_THREADS="1",
    )
    seconds, fitted = done.stdout.split()
    assert float(seconds) < 1.0, done.stderr
    assert fitted == "False"

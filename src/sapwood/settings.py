"""Defaults that hold for a whole process: how many threads to use and whether to show progress.

``options`` sets them, for good or inside a ``with`` block. Parameters of a model never belong here.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

from sapwood import bars
from sapwood.checks import check_count
from sapwood.errors import ParameterError

__all__ = [
    "counted",
    "one_of_many",
    "options",
    "progress_bar",
    "show_progress",
    "stage",
    "threads",
]

Item = TypeVar("Item")

# More than any machine has cores for, and about as many as systems let one process start.
_MOST_THREADS = 4096


@dataclass
class _Options:
    threads: int
    progress: bool


def _cores() -> int:
    # A process may be confined to fewer cores than the machine has; not every system says so.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_current = _Options(threads=_cores(), progress=False)


class _ThisThread(threading.local):
    """What holds for the calling thread alone, whatever the process says."""

    one_of_many = False


_this_thread = _ThisThread()


class _Restore:
    """What ``options`` returns: leaving it as a context manager puts the former values back."""

    def __init__(self, former: _Options) -> None:
        self._former = former

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        _current.threads, _current.progress = self._former.threads, self._former.progress

    def __repr__(self) -> str:
        return f"options(threads={_current.threads}, progress={_current.progress})"


def options(*, threads: int | None = None, progress: bool | None = None) -> _Restore:
    """Set process-wide defaults; in a ``with`` statement they last until its end.

    Parameters
    ----------
    threads : int, optional
        Native threads for kernels, reading and decoding. Results do not depend on it, not even in the last bit.
    progress : bool, optional
        Whether long computations show a progress bar.

    Examples
    --------
    >>> import sapwood as sw
    >>> with sw.options(threads=1):
    ...     value = sw.kernels.SubsetTree()("(NP (NN dog))", "(NP (NN dog))")
    """
    former = _Options(_current.threads, _current.progress)
    if threads is not None:
        if check_count(threads, "threads", most=None) > _MOST_THREADS:
            raise ParameterError(
                f"threads must be at most {_MOST_THREADS:,}, got {threads:,}; this process has {_cores():,} cores, and "
                "more threads than cores gain nothing."
            )
        _current.threads = int(threads)
    if progress is not None:
        _current.progress = bool(progress)
    return _Restore(former)


def threads() -> int:
    """Return the number of native threads in use."""
    return 1 if _this_thread.one_of_many else _current.threads


def show_progress() -> bool:
    """Return whether long computations show a progress bar."""
    return _current.progress and not _this_thread.one_of_many


@contextmanager
def one_of_many() -> Iterator[None]:
    """Let the calling thread, and no other, use one native thread and show no progress: it is one worker of many.

    >>> with one_of_many():
    ...     threads()
    1
    """
    former, _this_thread.one_of_many = _this_thread.one_of_many, True
    try:
        yield
    finally:
        _this_thread.one_of_many = former


@contextmanager
def progress_bar(total: int, what: str, unit: str) -> Iterator[Callable[[int], None] | None]:
    """Yield a callable that takes the number of finished steps, or None when progress is off.

    Parameters
    ----------
    total : int
        How many steps there are; 0 where that is not known.
    what : str
        What is being done, before the bar.
    unit : str
        What is counted, in the plural.
    """
    if not show_progress():
        yield None
        return
    with bars.count(total, what, unit) as advance:
        yield advance


def stage(what: str) -> AbstractContextManager[None]:
    """Show, while progress is shown, for how long work goes on that has no steps; bars within take its place.

    >>> with stage("Spelling"):
    ...     letters = list("ab")
    """
    return bars.stage(what) if show_progress() else nullcontext()


def counted(items: Iterable[Item], total: int, what: str, unit: str) -> Iterator[Item]:
    """Yield items one by one, and show how many have been worked on.

    >>> list(counted("ab", 2, "Spelling", "letters"))
    ['a', 'b']
    """
    with progress_bar(total, what, unit) as progress:
        for number, item in enumerate(items, 1):
            yield item
            if progress is not None:
                progress(number)

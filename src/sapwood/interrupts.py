"""Ctrl-C and the work of other libraries: left behind where it cannot be stopped, finished where it must not be."""

from __future__ import annotations

import contextvars
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from sapwood._core import exits

__all__ = ["hold_interrupts", "leave_behind"]

Result = TypeVar("Result")


def leave_behind(work: Callable[[], Result]) -> Result:
    """Call a function that does not notice Ctrl-C so that its caller does.

    Decompositions of matrices and the solvers of other libraries run to their end in native code, which may take
    minutes. Here they run in a thread of their own while the main thread waits for it. On Ctrl-C the main thread goes
    on at once; the thread is left behind, its result is dropped, and it does not keep the process from ending, with
    the exit status that it would have had. The function must therefore change nothing that others see.

    Signals reach the main thread alone; any other one calls the function directly.

    Examples
    --------
    >>> leave_behind(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    found: list[Result] = []
    failed: list[BaseException] = []

    def call() -> None:
        exits.begin_unstoppable()
        try:
            # Settings such as numpy's treatment of overflow belong to the caller.
            found.append(context.run(work))
        except BaseException as error:
            failed.append(error)
        finally:
            exits.end_unstoppable()

    context = contextvars.copy_context()
    thread = threading.Thread(target=call, name="sapwood-left-behind", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(1.0)
    if failed:
        raise failed[0]
    return found[0]


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Raise what Ctrl-C asks for after the block rather than in it; for blocks of milliseconds.

    Python raises KeyboardInterrupt between any two instructions of the main thread. A library that hands its work to a
    thread of its own, as Zarr does for every access, may then leave a lock behind that this thread waits for, and every
    later call waits for the thread.

    Signals reach the main thread alone; in any other one this does nothing.

    Examples
    --------
    >>> with hold_interrupts():
    ...     print("finished")
    finished
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])

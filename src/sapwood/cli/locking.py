"""Two runs that write to one file at a time: the second is refused, and told which process is the first.

A lock belongs to an open file beside the target, so that the system lets go of it when the process ends, however it
ends: no lock outlives its run.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["locked"]


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock of a file that is going to be written; a pipe or a device has none.

    Raises
    ------
    OutputError
        If another run holds it.
    """
    from sapwood.drafts import beside
    from sapwood.writing import is_stream

    # Systems without fcntl have no lock that ends with its process.
    if sys.platform == "win32" or is_stream(path):
        yield
        return
    lock = str(beside(Path(os.path.realpath(path)), ".lock"))
    held = _hold(path, lock)
    try:
        # On a full disk the lock has no note in it, and is as good.
        with contextlib.suppress(OSError):
            os.ftruncate(held, 0)
            os.write(held, str(os.getpid()).encode())
        yield
    finally:
        # While it is held: who has opened it finds out that it is gone.
        with contextlib.suppress(OSError):
            os.unlink(lock)
        os.close(held)


def _hold(path: str, lock: str) -> int:
    """Return the lock, open and held."""
    import fcntl

    from sapwood.errors import OutputError
    from sapwood.writing import unwritable

    while True:
        try:
            held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise unwritable(path, error) from None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(held, 20)
            os.close(held)
            process = f" (process {owner.decode()})" if owner.isdigit() else ""
            raise OutputError(
                f"{path}: another run is writing it{process}; wait for its end, or name another file."
            ) from None
        except OSError:
            # Some network file systems have no locks; there a run goes without.
            return held
        # The run before may have removed the lock after it was opened here.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(held), os.stat(lock)):
                return held
        os.close(held)

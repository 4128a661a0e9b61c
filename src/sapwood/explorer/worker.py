"""A process that holds the models of a folder and answers one request at a time.

It reads requests from the connection that its parent gave it and ends when that is closed. A request that takes too
long is broken off by an alarm: it reaches native work too, because that asks for signals as it goes. Work that does not
even hear the alarm is the parent's business, which then ends the process.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from types import FrameType

from sapwood import settings
from sapwood.explorer.answers import OutOfTime, answer, contents
from sapwood.explorer.faults import fault
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder

__all__ = ["main", "time_limit"]


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTime`` inside the block when the time is over. Only in the main thread."""
    armed = True

    def ring(number: int, frame: FrameType | None) -> None:
        if armed:
            raise OutOfTime

    former = signal.signal(signal.SIGALRM, ring)
    # It rings again and again, should some handler on the way have swallowed the first.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def main() -> int:
    """Load, report, and answer until the connection is closed."""
    # Ctrl-C goes to every process of a terminal; when to stop is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection, folder, limits = Connection(int(sys.argv[1])), sys.argv[2], Limits(**json.loads(sys.argv[3]))
    with contextlib.suppress(EOFError, OSError), settings.options(threads=1, progress=False):
        models = ModelFolder(folder)
        connection.send_bytes(_bytes(contents(models, limits)))
        while True:
            path, _, body = connection.recv_bytes().partition(b"\n")
            status, found = _answer(models, path.decode(), body, limits)
            connection.send_bytes(str(status).encode() + b"\n" + _bytes(found))
    return 0


def _answer(models: ModelFolder, path: str, body: bytes, limits: Limits) -> tuple[int, object]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return 400, fault("input", "the request is not JSON.")
    if not isinstance(request, dict):
        return 400, fault("input", "the request must be a JSON object.")
    late = fault("time", f"this took longer than {limits.seconds:g} seconds and was stopped. Try a shorter sentence.")
    try:
        with time_limit(limits.seconds):
            return answer(models, path, request, limits)
    except OutOfTime:
        return 503, late


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())

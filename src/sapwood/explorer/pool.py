"""Worker processes: starting them, handing requests out, and replacing those that hang or die.

A request waits for a free worker and is given up if there is none in time. Messages are bytes; what is in them is the
business of ``worker``.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any

from sapwood.errors import SapwoodError
from sapwood.explorer.faults import fault
from sapwood.explorer.limits import Limits

__all__ = ["Pool", "WorkerError"]

# A worker stops by itself when its time is over; if it has not after so many more seconds, it never will.
_GRACE = 2.0
_LOADING = 600.0
# Seconds before a worker that could not be started is tried again, growing up to the second number.
_PAUSE, _LONGEST_PAUSE = 1.0, 30.0


class WorkerError(SapwoodError, RuntimeError):
    """A worker process could not be started."""


class _Worker:
    """One process and the connection to it."""

    def __init__(self, folder: str, limits: Limits) -> None:
        ours, theirs = socket.socketpair()
        # -P: what lies in the folder where the command was given is no part of the program.
        command = [sys.executable, "-P", "-m", "sapwood.explorer.worker"]
        arguments = [str(theirs.fileno()), folder, json.dumps(asdict(limits))]
        with theirs:
            self.process = subprocess.Popen(
                [*command, *arguments], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=2
            )
        self.connection = Connection(ours.detach())
        self._closing = threading.Lock()

    def contents(self) -> dict[str, Any]:
        """Wait until the models are loaded, and return what there is."""
        try:
            if self.connection.poll(_LOADING):
                found: dict[str, Any] = json.loads(self.connection.recv_bytes())
                return found
        except (EOFError, OSError):
            pass
        self.end()
        raise WorkerError("a worker process ended before it had loaded the models; the lines above may say why.")

    def ask(self, message: bytes, seconds: float) -> bytes | None:
        """Return the answer, or None if there is none in time. Raises if the worker is dead."""
        self.connection.send_bytes(message)
        return self.connection.recv_bytes() if self.connection.poll(seconds) else None

    def end(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        # A request that notices the end and the one who ends everything may both come here.
        with self._closing:
            self.connection.close()


class Pool:
    """Workers that all hold the models of one folder.

    Parameters
    ----------
    folder : path
        Where the models are.
    workers : int
        How many requests are worked on at once; each has its own copy of the models.
    limits : Limits
        What a request may ask for.

    Attributes
    ----------
    contents : dict
        What the workers have found in the folder, once started.
    """

    def __init__(self, folder: str | os.PathLike[str], workers: int, limits: Limits) -> None:
        self._folder, self._limits = os.fspath(folder), limits
        self._idle: queue.Queue[_Worker] = queue.Queue()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._all: set[_Worker] = set()
        self.contents: dict[str, Any] = {}
        try:
            started = [self._start() for _ in range(workers)]
            for worker in started:
                self.contents = worker.contents()
                self._idle.put(worker)
        except BaseException:
            self.close()
            raise

    def ask(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Have a request answered: the HTTP status and the JSON to send."""
        seconds = self._limits.seconds
        try:
            worker = self._idle.get(timeout=seconds)
        except queue.Empty:
            return 503, _message("busy", "everybody is busy with other requests. Try again in a moment.")
        try:
            found = worker.ask(path.encode() + b"\n" + body, seconds + _GRACE)
        except (EOFError, OSError):
            self._replace(worker)
            return 500, _message("internal", "the process that worked on this has died; the terminal may say why.")
        if found is None:
            self._replace(worker)
            return 503, _message("time", f"this took longer than {seconds:g} seconds and was stopped.")
        self._idle.put(worker)
        status, _, answer = found.partition(b"\n")
        return int(status), answer

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._closed.set()
            ending = list(self._all)
            self._all.clear()
        for worker in ending:
            worker.process.kill()
        for worker in ending:
            worker.end()

    def _start(self) -> _Worker:
        worker = _Worker(self._folder, self._limits)
        with self._lock:
            if not self._closed.is_set():
                self._all.add(worker)
                return worker
        worker.end()
        raise WorkerError("the explorer is being stopped.")

    def _replace(self, worker: _Worker) -> None:
        with self._lock:
            self._all.discard(worker)
        worker.end()
        threading.Thread(target=self._refill, daemon=True).start()

    def _refill(self) -> None:
        """Start a worker, however often it takes: what kept it from starting may pass."""
        pause = _PAUSE
        while not self._closed.is_set():
            with contextlib.suppress(WorkerError, OSError):
                fresh = self._start()
                fresh.contents()
                self._idle.put(fresh)
                return
            if not self._closed.is_set():
                print(f"sapwood: a worker process could not be started; again in {pause:g} s.", file=sys.stderr)
            self._closed.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _message(kind: str, text: str) -> bytes:
    return json.dumps(fault(kind, text)).encode()

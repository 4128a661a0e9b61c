"""Who is connected, and who has to go when there is no room: those that keep the server waiting longest."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from typing import Any

__all__ = ["Connections", "Deadline"]


class Connections:
    """The open connections of a server, in all and from each address.

    A connection that is being answered is never ended. One that has yet to say what it wants makes room for the next
    when there are too many, the oldest first, so that those who send slowly or nothing at all lock nobody out.

    Parameters
    ----------
    most : int
        Connections in all.
    each : int
        Connections from one address.
    """

    def __init__(self, most: int, each: int) -> None:
        self._most, self._each = most, each
        self._lock = threading.Lock()
        self._waiting: dict[socket.socket, str] = {}
        self._answered: dict[socket.socket, str] = {}

    def admit(self, connection: socket.socket, address: str) -> bool:
        """Take a new connection in, at the cost of an older one if need be; False if there is no room."""
        with self._lock:
            alike = [one for one, other in self._waiting.items() if other == address]
            same = len(alike) + sum(other == address for other in self._answered.values())
            everybody = len(self._waiting) + len(self._answered)
            if same >= self._each or everybody >= self._most:
                # In the order of their arrival: the first has had the most time.
                oldest = alike if same >= self._each else list(self._waiting)
                if not oldest:
                    return False
                del self._waiting[oldest[0]]
                # Its thread finds the end of the stream, and ends.
                with contextlib.suppress(OSError):
                    oldest[0].shutdown(socket.SHUT_RDWR)
            self._waiting[connection] = address
        return True

    def answering(self, connection: socket.socket) -> None:
        """Note that a request has come in whole."""
        with self._lock:
            if connection in self._waiting:
                self._answered[connection] = self._waiting.pop(connection)

    def waiting(self, connection: socket.socket) -> None:
        """Note that a request is answered and the next one may come."""
        with self._lock:
            if connection in self._answered:
                self._waiting[connection] = self._answered.pop(connection)

    def leave(self, connection: socket.socket) -> None:
        """Forget a connection that has ended."""
        with self._lock:
            self._waiting.pop(connection, None)
            self._answered.pop(connection, None)


class Deadline(io.RawIOBase):
    """Bytes from a connection, with a limit of time for a request as a whole and not only for each piece of it.

    Parameters
    ----------
    connection : socket
        Where they come from.
    idle : float
        Seconds until the first byte of a request.
    whole : float
        Seconds from there to its end.
    """

    def __init__(self, connection: socket.socket, idle: float, whole: float) -> None:
        self._connection, self._idle, self._whole = connection, idle, whole
        self._end: float | None = None

    def begin(self) -> None:
        """Expect a new request."""
        self._end = None

    def readable(self) -> bool:
        """Say that this can be read from."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes, or raise ``TimeoutError`` when the time is over."""
        left = self._idle if self._end is None else self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long to arrive")
        self._connection.settimeout(left)
        count = self._connection.recv_into(buffer)
        if self._end is None:
            self._end = time.monotonic() + self._whole
        return count

"""The explorer under load, in figures: ``python tests/explorer/load.py [--requests 10000] [--users 1 10 50]``.

One user asks one question after the other; so many of them at once give requests per second and latencies. Then there
are connections that send slowly, others that never take their answers, workers that are killed, and the memory of all
processes over many requests. Every answer must be the right one.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from explorer.running import Served, serve

_JSON = {"Content-Type": "application/json"}
# Answers say how long they took.
_TIME = re.compile(rb'"(?:milliseconds|seconds)":[0-9.e+-]+')
_SCORES = {"words": ["a"], "roles": ["r", "s"], "spans": [[0, 0]], "scores": [[1.0], [2.0]]}
REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", "/api/analyze", {"text": "Who fed the cat ?", "model": "questions"}),
    ("POST", "/api/compare", {"first": "(A (B c))", "second": "(A (B d))", "kernel": "SubsetTree"}),
    ("POST", "/api/decode", _SCORES),
    ("GET", "/", None),
    ("GET", "/api/contents", None),
]
"""What users ask, in turn."""


class User:
    """Somebody who asks one thing after the other over a connection that is kept."""

    def __init__(self, served: Served) -> None:
        place = urlsplit(served.url)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)

    def ask(self, number: int) -> tuple[int, bytes]:
        """Send the request of this number; return the status and the answer. A lost connection has status 0."""
        method, path, body = REQUESTS[number % len(REQUESTS)]
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), _JSON if body else {})
            answer = self._connection.getresponse()
            return answer.status, _TIME.sub(b"", answer.read())
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0, b""

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


class Measured:
    """How requests went: milliseconds of each, and how many had which status."""

    def __init__(self) -> None:
        self.milliseconds: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.wrong = 0
        self.seconds = 0.0

    def row(self, name: str) -> str:
        """Return a row of the table."""
        times = sorted(self.milliseconds)
        other = ", ".join(
            f"{count} × {status or 'cut off'}" for status, count in sorted(self.statuses.items()) if status != 200
        )
        late = times[min(len(times) - 1, int(0.95 * len(times)))]
        return (
            f"| {name} | {len(times):,} | {len(times) / self.seconds:.0f} | {statistics.median(times):.0f} | "
            f"{late:.0f} | {times[-1]:.0f} | {other or 'none'} |"
        )


def expected(served: Served) -> list[bytes]:
    """What an idle server answers, which is what it must answer always."""
    user = User(served)
    found = [user.ask(number) for number in range(len(REQUESTS))]
    user.close()
    assert [status for status, _ in found] == [200] * len(REQUESTS), found
    return [body for _, body in found]


def load(served: Served, right: list[bytes], users: int, requests: int) -> Measured:
    """Send so many requests from so many users at once."""
    measured, numbers, lock = Measured(), itertools.count(), threading.Lock()

    def work() -> None:
        user = User(served)
        while True:
            with lock:
                number = next(numbers)
            if number >= requests:
                break
            begin = time.perf_counter()
            status, body = user.ask(number)
            taken = 1000 * (time.perf_counter() - begin)
            with lock:
                measured.milliseconds.append(taken)
                measured.statuses[status] += 1
                measured.wrong += status == 200 and body != right[number % len(right)]
        user.close()

    threads = [threading.Thread(target=work) for _ in range(users)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    measured.seconds = time.perf_counter() - begin
    return measured


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(one) for one in found]


def megabytes(served: Served) -> float:
    """Return what the server and its workers hold in memory."""
    total = 0
    for process in [served.process.pid, *children(served.process.pid)]:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/status").read_text().splitlines():
                if line.startswith("VmRSS"):
                    total += int(line.split()[1])
    return total / 1024


@contextlib.contextmanager
def crowd(served: Served, count: int, *, senders: bool) -> Any:
    """Keep connections open that send a byte now and then, or ask and never take the answer."""
    place = urlsplit(served.url)
    slow: list[socket.socket] = []
    stop = threading.Event()

    def connect() -> None:
        connection = socket.create_connection((place.hostname, place.port), timeout=30)
        if senders:
            connection.sendall(b"POST /api/analyze HTTP/1.1\r\nX-Slow: ")
        else:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            with contextlib.suppress(OSError):
                for _ in range(20):
                    connection.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{place.port}\r\n\r\n".encode())
        slow.append(connection)

    def drip() -> None:
        while not stop.wait(0.2):
            for at, connection in enumerate(slow):
                try:
                    if senders:
                        connection.send(b"x")
                except OSError:
                    connection.close()
                    del slow[at]
                    # Whoever was sent away comes back.
                    with contextlib.suppress(OSError):
                        connect()
                    break

    for _ in range(count):
        connect()
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        for connection in slow:
            connection.close()


@contextlib.contextmanager
def killing(served: Served, pause: float, most: int) -> Any:
    """Kill a worker now and then, and so many at most; gives the list of those killed."""
    stop, killed, dice = threading.Event(), [], random.Random(1)

    def work() -> None:
        while len(killed) < most and not stop.wait(pause):
            workers = children(served.process.pid)
            if workers:
                killed.append(dice.choice(workers))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--users", type=int, nargs="*", default=[1, 10, 50], help="users at once (default: 1 10 50)")
    parser.add_argument("--each", type=int, default=1000, help="requests of each row (default: 1,000)")
    parser.add_argument("--requests", type=int, default=10_000, help="requests while memory is watched")
    options = parser.parse_args()
    from sapwood.explorer.starter import train_starters

    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as folder:
        train_starters(folder, size=600)
        served = serve(folder)
        try:
            return report(served, options.users, options.each, options.requests)
        finally:
            served.stop()
            served.process.communicate()


def report(served: Served, users: list[int], each: int, requests: int) -> int:
    """Print the tables; return 1 if an answer was wrong or none came."""
    right = expected(served)
    print("| | requests | per second | median ms | 95 % ms | slowest ms | answers other than 200 |")
    print("|---|---|---|---|---|---|---|")
    rows = [load(served, right, count, each) for count in users]
    for count, row in zip(users, rows, strict=True):
        print(row.row("1 user" if count == 1 else f"{count} users"), flush=True)
    for name, senders in (
        ("1 user, beside 230 who send a byte now and then", True),
        ("1 user, beside 230 who take no answer", False),
    ):
        with crowd(served, 230, senders=senders):
            rows.append(load(served, right, 1, each // 5))
        print(rows[-1].row(name), flush=True)
    with killing(served, 2.0, 5) as killed:
        rows.append(load(served, right, 10, each))
    print(rows[-1].row(f"10 users, while {len(killed)} workers were killed"), flush=True)
    # Workers that are being started take part of the time of what follows.
    rows.append(load(served, right, 1, each // 5))
    print(rows[-1].row("1 user, afterwards"), flush=True)
    print("\n| requests | server and workers, MB |\n|---|---|")
    done = 0
    print(f"| 0 | {megabytes(served):.0f} |", flush=True)
    for part in (requests // 10, requests - requests // 10 - requests // 2, requests // 2):
        rows.append(load(served, right, 10, part))
        done += part
        print(f"| {done:,} | {megabytes(served):.0f} |", flush=True)
    wrong = sum(row.wrong for row in rows)
    print(f"\n{sum(len(row.milliseconds) for row in rows):,} requests, {wrong} wrong answers.")
    calm = [*rows[: len(users) + 2], *rows[len(users) + 3 :]]
    return int(wrong > 0 or any(set(row.statuses) != {200} for row in calm))


if __name__ == "__main__":
    sys.exit(main())

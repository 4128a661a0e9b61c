"""Requests that follow the grammar of HTTP in part, connections that are slow, and workers that die again and again."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from explorer.running import Served
from explorer.test_server import QUESTION, _soon
from sapwood.explorer import pool
from sapwood.explorer.connections import Connections, Deadline
from sapwood.explorer.limits import Limits
from sapwood.explorer.server import _host_name

ANSWERS = {100, 200, 400, 403, 404, 408, 411, 413, 414, 415, 417, 422, 431, 501, 503, 505}


def connect(served: Served) -> socket.socket:
    place = urlsplit(served.url)
    return socket.create_connection((place.hostname, place.port), timeout=30)


class Grammar:
    """Requests made from rules, most of them nearly right."""

    def __init__(self, dice: random.Random, port: int) -> None:
        self.dice, self.port = dice, port

    def request(self) -> bytes:
        body = self.body()
        lines = [self.line(), *(self.header(len(body)) for _ in range(self.dice.choice((0, 0, 0, 1, 2, 5))))]
        if self.dice.random() < 0.7:
            lines[1:1] = [f"Host: localhost:{self.port}".encode(), b"Content-Type: application/json"]
        if self.dice.random() < 0.7:
            lines.append(b"Content-Length: " + str(len(body)).encode())
        end = self.dice.choice((b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r"))
        sent = end.join(lines) + end + end + body
        if self.dice.random() < 0.2:
            at = self.dice.randrange(len(sent))
            sent = sent[:at] + self.dice.choice((b"\0", b"\xff", b"\r\n", b" ", b"")) + sent[at + 1 :]
        return sent

    def line(self) -> bytes:
        if self.dice.random() < 0.5:
            return self.dice.choice((b"GET / HTTP/1.1", b"POST /api/analyze HTTP/1.1", b"GET /api/contents HTTP/1.0"))
        method = self.dice.choice((b"GET", b"POST", b"POST", b"POST", b"HEAD", b"OPTIONS", b"get", b"", b"X" * 300))
        path = self.dice.choice(
            (b"/", b"/api/analyze", b"/api/compare", b"/api/decode", b"/api/contents", b"/api/", b"//", b"*", b"/%00",
             b"/api/change", b"/api/without", b"/api/predict", b"/api/why",
             b"/api/analyze?x=1", b"http://localhost/", b"/../../etc/passwd", b"/\xff", b"/" + b"a" * 70_000, b"")
        )  # fmt: skip
        version = self.dice.choice((b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9.9", b"HTTP/x", b""))
        return b" ".join((method, path, version))

    def header(self, length: int) -> bytes:
        name, values = self.dice.choice(
            [
                ("Host", ("evil.example", "localhost:@evil.example", "", "[::1", "[::1]x", "127.0.0.1:999999", "a b")),
                ("Content-Length", ("-1", "+1", "1e3", "0x10", " 5", "5, 5", "9" * 400, "٣", str(length + 1), "")),
                ("Transfer-Encoding", ("chunked", "gzip", "identity", "")),
                ("Content-Type", ("text/plain", "application/json; charset=utf-16", "multipart/form-data", ";;;")),
                ("Origin", ("null", "http://evil.example", f"http://localhost:{self.port}")),
                ("Sec-Fetch-Site", ("cross-site", "none", "x")),
                ("Connection", ("close", "keep-alive", "upgrade")),
                ("Expect", ("100-continue", "200-ok")),
                ("X" * self.dice.choice((1, 70_000)), ("y", "z" * self.dice.choice((1, 70_000)))),
            ]
        )
        between = self.dice.choice((": ", ": ", ":", " : ", ":\t", "\r\n "))
        return f"{name}{between}{self.dice.choice(values)}".encode()

    def body(self) -> bytes:
        whole = json.dumps({"text": "Who ran ?", "model": self.dice.choice(("questions", "parser", "x"))}).encode()
        wrong: list[Any] = [None, [], {}, {"text": 1}, {"text": "x" * 30_000}, {"model": []}, "x", 1e308]
        other = json.dumps(self.dice.choice(wrong)).encode()
        return self.dice.choice(
            (whole, whole, b"", whole[:-3], b"\xff" * 50, b"[" * 9_000, b"x" * 3_000, other),
        )


def test_requests_made_from_a_grammar(served: Served) -> None:
    """Each is answered with a status of ours or dropped, with no error in the server, which answers the next."""
    place = urlsplit(served.url)
    dice = random.Random(23)
    grammar = Grammar(dice, place.port or 0)
    seen: dict[int, int] = {}
    for _ in range(150):
        with connect(served) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(grammar.request())
                connection.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(OSError):
                while piece := connection.recv(65536):
                    answer += piece
        # HTTP/0.9 has no head.
        if answer.startswith(b"HTTP/"):
            status = int(answer.split(b" ", 2)[1])
            assert status in ANSWERS, answer[:300]
            seen[status] = seen.get(status, 0) + 1
    assert seen[200] > 5
    assert len(seen) > 4
    assert served.post("/api/analyze", QUESTION)[0] == 200


@pytest.mark.parametrize("length", ["9" * 40, "+5", "5 5", "0x5", "1_0", "٣", "5,5"])
def test_lengths_are_digits(served: Served, length: str) -> None:
    head = f"POST /api/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()
    with connect(served) as connection:
        connection.sendall(head)
        assert connection.recv(65536).startswith(b"HTTP/1.1 411 ")


@pytest.mark.parametrize(
    "host", ["localhost:@evil.example", "localhost:80@x", "localhost/x", "[::1]@x", "127.0.0.1:", "local host", "a@::1"]
)
def test_hosts_are_names_with_a_port(served: Served, host: str) -> None:
    assert _host_name(host) == ""
    assert served.ask("GET", "/", headers={"Host": host})[0] == 403


def test_two_hosts_are_none(served: Served) -> None:
    with connect(served) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 403 ")


def test_slow_requests_lock_nobody_out(served: Served) -> None:
    """More connections than there is room for, each of which sends a byte now and then."""
    slow: list[socket.socket] = []
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(0.2):
            for connection in slow:
                with contextlib.suppress(OSError):
                    connection.send(b"x")

    dripping = threading.Thread(target=drip)
    try:
        for _ in range(230):
            connection = connect(served)
            connection.sendall(b"POST /api/analyze HTTP/1.1\r\nX-Slow: ")
            slow.append(connection)
        dripping.start()
        for _ in range(5):
            assert served.post("/api/analyze", QUESTION)[0] == 200
    finally:
        stop.set()
        dripping.join()
        for connection in slow:
            connection.close()


def test_a_request_has_its_time_as_a_whole(stopwatch: Callable[..., Any]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stream = Deadline(theirs, 5.0, 0.3)
        begin = time.monotonic()

        def drip() -> None:
            while time.monotonic() - begin < 30.0:
                ours.send(b"x")
                stream.readinto(bytearray(10))
                time.sleep(0.05)

        with stopwatch(at_most=3), pytest.raises(TimeoutError):
            drip()
        assert time.monotonic() - begin > 0.2


def test_who_is_being_answered_stays() -> None:
    connections = Connections(3, 2)
    pairs = [socket.socketpair() for _ in range(6)]
    try:
        a, b, c, d, e, f = (pair[0] for pair in pairs)
        assert connections.admit(a, "here")
        assert connections.admit(b, "here")
        connections.answering(a)
        # One address has two places, and the older of those that wait gives its own up.
        assert connections.admit(c, "here")
        assert pairs[1][1].recv(1) == b""
        connections.answering(c)
        assert not connections.admit(d, "here")
        assert connections.admit(d, "there")
        # Three in all: a stranger takes the place of whoever waits.
        assert connections.admit(e, "elsewhere")
        assert pairs[3][1].recv(1) == b""
        connections.answering(e)
        assert not connections.admit(f, "anywhere")
        connections.waiting(a)
        connections.leave(c)
        assert connections.admit(f, "anywhere")
    finally:
        for pair in pairs:
            for one in pair:
                one.close()


def test_workers_come_back_however_often_they_die(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each new one is killed while it loads, more often than a fixed number of attempts would last."""
    (tmp_path / "questions.sap").write_bytes((folder / "questions.sap").read_bytes())
    monkeypatch.setattr(pool, "_PAUSE", 0.01)
    monkeypatch.setattr(pool, "_LONGEST_PAUSE", 0.02)
    workers = pool.Pool(tmp_path, 1, Limits())
    body = json.dumps(QUESTION).encode()
    try:
        killed: set[int] = set()
        while len(killed) < 6:
            for worker in list(workers._all):
                if worker.process.pid not in killed:
                    killed.add(worker.process.pid)
                    worker.process.kill()
                    if len(killed) == 1:
                        assert workers.ask("analyze", body)[0] == 500
            time.sleep(0.01)
        _soon(lambda: workers.ask("analyze", body)[0] == 200, 120.0)
    finally:
        workers.close()

"""The HTTP server: a few files of the page, and questions that go to the workers.

Made for one's own machine. It answers only requests that are addressed to this machine by number, as localhost or by
the name it was started with (a page elsewhere cannot reach it through a name of its own), and only questions that come
from its own page. It serves the files of a fixed list and nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import io
import ipaddress
import json
import os
import re
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

from sapwood.errors import DataError, ParameterError
from sapwood.explorer.connections import Connections, Deadline
from sapwood.explorer.faults import fault
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import model_files
from sapwood.explorer.pool import Pool
from sapwood.packages import find_package

__all__ = ["Explorer", "serve"]

_PAGE = Path(__file__).parent / "page"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_ASKED = ("analyze", "why", "change", "without", "predict", "compare", "decode")
# Connections in all, and from one address: a browser opens half a dozen.
_CONNECTIONS, _EACH = 200, 64
# Seconds until a request begins, and from there until all of it has come; an answer has as long to be taken.
_IDLE, _WHOLE = 10.0, 10.0
# A number of more digits is no length of anything.
_LENGTH_DIGITS = 15
# How much of a request that is too large is read and dropped, so that whoever sends it gets to see the answer.
_DROPPED = 16_000_000
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z._-]+))(?::[0-9]{1,5})?", re.ASCII)
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Explorer(ThreadingHTTPServer):
    """The server. Binding happens here, so a port that is taken is noticed before anything is trained.

    Parameters
    ----------
    host : str
        Where to listen.
    port : int
        On which port; 0 takes any that is free.
    limits : Limits
        What a request may ask for.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    # A browser opens half a dozen connections at once; those that find no room in the queue wait for a second.
    request_queue_size = 128

    def __init__(self, host: str, port: int, limits: Limits) -> None:
        self.limits = limits
        self.pool: Pool | None = None
        self.names = {"localhost", host.lower(), socket.gethostname().lower()}
        self.connections = Connections(_CONNECTIONS, _EACH)
        try:
            self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            code = error.errno if isinstance(error, OSError) else None
            if code == errno.EADDRINUSE:
                raise ParameterError(f"port {port} is taken; name another with --port, or 0 for any.") from None
            raise ParameterError(f"cannot listen on {host}, port {port}: {error}.") from None

    @property
    def url(self) -> str:
        """The address of the page."""
        host, port = str(self.server_address[0]), self.server_address[1]
        if host in ("0.0.0.0", "::"):
            host = "127.0.0.1"
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def server_bind(self) -> None:
        """Bind without asking the network for a name, as the base class does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, or turn it away if everybody who is there is being answered."""
        if self.connections.admit(request, str(client_address[0])):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.leave(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that the other side has given up."""
        if not isinstance(sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Stop listening and end the workers."""
        self.server_close()
        if self.pool is not None:
            self.pool.close()


class _Handler(BaseHTTPRequestHandler):
    server: Explorer
    protocol_version = "HTTP/1.1"
    server_version = "Sapwood"
    sys_version = ""
    # Otherwise the body waits until the other side has acknowledged the head, which takes 40 ms on Linux.
    disable_nagle_algorithm = True
    _incoming: Deadline

    def setup(self) -> None:
        """Read through a limit of time."""
        super().setup()
        self._incoming = Deadline(self.connection, _IDLE, _WHOLE)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        """Answer one request of the connection."""
        self._incoming.begin()
        super().handle_one_request()

    def do_GET(self) -> None:
        """Send a file of the page, or what there is to ask."""
        if not self._for_us():
            return
        path = self.path.partition("?")[0]
        if path == "/api/contents":
            contents = self.server.pool.contents if self.server.pool is not None else {}
            self._send_json(200, json.dumps(contents).encode())
            return
        found = _page_files().get("/index.html" if path == "/" else path)
        if found is None:
            self._fault(404, "unknown", "there is no such page.")
            return
        self._send(200, found[0], found[1])

    def do_POST(self) -> None:
        """Have a question answered by a worker."""
        if not self._for_us():
            return
        kind = self.headers.get_content_type()
        asked = self.path.removeprefix("/api/")
        lengths = self.headers.get_all("Content-Length", [])
        known = len(lengths) == 1 and lengths[0].isascii() and lengths[0].isdigit()
        if not known or len(lengths[0]) > _LENGTH_DIGITS or "Transfer-Encoding" in self.headers:
            self._fault(411, "input", "the request must say how long it is.", close=True)
            return
        length = int(lengths[0])
        if length > self.server.limits.body:
            self._drop(length)
            limit = self.server.limits.body
            self._fault(413, "size", f"the request has {length:,} bytes; at most {limit:,} are read.", close=True)
            return
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
        elif not self.path.startswith("/api/") or asked not in _ASKED:
            self._fault(404, "unknown", "there is nothing to ask here.")
        elif kind != "application/json":
            self._fault(415, "input", "the request must be application/json.")
        elif not self._from_our_page():
            self._fault(403, "origin", "this request comes from another page and is not answered.")
        elif self.server.pool is None:
            self._fault(503, "busy", "the models are still being loaded.")
        else:
            self.server.connections.answering(self.connection)
            answer = self.server.pool.ask(asked, body)
            # Who does not take the answer makes room for others like who does not ask.
            self.server.connections.waiting(self.connection)
            self._send_json(*answer)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send what the base class finds wrong in the form of all other errors."""
        self._fault(int(code), "input", f"{message or 'this request is not understood'}.", close=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the terminal is for what matters."""

    def _for_us(self) -> bool:
        """Check that the request is addressed to this machine, not to a name that somebody has pointed at it."""
        given = self.headers.get_all("Host", [])
        name = _host_name(given[0]) if len(given) == 1 else ""
        if name in self.server.names or _is_number(name):
            return True
        self._fault(403, "host", "this server answers only under localhost or its own address.", close=True)
        return False

    def _from_our_page(self) -> bool:
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            return False
        origin = self.headers.get("Origin")
        return origin is None or origin == f"http://{self.headers.get('Host', '')}"

    def _drop(self, length: int) -> None:
        left = min(length, _DROPPED)
        while left > 0:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                break
            left -= len(piece)

    def _fault(self, status: int, kind: str, message: str, *, close: bool = False) -> None:
        self.close_connection = self.close_connection or close
        self._send_json(status, json.dumps(fault(kind, message)).encode())

    def _send_json(self, status: int, body: bytes) -> None:
        self._send(status, "application/json", body)

    def _send(self, status: int, kind: str, body: bytes) -> None:
        try:
            # For the answer as a whole: who takes it a byte at a time is not waited for.
            self.connection.settimeout(_WHOLE)
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


@cache
def _page_files() -> dict[str, tuple[str, bytes]]:
    """Return the files of the page by path: read once, so that no request ever names a file."""
    return {
        f"/{path.name}": (_TYPES[path.suffix], path.read_bytes()) for path in _PAGE.iterdir() if path.suffix in _TYPES
    }


def _host_name(header: str) -> str:
    """Return the name in a Host header, without the port; nothing if it is not a name with or without a port.

    >>> _host_name("localhost:8765"), _host_name("[::1]:80"), _host_name("localhost:@evil.example")
    ('localhost', '::1', '')
    """
    found = _HOST.fullmatch(header)
    return (found[1] or found[2]).lower() if found else ""


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def serve(
    folder: str | os.PathLike[str] | None = None,
    *,
    nursery: bool = False,
    host: str = "127.0.0.1",
    port: int = 8765,
    workers: int = 2,
    limits: Limits | None = None,
    ready: Callable[[Explorer], None] | None = None,
) -> None:
    """Serve the explorer until Ctrl-C.

    Parameters
    ----------
    folder : path, optional
        Where the models are; by default those of the English package.
    nursery : bool
        Whether small models are trained on the nursery first and shown, as they are where there are no others.
    host, port
        Where to listen; port 0 takes any that is free.
    workers : int
        How many requests are worked on at once. Each worker has its own copy of the models.
    limits : Limits, optional
        What a request may ask for.
    ready : callable, optional
        Called with the server when it answers.
    """
    if sys.platform == "win32":
        raise ParameterError("the explorer needs Linux or macOS: its workers inherit connections and stop by an alarm.")
    if folder is not None and nursery:
        raise ParameterError("folder and nursery: models of a folder are shown, or new ones; leave one of the two out.")
    if folder is not None and not model_files(folder):
        raise DataError(
            f"{os.fspath(folder)}: holds no model file (*.sap); save some there, or leave the folder out to try the "
            "explorer with small models of its own."
        )
    with contextlib.ExitStack() as stack:
        server = Explorer(host, port, limits or Limits())
        stack.callback(server.close)
        stack.enter_context(_stopping_on_sigterm())
        if folder is None and not nursery and (english := find_package("en")) is not None:
            folder = english.folder
        if folder is None:
            from sapwood.explorer.starter import train_starters

            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sapwood-"))
            train_starters(folder, report=lambda line: print(line, file=sys.stderr, flush=True))
        server.pool = Pool(folder, workers, server.limits)
        if ready is not None:
            ready(server)
        # Woken often, so that it stops at once.
        server.serve_forever(poll_interval=0.1)


@contextlib.contextmanager
def _stopping_on_sigterm() -> Iterator[None]:
    """Leave like after Ctrl-C when asked to end, so that nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)

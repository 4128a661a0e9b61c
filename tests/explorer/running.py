"""The explorer as a process of its own, started by its command."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

# Twenty-five words.
SENTENCE = (
    "Why did the tired watchman hand a entry and the parcel to the injured instructor with the old camera in a meadow "
    "on Friday ?"
)


class Served(NamedTuple):
    """A running server."""

    process: subprocess.Popen[str]
    url: str

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def post(self, path: str, request: Any, **headers: str) -> tuple[int, Any]:
        """Ask a question as the page does."""
        body = json.dumps(request)
        status, _, answer = self.ask("POST", path, body, {"Content-Type": "application/json", **headers})
        return status, json.loads(answer)

    def stop(self) -> float:
        """Press Ctrl-C and return how many seconds it takes until the process has ended."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)
        return time.monotonic() - start


def serve(*arguments: str) -> Served:
    """Start the command and wait for its address."""
    command = [sys.executable, "-W", "error", "-m", "sapwood.cli", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        # A shell in the background ignores Ctrl-C and passes that on; here it is wanted.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith("Sapwood explorer: "):
        out, error = process.communicate()
        raise AssertionError(f"the server did not start: {line}{out}{error}")
    return Served(process, line.split()[-1])

"""What a terminal shows while a command works: for how long it has, and nothing across what it prints."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from sapwood import bars, settings

__all__ = ["working"]


@contextmanager
def working(options: argparse.Namespace) -> Iterator[None]:
    """Show for how long a command has worked, wherever no bar says how far it is."""
    if not settings.show_progress() or options.command.waits or _reads_what_is_typed(options):
        yield
        return
    output = sys.stdout
    if output.isatty():
        sys.stdout = _BesideBars(output)
    try:
        with settings.stage(options.called):
            yield
    finally:
        sys.stdout = output


def _reads_what_is_typed(options: argparse.Namespace) -> bool:
    given = (value for name, value in vars(options).items() if name not in options.command.writes)
    return sys.stdin.isatty() and any(value == "-" or (isinstance(value, list) and "-" in value) for value in given)


class _BesideBars:
    """A stream before which bars are taken off the terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write where a bar may stand."""
        with bars.hidden(line_goes_on=not text.endswith("\n")):
            return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

"""The ``sapwood`` command: names and paths in, one public call, text or JSON out.

Each subcommand is a module with ``add_parser``, which must import nothing heavy, and ``run``. Exit codes: 0 for
success, 1 for data that cannot be used, 2 for a command line that cannot be understood.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

__all__ = ["main"]

_COMMANDS = (
    "demo",
    "experiment",
    "train",
    "predict",
    "evaluate",
    "explain",
    "parse",
    "serve",
    "kernel",
    "gram",
    "show",
    "decode",
    "data",
    "score",
    "bench",
    "doctor",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "run"):
        parser.print_help()
        return 2
    from sapwood import settings
    from sapwood.errors import ParameterError, SapwoodError

    _open_streams()
    try:
        with (
            _told_warnings(),
            settings.options(threads=getattr(options, "threads", None), progress=sys.stderr.isatty()),
        ):
            code: int = options.run(options)
        sys.stdout.flush()
        return code
    except SapwoodError as error:
        print(f"sapwood: {_worded(str(error), options)}", file=sys.stderr)
        return 2 if isinstance(error, ParameterError) else 1
    except BrokenPipeError:
        # Whoever read our output has enough, as head does. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"sapwood: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except UnicodeEncodeError as error:
        print(
            f"sapwood: standard output is in {error.encoding}, which has no {error.object[error.start]!r}; set "
            "PYTHONIOENCODING=utf-8, or write to a file with --out.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("sapwood: interrupted", file=sys.stderr)
        return 130


@contextmanager
def _told_warnings() -> Iterator[None]:
    """Print warnings as plain lines on standard error, each once; whose code they come from is nothing to users."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        warnings.showwarning = lambda message, *_, **__: print(f"sapwood: {message}", file=sys.stderr)
        yield


def _open_streams() -> None:
    """Put something where Python has nothing because the shell has closed it, as ``>&-`` does."""
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stdin is None:
        sys.stdin = _ClosedInput()


class _ClosedInput(io.TextIOBase):
    """Standard input that is closed: whoever reads it is told, since nothing may stand for something else."""

    name = "<stdin>"

    @property
    def buffer(self) -> _ClosedInput:
        return self

    def read(self, size: int | None = -1) -> str:
        """Raise."""
        from sapwood.errors import DataError

        raise DataError("standard input is closed; name a file instead of -.")

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """Raise."""
        return self.read()


class _ClosedOutput(io.TextIOBase):
    """Standard output that is closed: whoever writes to it is told, since answers would be lost."""

    def write(self, text: str) -> int:
        """Raise."""
        from sapwood.errors import OutputError

        raise OutputError("standard output is closed; leave it open, or send it to a file with > FILE.")


def _worded(message: str, options: argparse.Namespace) -> str:
    """Say how to pass an encoding on the command line, where the library says how to do so in Python."""
    advice = "convert it with iconv -f latin1 -t utf8"
    if hasattr(options, "encoding"):
        advice = "pass --encoding, such as --encoding latin-1"
    return re.sub(r"pass (encoding=|its encoding\b|the encoding of the file\b)", advice, message)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser with all subcommands."""
    from sapwood import __version__

    parser = argparse.ArgumentParser(prog="sapwood", description="Learn from parse trees.")
    parser.add_argument("--version", action="version", version=f"sapwood {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in _COMMANDS:
        import_module(f"sapwood.cli.{name}").add_parser(subparsers)
    return parser

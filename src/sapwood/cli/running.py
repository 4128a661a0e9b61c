"""From arguments to a command that has run: the parser, the streams, and errors as one line.

Each command is a module with ``COMMAND``, which must import nothing heavy before it runs.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import re
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from textwrap import TextWrapper
from types import FrameType

from sapwood.cli.color import colored
from sapwood.cli.command import CommandParser

__all__ = ["build_parser", "run"]

_COMMANDS = (
    "demo",
    "roles",
    "frames",
    "experiment",
    "train",
    "predict",
    "evaluate",
    "explain",
    "parse",
    "serve",
    "kernel",
    "gram",
    "index",
    "nearest",
    "duplicates",
    "clones",
    "show",
    "find",
    "decode",
    "data",
    "score",
    "bench",
    "doctor",
    "completion",
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; Ctrl-C is the caller's."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    if not hasattr(options, "command"):
        parser.print_help()
        return 2
    from sapwood import settings
    from sapwood.cli.terminal import working
    from sapwood.errors import ParameterError, SapwoodError

    _open_streams()
    progress = sys.stderr.isatty() and not options.quiet
    try:
        with (
            _told(options),
            _no_interrupt_lost(),
            settings.options(threads=getattr(options, "threads", None), progress=progress),
            _files_to_write(options),
            working(options),
        ):
            code: int | None = options.command.run(options)
            sys.stdout.flush()
        return code or 0
    except SapwoodError as error:
        _tell(_worded(error, options))
        return 2 if isinstance(error, ParameterError) else 1
    except BrokenPipeError:
        # Whoever read our output has enough, as head does. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _tell(f"{where}{error.strerror or error}")
        return 1
    except UnicodeEncodeError as error:
        _tell(
            f"standard output is in {error.encoding}, which has no {error.object[error.start]!r}; set "
            "PYTHONIOENCODING=utf-8, or write to a file with --output."
        )
        return 1


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """Raise Ctrl-C again that came while Python ran a destructor or a callback, whose errors it prints and forgets.

    What such code complains of afterwards, because it was interrupted, is nothing to users.
    """
    former, interrupted = sys.unraisablehook, False
    main = threading.main_thread().ident

    def again() -> None:
        """Interrupt the main thread once it has left the hook, where it would be lost as well."""
        frame: FrameType | None
        while True:
            time.sleep(0.01)
            frame = sys._current_frames().get(main or 0)
            while frame is not None and frame.f_code is not hook.__code__:
                frame = frame.f_back
            if frame is None:
                break
        if hasattr(signal, "pthread_kill") and main is not None:  # not on Windows
            signal.pthread_kill(main, signal.SIGINT)
        else:
            signal.raise_signal(signal.SIGINT)

    def hook(error: sys.UnraisableHookArgs) -> None:
        nonlocal interrupted
        if issubclass(error.exc_type, KeyboardInterrupt):
            interrupted = True
            threading.Thread(target=again, daemon=True).start()
        elif not interrupted:
            former(error)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = former


@contextmanager
def _told(options: argparse.Namespace) -> Iterator[None]:
    """Print notes and warnings as plain lines on standard error, as ``--quiet`` and ``--verbose`` say.

    Warnings are printed once each; whose code they come from is nothing to users.
    """
    handler = logging.Handler()
    handler.emit = lambda record: _tell(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("sapwood")
    former = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING if options.quiet else logging.DEBUG if options.verbose else logging.INFO)
    logger.propagate = False
    began, cpu = time.perf_counter(), time.process_time()
    try:
        if options.verbose:
            logger.debug("%s", _versions())
        with warnings.catch_warnings():
            warnings.simplefilter("once", UserWarning)
            warnings.showwarning = lambda message, *_, **__: logger.warning("%s", message)
            yield
    finally:
        logger.debug("took %.2f s, %.2f s of CPU", time.perf_counter() - began, time.process_time() - cpu)
        logger.removeHandler(handler)
        logger.level, logger.propagate = former


def _tell(message: str) -> None:
    """Print a message on standard error; on a terminal, lines are broken between words."""
    from sapwood import bars

    lines = f"sapwood: {message}".split("\n")
    if sys.stderr.isatty():
        wrapper = TextWrapper(shutil.get_terminal_size().columns, break_long_words=False, break_on_hyphens=False)
        # Indented lines show a place in a file, and stay as they are.
        lines = [part for line in lines for part in ([line] if line[:1] == " " else wrapper.wrap(line))]
    text = "\n".join(lines)
    with bars.hidden():
        print(colored("sapwood:", "bad", sys.stderr) + text.removeprefix("sapwood:"), file=sys.stderr)


def _versions() -> str:
    from importlib import metadata

    from sapwood import __version__, settings

    packages = (f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    python = ".".join(map(str, sys.version_info[:3]))
    return f"version {__version__}, Python {python}, {', '.join(packages)}, {settings.threads()} threads"


@contextmanager
def _files_to_write(options: argparse.Namespace) -> Iterator[None]:
    """Refuse files that cannot be written before the work for them is done, and lock those that can."""
    from sapwood.cli.locking import locked
    from sapwood.errors import ParameterError
    from sapwood.writing import check_writable

    names = {name: getattr(options, name) for name in options.command.writes if hasattr(options, name)}
    if names.get("output") == "-":
        raise ParameterError("--output: name a file; what can go to standard output does so without the option.")
    paths = [path for path in names.values() if path is not None and path != "-"]
    for path in paths:
        check_writable(path)
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise ParameterError(f"{paths[0]}: is named as the file to write by two options; give each its own.")
    with ExitStack() as locks:
        for path in paths:
            locks.enter_context(locked(path))
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


def _worded(error: Exception, options: argparse.Namespace) -> str:
    """Name options of the command line where the library names parameters."""
    advice = "convert it with iconv -f latin1 -t utf8"
    if hasattr(options, "encoding"):
        advice = "pass --encoding, such as --encoding latin-1"
    message = re.sub(r"pass (encoding=|its encoding\b|the encoding of the file\b)", advice, str(error))
    text = getattr(error, "reason", "").startswith(("expected '(' but found the text", "expected one tree here"))
    if text and getattr(options, "parser", "") is None:
        message += "\nIf this is text and not trees, name a parser: --parser MODEL, of sapwood train parser."
    if text and re.match(r"\s*\S+\s\(", getattr(error, "context", "")):
        message += "\nIf its lines are label<TAB>tree, leave the labels out: cut -f2 FILE > TREES."
    return message


def build_parser() -> CommandParser:
    """Build the parser with all commands."""
    from sapwood import __version__

    parser = CommandParser(prog="sapwood", description="Learn from parse trees.")
    parser.add_argument("--version", action="version", version=f"sapwood {__version__}")
    parser.add_commands((import_module(f"sapwood.cli.{name}").COMMAND for name in _COMMANDS), "command")
    return parser

"""The ``sapwood`` command: names and paths in, one public call, text or JSON out.

Exit codes: 0 for success, 1 for data that cannot be used, 2 for a command line that cannot be understood, 130 for
Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Without arguments it is the program that runs, with those of the process.
    """
    try:
        # Imported here, since Ctrl-C may come before anything is loaded, too.
        from sapwood.cli.running import run

        return run(arguments)
    except (KeyboardInterrupt, RuntimeError) as error:
        if not _is_interrupt(error):
            raise
        print("sapwood: interrupted", file=sys.stderr)
        if arguments is None:
            _leave()
        return 130


def _is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is the cause: Python 3.11 makes a RuntimeError of what stops the body of a class."""
    return isinstance(error, KeyboardInterrupt) or (error.__cause__ is not None and _is_interrupt(error.__cause__))


def _leave() -> None:
    """End the process now: whoever has pressed Ctrl-C does not wait until Python has taken every library down.

    That takes longer the more is loaded: a third of a second with scikit-learn, on a machine that has nothing else
    to do.
    """
    import atexit
    import os

    atexit._run_exitfuncs()
    # Whoever reads them may be gone.
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    os._exit(130)

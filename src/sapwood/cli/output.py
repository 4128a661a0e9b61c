"""Answers of commands that may run long: written as they come, to a file that a stopped run can go on with."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["add_output", "write_output"]


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add ``--out`` and ``--resume``."""
    parser.add_argument("--out", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument("--resume", action="store_true", help="go on where a stopped run to --out ended")


def write_output(
    options: argparse.Namespace,
    items: Iterable[Any],
    answer: Callable[[Iterator[Any]], Iterable[str]],
    *,
    models: Iterable[str | None],
    settings: Iterable[str],
    what: str,
) -> int:
    """Write one text per item to ``--out``, whole or not at all, or to standard output.

    Parameters
    ----------
    options : Namespace
        With ``out`` and ``resume``.
    items, answer
        As for ``sapwood.drafts.write_answers``.
    models : iterable of str or None
        Model files in use: a run goes on only with the same ones.
    settings : iterable of str
        Options that must be the same, too.
    what : str
        What the items are called while progress is shown.

    Returns
    -------
    int
        How many items have been answered, those of a run that was gone on with included.
    """
    from sapwood.drafts import write_answers
    from sapwood.errors import ParameterError
    from sapwood.files import describe
    from sapwood.settings import progress_bar
    from sapwood.writing import is_stream

    if options.out:
        digests = [None if path is None else describe(path).get("sha256") for path in models]
        run = {"models": digests, **{name: getattr(options, name) for name in settings}}
        try:
            return write_answers(options.out, items, answer, run=run, resume=options.resume, what=what)
        except KeyboardInterrupt:
            if not is_stream(options.out):
                print(f"stopped; what is done is kept, go on with --resume: {options.out}", file=sys.stderr)
            raise
    if options.resume:
        raise ParameterError("--resume goes on with a file; name it with --out.")
    done = 0
    with progress_bar(0, what) as progress:
        for text in answer(iter(items)):
            sys.stdout.write(text)
            done += 1
            if progress is not None:
                progress(done)
    return done

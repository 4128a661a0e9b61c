"""What commands print and write: results as text and JSON, notes, and long answers that a stopped run goes on with."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sapwood.cli.color import color_labels

__all__ = ["note", "report", "show", "summary", "write_file", "write_json", "write_output"]

# Notes are what this logger says at the level of information, and what --quiet leaves out.
_LOGGER = logging.getLogger(__name__)


def note(text: str) -> None:
    """Say something beside the result, on standard error."""
    _LOGGER.info(text)


def summary(options: argparse.Namespace, text: str) -> None:
    """Say what a command has written, on standard output, unless it is to be quiet."""
    if not options.quiet:
        print(text)


def show(options: argparse.Namespace, text: object) -> None:
    """Print a result, or a part of it, unless ``--json -`` puts JSON in its place."""
    if options.json != "-":
        print(text, flush=True)


def write_json(options: argparse.Namespace, record: Any) -> None:
    """Write a result to the file of ``--json``, or to standard output for ``-``."""
    if options.json:
        text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_file(None if options.json == "-" else options.json, text)


def report(options: argparse.Namespace, record: Any, text: object) -> None:
    """Print a result as text, and write it as JSON where ``--json`` says so."""
    show(options, text)
    write_json(options, record)


def write_file(path: str | None, content: str | bytes) -> None:
    """Write a file, whole or not at all; None is standard output, which takes text."""
    from sapwood.writing import atomic_write

    if path is not None:
        atomic_write(path, content.encode() if isinstance(content, str) else content)
    else:
        sys.stdout.write(str(content))


def write_output(
    options: argparse.Namespace,
    items: Iterable[Any],
    answer: Callable[[Iterator[Any]], Iterable[str]],
    *,
    models: Iterable[str | None],
    settings: Iterable[str],
    what: str,
) -> int:
    """Write one text per item to ``--output``, whole or not at all, or to standard output.

    Parameters
    ----------
    options : Namespace
        With ``output`` and ``resume``.
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

    if options.output:
        digests = [None if path is None else describe(path).get("sha256") for path in models]
        run = {"models": digests, **{name: getattr(options, name) for name in settings}}
        try:
            return write_answers(options.output, items, answer, run=run, resume=options.resume, what=what)
        except KeyboardInterrupt:
            if not is_stream(options.output):
                note(f"stopped; what is done is kept, go on with --resume: {options.output}")
            raise
    if options.resume:
        raise ParameterError("--resume goes on with a file; name it with --output.")
    done = 0
    listed = getattr(options, "format", None) == "text"
    with progress_bar(0, what.capitalize(), what) as progress:
        for text in answer(iter(items)):
            sys.stdout.write(color_labels(text) if listed else text)
            done += 1
            if progress is not None:
                progress(done)
    return done

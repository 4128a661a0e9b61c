"""Arguments that several commands share, and their checks."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sapwood.trees import TreeArray

__all__ = ["Subparsers", "add_reading", "add_threads", "check_outputs", "positive_float", "positive_int", "read_named"]

Subparsers = argparse._SubParsersAction  # the only name argparse has for its own type


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add ``--threads``."""
    parser.add_argument("--threads", type=positive_int, metavar="N", help="native threads (default: all cores)")


def positive_int(text: str) -> int:
    """Read an integer of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, got {text!r}")
    return value


def positive_float(text: str) -> float:
    """Read a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return value


def check_outputs(*names: str | None) -> None:
    """Refuse files that cannot be written before the work for them is done; None is an option that is not given."""
    from sapwood.files import check_writable

    for name in names:
        if name is not None:
            check_writable(name)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``read_named``."""
    parser.add_argument("--drop-traces", action="store_true", help="leave out -NONE- and what holds nothing else")
    parser.add_argument("--drop-function-tags", action="store_true", help="read NP-SBJ as NP")


def read_named(source: str, options: argparse.Namespace) -> TreeArray:
    """Read the trees of a file or a pattern, or of standard input for ``-``, as the options say."""
    from sapwood.trees import read_trees

    return read_trees(
        sys.stdin.buffer if source == "-" else source,
        drop_traces=options.drop_traces,
        drop_function_tags=options.drop_function_tags,
    )

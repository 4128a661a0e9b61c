"""Arguments that several commands share, and their checks."""

from __future__ import annotations

import argparse
from pathlib import Path

from sapwood.errors import DataError

__all__ = ["Subparsers", "add_threads", "check_output", "positive_float", "positive_int"]

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


def check_output(name: str) -> Path:
    """Refuse a file that cannot be written before the work for it is done, not after."""
    path = Path(name)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise DataError(f"{path}: cannot be written; name a file in a folder that exists.")
    return path

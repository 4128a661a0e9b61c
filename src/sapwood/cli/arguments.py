"""Arguments that several commands share, and their checks."""

from __future__ import annotations

import argparse

__all__ = ["Subparsers", "add_threads", "positive_float", "positive_int"]

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

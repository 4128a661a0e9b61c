"""Arguments that several commands share, and their checks."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.trees import TreeArray

__all__ = [
    "Subparsers",
    "add_encoding",
    "add_kernel",
    "add_parser_model",
    "add_reading",
    "add_threads",
    "check_outputs",
    "named_source",
    "positive_float",
    "positive_int",
    "read_named",
]

Subparsers = argparse._SubParsersAction  # the only name argparse has for its own type


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add ``--threads``."""
    parser.add_argument("--threads", type=positive_int, metavar="N", help="native threads (default: all cores)")


def add_parser_model(parser: argparse.ArgumentParser, note: str = "the input is text") -> None:
    """Add ``--parser``."""
    parser.add_argument("--parser", metavar="FILE", help=f"{note}; parse it with this model of sapwood train parser")


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
    from sapwood.writing import check_writable

    for name in names:
        if name is not None:
            check_writable(name)


def _kernel_expression(text: str) -> str:
    """Refuse an empty kernel, in which no fault can be pointed at; the rest is read when there is time for imports."""
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a kernel such as 'SubsetTree(decay=0.4)', got nothing")
    return text


def add_kernel(
    parser: argparse.ArgumentParser, note: str = 'such as "SubsetTree(decay=0.4).normalized()"', **more: Any
) -> None:
    """Add ``--kernel``, with whatever else ``add_argument`` should know of it."""
    parser.add_argument("--kernel", type=_kernel_expression, metavar="EXPR", help=note, **more)


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add ``--encoding``."""
    parser.add_argument("--encoding", default="utf-8", metavar="NAME", help="of what is read (default: %(default)s)")


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``read_named``."""
    add_encoding(parser)
    add_parser_model(parser, "files are text, of which every sentence is a tree")
    parser.add_argument("--drop-traces", action="store_true", help="leave out -NONE- and what holds nothing else")
    parser.add_argument("--drop-function-tags", action="store_true", help="read NP-SBJ as NP")


def named_source(name: str) -> Any:
    """Return what readers of trees take: the name of a file or a pattern, or standard input for ``-``."""
    from sapwood.errors import DataError
    from sapwood.files import is_model_file

    if name == "-":
        # Readers decode by themselves, and report where that fails.
        return getattr(sys.stdin, "buffer", sys.stdin)
    if is_model_file(name):
        raise DataError(f"{name}: is a Sapwood model, not a file of trees; sapwood show says what it holds.")
    return name


def read_named(options: argparse.Namespace, *names: str | None) -> list[TreeArray]:
    """Read the trees of files or patterns, or of standard input for ``-``, as the options say; None is none."""
    from sapwood.errors import ParameterError
    from sapwood.trees import read_trees

    if names.count("-") > 1:
        raise ParameterError("standard input can be read only once; name a file in place of one -.")
    if options.parser is not None:
        from sapwood.cli.texts import parsed_trees
        from sapwood.parse import as_parser

        return [parsed_trees(as_parser(options.parser), name) for name in names if name is not None]
    return [
        read_trees(
            named_source(name),
            drop_traces=options.drop_traces,
            drop_function_tags=options.drop_function_tags,
            encoding=options.encoding,
        )
        for name in names
        if name is not None
    ]

"""Options that mean the same in every command that has them, and types of values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from sapwood.cli.command import Argument, argument

__all__ = [
    "DATA_FOLDERS",
    "DEPENDENCIES",
    "ENCODER",
    "ENCODING",
    "HTML",
    "JSON",
    "KERNEL",
    "LINES",
    "MEMORY_LIMIT",
    "OUTPUT",
    "PARSER",
    "READING",
    "RESUME",
    "SEED",
    "SVG",
    "THREADS",
    "choice",
    "flag",
    "integer",
    "number",
]


def _number(read: Callable[[str], float], expected: str) -> Callable[[str], float]:
    def read_number(text: str) -> float:
        try:
            value = read(text)
        except ValueError:
            value = 0
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
        return value

    return read_number


positive_int = _number(int, "an integer of at least 1")
positive_float = _number(float, "a number above 0")


def _kernel_expression(text: str) -> str:
    """Refuse an empty kernel, in which no fault can be pointed at; the rest is read when there is time for imports."""
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a kernel such as 'SubsetTree(decay=0.4)', got nothing")
    return text


def flag(name: str, text: str) -> Argument:
    """Describe an option without a value."""
    return argument(name, action="store_true", help=text)


def integer(name: str, text: str, default: int | None = None) -> Argument:
    """Describe an option that takes an integer of at least 1."""
    return argument(name, type=positive_int, default=default, metavar="N", help=text)


def number(name: str, text: str, default: float | None = None, metavar: str = "X") -> Argument:
    """Describe an option that takes a number above 0."""
    return argument(name, type=positive_float, default=default, metavar=metavar, help=text)


def choice(name: str, values: tuple[str, ...], text: str = "") -> Argument:
    """Describe an option that takes one of some words, the first by default."""
    return argument(name, choices=values, default=values[0], help=text)


OUTPUT = argument("-o", "--output", metavar="FILE", help="where to write (default: standard output)")
RESUME = argument("--resume", action="store_true", help="go on where a stopped run to --output ended")
JSON = argument("--json", metavar="FILE", help="write the result as JSON; - prints it in place of the text")
HTML = argument("--html", metavar="FILE", help="write a page with pictures")
SVG = argument("--svg", metavar="FILE", help="write a picture")
LINES = argument("--lines", action="store_true", help="every line of the text is a sentence")
SEED = argument("--seed", type=int, default=0, metavar="N", help="seed of random numbers")
THREADS = argument("--threads", type=positive_int, metavar="N", help="native threads (default: all cores)")
MEMORY_LIMIT = argument("--memory-limit", type=positive_float, metavar="MB", help="memory to use at most, in megabytes")
KERNEL = argument(
    "--kernel", type=_kernel_expression, metavar="EXPR", help='kernel, such as "SubsetTree(decay=0.4).normalized()"'
)
ENCODER = argument("--encoder", metavar="NAME", help="folder or name of a pretrained encoder, such as minilm")
ENCODING = argument("--encoding", default="utf-8", metavar="NAME", help="encoding of the input")
PARSER = argument(
    "--parser",
    metavar="MODEL",
    help="the input is text, to be parsed with this model of sapwood train parser, or a language such as en",
)
DEPENDENCIES = choice(
    "--dependencies", ("relation", "lexical", "words"), "what the nodes of trees from CoNLL-U (.conllu) are"
)
READING = (
    ENCODING,
    PARSER,
    argument("--drop-traces", action="store_true", help="leave out -NONE- and what holds nothing else"),
    argument("--drop-function-tags", action="store_true", help="read NP-SBJ as NP"),
    DEPENDENCIES,
)
DATA_FOLDERS = argument(
    "--data", action="append", default=[], metavar="DIR", help="a folder to look for corpora in; repeatable"
)

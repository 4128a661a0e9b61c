"""Color on terminals: never in files and pipes, and not where NO_COLOR is set or the terminal has none."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

from sapwood.palette import GREY, paint

__all__ = ["color_labels", "color_scores", "colored", "has_color"]

_CODES = {"good": "32", "odd": "33", "bad": "31", "strong": "1", "quiet": "2"}
# The numbered colors of the palette, by the nearest of the 256 that terminals know; seen on black and on white.
_PAINTS = (32, 167, 71, 134, 136, 37, 168, 100, 137, 68, 244)
_SCORE = re.compile(r"^(\s*)([+-])(\d\S*( [+-]+)?)(?=  )", flags=re.MULTILINE)
_LABEL = re.compile(r"^( {4})(\*|\S+)(?=  )", flags=re.MULTILINE)


def has_color(stream: TextIO | None = None) -> bool:
    """Return whether a stream, or standard output, is a terminal that takes color."""
    stream = sys.stdout if stream is None else stream
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()


def colored(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return a text in a style, or as it is where the stream takes no color.

    >>> colored("ok", "good")
    'ok'
    """
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if has_color(stream) else text


def color_scores(text: str) -> str:
    """Color the numbers before the lines of an explanation: what speaks for it and what against it."""
    if not has_color():
        return text
    codes = {"+": _PAINTS[1], "-": _PAINTS[0]}
    return _SCORE.sub(lambda m: f"{m[1]}\x1b[38;5;{codes[m[2]]}m{m[2]}{m[3]}\x1b[0m", text)


def color_labels(text: str) -> str:
    """Color the labels in a list of spans, each as it is in every picture."""
    if not has_color():
        return text

    def shown(match: re.Match[str]) -> str:
        number = GREY if match[2] == "*" else paint(match[2])
        return f"{match[1]}\x1b[1;38;5;{_PAINTS[number]}m{match[2]}\x1b[0m"

    return _LABEL.sub(shown, text)

"""Long JSON in little memory: the objects of a named list, one by one, out of the lines of a file.

The standard library reads a document whole or not at all. Here documents are taken apart down to the list, and each of
its objects goes through ``json``. What the objects mean belongs to the readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from sapwood.errors import FormatError
from sapwood.text_files import JSON, Line

__all__ = ["list_items"]

_SPACE = re.compile(r"\s*")
# No string goes over the end of a line, so the brackets of a line can be told without those before it.
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|([\[{])|[\]}]')
_LONGEST = 1 << 26


def list_items(rows: Iterator[Line], key: str) -> Iterator[tuple[dict[str, Any], Line]]:
    """Yield the objects of every document's list called ``key``, each with the line on which it begins.

    Parameters
    ----------
    rows : iterator of Line
        One document, several one after the other, or a list of them.
    key : str
        The name of the lists.

    Raises
    ------
    FormatError
        Where the text is not JSON, is cut off, or holds a value of more than 64 MB.

    Examples
    --------
    >>> rows = [Line("file", 1, '{"id": 1, "items": [{"a": 1},'), Line("file", 2, '{"a": [2]}]}')]
    >>> [(item, line.number) for item, line in list_items(iter(rows), "items")]
    [({'a': 1}, 1), ({'a': [2]}, 2)]
    """
    text = _Text(rows)
    while first := text.peek():
        for _ in text.parts("[", "]") if first == "[" else (None,):
            yield from _document(text, key)


def _document(text: _Text, key: str) -> Iterator[tuple[dict[str, Any], Line]]:
    for _ in text.parts("{", "}"):
        name = text.value()
        text.take(":")
        if name != key or text.peek() != "[":
            text.value()
            continue
        for _ in text.parts("[", "]"):
            line = text.line()
            item = text.value()
            if not isinstance(item, dict):
                raise line.fault(f'expected an object in the list "{key}", found {str(item)[:40]!r}')
            yield item, line


class _Text:
    """The text of lines, taken piece by piece; holds what is not taken yet."""

    def __init__(self, rows: Iterator[Line]) -> None:
        self._rows = rows
        self._lines: list[Line] = []
        self._text, self._at = "", 0

    def peek(self) -> str:
        """Return the next character that is no white space, or nothing at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._next_line():
                return ""

    def take(self, *expected: str) -> str:
        """Take one of these characters."""
        found = self.peek()
        if found not in expected or not found:
            raise self._fault(f"expected {' or '.join(map(repr, expected))}", self._at)
        self._at += 1
        return found

    def parts(self, opening: str, closing: str) -> Iterator[None]:
        """Stop before each part of a list or object, for the caller to take it."""
        self.take(opening)
        if self.peek() == closing:
            self.take(closing)
            return
        while True:
            yield
            if self.take(",", closing) == closing:
                return

    def value(self) -> Any:
        """Take a value of any kind."""
        self.peek()
        depth = _depth(self._text, self._at)
        pieces, size = [self._text], len(self._text) - self._at
        while depth > 0 and size <= _LONGEST and (line := next(self._rows, None)) is not None:
            depth += _depth(line.text, 0, depth)
            size += len(line.text)
            pieces.append(f"{line.text}\n")
            self._lines.append(line)
        self._text = "".join(pieces)
        try:
            value, self._at = JSON.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise self._fault(error.msg, error.pos) from None
        except (ValueError, RecursionError) as error:
            raise self._fault(str(error), self._at) from None
        return value

    def line(self) -> Line:
        """Return the line of what comes next."""
        self.peek()
        return self._line_at(self._at)

    def _line_at(self, at: int) -> Line:
        return self._lines[self._text.count("\n", 0, at) if len(self._lines) > 1 else 0]

    def _next_line(self) -> bool:
        line = next(self._rows, None)
        if line is not None:
            self._text, self._at, self._lines = f"{line.text}\n", 0, [line]
        return line is not None

    def _fault(self, reason: str, at: int) -> FormatError:
        if not self._text[at:].strip():
            return self._lines[-1].fault("not valid JSON: it ends before its brackets are closed; the file is cut off")
        column = at - self._text.rfind("\n", 0, at)
        return self._line_at(at).fault(f"not valid JSON: {reason}, found {self._text[at : at + 20].rstrip()!r}", column)


def _depth(text: str, at: int, before: int = 0) -> int:
    """Count how many brackets are open at the end of a text, or at the end of the value that is in it."""
    depth = 0
    for found in _BRACKET.finditer(text, at):
        depth += 0 if found[0][0] == '"' else 1 if found[1] else -1
        if before + depth <= 0:
            break
    return depth

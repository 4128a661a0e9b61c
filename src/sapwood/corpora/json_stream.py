"""Long JSON in little memory: the objects of a named list, one by one, out of a stream.

The standard library reads a document whole or not at all. Only the brackets are followed here; each object, and what
is left of the document without them, still goes through ``json`` and is checked there. What the objects mean belongs
to the readers.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from sapwood.errors import ParameterError
from sapwood.sources import FormatError, Line

__all__ = ["list_items"]

_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|"', re.DOTALL)
_PIECE = 1 << 16
_LONGEST_ITEM = 1 << 24


def list_items(stream: Any, key: str, *, encoding: str = "utf-8") -> Iterator[tuple[dict[str, Any], Line]]:
    """Yield the objects of every list called ``key``, each with the line on which it begins.

    Parameters
    ----------
    stream : stream
        With ``read`` and ``name``; bytes or text. It may hold several documents.
    key : str
        The name of the lists.
    encoding : str
        Encoding of the bytes.

    Raises
    ------
    FormatError
        Where brackets do not match, an object or the document around it is not JSON, the text is cut off, or an
        object is longer than 16 MB.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO('{"id": 1, "items": [{"a": 1}, {"a": [2]}]}')
    >>> stream.name = "example"
    >>> [item for item, line in list_items(stream, "items")]
    [{'a': 1}, {'a': [2]}]
    """
    scan = _Scan(stream.name, key)
    for piece in _text(stream, encoding, scan):
        yield from scan.take(piece)
    scan.finish()


class _Scan:
    """Follows the brackets of the text read so far and cuts out the objects."""

    def __init__(self, name: str, key: str) -> None:
        self._name, self._key = name, key
        self._kept, self._line, self._column = "", 1, 1  # the text still needed, and where it begins
        self._at = 0  # how far brackets have been followed
        self._open: list[tuple[str, str]] = []  # brackets, each with the string before it
        self._string = ""
        self._begin = -1  # where the present object begins
        self._level = 0
        self._copied = 0  # up to where the text belongs to objects or to the outside
        self._outside: list[str] = []

    def take(self, piece: str) -> Iterator[tuple[dict[str, Any], Line]]:
        self._kept += piece
        while found := _STRUCTURE.search(self._kept, self._at):
            mark = found[0]
            if mark == '"':  # the string goes on in the next piece
                self._at = found.start()
                break
            self._at = found.end()
            if mark[0] == '"':
                self._string = mark[1:-1]
            elif mark in "{[":
                self._enter(mark, found.start())
            else:
                yield from self._leave(mark, found.start())
        else:
            self._at = len(self._kept)
        self._trim()

    def finish(self) -> None:
        if self._open or self._kept[self._copied :].strip():
            raise self._fault(len(self._kept), "the JSON ends before its brackets are closed; the file is cut off")

    def _enter(self, mark: str, at: int) -> None:
        if not self._open and self._kept[self._copied : at].strip():
            raise self._fault(self._copied, "expected JSON, found other text")
        if self._begin < 0 and mark == "{" and self._open and self._open[-1] == ("[", self._key):
            gap = self._kept[self._copied : at]
            # The comma between two objects is checked here, so that the outside stays short.
            if self._outside and self._outside[-1] == "null" and gap.strip() == ",":
                self._outside.pop()
            else:
                self._outside.append(gap)
            self._begin, self._copied, self._level = at, at, len(self._open)
        self._open.append((mark, self._string))
        self._string = ""

    def _leave(self, mark: str, at: int) -> Iterator[tuple[dict[str, Any], Line]]:
        if not self._open or self._open.pop()[0] != ("{" if mark == "}" else "["):
            raise self._fault(at, f"{mark!r} closes a bracket that is not open")
        if self._begin >= 0 and len(self._open) == self._level:
            line = Line(self._name, self._line + self._kept.count("\n", 0, self._begin), "")
            item = self._load(self._kept[self._begin : at + 1], line)
            self._outside.append("null")
            self._begin, self._copied = -1, at + 1
            yield item, line
        if not self._open:
            self._outside.append(self._kept[self._copied : at + 1])
            self._copied = at + 1
            self._load("".join(self._outside), Line(self._name, self._line, ""))
            self._outside = []

    def _load(self, text: str, line: Line) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise line._replace(number=line.number + error.lineno - 1).fault(
                f"not valid JSON: {error.msg}", error.colno
            ) from None
        except (ValueError, RecursionError) as error:
            raise line.fault(f"not valid JSON: {error}") from None

    def _trim(self) -> None:
        if self._begin < 0 and self._open and self._at - self._copied > _PIECE:
            self._outside.append(self._kept[self._copied : self._at])
            self._copied = self._at
        if len(self._kept) - self._copied > _LONGEST_ITEM or sum(map(len, self._outside)) > _LONGEST_ITEM:
            raise self._fault(self._copied, f"a part of more than {_LONGEST_ITEM >> 20} MB; the file is damaged")
        cut = self._copied
        breaks = self._kept.count("\n", 0, cut)
        tail = cut - (self._kept.rfind("\n", 0, cut) + 1)
        self._line, self._column = self._line + breaks, tail + (1 if breaks else self._column)
        self._kept, self._at, self._copied = self._kept[cut:], self._at - cut, 0
        self._begin = 0 if self._begin >= 0 else -1

    def _fault(self, at: int, reason: str) -> FormatError:
        breaks = self._kept.count("\n", 0, at)
        column = at - (self._kept.rfind("\n", 0, at) + 1) + (1 if breaks else self._column)
        return FormatError(self._name, self._line + breaks, column, reason)

    def undecodable(self, before: bytes, byte: int, encoding: str) -> FormatError:
        line = self._line + self._kept.count("\n") + before.count(b"\n")
        return FormatError(
            self._name,
            line,
            1,
            f"the byte 0x{byte:02x} is not valid {encoding}; save the file as UTF-8 or pass its encoding",
        )


def _text(stream: Any, encoding: str, scan: _Scan) -> Iterator[str]:
    try:
        decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding.lower() == "utf-8" else encoding)()
    except LookupError:
        raise ParameterError(f"unknown encoding {encoding!r}; try 'utf-8' or 'latin-1'.") from None
    while True:
        raw = stream.read(_PIECE)
        try:
            yield raw if isinstance(raw, str) else decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            raise scan.undecodable(error.object[: error.start], error.object[error.start], encoding) from None
        if not raw:
            return

"""Text files line by line: every line knows where it stands, so that faults can be placed.

Encodings, byte-order marks and line ends are dealt with here; where the bytes come from is the business of ``sources``,
and what a line says of the readers.
"""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sapwood.errors import DataError, FormatError, ParameterError
from sapwood.sources import Source, Stream, open_all

__all__ = ["JSON", "Line", "blocks", "check_encoding", "files", "lines", "texts"]

# Longer lines occur in no corpus; a limit keeps a hostile file from filling the memory.
LONGEST_LINE = 1 << 26
# No count in a corpus is longer; what has these digits fits 64 bits.
_MOST_DIGITS = 18


class Line(NamedTuple):
    """One line of a file, without its end, and where it stands."""

    source: str
    number: int
    text: str

    def fault(self, reason: str, column: int = 1) -> FormatError:
        """Make the error to raise when this line is not what it should be."""
        return FormatError(self.source, self.number, column, reason)

    def count(self, text: str, column: int = 1, *, what: str = "") -> int:
        """Return a whole number of at least 0 that this line holds; ``what`` says what it means."""
        if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
            wanted = f"a whole number of at most {_MOST_DIGITS} digits{what and f' as {what}'}"
            raise self.fault(f"expected {wanted}, found {text[:40]!r}", column)
        return int(text)

    def real(self, text: str, column: int = 1, *, what: str = "") -> float:
        """Return a finite number that this line holds; ``what`` says what it means."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.fault(f"expected a finite number{what and f' as {what}'}, found {text[:40]!r}", column)
        return value

    def json(self) -> Any:
        """Return what this line holds as JSON."""
        try:
            return JSON.decode(self.text)
        except json.JSONDecodeError as error:
            raise self.fault(f"not valid JSON: {error.msg}", error.colno) from None
        except (ValueError, RecursionError) as error:
            raise self.fault(f"not valid JSON: {error}") from None


def _bounded(digits: str) -> int:
    if len(digits.removeprefix("-")) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits, more than {_MOST_DIGITS}")
    return int(digits)


JSON = json.JSONDecoder(parse_int=_bounded)
"""Reads JSON in which no whole number is too long for 64 bits."""


def files(
    source: Source | Iterable[Source], *, encoding: str = "utf-8", allow_empty: bool = False
) -> Iterator[Iterator[Line]]:
    """Yield the lines of each file apart, holding one line at a time; take those of a file before asking for the next.

    A byte-order mark at the start of a file and the line ends (LF or CR LF) are removed; nothing else is.

    Raises
    ------
    FormatError
        Where a byte is not valid in the encoding, or is NUL, or a line is longer than 64 MB.
    DataError
        If a file is missing or, unless that is allowed, empty, or a compressed one is not whole.

    Examples
    --------
    >>> import io
    >>> [[line.text for line in rows] for rows in files([io.StringIO("one\\ntwo"), io.StringIO("three")])]
    [['one', 'two'], ['three']]
    """
    check_encoding(encoding)
    if "\n(\t".encode(encoding) != b"\n(\t":
        raise ParameterError(f"files in {encoding} cannot be read line by line; convert them to UTF-8 first.")
    return (_lines_of(stream, encoding, allow_empty) for stream in open_all(source))


def lines(source: Source | Iterable[Source], *, encoding: str = "utf-8", allow_empty: bool = False) -> Iterator[Line]:
    """Yield the lines of all files in one row; see ``files``.

    >>> import io
    >>> [(line.number, line.text) for line in lines(io.StringIO("one\\ntwo"))]
    [(1, 'one'), (2, 'two')]
    """
    for rows in files(source, encoding=encoding, allow_empty=allow_empty):
        yield from rows


def _lines_of(stream: Stream, encoding: str, allow_empty: bool) -> Iterator[Line]:
    name, number = stream.name, 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        if len(raw) >= LONGEST_LINE:
            raise FormatError(name, number, 1, f"a line of more than {LONGEST_LINE >> 20} MB; not a text file")
        yield Line(name, number, _decode(raw, encoding, name, number))
    if not number and not allow_empty:
        raise DataError(f"{name}: is empty; remove it from the list of files or fetch it again.")


def blocks(rows: Iterable[Line], *, size: int = 64) -> Iterator[list[Line]]:
    """Yield lines a few dozen at a time, never from two files at once."""
    block: list[Line] = []
    for line in rows:
        if len(block) >= size or (block and line.number == 1):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def texts(stream: Stream, encoding: str, size: int = -1) -> Iterator[str]:
    """Yield the text of an open file in pieces of about the size asked for, or in one.

    Raises
    ------
    FormatError
        Where a byte is not valid in the encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    number, before = 1, ""
    while True:
        piece = stream.read(size)
        try:
            text = piece if isinstance(piece, str) else decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            raise _undecodable(error, Line(stream.name, number, before), encoding) from None
        if text:
            yield text
        if not piece:
            return
        number += text.count("\n")
        before = text[text.rfind("\n") + 1 :] if "\n" in text else before + text


def check_encoding(encoding: object) -> None:
    """Raise for what is no name of an encoding of text."""
    if not isinstance(encoding, str):
        raise ParameterError(f"encoding must be a name such as 'utf-8' or 'latin-1', got {encoding!r}.")
    try:
        # Refuses unknown names, those of transformations such as 'hex', and those without a way past a fault.
        b"a".decode(encoding, "replace")
    except (LookupError, ValueError):
        raise ParameterError(f"unknown encoding {encoding!r}; try 'utf-8' or 'latin-1'.") from None


def _undecodable(error: UnicodeError, before: Line, encoding: str) -> FormatError:
    """Make the error for bytes that are not valid, from what was valid before them."""
    raw, start = getattr(error, "object", b""), getattr(error, "start", 0)
    good = before.text + raw[:start].decode(encoding, "replace")
    what = f"the byte 0x{raw[start]:02x}" if raw else "the file"
    # Python's name for UTF-8 with a byte-order mark means nothing to users.
    reason = f"{what} is not valid {encoding.removesuffix('-sig')}; save the file as UTF-8 or pass its encoding"
    return FormatError(before.source, before.number + good.count("\n"), len(good) - good.rfind("\n"), reason)


def _decode(raw: bytes | str, encoding: str, name: str, number: int) -> str:
    if isinstance(raw, bytes):
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        try:
            raw = raw.decode(encoding)
        except UnicodeError as error:
            raise _undecodable(error, Line(name, number, ""), encoding) from None
    if "\0" in raw:
        raise FormatError(name, number, raw.index("\0") + 1, "a NUL character; this is not a text file")
    text = raw.removesuffix("\n").removesuffix("\r")
    return text.removeprefix("\ufeff") if number == 1 else text

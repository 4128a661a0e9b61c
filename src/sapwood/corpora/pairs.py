"""Pairs of questions or sentences that mean the same or not: Quora's tables and the MSR paraphrase corpus.

All are tab-separated with a header, which tells them apart; they differ in columns and in how quotes are used.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sapwood.checks import check_choice
from sapwood.errors import DataError, FormatError
from sapwood.lazy import public_names
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources
from sapwood.text_files import Line, files
from sapwood.writing import write_text

__all__ = ["SentencePair", "read", "write"]

__dir__ = public_names(__name__)


class _Table(NamedTuple):
    """The header of a table, and the columns of the judgement, the two texts and the ids."""

    header: tuple[str, ...]
    same: int
    texts: tuple[int, int]
    ids: tuple[int, ...]


_SHORT = _Table(("is_duplicate", "question1", "question2"), 0, (1, 2), ())
_FULL = _Table(("id", "qid1", "qid2", "question1", "question2", "is_duplicate"), 5, (3, 4), (0, 1, 2))
_MSR = _Table(("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"), 0, (3, 4), (1, 2))

_WELL_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True)
class SentencePair(HtmlTable):
    """Two texts and whether they mean the same.

    Attributes
    ----------
    first, second : str
        The two texts.
    same : bool
        Whether they were judged duplicates or paraphrases.
    ids : tuple of str
        Identifiers from the file: of the two texts, after that of the pair where it has one. Empty where none.
    """

    first: str
    second: str
    same: bool
    ids: tuple[str, ...] = ()


def read(
    source: Sources, *, faulty: Literal["error", "skip"] = "error", encoding: str = "utf-8"
) -> Iterator[SentencePair]:
    """Yield pairs one by one.

    The header of a file says which table it is: Quora's full one (``id qid1 qid2 question1 question2 is_duplicate``),
    its short one (``is_duplicate question1 question2``), or the MSR corpus (``Quality``, ``#1 ID`` and so on). In
    Quora's a field may stand in double quotes, with the quotes in it doubled; in the full one a quoted field may go
    over several lines. In the MSR corpus quotes are plain characters.

    Parameters
    ----------
    faulty : {"error", "skip"}
        What to do with a row that has the wrong columns: stop, or leave it out and, at the end, warn how many rows
        were left out and which.

    Examples
    --------
    >>> import io
    >>> table = 'is_duplicate\\tquestion1\\tquestion2\\n1\\tWhy rain?\\t"Why does it rain, ""really""?"\\n'
    >>> next(read(io.StringIO(table)))
    SentencePair(first='Why rain?', second='Why does it rain, "really"?', same=True, ids=())
    """
    check_choice(faulty, "faulty", ("error", "skip"))
    skipped: list[FormatError] = []
    for rows in files(source, encoding=encoding):
        header = next(rows)
        table = _table(header)
        empty = True
        for line in rows:
            empty = False
            fields = _quoted_fields(line, rows) if table is _FULL else line.text.split("\t")
            try:
                pair = _pair(line, fields, table)
            except FormatError as fault:
                if faulty == "error":
                    raise
                skipped.append(fault)
            else:
                yield pair
        if empty:
            raise header.fault("a header without any pair after it; the file is cut off")
    if skipped:
        shown = "; ".join(f"{fault.source}:{fault.line}: {fault.reason}" for fault in skipped[:5])
        more = f"; and {len(skipped) - 5} more" if len(skipped) > 5 else ""
        warnings.warn(f"left out {len(skipped)} faulty rows: {shown}{more}", stacklevel=2)


def write(
    pairs: Iterable[SentencePair], path: str | os.PathLike[str], *, format: Literal["quora", "msr"] = "quora"
) -> None:
    """Write pairs.

    Parameters
    ----------
    format : {"quora", "msr"}
        ``quora`` is the full table if every pair has three ids, else the short one. ``msr`` has a byte-order mark and
        CR LF line ends; every pair needs two ids, and no text may hold a tab or a line break.
    """
    check_choice(format, "format", ("quora", "msr"))
    pairs = list(pairs)
    if format == "msr":
        rows = [_row(pair, _MSR, _unbroken) for pair in pairs]
        write_text(path, "\ufeff" + "".join(f"{row}\r\n" for row in ("\t".join(_MSR.header), *rows)))
        return
    full = bool(pairs) and all(len(pair.ids) == 3 for pair in pairs)
    table = _FULL if full else _SHORT
    rows = [_row(pair, table, _quoted if full else _quoted_line) for pair in pairs]
    write_text(path, (f"{row}\n" for row in ("\t".join(table.header), *rows)))


def _table(line: Line) -> _Table:
    for table in (_SHORT, _FULL, _MSR):
        if tuple(line.text.split("\t")) == table.header:
            return table
    known = ", ".join(repr(" ".join(table.header)) for table in (_SHORT, _FULL, _MSR))
    raise line.fault(f"expected the header {known}, tabs between")


def _pair(line: Line, fields: list[str], table: _Table) -> SentencePair:
    if len(fields) != len(table.header):
        raise line.fault(f"expected {len(table.header)} columns with a tab between them, found {len(fields)}")
    if table is _SHORT:
        fields = [_unquoted(field) for field in fields]
    same = fields[table.same]
    if same not in ("0", "1"):
        raise line.fault(f"expected 0 or 1 as {table.header[table.same]}, found {same[:20]!r}")
    first, second = (fields[column] for column in table.texts)
    if not first.strip() or not second.strip():
        raise line.fault("one of the two texts is empty")
    return SentencePair(first, second, same == "1", tuple(fields[column] for column in table.ids))


def _row(pair: SentencePair, table: _Table, write_field: Callable[[str], str]) -> str:
    ids = pair.ids if table.ids else ()
    if len(ids) != len(table.ids):
        raise DataError(f"the table cannot hold {pair!r}: it needs {len(table.ids)} ids.")
    columns = dict(zip(table.texts, (pair.first, pair.second), strict=True))
    columns |= {table.same: str(int(pair.same)), **dict(zip(table.ids, ids, strict=True))}
    return "\t".join(write_field(columns[number]) for number in range(len(table.header)))


def _unquoted(field: str) -> str:
    if _WELL_QUOTED.fullmatch(field):
        return field[1:-1].replace('""', '"')
    return field


def _quoted_fields(line: Line, rows: Iterator[Line]) -> list[str]:
    """Split a row in which a quoted field may go on over the next lines."""
    fields: list[str] = []
    text, at = line.text, 0
    while True:
        if not text.startswith('"', at):
            end = text.find("\t", at)
            fields.append(text[at:] if end < 0 else text[at:end])
        else:
            end = at + 1
            while True:
                end = text.find('"', end)
                if end < 0:
                    end = len(text) + 1
                    text = f"{text}\n{_continuation(rows, line, at)}"
                elif text.startswith('""', end):
                    end += 2
                else:
                    break
            fields.append(text[at + 1 : end].replace('""', '"'))
            end += 1
            if end == len(text):
                end = -1
            elif text[end] != "\t":
                raise line.fault(f"text after the closing quote of a field: {text[end : end + 20]!r}", end + 1)
        if end < 0:
            return fields
        at = end + 1


def _continuation(rows: Iterator[Line], line: Line, at: int) -> str:
    following = next(rows, None)
    if following is None:
        raise line.fault("a quoted field is never closed; the file is cut off or a quote is missing", at + 1)
    return following.text


def _quoted(text: str) -> str:
    # A carriage return at the end of a line would be taken for part of the line end.
    if "\r" in text or "\0" in text:
        raise DataError(f"the table cannot hold {text!r}: it has a carriage return or NUL.")
    if text.startswith('"') or "\t" in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _quoted_line(text: str) -> str:
    return _quoted(_unbroken(text))


def _unbroken(text: str) -> str:
    if any(mark in text for mark in "\t\n\r\0"):
        raise DataError(f"the table cannot hold {text!r}: it has a tab, line break or NUL.")
    return text

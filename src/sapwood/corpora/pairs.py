"""Pairs of questions or sentences that mean the same or not: Quora's table and the MSR paraphrase corpus.

Both are tab-separated with a header; they differ in columns and in how quotes are used. What makes two sentences
alike is learnt elsewhere.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.labelled import given_labels, labelled_rows, nothing_in
from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable
from sapwood.sources import FormatError, Line, Source, lines
from sapwood.writing import write_text

__all__ = [
    "SentencePair",
    "iter_msr",
    "iter_quora",
    "read_msr",
    "read_quora",
    "read_text_pairs",
    "write_msr",
    "write_quora",
]

_SHORT = ("is_duplicate", "question1", "question2")
_FULL = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")
_MSR = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")

_WELL_QUOTED = re.compile(r'"(?:[^"]|"")*"')

Faulty = Literal["error", "skip"]


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


def iter_quora(
    source: Source | Sequence[Source], *, faulty: Faulty = "error", encoding: str = "utf-8"
) -> Iterator[SentencePair]:
    """Yield Quora question pairs one by one.

    The header says which table it is: the full one (``id qid1 qid2 question1 question2 is_duplicate``) or the short
    one (``is_duplicate question1 question2``). In both a field may stand in double quotes, with the quotes in it
    doubled; in the full table a quoted field may go over several lines, in the short one a line is a row.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Also compressed files and members of archives.
    faulty : {"error", "skip"}
        What to do with a row that has the wrong columns: stop, or leave it out and, at the end, warn how many rows
        were left out and which.
    encoding : str
        Encoding of the files.

    Examples
    --------
    >>> import io
    >>> table = 'is_duplicate\\tquestion1\\tquestion2\\n1\\tWhy rain?\\t"Why does it rain, ""really""?"\\n'
    >>> next(iter_quora(io.StringIO(table)))
    SentencePair(first='Why rain?', second='Why does it rain, "really"?', same=True, ids=())
    """
    _check(faulty)
    header: tuple[str, ...] = ()
    skipped: list[FormatError] = []
    table = _Table()
    for line, fields in _records(lines(source, encoding=encoding)):
        table.take(line)
        if line.number == 1:
            header = tuple(fields)
            continue
        try:
            pair = _quora(line, fields, header)
        except FormatError as fault:
            if faulty == "error":
                raise
            skipped.append(fault)
        else:
            yield pair
    _finish(table, skipped)


def read_quora(
    source: Source | Sequence[Source], *, faulty: Faulty = "error", encoding: str = "utf-8"
) -> list[SentencePair]:
    """Read every pair at once; see ``iter_quora``."""
    return list(iter_quora(source, faulty=faulty, encoding=encoding))


def write_quora(pairs: Iterable[SentencePair], path: str | os.PathLike[str]) -> None:
    """Write pairs as Quora's table: the full one if every pair has three ids, else the short one.

    The file appears whole or not at all, compressed if its name ends in ``.gz`` or ``.xz``.
    """
    pairs = list(pairs)
    full = bool(pairs) and all(len(pair.ids) == 3 for pair in pairs)
    rows: list[Sequence[str]] = [_FULL if full else _SHORT]
    for pair in pairs:
        same = str(int(pair.same))
        ids, texts = pair.ids if full else (), (pair.first, pair.second)
        fields = [_quoted(field, full) for field in (*ids, *texts)]
        rows.append((*fields, same) if full else (same, *fields))
    write_text(path, ("\t".join(row) + "\n" for row in rows))


def iter_msr(
    source: Source | Sequence[Source], *, faulty: Faulty = "error", encoding: str = "utf-8"
) -> Iterator[SentencePair]:
    """Yield the pairs of the MSR paraphrase corpus one by one; quotes in it are plain characters.

    Parameters are those of ``iter_quora``.

    Examples
    --------
    >>> import io
    >>> table = 'Quality\\t#1 ID\\t#2 ID\\t#1 String\\t#2 String\\n1\\t7\\t8\\t"Rain", he said.\\tHe said "rain".\\n'
    >>> next(iter_msr(io.StringIO(table))).first
    '"Rain", he said.'
    """
    _check(faulty)
    skipped: list[FormatError] = []
    table = _Table()
    for line in lines(source, encoding=encoding):
        fields = line.text.split("\t")
        table.take(line)
        if line.number == 1:
            if tuple(fields) != _MSR:
                raise line.fault(f"expected the header {' '.join(_MSR)!r}, tabs between")
            continue
        try:
            if len(fields) != 5:
                raise line.fault(f"expected 5 columns with a tab between them, found {len(fields)}")
            same = _truth(line, fields[0], 1)
            if not fields[3].strip() or not fields[4].strip():
                raise line.fault("one of the two sentences is empty")
        except FormatError as fault:
            if faulty == "error":
                raise
            skipped.append(fault)
        else:
            yield SentencePair(fields[3], fields[4], same, (fields[1], fields[2]))
    _finish(table, skipped)


def read_msr(
    source: Source | Sequence[Source], *, faulty: Faulty = "error", encoding: str = "utf-8"
) -> list[SentencePair]:
    """Read every pair at once; see ``iter_msr``."""
    return list(iter_msr(source, faulty=faulty, encoding=encoding))


def write_msr(pairs: Iterable[SentencePair], path: str | os.PathLike[str]) -> None:
    """Write pairs as the MSR corpus is written: byte-order mark, header, CR LF line ends.

    Texts with a tab or a line break cannot be written, and every pair needs two ids.
    """
    rows = ["\t".join(_MSR)]
    for pair in pairs:
        fields = (str(int(pair.same)), *pair.ids, pair.first, pair.second)
        if len(fields) != 5 or any(mark in field for field in fields for mark in "\t\n\r"):
            raise DataError(f"the MSR format cannot hold {pair!r}: it needs two ids, and no tab or line break.")
        rows.append("\t".join(fields))
    write_text(path, "\ufeff" + "".join(f"{row}\r\n" for row in rows))


def read_text_pairs(
    source: Source | Sequence[Source], *, labels: bool = True, encoding: str = "utf-8"
) -> tuple[list[tuple[str, str]], NDArray[np.str_] | None]:
    """Read pairs of plain texts, one ``label<TAB>text<TAB>text`` per line, without a header.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Empty lines are passed over; a text may be empty.
    labels : bool
        With False, lines may also hold two texts alone, and no labels are returned unless every line has one.
    encoding : str
        Encoding of the files.

    Examples
    --------
    >>> import io
    >>> pairs, y = read_text_pairs(io.StringIO("same\\tWhy rain?\\tWhy does it rain?\\n"))
    >>> pairs, y.tolist()
    ([('Why rain?', 'Why does it rain?')], ['same'])
    """
    rows = list(labelled_rows(lines(source, encoding=encoding), labels=labels, fields=2, what="text"))
    if not rows:
        raise nothing_in(source, "pair", "label<TAB>text<TAB>text")
    return [(row.fields[0], row.fields[1]) for row in rows], given_labels(rows)


def _check(faulty: str) -> None:
    if faulty not in ("error", "skip"):
        raise ParameterError(f"faulty must be 'error' or 'skip', got {faulty!r}.")


class _Table:
    """Sees to it that every header is followed by rows."""

    def __init__(self) -> None:
        self._last: Line | None = None

    def take(self, line: Line) -> None:
        if line.number == 1:
            self.finish()
        self._last = line

    def finish(self) -> None:
        if self._last is not None and self._last.number == 1:
            raise self._last.fault("a header without any pair after it; the file is cut off")


def _finish(table: _Table, skipped: list[FormatError]) -> None:
    table.finish()
    if skipped:
        shown = "; ".join(f"{fault.source}:{fault.line}: {fault.reason}" for fault in skipped[:5])
        more = f"; and {len(skipped) - 5} more" if len(skipped) > 5 else ""
        warnings.warn(f"left out {len(skipped)} faulty rows: {shown}{more}", stacklevel=3)


def _truth(line: Line, text: str, column: int) -> bool:
    if text not in ("0", "1"):
        raise line.fault(f"expected 0 or 1, found {text[:20]!r}", column)
    return text == "1"


def _quora(line: Line, fields: list[str], header: tuple[str, ...]) -> SentencePair:
    if len(fields) != len(header):
        raise line.fault(f"expected {len(header)} columns with a tab between them, found {len(fields)}")
    row = dict(zip(header, fields, strict=True))
    same = _truth(line, row["is_duplicate"], 1)
    if not row["question1"].strip() or not row["question2"].strip():
        raise line.fault("one of the two questions is empty")
    ids = (row["id"], row["qid1"], row["qid2"]) if "id" in row else ()
    return SentencePair(row["question1"], row["question2"], same, ids)


def _records(rows: Iterator[Line]) -> Iterator[tuple[Line, list[str]]]:
    """Split lines into fields by the rules of their table; the first record of a file is its header."""
    full = False
    for line in rows:
        if line.number == 1:
            header = tuple(line.text.split("\t"))
            if header not in (_SHORT, _FULL):
                raise line.fault(f"expected the header {' '.join(_SHORT)!r} or {' '.join(_FULL)!r}, tabs between")
            full = header == _FULL
        yield line, _quoted_fields(line, rows) if full else [_unquoted(field) for field in line.text.split("\t")]


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
    if following is None or following.number == 1:
        raise line.fault("a quoted field is never closed; the file is cut off or a quote is missing", at + 1)
    return following.text


def _quoted(text: str, full: bool) -> str:
    # A carriage return at the end of a line would be taken for part of the line end.
    if "\r" in text or "\0" in text or (not full and ("\t" in text or "\n" in text)):
        raise DataError(f"the table cannot hold {text!r}: it has a tab, line break or NUL.")
    if text.startswith('"') or "\t" in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text

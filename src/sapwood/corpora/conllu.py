"""CoNLL-U: sentences with words, tags and dependencies, read and written without losing a byte of a row.

Rows stay text, as the format has them; numbers and heads are checked once, on the way in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from sapwood.errors import DataError, FormatError
from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import Line, files
from sapwood.trees.dependency_sentence import DependencySentence, Row
from sapwood.writing import write_text

__all__ = ["DependencySentence", "read", "write"]

__dir__ = public_names(__name__)

_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)\Z")
_EMPTY = re.compile(r"(0|[1-9][0-9]*)\.[1-9][0-9]*\Z")


def read(source: Sources, *, encoding: str = "utf-8") -> Iterator[DependencySentence]:
    """Yield the sentences of CoNLL-U files one by one.

    Parameters
    ----------
    encoding : str
        Encoding of the files; the format itself asks for UTF-8.

    Raises
    ------
    FormatError
        With file, line and column: a row without ten columns, a number out of order, a head outside the sentence, no
        root or two, a cycle. The blank line after the last sentence of a file may be missing if that sentence is whole.

    Examples
    --------
    >>> import io
    >>> text = "1 Rain rain NOUN NN _ 2 nsubj _ _\\n2 fell fall VERB VBD _ 0 root _ _\\n\\n".replace(" ", "\\t")
    >>> next(read(io.StringIO(text))).words
    ('Rain', 'fell')
    """
    for rows in files(source, encoding=encoding):
        waiting: list[Line] = []
        any_sentence = False
        for line in rows:
            if line.text:
                waiting.append(line)
            elif waiting:
                yield _sentence(waiting)
                waiting, any_sentence = [], True
        if waiting:
            yield _last_sentence(waiting)
        elif not any_sentence:
            raise line.fault("the file holds no sentence; expected rows of ten columns with a tab between them")


def write(sentences: Iterable[DependencySentence], path: str | os.PathLike[str]) -> None:
    """Write sentences.

    What ``read`` has read comes out byte for byte, given LF line ends and a blank line after each sentence.
    """
    blocks = []
    for sentence in sentences:
        for field in (*(field for row in sentence.rows for field in row), *sentence.comments):
            if not field or "\n" in field or "\r" in field:
                raise DataError(f"CoNLL-U cannot hold the field {field!r}: it is empty or breaks the line; use '_'.")
        if any("\t" in field for row in sentence.rows for field in row):
            raise DataError("CoNLL-U cannot hold a field with a tab in it; replace it by a space.")
        blocks.append(f"{sentence}\n")
    write_text(path, blocks)


def _last_sentence(lines: list[Line]) -> DependencySentence:
    """Read a sentence that no blank line has closed, if it is whole."""
    try:
        return _sentence(lines)
    except FormatError as error:
        reason = (
            f"{error.reason}; the file ends inside this sentence, so it may be cut off: fetch it again, or put a blank "
            "line after the last whole sentence and delete the rest"
        )
        raise FormatError(error.source, error.line, error.column, reason) from None


def _sentence(lines: list[Line]) -> DependencySentence:
    comments: list[str] = []
    rows: list[Row] = []
    words: list[Line] = []
    for line in lines:
        if line.text.startswith("#"):
            if rows:
                raise line.fault("a comment inside a sentence; comments stand before its first word")
            comments.append(line.text)
            continue
        row = _row(line, len(words))
        rows.append(row)
        if row.is_word:
            words.append(line)
    if not words:
        raise lines[-1].fault("a sentence without words")
    sentence = DependencySentence(tuple(rows), tuple(comments))
    _check_heads(sentence.heads, words)
    return sentence


def _row(line: Line, before: int) -> Row:
    """Read a row after so many words."""
    fields = line.text.split("\t")
    if len(fields) != 10:
        blanks = "; here blanks stand between them: put tabs there" if len(line.text.split()) == 10 else ""
        raise line.fault(f"expected 10 columns with a tab between them, found {len(fields)}{blanks}")
    if "" in fields:
        column = sum(len(field) + 1 for field in fields[: fields.index("")]) + 1
        raise line.fault(f"column {fields.index('') + 1} is empty; an absent value is written '_'", column)
    row = Row(*fields)
    if row.is_word:
        if line.count(row.id, what="the number of a word") != before + 1:
            raise line.fault(f"expected word number {before + 1}, found {row.id}")
        line.count(row.head, sum(len(field) + 1 for field in fields[:6]) + 1, what="the number of the head")
    elif found := _RANGE.match(row.id):
        first, last = (line.count(number, what="the number of a word") for number in found.groups())
        if first != before + 1 or last <= first:
            raise line.fault(f"the range {row.id} must start at the next word, {before + 1}, and go up")
    elif not (found := _EMPTY.match(row.id)) or line.count(found[1], what="the number of a word") != before:
        raise line.fault(f"{row.id[:40]!r} is no word number, range or empty node that may stand here")
    return row


def _check_heads(heads: Sequence[int], places: Sequence[Line]) -> None:
    """Raise unless the heads make one tree; places are the lines of the words."""
    for place, head in zip(places, heads, strict=True):
        if head > len(heads):
            raise place.fault(f"the head is word {head}, but the sentence has {len(heads)} words")
    if heads.count(0) != 1:
        raise places[0].fault(f"a sentence needs exactly one word with head 0, this one has {heads.count(0)}")
    # Walk up from each word; words on finished walks are known to reach the root.
    safe = [True] + [False] * len(heads)
    for start in range(1, len(heads) + 1):
        walk, at = set(), start
        while not safe[at]:
            if at in walk:
                raise places[at - 1].fault(f"word {at} is its own ancestor; heads must lead to the root")
            walk.add(at)
            at = heads[at - 1]
        for word in walk:
            safe[word] = True

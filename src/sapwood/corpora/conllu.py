"""CoNLL-U: sentences with words, tags and dependencies, read and written without losing a byte of a row.

Rows stay text, as the format has them; numbers and heads are checked once, on the way in. Turning dependencies into
trees for kernels belongs to ``shapes``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.sources import FormatError, Line, Source, lines
from sapwood.writing import write_text

__all__ = ["DependencySentence", "Row", "iter_conllu", "read_conllu", "write_conllu"]

_WORD = re.compile(r"[1-9][0-9]*\Z")
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)\Z")
_EMPTY = re.compile(r"(0|[1-9][0-9]*)\.[1-9][0-9]*\Z")


class Row(NamedTuple):
    """One line of a sentence: a word, a range of words written as one, or an empty node."""

    id: str
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"

    @property
    def is_word(self) -> bool:
        """Whether the row is a word of the syntactic tree."""
        return _WORD.match(self.id) is not None


@dataclass(frozen=True)
class DependencySentence(HtmlTable):
    """A sentence with its dependency tree.

    Attributes
    ----------
    rows : tuple of Row
        Every row in order, ranges and empty nodes included.
    comments : tuple of str
        The comment lines, with their ``#``.

    Examples
    --------
    >>> s = DependencySentence((Row("1", "Rain", "rain", head="2", deprel="nsubj"), Row("2", "fell", "fall", head="0",
    ...     deprel="root")))
    >>> [word.form for word in s.words], s.heads, s.root
    (['Rain', 'fell'], (2, 0), 2)
    """

    rows: tuple[Row, ...]
    comments: tuple[str, ...] = ()

    @cached_property
    def words(self) -> tuple[Row, ...]:
        """The rows that are words; word n of the sentence is ``words[n - 1]``."""
        return tuple(row for row in self.rows if row.is_word)

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """The number of each word's head, 0 for the root's."""
        return tuple(int(word.head) for word in self.words)

    @property
    def root(self) -> int:
        """The number of the root."""
        return self.heads.index(0) + 1

    @property
    def metadata(self) -> dict[str, str]:
        """The comments of the form ``# name = value``."""
        pairs = (comment[1:].split("=", 1) for comment in self.comments if "=" in comment)
        return {name.strip(): value.strip() for name, value in pairs}

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in (*self.comments, *map("\t".join, self.rows)))


def iter_conllu(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> Iterator[DependencySentence]:
    """Yield the sentences of CoNLL-U files one by one.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Also compressed files and members of archives.
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
    >>> next(iter_conllu(io.StringIO(text))).words[1].lemma
    'fall'
    """
    sentence = _Draft()
    any_sentence = True
    for line in lines(source, encoding=encoding):
        if line.number == 1:
            # A new file begins.
            yield from sentence.end_of_file(any_sentence)
            any_sentence = False
        if line.text == "":
            if sentence:
                yield sentence.finish()
                any_sentence = True
        elif line.text.startswith("#"):
            sentence.comment(line)
        else:
            sentence.row(line)
        sentence.last = line
    yield from sentence.end_of_file(any_sentence)


def read_conllu(source: Source | Sequence[Source], *, encoding: str = "utf-8") -> list[DependencySentence]:
    """Read every sentence at once; see ``iter_conllu``."""
    return list(iter_conllu(source, encoding=encoding))


def write_conllu(sentences: Iterable[DependencySentence], path: str | os.PathLike[str]) -> None:
    """Write sentences; the file appears whole or not at all, compressed if its name ends in ``.gz`` or ``.xz``.

    What ``iter_conllu`` has read comes out byte for byte, given LF line ends and a blank line after each sentence.
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


class _Draft:
    """A sentence while its lines come in."""

    def __init__(self) -> None:
        self.last: Line | None = None
        self._clear()

    def _clear(self) -> None:
        self._rows: list[Row] = []
        self._lines: list[Line] = []
        self._comments: list[str] = []
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._rows or self._comments)

    def end_of_file(self, any_sentence: bool) -> Iterator[DependencySentence]:
        """Yield the sentence that no blank line has closed, if there is one and it is whole."""
        if self.last is None:
            return
        if self:
            try:
                last = self.finish()
            except FormatError as error:
                raise FormatError(
                    error.source,
                    error.line,
                    error.column,
                    f"{error.reason}; the file ends inside this sentence, so it may be cut off: fetch it again, or put "
                    "a blank line after the last whole sentence and delete the rest",
                ) from None
            yield last
        elif not any_sentence:
            raise self.last.fault("the file holds no sentence; expected rows of ten columns with a tab between them")

    def comment(self, line: Line) -> None:
        if self._rows:
            raise line.fault("a comment inside a sentence; comments stand before its first word")
        self._comments.append(line.text)

    def row(self, line: Line) -> None:
        fields = line.text.split("\t")
        if len(fields) != 10:
            raise line.fault(f"expected 10 columns with a tab between them, found {len(fields)}")
        if "" in fields:
            column = sum(len(field) + 1 for field in fields[: fields.index("")]) + 1
            raise line.fault(f"column {fields.index('') + 1} is empty; an absent value is written '_'", column)
        row = Row(*fields)
        if row.is_word:
            self._count += 1
            if int(row.id) != self._count:
                raise line.fault(f"expected word number {self._count}, found {row.id}")
            if not row.head.isascii() or not row.head.isdigit():
                column = sum(len(field) + 1 for field in fields[:6]) + 1
                raise line.fault(f"the head must be a number, found {row.head!r}", column)
        elif found := _RANGE.match(row.id):
            if int(found[1]) != self._count + 1 or int(found[2]) <= int(found[1]):
                raise line.fault(f"the range {row.id} must start at the next word, {self._count + 1}, and go up")
        elif not (found := _EMPTY.match(row.id)) or int(found[1]) != self._count:
            raise line.fault(f"{row.id!r} is no word number, range or empty node that may stand here")
        self._rows.append(row)
        self._lines.append(line)

    def finish(self) -> DependencySentence:
        if not self._count:
            assert self.last is not None
            raise self.last.fault("a sentence without words")
        places = [line for row, line in zip(self._rows, self._lines, strict=True) if row.is_word]
        sentence = DependencySentence(tuple(self._rows), tuple(self._comments))
        heads = sentence.heads
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
        self._clear()
        return sentence

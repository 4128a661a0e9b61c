"""TREC (UIUC) questions with coarse and fine labels, as words or with trees.

Two formats: the corpus as published, ``NUM:dist How far is it ... ?``, and a table with trees, one tab-separated row
``coarse  fine  tokens  tree  gold-tree`` per question.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from sapwood.checks import check_choice
from sapwood.errors import DataError
from sapwood.lazy import public_names
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources
from sapwood.text_files import Line, blocks, files
from sapwood.trees.brackets import to_brackets
from sapwood.trees.texts import TreeTexts
from sapwood.trees.tree import Tree
from sapwood.writing import write_text

__all__ = ["Question", "read", "write"]

__dir__ = public_names(__name__)

_PUBLISHED = re.compile(r"([A-Z]+):([A-Za-z]+) +(\S.*)")


@dataclass(frozen=True)
class Question(HtmlTable):
    """A question and what kind of answer it asks for.

    Attributes
    ----------
    coarse, fine : str
        Its two labels, such as ``NUM`` and ``dist``.
    words : tuple of str
        Its tokens.
    tree : Tree, optional
        A parser's tree.
    gold : Tree, optional
        An annotator's tree.
    """

    coarse: str
    fine: str
    words: tuple[str, ...]
    tree: Tree | None = None
    gold: Tree | None = None

    @property
    def label(self) -> str:
        """Both labels in one, ``NUM:dist``; fine labels alone are not unique."""
        return f"{self.coarse}:{self.fine}"


def read(
    source: Sources, *, format: Literal["published", "trees"] | None = None, encoding: str = "utf-8"
) -> Iterator[Question]:
    """Yield questions one by one.

    Parameters
    ----------
    format : {"published", "trees"}, optional
        ``published`` is ``COARSE:fine question``, ``trees`` the table with five columns. None tells them apart by the
        first line of each file.
    encoding : str
        Encoding of the files. The published training file is ``"latin-1"``.

    Examples
    --------
    >>> import io
    >>> question = next(read(io.StringIO("NUM:dist How far is it from Denver to Aspen ?")))
    >>> question.coarse, question.fine, question.words[:2]
    ('NUM', 'dist', ('How', 'far'))
    """
    if format is not None:
        check_choice(format, "format", ("published", "trees"))
    for rows in files(source, encoding=encoding):
        first = next(rows)
        every = chain([first], rows)
        if format == "trees" or (format is None and "\t" in first.text):
            for block in blocks(every):
                yield from _rows(block)
        else:
            yield from map(_published, every)


def write(
    questions: Iterable[Question], path: str | os.PathLike[str], *, format: Literal["published", "trees"] = "published"
) -> None:
    """Write questions.

    Parameters
    ----------
    format : {"published", "trees"}
        As in ``read``; ``published`` leaves trees out.
    """
    check_choice(format, "format", ("published", "trees"))
    rows = []
    for question in questions:
        words = " ".join(question.words)
        if not question.words or words.split() != list(question.words):
            raise DataError(f"the question {question.words!r} has no words, or white space inside a word.")
        if format == "published":
            row = f"{question.label} {words}"
            found = _PUBLISHED.fullmatch(row)
            if found is None or found[2] != question.fine:
                raise DataError(f"the label {question.label!r} is not of the form COARSE:fine, letters only.")
        else:
            trees = ["" if tree is None else to_brackets(tree) for tree in (question.tree, question.gold)]
            fields = [question.coarse, question.fine, words, *trees]
            if any("\t" in field or "\n" in field for field in fields) or not question.coarse or not question.fine:
                raise DataError(f"a label of {question!r} is empty, or breaks the row.")
            row = "\t".join(fields)
        rows.append(f"{row}\n")
    write_text(path, rows)


def _published(line: Line) -> Question:
    found = _PUBLISHED.fullmatch(line.text.rstrip())
    if found is None:
        raise line.fault("expected 'COARSE:fine question', such as: NUM:dist How far is it ?")
    return Question(found[1], found[2], tuple(found[3].split()))


def _rows(block: list[Line]) -> Iterator[Question]:
    # Some gold trees hold the empty bracket of a trace that has lost its label; a question's words are never traces.
    texts = TreeTexts(drop_traces=True)
    drafts = []
    for line in block:
        fields = line.text.split("\t")
        if len(fields) != 5:
            raise line.fault(
                "expected 5 columns with a tab between them (coarse, fine, tokens, tree, gold tree), found "
                f"{len(fields)}"
            )
        coarse, fine, tokens, automatic, gold = fields
        words = tuple(tokens.split())
        if not coarse or not fine or not words:
            raise line.fault("the coarse label, the fine label or the question is empty")
        column = len(coarse) + len(fine) + len(tokens) + 4
        number = texts.add(automatic, line, column) if automatic else None
        gold_number = texts.add(gold, line, column + len(automatic) + 1) if gold else None
        drafts.append((line, column, coarse, fine, words, number, gold_number))
    trees = texts.trees()
    for line, column, coarse, fine, words, number, gold_number in drafts:
        tree = None if number is None else trees[number]
        if tree is not None and tree.leaves() != words:
            raise line.fault("the words of the tree are not those of the question", column)
        yield Question(coarse, fine, words, tree, None if gold_number is None else trees[gold_number])

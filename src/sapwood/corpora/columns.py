"""Propositions in columns, as CoNLL-2005 writes them: ``(A0*``, ``*``, ``*)``, one column per predicate.

Here are the cells, and parse bits (``(S(NP*``), which look the same; files are read by ``conll05``, ``conll09`` and
``propbank_columns``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sapwood.errors import DataError, FormatError
from sapwood.sources import Sources
from sapwood.text_files import Line, lines
from sapwood.trees.positions import Positions
from sapwood.trees.propositions import Argument, Proposition, RoleSentence
from sapwood.trees.tree import Tree

__all__ = ["Block", "Column", "bits_of", "cell_rows", "column_blocks", "propositions_of", "tree_of"]

_CELL = re.compile(r"(?:\(([^*()\s]+))?\*(?:([^*()\s]*)\))?\Z")
_BITS = re.compile(r"((?:\([^*()\s]+)*)\*(\)*)\Z")
_FIELD = re.compile(r"\S+")


class Block:
    """The rows of one sentence, split into fields.

    Where a field stands in its line is worked out when something is wrong with it, and not before.
    """

    def __init__(self, separator: str | None) -> None:
        self._separator = separator
        self._lines: list[Line] = []
        self.rows: list[list[str]] = []

    def add(self, line: Line) -> None:
        """Take one more line."""
        self._lines.append(line)
        self.rows.append(line.text.split(self._separator))

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self, least: int = 1) -> list[Column]:
        """Turn rows into columns; every row must have as many fields as the first one, and ``least`` or more."""
        width = len(self.rows[0])
        if width < least:
            hint = "; ten columns are CoNLL-U, which has words and dependencies, but no roles" if width == 10 else ""
            raise self._lines[0].fault(f"expected at least {least} columns, found {width}{hint}")
        for line, row in zip(self._lines, self.rows, strict=True):
            if len(row) != width:
                raise line.fault(f"expected {width} columns as in the sentence's first line, found {len(row)}")
        return [Column(self, number, texts) for number, texts in enumerate(zip(*self.rows, strict=True))]

    def fault(self, reason: str, row: int = 0, column: int = 0) -> FormatError:
        """Make the error to raise when a field is not what it should be."""
        line = self._lines[row]
        if self._separator is None:
            start = [found.start() for found in _FIELD.finditer(line.text)][column]
        else:
            start = sum(len(text) + len(self._separator) for text in self.rows[row][:column])
        return line.fault(reason, start + 1)

    @property
    def place(self) -> str:
        """Where the sentence begins."""
        return f"{self._lines[0].source}:{self._lines[0].number}"


@dataclass(frozen=True)
class Column:
    """One column of a sentence: its fields from the first word to the last."""

    block: Block
    number: int
    texts: tuple[str, ...]

    def fault(self, word: int, reason: str) -> FormatError:
        """Make the error to raise when the field of a word is not what it should be."""
        return self.block.fault(reason, word, self.number)


def column_blocks(source: Sources, *, encoding: str = "utf-8", separator: str | None = None) -> Iterator[Block]:
    """Yield the rows of each sentence; a blank line ends a sentence.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Also compressed files and members of archives.
    encoding : str
        Encoding of the files.
    separator : str, optional
        What stands between columns; then lines that begin with ``#`` are comments. By default any white space, and
        no line is a comment.
    """
    block = Block(separator)
    for line in lines(source, encoding=encoding):
        ends = not line.text or line.text.isspace()
        if (ends or line.number == 1) and block.rows:
            yield block
            block = Block(separator)
        if not ends and (separator is None or not line.text.startswith("#")):
            block.add(line)
    if block.rows:
        yield block


def _arguments(column: Column) -> tuple[Argument, ...]:
    """Read one column of propositions.

    Raises
    ------
    FormatError
        Where a cell is malformed, an argument begins inside another one, ends without having begun, or never ends.
    """
    found: list[Argument] = []
    role, first = "", -1
    for word, text in enumerate(column.texts):
        if text == "*":
            continue
        match = _CELL.match(text)
        if match is None:
            raise column.fault(word, f"expected a cell such as (A0*, *, *) or (A0*), found {text!r}")
        if match[1] is not None:
            if first >= 0:
                raise column.fault(word, f"{match[1]} begins inside {role} of word {first}; arguments do not nest")
            role, first = match[1], word
        if match[2] is not None:
            if first < 0:
                raise column.fault(word, "an argument ends here, but none has begun")
            if match[2] not in ("", role):
                raise column.fault(word, f"{match[2]} ends here, but {role} is what began")
            found.append(Argument(role, first, word))
            first = -1
    if first >= 0:
        raise column.fault(first, f"{role} begins here and never ends")
    return tuple(found)


def tree_of(words: Sequence[str], tags: Sequence[str], bits: Column) -> Tree:
    """Build a tree from parse bits, the brackets between which each word stands.

    Raises
    ------
    FormatError
        Where a bracket is closed that was never opened, one stays open, or the words are not under one root.
    """
    labels: list[str] = []
    kept: list[list[Tree]] = []
    root: Tree | None = None
    for number, (word, tag, text) in enumerate(zip(words, tags, bits.texts, strict=True)):
        match = _BITS.match(text)
        if match is None:
            raise bits.fault(number, f"expected parse bits such as (S(NP*, * or *)), found {text!r}")
        if root is not None:
            raise bits.fault(number, "the tree was closed before this word")
        for label in match[1].split("(")[1:]:
            labels.append(label)
            kept.append([])
        if not kept:
            raise bits.fault(number, "this word stands under no bracket")
        kept[-1].append(Tree._trusted(tag, (Tree._trusted(word, ()),)))
        for _ in match[2]:
            if not labels:
                raise bits.fault(number, "a bracket closes here that was never opened")
            node = Tree._trusted(labels.pop(), tuple(kept.pop()))
            if kept:
                kept[-1].append(node)
            else:
                root = node
    if root is None:
        raise bits.fault(len(words) - 1, f"the sentence ends, but {len(labels)} brackets are still open")
    return root


def bits_of(tree: Tree) -> list[str]:
    """Return the parse bits of each word: the inverse of ``tree_of``, without words and tags.

    >>> bits_of(Tree.fromstring("(S (NP (DT a) (NN dog)) (VP (VBD sat)))"))
    ['(S(NP*', '*)', '(VP*))']
    """
    at = Positions(tree)
    opened, closed = [""] * len(at.leaves), [0] * len(at.leaves)
    for node in range(len(at)):
        if at.children[node] and not at.is_tag(node):
            opened[at.first[node]] += f"({at.labels[node]}"
            closed[at.last[node]] += 1
        elif not at.children[node] and (at.parent[node] < 0 or not at.is_tag(at.parent[node])):
            raise DataError(f"the word {at.labels[node]!r} has no tag of its own, so parse bits cannot hold the tree.")
    return [f"{start}*{')' * end}" for start, end in zip(opened, closed, strict=True)]


def propositions_of(
    lemmas: Column, columns: Sequence[Column], *, rolesets: Column | None = None
) -> tuple[Proposition, ...]:
    """Pair each predicate with the next column of arguments.

    Parameters
    ----------
    lemmas : Column
        Base forms of predicates.
    columns : sequence of Column
        One per predicate.
    rolesets : Column, optional
        Which words are predicates, and their sense; by default those whose base form is not ``-``.
    """
    marks = lemmas if rolesets is None else rolesets
    places = [word for word, text in enumerate(marks.texts) if text != "-"]
    if len(places) != len(columns):
        raise marks.fault(
            0, f"the sentence has {len(places)} predicates but {len(columns)} columns of arguments; expected as many"
        )
    return tuple(
        Proposition(place, lemmas.texts[place], _arguments(column), "" if rolesets is None else rolesets.texts[place])
        for place, column in zip(places, columns, strict=True)
    )


def cell_rows(sentence: RoleSentence) -> list[list[str]]:
    """Return the cells of a sentence: for each word the base form and one cell per proposition.

    Raises
    ------
    DataError
        If a predicate or an argument lies outside the sentence, two predicates share a word, or arguments of one
        proposition overlap.
    """
    length = len(sentence)
    targets = ["-"] * length
    columns = []
    for proposition in sorted(sentence.propositions, key=lambda one: one.predicate):
        at = proposition.predicate
        if not 0 <= at < length:
            raise DataError(f"the predicate {proposition.lemma!r} is word {at}; the sentence has {length} words.")
        if targets[at] != "-":
            raise DataError(f"word {at} is the predicate of two propositions; keep one of them.")
        lemma = proposition.lemma
        if not lemma or lemma == "-" or len(lemma.split()) != 1:
            raise DataError(f"the predicate at word {at} has the base form {lemma!r}; columns need one word, not '-'.")
        targets[at] = lemma
        columns.append(_cells(proposition, length))
    return [list(row) for row in zip(targets, *columns, strict=True)]


def _cells(proposition: Proposition, length: int) -> list[str]:
    cells = ["*"] * length
    owner: list[str | None] = [None] * length
    for argument in proposition.arguments:
        if not 0 <= argument.first <= argument.last < length:
            raise DataError(
                f"{argument.role} of {proposition.lemma!r} covers words {argument.first} to {argument.last}; the "
                f"sentence has {length} words."
            )
        if not argument.role or re.search(r"[\s()*]", argument.role):
            raise DataError(f"columns cannot hold the role {argument.role!r}: it is empty or has brackets in it.")
        for word in range(argument.first, argument.last + 1):
            if owner[word] is not None:
                raise DataError(
                    f"{owner[word]} and {argument.role} of {proposition.lemma!r} both cover word {word}; arguments "
                    "of one predicate do not overlap."
                )
            owner[word] = argument.role
        cells[argument.first] = f"({argument.role}{cells[argument.first]}"
        cells[argument.last] += ")"
    return cells

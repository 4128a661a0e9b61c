"""What commands read: trees and raw text, from files, patterns or standard input.

Text is read, split and parsed little by little, so that memory does not grow with it.
"""

from __future__ import annotations

import argparse
import codecs
import io
import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from sapwood.cli.output import note

if TYPE_CHECKING:
    from sapwood.corpora.conllu import DependencySentence
    from sapwood.parse import BaseParser, Sentence, Token
    from sapwood.trees import Tree, TreeArray

__all__ = [
    "GivenText",
    "is_conllu",
    "is_text",
    "iter_dependency_trees",
    "iter_lines",
    "iter_text",
    "iter_words",
    "labeled_sentences",
    "open_named",
    "parsed_trees",
    "read_named",
    "text_or_name",
    "text_sentences",
]

_BLOCK = 1 << 16
# Files of propositions in columns, which begin with words as text does; those of ten columns are CoNLL-U.
_OTHER_FORMATS = (".conll", ".conllu", ".tsv", ".jsonl", ".json", "_skel")
# How trees and JSON begin, and text hardly ever: ((S, (S (NP, (UH Yes) and {"; not (Reuters) or {Applause}.
_TREE_OR_JSON = re.compile(rb"\s*(?:\(\s*(?:[^\s()]*\s*\(|[^\s()]+\s+[^\s()]+\s*\))|\{\s*[\"}])")
# Comments, then the first word or range of words.
_CONLLU = re.compile(rb"(?:#[^\n]*\n)*1(?:-[0-9]+)?\t")


class GivenText(str):
    """Text itself, where others give the name of a file."""

    __slots__ = ()


def text_or_name(value: str) -> str:
    """Take an argument for text if it has blanks in it and is not the name of a file; otherwise it names files."""
    if value == "-" or _names_files(value):
        return value
    if len(value.split()) > 1:
        return GivenText(value)
    raise argparse.ArgumentTypeError(
        f"there is no file {value!r}; text of a single word goes to standard input, as in: echo Run! | sapwood parse"
    )


def _names_files(value: str) -> bool:
    from sapwood.errors import DataError
    from sapwood.sources import file_names

    try:
        return os.path.exists(value) or bool(file_names(value))
    except DataError:
        # An archive that is damaged: whoever reads it says so.
        return True
    except OSError:
        return False


def open_named(name: str) -> Any:
    """Return what readers take: the name of a file or a pattern, or the bytes of standard input for ``-``."""
    from sapwood.errors import DataError
    from sapwood.files import is_model_file

    if isinstance(name, GivenText):
        return io.BytesIO(name.encode(errors="surrogateescape"))
    if name == "-":
        # Readers decode by themselves, and report where that fails.
        return getattr(sys.stdin, "buffer", sys.stdin)
    if is_model_file(name):
        raise DataError(f"{name}: is a Sapwood model, not data; sapwood show says what it holds.")
    return name


def read_named(options: argparse.Namespace, *names: str | None) -> list[TreeArray]:
    """Read the trees of files or patterns, or of standard input for ``-``, as the options say; None is none."""
    from sapwood.errors import ParameterError
    from sapwood.trees import TreeArray, read_trees

    if names.count("-") > 1:
        raise ParameterError("standard input can be read only once; name a file in place of one -.")
    given = [name for name in names if name is not None]
    if options.parser is not None:
        from sapwood.parse import as_parser

        return [parsed_trees(as_parser(options.parser), name, options.encoding) for name in given]
    return [
        TreeArray(tree for _, tree in iter_dependency_trees(name, options))
        if is_conllu(name)
        else read_trees(
            open_named(name),
            drop_traces=options.drop_traces,
            drop_function_tags=options.drop_function_tags,
            encoding=options.encoding,
        )
        for name in given
    ]


def is_conllu(name: str) -> bool:
    """Whether a file is CoNLL-U by its name, or standard input by how it begins."""
    from sapwood.sources import bare_name

    if name != "-":
        return not isinstance(name, GivenText) and bare_name(name).endswith((".conllu", ".conll-u"))
    peek = getattr(open_named(name), "peek", None)
    return peek is not None and _CONLLU.match(peek(1)) is not None


def iter_dependency_trees(
    name: str, options: argparse.Namespace, *, labels: bool = False
) -> Iterator[tuple[str, Tree]]:
    """Yield the labels of sentences of CoNLL-U files with trees of the shape that ``--dependencies`` says."""
    for sentence, label in labeled_sentences(name, options.encoding, needed=labels):
        yield label, sentence.to_tree(options.dependencies)


def iter_text(name: str, encoding: str = "utf-8") -> Iterator[str]:
    """Yield text from files, or from standard input for ``-``; says which line is in another encoding.

    Between two files there is a blank line.
    """
    from sapwood.sources import open_all
    from sapwood.text_files import check_encoding, texts

    check_encoding(encoding)
    encoding = "utf-8" if isinstance(name, GivenText) else encoding
    for number, stream in enumerate(open_all(open_named(name))):
        if number:
            yield "\n\n"
        # Where text begins with a byte-order mark, that is no part of its first word.
        yield from texts(stream, "utf-8-sig" if encoding == "utf-8" else encoding, _BLOCK)


def iter_lines(name: str, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a text, without their ends; see ``iter_text``."""
    return _lines(iter_text(name, encoding))


def _lines(text: Iterable[str]) -> Iterator[str]:
    left = ""
    for block in chain(text, ["\n"]):
        *whole, left = (left + block).split("\n")
        yield from whole


def text_sentences(
    name: str, encoding: str = "utf-8", *, lines: bool = False, language: str | None = None
) -> Iterator[list[Any]]:
    """Yield the sentences of a text, as words that know where they stand in it; with ``lines``, one of each line.

    With the language of a model, tells in the end of sentences that are in another one. Of CoNLL-U the words are taken
    as they are; they stand nowhere else.
    """
    from sapwood.errors import ParameterError
    from sapwood.parse.sentences import iter_sentences

    if is_conllu(name):
        if lines:
            raise ParameterError(f"--lines: {name} is CoNLL-U, which has its own sentences; leave the option out.")
        given = iter_words(name, encoding)
        return given if language is None else _watched(given, None, language)
    numbers = _LineNumbers()
    text = numbers.passing(iter_text(name, encoding))
    sentences = _line_sentences(text) if lines else iter_sentences(text)
    return sentences if language is None else _watched(sentences, numbers, language)


def labeled_sentences(
    name: str, encoding: str = "utf-8", *, needed: bool = True
) -> Iterator[tuple[DependencySentence, str]]:
    """Yield the sentences of CoNLL-U with what their comments ``# label = `` say; without one they are refused."""
    from sapwood.corpora import conllu
    from sapwood.errors import DataError

    for number, sentence in enumerate(conllu.read(open_named(name), encoding=encoding), 1):
        label = sentence.metadata.get("label", "")
        if needed and not label:
            raise DataError(
                f"{name}: sentence {number} has no label; put a line such as '# label = statement' before its first "
                "word."
            )
        yield sentence, label


def iter_words(name: str, encoding: str = "utf-8") -> Iterator[list[str]]:
    """Yield the words of each sentence of CoNLL-U."""
    from sapwood.corpora import conllu

    return (list(sentence.words) for sentence in conllu.read(open_named(name), encoding=encoding))


def _watched(sentences: Iterator[list[Any]], numbers: _LineNumbers | None, language: str) -> Iterator[list[Any]]:
    from sapwood.parse.languages import LanguageCheck

    check = LanguageCheck(language)
    for number, words in enumerate(sentences, 1):
        check.add(words, number if numbers is None else numbers.line(words[0].begin))
        yield words
    place = "sentence" if numbers is None else "line"
    if (message := check.message(place if len(check.places) == 1 else f"{place}s")) is not None:
        note(message)


class _LineNumbers:
    """Which line a place in a text is in; places are asked for in order, while the text passes by."""

    def __init__(self) -> None:
        self._ends: deque[int] = deque()
        self._length, self._line = 0, 1

    def passing(self, blocks: Iterable[str]) -> Iterator[str]:
        for block in blocks:
            self._ends.extend(self._length + found.start() for found in re.finditer("\n", block))
            self._length += len(block)
            yield block

    def line(self, place: int) -> int:
        while self._ends and self._ends[0] < place:
            self._ends.popleft()
            self._line += 1
        return self._line


def _line_sentences(text: Iterable[str]) -> Iterator[list[Token]]:
    from sapwood.parse.tokenizing import Token, tokenize

    offset = 0
    for line in _lines(text):
        if words := [Token(word, word.begin + offset, word.end + offset) for word in tokenize(line)]:
            yield words
        offset += len(line) + 1


def parsed_trees(parser: BaseParser, name: str, encoding: str = "utf-8") -> Any:
    """Return the trees of all sentences of a text as an array; tells of those that could not be parsed."""
    from sapwood.parse import Reading

    found: list[tuple[Sentence, ...]] = [(one,) for one in parser.parse_sentences(text_sentences(name, encoding))]
    reading = Reading(found, "sentence")
    reading.report(training=True)
    return reading.array()


def is_text(model: Any, options: Any, *, replaces_trees: bool = False) -> bool:
    """Whether DATA is text to be parsed, or words in CoNLL-U, by the parser of ``--parser`` or of the model.

    Parameters
    ----------
    model : estimator
        The model to be asked.
    options : Namespace
        With ``data`` and ``parser``.
    replaces_trees : bool
        Whether ``--parser`` also has a meaning for data with trees; otherwise it is refused there.
    """
    from sapwood.errors import ParameterError
    from sapwood.sources import bare_name

    other = not isinstance(options.data, GivenText) and bare_name(options.data).endswith(_OTHER_FORMATS)
    if not _has_ten_columns(options.data) and (other or not _begins_like_text(options.data)):
        if options.parser is not None and not replaces_trees:
            raise ParameterError(f"--parser: {options.data} holds trees, not text; leave the option out.")
        if options.lines:
            raise ParameterError(f"--lines: {options.data} holds trees or JSON, not text; leave the option out.")
        return False
    if options.parser is None and getattr(model, "parser", None) is None:
        raise ParameterError(
            f"{options.data}: is text, and the model has no parser of its own; give one with --parser, a model of "
            "sapwood train parser."
        )
    return True


def _begins_like_text(name: str) -> bool:
    """Whether a file begins with something else than a tree or a JSON object."""
    return not _TREE_OR_JSON.match(_beginning(name))


def _has_ten_columns(name: str) -> bool:
    """Whether a file is CoNLL-U with nothing else; files of propositions of the same name have more columns."""
    if not is_conllu(name):
        return False
    rows = (row for row in _beginning(name).split(b"\n") if row.strip() and not row.startswith(b"#"))
    return next(rows, b"").count(b"\t") == 9


def _beginning(name: str) -> bytes:
    from sapwood.sources import open_all

    if name == "-":
        peek = getattr(open_named(name), "peek", None)
        head = peek(1) if peek is not None else b"("
    else:
        files = open_all(open_named(name))
        head = next(files).read(_BLOCK)
    head = head.encode() if isinstance(head, str) else head
    return bytes(head.removeprefix(codecs.BOM_UTF8))

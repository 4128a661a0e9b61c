"""What commands read: trees and raw text, from files, patterns or standard input.

Text is read, split and parsed little by little, so that memory does not grow with it.
"""

from __future__ import annotations

import argparse
import codecs
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.parse import BaseParser, Sentence, Token
    from sapwood.trees import TreeArray

__all__ = ["is_text", "iter_text", "open_named", "parsed_trees", "read_named", "text_sentences"]

_BLOCK = 1 << 16
# Files of propositions in columns, which begin with words as text does.
_OTHER_FORMATS = (".conll", ".conllu", ".tsv", ".jsonl", ".json", "_skel")
# How trees and JSON begin, and text hardly ever: ((S, (S (NP, (UH Yes) and {"; not (Reuters) or {Applause}.
_TREE_OR_JSON = re.compile(rb"\s*(?:\(\s*(?:[^\s()]*\s*\(|[^\s()]+\s+[^\s()]+\s*\))|\{\s*[\"}])")


def open_named(name: str) -> Any:
    """Return what readers take: the name of a file or a pattern, or the bytes of standard input for ``-``."""
    from sapwood.errors import DataError
    from sapwood.files import is_model_file

    if name == "-":
        # Readers decode by themselves, and report where that fails.
        return getattr(sys.stdin, "buffer", sys.stdin)
    if is_model_file(name):
        raise DataError(f"{name}: is a Sapwood model, not data; sapwood show says what it holds.")
    return name


def read_named(options: argparse.Namespace, *names: str | None) -> list[TreeArray]:
    """Read the trees of files or patterns, or of standard input for ``-``, as the options say; None is none."""
    from sapwood.errors import ParameterError
    from sapwood.trees import read_trees

    if names.count("-") > 1:
        raise ParameterError("standard input can be read only once; name a file in place of one -.")
    given = [name for name in names if name is not None]
    if options.parser is not None:
        from sapwood.parse import as_parser

        return [parsed_trees(as_parser(options.parser), name, options.encoding) for name in given]
    return [
        read_trees(
            open_named(name),
            drop_traces=options.drop_traces,
            drop_function_tags=options.drop_function_tags,
            encoding=options.encoding,
        )
        for name in given
    ]


def iter_text(name: str, encoding: str = "utf-8") -> Iterator[str]:
    """Yield text from files, or from standard input for ``-``; says which line is in another encoding.

    Between two files there is a blank line.
    """
    from sapwood.sources import open_all
    from sapwood.text_files import check_encoding, texts

    check_encoding(encoding)
    for number, stream in enumerate(open_all(open_named(name))):
        if number:
            yield "\n\n"
        # Where text begins with a byte-order mark, that is no part of its first word.
        yield from texts(stream, "utf-8-sig" if encoding == "utf-8" else encoding, _BLOCK)


def text_sentences(name: str, encoding: str = "utf-8") -> Iterator[list[Token]]:
    """Yield the sentences of a text, as words that know where they stand in it."""
    from sapwood.parse.sentences import iter_sentences

    return iter_sentences(iter_text(name, encoding))


def parsed_trees(parser: BaseParser, name: str, encoding: str = "utf-8") -> Any:
    """Return the trees of all sentences of a text as an array; tells of those that could not be parsed."""
    from sapwood.parse import Reading

    found: list[tuple[Sentence, ...]] = [(one,) for one in parser.parse_sentences(text_sentences(name, encoding))]
    reading = Reading(found, "sentence")
    reading.report(training=True)
    return reading.array()


def is_text(model: Any, options: Any, *, replaces_trees: bool = False) -> bool:
    """Whether DATA is text to be parsed, by the parser of ``--parser`` or of the model.

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

    if bare_name(options.data).endswith(_OTHER_FORMATS) or not _begins_like_text(options.data):
        if options.parser is not None and not replaces_trees:
            raise ParameterError(f"--parser: {options.data} holds trees, not text; leave the option out.")
        return False
    if options.parser is None and getattr(model, "parser", None) is None:
        raise ParameterError(
            f"{options.data}: is text, and the model has no parser of its own; give one with --parser, a model of "
            "sapwood train parser."
        )
    return True


def _begins_like_text(name: str) -> bool:
    """Whether a file begins with something else than a tree or a JSON object."""
    from sapwood.sources import open_all

    if name == "-":
        peek = getattr(open_named(name), "peek", None)
        head = peek(1) if peek is not None else b"("
    else:
        files = open_all(name)
        head = next(files).read(_BLOCK)
    head = head.encode() if isinstance(head, str) else head
    return not _TREE_OR_JSON.match(head.removeprefix(codecs.BOM_UTF8))

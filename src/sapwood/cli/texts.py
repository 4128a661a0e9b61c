"""Raw text for commands: read, split and parsed little by little, so that memory does not grow with the text."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.parse import BaseParser, Sentence, Token

__all__ = ["is_text", "iter_text", "open_named", "parsed_trees", "text_sentences"]

_BLOCK = 1 << 16
# Files of propositions in columns, which begin with words as text does.
_OTHER_FORMATS = (".conll", ".conllu", ".tsv", ".jsonl", ".json", "_skel")
# How trees and JSON begin, and text hardly ever: ((S, (S (NP, (UH Yes) and {"; not (Reuters) or {Applause}.
_TREE_OR_JSON = re.compile(rb"\s*(?:\(\s*(?:[^\s()]*\s*\(|[^\s()]+\s+[^\s()]+\s*\))|\{\s*[\"}])")


def open_named(name: str) -> Any:
    """Return what readers take: the name itself, or the bytes of standard input for ``-``."""
    return getattr(sys.stdin, "buffer", sys.stdin) if name == "-" else name


def iter_text(name: str) -> Iterator[str]:
    """Yield text in UTF-8 from files, or from standard input for ``-``; says which line is in another encoding.

    Between two files there is a blank line.
    """
    from sapwood.sources import open_all, texts

    for number, stream in enumerate(open_all(open_named(name))):
        if number:
            yield "\n\n"
        yield from texts(stream, "utf-8-sig", _BLOCK)


def text_sentences(name: str) -> Iterator[list[Token]]:
    """Yield the sentences of a text, as words that know where they stand in it."""
    from sapwood.parse.tokenizing import iter_sentences

    return iter_sentences(iter_text(name))


def parsed_trees(parser: BaseParser, name: str) -> Any:
    """Return the trees of all sentences of a text as an array; tells of those that could not be parsed."""
    from sapwood.parse import Reading

    found: list[tuple[Sentence, ...]] = [(one,) for one in parser.parse_sentences(text_sentences(name))]
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

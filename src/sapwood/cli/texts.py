"""Raw text for commands: reading it, and turning it into parsed sentences with a parser's model file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sapwood.parse import PCFGParser
    from sapwood.parse.tokenizing import Token
    from sapwood.trees import Tree

__all__ = ["BATCH", "ParsedText", "parsed_sentences", "read_text"]

# Sentences parsed before the next ones are looked at: what is done is printed, and threads have enough to do.
BATCH = 64


class ParsedText(NamedTuple):
    """A sentence of a text: its words, which know where they stand, and its tree."""

    words: list[Token]
    tree: Tree


def read_text(name: str) -> str:
    """Read text in UTF-8 from a file, or from standard input for ``-``, or say which line is in another encoding."""
    from sapwood.corpora.sources import open_all
    from sapwood.errors import DataError

    parts = []
    for stream in open_all(sys.stdin.buffer if name == "-" else name):
        data = stream.read()
        try:
            parts.append(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{stream.name}:{line}: the byte 0x{data[error.start]:02x} is not valid UTF-8; convert the file first."
            ) from None
    return "\n".join(parts)


def parsed_sentences(parser: PCFGParser, name: str) -> Iterator[ParsedText]:
    """Split a text into sentences and words, and parse them batch after batch."""
    from sapwood.parse import split_sentences
    from sapwood.trees import Tree

    sentences: list[list[Any]] = [list(words) for words in split_sentences(read_text(name))]
    for begin in range(0, len(sentences), BATCH):
        batch = sentences[begin : begin + BATCH]
        for words, tree in zip(batch, parser.parse_batch(batch), strict=True):
            assert isinstance(tree, Tree)  # one tree per sentence, not a document of several
            yield ParsedText(words, tree)

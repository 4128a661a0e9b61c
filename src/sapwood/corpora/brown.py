"""The Brown corpus as NLTK ships it: 500 documents of ``word/tag`` tokens."""

from __future__ import annotations

from collections.abc import Iterator

from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import files

__all__ = ["read"]

__dir__ = public_names(__name__)


def read(source: Sources) -> Iterator[list[tuple[str, str]]]:
    """Yield the documents one by one, each a list of words and their tags.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        One file per document; also members of archives, such as ``brown.zip/brown/c???``.

    Raises
    ------
    FormatError
        With file, line and column of a token without a tag.

    Examples
    --------
    >>> import io
    >>> next(read(io.StringIO("The/at dog/nn barks/vbz ./.")))
    [('The', 'at'), ('dog', 'nn'), ('barks', 'vbz'), ('.', '.')]
    """
    for rows in files(source):
        document: list[tuple[str, str]] = []
        for line in rows:
            for token in line.text.split():
                word, slash, tag = token.rpartition("/")
                if not slash or not word or not tag:
                    raise line.fault(f"expected tokens such as dog/nn, found {token!r}", line.text.index(token) + 1)
                document.append((word, tag))
        yield document

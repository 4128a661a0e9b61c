"""The Brown corpus as NLTK ships it: 500 documents of ``word/tag`` tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sapwood.sources import Source, lines

__all__ = ["iter_brown"]


def iter_brown(source: Source | Sequence[Source]) -> Iterator[list[tuple[str, str]]]:
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
    >>> next(iter_brown(io.StringIO("The/at dog/nn barks/vbz ./.")))
    [('The', 'at'), ('dog', 'nn'), ('barks', 'vbz'), ('.', '.')]
    """
    document: list[tuple[str, str]] = []
    name = None
    for line in lines(source):
        if name is not None and line.source != name:
            yield document
            document = []
        name = line.source
        for token in line.text.split():
            word, slash, tag = token.rpartition("/")
            if not slash or not word or not tag:
                raise line.fault(f"expected tokens such as dog/nn, found {token!r}", line.text.index(token) + 1)
            document.append((word, tag))
    if name is not None:
        yield document

"""Splitting text into sentences, whole or as it comes.

A sentence is a list of tokens of ``tokenizing``, which says how words are told apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from sapwood.errors import DataError
from sapwood.parse.tokenizing import (
    BLANK_LINE,
    FULL_STOP,
    FULL_STOPS,
    HAN,
    LOOKAHEAD,
    PICTURE_STYLE,
    SPACE,
    TITLES,
    Token,
    check_text,
    is_uncased,
    iter_tokens,
    shape_of,
)

__all__ = ["iter_sentences", "split_sentences"]

_BREAKS = re.compile(rf"[{SPACE}{FULL_STOP}]")  # no token has one of these after its first character
_CLOSING = frozenset({"''", "'", "-RRB-", "-RSB-", "-RCB-"})
# What ends a sentence when white space and a beginning follow: Penn's, and those of Armenian, Greek, Urdu and others.
_ENDS = frozenset({".", "!", "?", "..."}) | frozenset("\u037e\u0589\u06d4\u203c\u203d\u2047\u2048\u2049\uff0e")
_COMMAS = frozenset(",;:\u060c\u061b\u3001\uff0c\uff1a\uff1b\uff64")
_HAN_LETTER = re.compile(HAN)
_STARTER_WORDS = """
the a an he she it they we i you this that these those there in on at but and so if when while after before as for
however also mr. mrs. ms. his her its their our my one some many most all no not what who how why
"""
_STARTERS = frozenset(_STARTER_WORDS.split())
_BUFFER = 1 << 16  # characters that are read before sentences are looked for

# How items of a list begin, at the beginning of a line.
_ITEM = re.compile(r"(?:[-*•–]|\d{1,2}[.)])[^\S\n]+\S")


def split_sentences(text: str) -> list[list[Token]]:
    """Split text into sentences, each a list of words.

    A sentence ends at a blank line, at the full stops of scripts such as Chinese, Arabic and Hindi, and at ``.``, ``!``
    or ``?`` when what follows looks like a beginning: a capital, a digit, or a letter of a script without capitals. The
    quotes and brackets that close after it belong to it.

    Examples
    --------
    >>> for sentence in split_sentences("Mr. Vinken joined Elsevier N.V. in Nov. He is 61. (Yes.) Ok?"):
    ...     print(" ".join(sentence))
    Mr. Vinken joined Elsevier N.V. in Nov.
    He is 61 .
    -LRB- Yes . -RRB-
    Ok ?
    >>> [" ".join(sentence) for sentence in split_sentences("你好。我很好！")]
    ['你好 。', '我很好 ！']
    """
    return _sentences(check_text(text), [])


def iter_sentences(chunks: Iterable[str]) -> Iterator[list[Token]]:
    """Yield the sentences of a text that comes in pieces, the same as ``split_sentences`` finds in the whole.

    Only the part of the text is kept whose sentences are not certain yet: some 65,000 characters, or twice the longest
    sentence if that is more.

    Parameters
    ----------
    chunks : iterable of str
        The text, cut anywhere: the lines of a file, or blocks of it.

    Yields
    ------
    list of Token
        The words of a sentence; their places are those in the whole text.

    Examples
    --------
    >>> for sentence in iter_sentences(["It rai", "ns. Mr", ". Smith stays."]):
    ...     print(sentence, sentence[0].begin)
    ['It', 'rains', '.'] 0
    ['Mr.', 'Smith', 'stays', '.'] 10
    """
    pieces: list[str] = []
    size, wanted, offset = 0, _BUFFER, 0
    quote = ""
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, str):
            raise DataError(f"chunk {number} must be a str, got {type(chunk).__name__}; decode bytes first.")
        pieces.append(chunk)
        size += len(chunk)
        if size < wanted:
            continue
        text = "".join(pieces)
        quotes = [(-1, quote)]
        sentences = _sentences(text, quotes)
        limit = _last_break(text) - LOOKAHEAD
        # The end of a sentence is certain once the first word of the next one is.
        certain = sum(following[0].end <= limit for following in sentences[1:])
        cut = sentences[certain][0].begin if sentences else size
        yield from _moved(sentences[:certain], offset)
        quote = [mark for begin, mark in quotes if begin < cut][-1]
        pieces, size, offset = [text[cut:]], size - cut, offset + cut
        # Twice the rest, so that a sentence without end is not gone through again for every chunk.
        wanted = max(_BUFFER, 2 * size)
    yield from _moved(_sentences("".join(pieces), [(-1, quote)]), offset)


def _last_break(text: str) -> int:
    """Return the last place where no token goes on, whatever text follows; -1 if there is none."""
    at = len(text) - 1
    while at >= 0 and not _BREAKS.match(shape_of(text[at])):
        at -= 1
    return at


def _moved(sentences: list[list[Token]], offset: int) -> list[list[Token]]:
    for sentence in sentences:
        for token in sentence:
            token.begin += offset
            token.end += offset
    return sentences


def _sentences(text: str, quotes: list[tuple[int, str]]) -> list[list[Token]]:
    sentences: list[list[Token]] = []
    current: list[Token] = []
    for token in iter_tokens(text, quotes):
        if current and _ends_before(token, text, current):
            sentences.append(current)
            current = []
        current.append(token)
    return [*sentences, current] if current else sentences


def _closes(token: Token) -> bool:
    return token in _CLOSING or (token[0] > "\x7f" and unicodedata.category(token[0]) in ("Pe", "Pf"))


def _ends_before(following: Token, text: str, sentence: list[Token]) -> bool:
    """Whether a sentence ends before the token that follows."""
    gap = text[sentence[-1].end : following.begin]
    if gap and (BLANK_LINE.search(gap) or ("\n" in gap and _ITEM.match(text, following.begin))):
        return True
    # "2." at the beginning is the number of an item.
    if len(sentence) == 2 and sentence[1] == "." and sentence[0].isdigit() and "\n" not in gap:
        return False
    # Closing quotes and brackets go with the sentence before them.
    if _closes(following):
        return False
    at = len(sentence) - 1
    while at > 0 and _closes(sentence[at]):
        at -= 1
    last, closed = sentence[at], at < len(sentence) - 1
    first = following[0]
    if last[0] in FULL_STOPS:
        if not gap and not closed and (first in FULL_STOPS or following in _ENDS):
            return False
        # "「はい。」と言った。" goes on after what is said.
        return following not in _COMMAS and not (closed and not gap and first == "と")
    if last.rstrip(PICTURE_STYLE) in _ENDS:
        if not gap:
            numbered = last == "." and text[last.begin - 1 : last.begin].isdigit()
            return last != "..." and not numbered and bool(_HAN_LETTER.match(first))
        if last == "...":
            return first.isupper()
        return first.isupper() or first.isdigit() or not first.isalnum() or is_uncased(first)
    if gap and not closed and last.endswith(".") and len(last) > 1 and last[:-1].lower() not in TITLES:
        return following.lower() in _STARTERS and first.isupper()
    return False

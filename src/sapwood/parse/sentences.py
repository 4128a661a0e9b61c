"""Splitting text into sentences, whole or as it comes.

A sentence is a list of tokens of ``tokenizing``, which says how words are told apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from sapwood.errors import DataError
from sapwood.parse.tokenizing import (
    BLANK_LINE,
    FACE,
    FULL_STOP,
    FULL_STOPS,
    HAN,
    LOOKAHEAD,
    PICTURE_STYLE,
    SPACE,
    TITLES,
    Token,
    check_text,
    is_emoji,
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
# How lines of a mail's head and of a dialogue begin.
_LABEL = re.compile(r"[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2}:(?!\S)")
# Words that are not the last ones of a sentence, and words with a capital wherever they stand.
_OPEN_WORDS = """
a an the this that these those my your his her its our their some any no every each of to in on at by for from with
into onto over under about between through during against among and or but nor as than if when while because whether
which who whose is are was were be been has have had will would can could may might must should mr. mrs. ms. dr. st.
"""
_OPEN = frozenset(_OPEN_WORDS.split()) | _COMMAS | {"--", "-", "–", "—", "&", "-LRB-", "-LSB-", "``", "`"}
_ALWAYS_CAPITAL = frozenset({"I", "I'm", "I've", "I'll", "I'd"})
# Text is not wrapped to lines that are so short, and not left at lines that are so long.
_NARROW, _WIDE = 35, 132


def split_sentences(text: str) -> list[list[Token]]:
    """Split text into sentences, each a list of words.

    A sentence ends at a blank line, at the full stops of scripts such as Chinese, Arabic and Hindi, and at ``.``, ``!``
    or ``?`` when what follows looks like a beginning: a capital, a digit, or a letter of a script without capitals. The
    quotes and brackets that close after it belong to it. It also ends with its line where text is not wrapped: before
    items of lists, and before a capital or digit when the next word had room in the line, as after headings, or both
    lines look like headlines.

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
    return _sentences(check_text(text), [], 0)


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
    size, wanted, offset, column = 0, _BUFFER, 0, 0
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
        sentences = _sentences(text, quotes, column)
        limit = _last_break(text) - LOOKAHEAD
        # The end of a sentence is certain once the first word of the next one is.
        certain = sum(following[0].end <= limit for following in sentences[1:])
        # The beginning of a line stays with its first sentence.
        cut = sentences[certain - 1][-1].end if certain else 0 if sentences else text.rfind("\n") + 1
        yield from _moved(sentences[:certain], offset)
        quote = [mark for begin, mark in quotes if begin < cut][-1]
        column = _column(text, cut, column)
        pieces, size, offset = [text[cut:]], size - cut, offset + cut
        # Twice the rest, so that a sentence without end is not gone through again for every chunk.
        wanted = max(_BUFFER, 2 * size)
    yield from _moved(_sentences("".join(pieces), [(-1, quote)], column), offset)


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


def _column(text: str, at: int, column: int) -> int:
    """Return how many characters of its line are before a place, in a text that begins in a column."""
    begin = text.rfind("\n", 0, at) + 1
    return at - begin if begin else column + at


def _sentences(text: str, quotes: list[tuple[int, str]], column: int) -> list[list[Token]]:
    sentences: list[list[Token]] = []
    current: list[Token] = []
    for token in iter_tokens(text, quotes):
        if current and (_ends_before(token, text, current) or _ends_line(token, text, current, column)):
            sentences.append(current)
            current = []
        current.append(token)
    return [*sentences, current] if current else sentences


def _closes(token: Token) -> bool:
    return token in _CLOSING or (token[0] > "\x7f" and unicodedata.category(token[0]) in ("Pe", "Pf"))


def _stops(token: str) -> bool:
    """Whether a token is a full stop of any kind, or several: !!, ?!"""
    bare = token.rstrip(PICTURE_STYLE)
    return bare in _ENDS or (bare != "" and not bare.strip("!?"))


def _is_face(token: Token, text: str) -> bool:
    """Whether a token is an emoji or a face made of signs."""
    return is_emoji(token) or (not token[0].isalnum() and FACE.match(text, token.begin) is not None)


def _ends_before(following: Token, text: str, sentence: list[Token]) -> bool:
    """Whether a sentence ends before the token that follows."""
    gap = text[sentence[-1].end : following.begin]
    if gap and (BLANK_LINE.search(gap) or ("\n" in gap and _ITEM.match(text, following.begin))):
        return True
    # "2." at the beginning is the number of an item.
    if len(sentence) == 2 and sentence[1] == "." and sentence[0].isdigit() and "\n" not in gap:
        return False
    # Closing quotes and brackets go with the sentence before them, and faces in its line.
    if _closes(following) or ("\n" not in gap and _is_face(following, text)):
        return False
    at = len(sentence) - 1
    while at > 0 and (_closes(sentence[at]) or _is_face(sentence[at], text)):
        at -= 1
    last, closed = sentence[at], at < len(sentence) - 1
    first = following[0]
    if last[0] in FULL_STOPS:
        if not gap and not closed and (first in FULL_STOPS or _stops(following)):
            return False
        # "「はい。」と言った。" goes on after what is said.
        return following not in _COMMAS and not (closed and not gap and first == "と")
    if _stops(last):
        if not gap:
            numbered = last == "." and text[last.begin - 1 : last.begin].isdigit()
            return last != "..." and not numbered and bool(_HAN_LETTER.match(first))
        if last == "...":
            return first.isupper()
        return first.isupper() or first.isdigit() or not first.isalnum() or is_uncased(first)
    if gap and not closed and last.endswith(".") and len(last) > 1 and last[:-1].lower() not in TITLES:
        return following.lower() in _STARTERS and first.isupper()
    return False


def _ends_line(following: Token, text: str, sentence: list[Token], column: int) -> bool:
    """Whether a sentence ends before the token that follows because its line does, and not where text is wrapped.

    It looks no further than ``LOOKAHEAD`` characters behind the token, and no further back than the sentence.
    """
    first, last = sentence[0], sentence[-1]
    if "\n" not in text[last.end : following.begin]:
        return False
    indent, length = _column(text, first.begin, column), _column(text, last.end, column)
    # Whether the sentence is the whole line: it begins where the line does.
    begin = first.begin - indent
    whole = begin >= 0 and length - indent == last.end - first.begin and not text[begin : first.begin].strip()
    if whole and _LABEL.match(text, first.begin) and _LABEL.match(text, following.begin):
        return True
    if last.lower() in _OPEN or following in _ALWAYS_CAPITAL or _closes(following):
        return False
    if not (following[0].isupper() or following[0].isdigit()):
        return False
    block = text[following.begin : following.end + LOOKAHEAD]
    blank = BLANK_LINE.search(block)
    lines = block[: blank.start() if blank else None].split("\n")
    needed = length + 1 + len(lines[0].split(maxsplit=1)[0])
    # Text that is wrapped goes on where there is room.
    if needed <= max(map(len, lines)) or length > _WIDE:
        return True
    titles = _is_title(sentence) and _is_title(lines[0].split())
    return whole and not first[0].islower() and (needed <= _NARROW or titles)


def _is_title(words: Sequence[str]) -> bool:
    """Whether all long words have a capital, as in many headlines."""
    long = [word for word in words if len(word) > 3 and word[0].isalpha()]
    return len(long) > 2 and all(word[0].isupper() for word in long)

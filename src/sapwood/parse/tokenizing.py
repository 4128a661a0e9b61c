"""Raw text to words and sentences as the Penn Treebank has them, each word with its place in the text.

Words come out in Penn spelling (brackets as -LRB-, and so on), while ``text[token.begin:token.end]`` is what stands
there. Every character that is neither white space nor a control character belongs to exactly one token.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from sapwood.errors import DataError

__all__ = ["Token", "separate", "split_sentences", "tokenize"]


class Token(str):
    """A word, with where it stands in the text.

    Attributes
    ----------
    begin, end : int
        Positions in the text, in characters; ``text[begin:end]`` is the word as written.
    """

    __slots__ = ("begin", "end")

    begin: int
    end: int

    def __new__(cls, word: str, begin: int, end: int) -> Token:
        """Make a token of a word and its place."""
        token = super().__new__(cls, word)
        token.begin, token.end = begin, end
        return token

    def __getnewargs__(self) -> tuple[str, int, int]:  # type: ignore[override]
        return str(self), self.begin, self.end


_MONTHS = frozenset(("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"))
# Words that a full stop belongs to: before names and numbers, and the others.
_BEFORE_NAMES = """
mr mrs ms dr prof gen col lt sgt capt cmdr adm maj rev hon gov sen rep pres st messrs mme vs no nos fig figs eq sec vol
pp ed eds cf e.g i.e al approx est
"""
_ELSEWHERE = """
inc co corp ltd bros jr sr ph.d m.d b.a m.a u.s u.k u.n a.m p.m etc dept univ assn ave blvd rd mt ft calif mass conn fla
ariz ala ark colo del ga ill ind kan ky la md mich minn miss mo mont neb nev okla ore pa tenn tex va vt wash wis wyo mon
tue tues wed thu thurs fri sat sun
"""
_TITLES = frozenset(_BEFORE_NAMES.split())
_ABBREVIATIONS = _TITLES | _MONTHS | frozenset(_ELSEWHERE.split())
# Of these, some are also plain words: at the end of a sentence the full stop is not theirs, in small letters never.
_ALSO_WORDS = frozenset(
    ("no", "co", "mass", "la", "pa", "sat", "sun", "mar", "ill", "ore", "wash", "miss", "fig", "st", "mon")
)

_SPACE = r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\ufeff\ud800-\udfff"
_WORD = r"[^\W_]"
_PIECES = re.compile(
    rf"""
      (?P<link>(?:https?://|www\.)[^{_SPACE}<>"]*[^{_SPACE}<>"'.,;:!?)\]}}]
              |[\w.+-]+@{_WORD}[\w-]*(?:\.[\w-]+)+ )
    | (?P<dots>\.{{2,}}|…)
    | (?P<dash>-{{2,}}|[–—]+)
    | (?P<number>[+-]?(?<![\w.])(?>\d+(?:[.,:/-]\d+)*)(?:st|nd|rd|th|s)?(?!\w|-[^\W\d])|\.\d+(?!\w))
    | (?P<initials>(?:{_WORD}\.){{2,}}(?!{_WORD}))
    | (?P<clitic>['’](?:s|S|m|M|d|D|re|RE|ve|VE|ll|LL)(?!\w)|['’](?:em|cause|til|\d0s)(?!\w))
    | (?P<word>(?:\d+(?:[.,]\d+)+|{_WORD}+)(?:[-'’&/_.+]{_WORD}+|_+)*|_+)
    | (?P<quote>``|''|["“”„«»]|['‘’`])
    | (?P<bracket>[()\[\]{{}}])
    | (?P<sign>[^\w{_SPACE}](?:[\ufe0e\ufe0f\u20e3]|[\U0001f3fb-\U0001f3ff]|\u200d[^\w{_SPACE}])*)
    | (?P<other>[^{_SPACE}])
    """,
    re.VERBOSE,
)
_SEPARATORS = re.compile(rf"[{_SPACE}]+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\u2029|\f")
_CLITIC = re.compile(r"(?i)(?<=.)(?:n['’]t|['’](?:s|m|d|re|ve|ll))$")
_FUSED = {"cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "gimme": 3, "lemme": 3}
_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_CLOSING = frozenset({"''", "'", "-RRB-", "-RSB-", "-RCB-"})
_ENDS = frozenset({".", "!", "?", "…", "..."})
_STARTER_WORDS = """
the a an he she it they we i you this that these those there in on at but and so if when while after before as for
however also mr. mrs. ms. his her its their our my one some many most all no not what who how why
"""
_STARTERS = frozenset(_STARTER_WORDS.split())


def tokenize(text: str) -> list[Token]:
    """Split text into words in the manner of the Penn Treebank.

    Parameters
    ----------
    text : str
        Any text; control characters count as white space.

    Returns
    -------
    list of Token
        Strings in Penn spelling that know where they stand.

    Examples
    --------
    >>> tokenize("He said, \\"I can't (won't) go.\\"")
    ['He', 'said', ',', '``', 'I', 'ca', "n't", '-LRB-', 'wo', "n't", '-RRB-', 'go', '.', "''"]
    >>> token = tokenize("It's 5%.")[2]
    >>> token, token.begin, token.end
    ('5', 5, 6)
    """
    if not isinstance(text, str):
        raise DataError(f"text must be a str, got {type(text).__name__}; decode bytes first.")
    return list(_tokens(text))


def separate(line: str) -> list[str]:
    """Split a line at white space and control characters, and change nothing else.

    >>> separate("It 's\\tfine\\x07 .")
    ['It', "'s", 'fine', '.']
    """
    return [word for word in _SEPARATORS.split(line) if word]


def split_sentences(text: str) -> list[list[Token]]:
    """Split text into sentences, each a list of words.

    A sentence ends at a blank line, and at ``.``, ``!`` or ``?`` (with the quotes and brackets that close after it)
    when what follows looks like a beginning.

    Examples
    --------
    >>> for sentence in split_sentences("Mr. Vinken joined Elsevier N.V. in Nov. He is 61. (Yes.) Ok?"):
    ...     print(" ".join(sentence))
    Mr. Vinken joined Elsevier N.V. in Nov.
    He is 61 .
    -LRB- Yes . -RRB-
    Ok ?
    """
    tokens = tokenize(text)
    sentences: list[list[Token]] = []
    current: list[Token] = []
    for position, token in enumerate(tokens):
        current.append(token)
        if position + 1 == len(tokens) or _ends_here(text, tokens, position):
            sentences.append(current)
            current = []
    return sentences


def _tokens(text: str) -> Iterator[Token]:
    last_end, opened = -1, False
    for found in _PIECES.finditer(text):
        begin, end, word = found.start(), found.end(), found.group()
        kind = found.lastgroup
        if kind == "quote":
            if word == "'" and last_end == begin:
                yield Token("'", begin, end)
            else:
                opening = word in ("``", "“", "„", "«", "‘", "`") or (
                    word in ('"', "'") and (not opened if word == '"' and last_end != begin else last_end != begin)
                )
                opened = opening
                single = word in ("'", "‘", "’", "`")
                yield Token(("`" if opening else "'") * (1 if single else 2), begin, end)
        elif kind == "bracket":
            yield Token(_BRACKETS[word], begin, end)
        elif kind == "dots":
            yield Token("..." if word in ("...", "…") else word, begin, end)
        elif kind == "dash":
            yield Token("--" if word[0] != "-" or len(word) == 3 else word, begin, end)
        elif kind == "word":
            end = yield from _word(text, word, begin, end)
        elif word == "." and _belongs(text, begin):
            pass  # taken together with the abbreviation before it
        else:
            yield Token(word.replace("’", "'"), begin, end)
        last_end = end


def _word(text: str, word: str, begin: int, end: int) -> Generator[Token, None, int]:
    """Split contractions off a word, and give an abbreviation its full stop."""
    if end < len(text) and text[end] == "." and _belongs(text, end):
        yield Token(word + ".", begin, end + 1)
        return end + 1
    head = _FUSED.get(word.lower())
    if head:
        yield Token(word[:head], begin, begin + head)
        yield Token(word[head:], begin + head, end)
        return end
    clitic = _CLITIC.search(word)
    if clitic:
        yield Token(word[: clitic.start()], begin, begin + clitic.start())
        yield Token(clitic.group().replace("’", "'"), begin + clitic.start(), end)
        return end
    yield Token(word.replace("’", "'"), begin, end)
    return end


def _belongs(text: str, stop: int) -> bool:
    """Whether the full stop here is part of the word before it."""
    begin = stop
    while begin > 0 and (text[begin - 1].isalnum() or text[begin - 1] in ".-"):
        begin -= 1
    word = text[begin:stop]
    if not word or not word[-1].isalpha():
        return False
    rest = text[stop + 1 : stop + 200].lstrip()
    low = word.lower()
    if low not in _ABBREVIATIONS and not (len(word) == 1 and word.isupper() and word != "I"):
        return False
    if low == "no":
        return rest[:1].isdigit()
    gap = text[stop + 1 : len(text) - len(text[stop + 1 :].lstrip())] if rest else ""
    if not rest or _BLANK_LINE.search(gap):
        return low in _ABBREVIATIONS and low not in _ALSO_WORDS
    return low not in _ALSO_WORDS or word[0].isupper()


def _ends_here(text: str, tokens: list[Token], position: int) -> bool:
    token, following = tokens[position], tokens[position + 1]
    gap = text[token.end : following.begin]
    if _BLANK_LINE.search(gap):
        return True
    # Closing quotes and brackets go with the sentence before them.
    if following in _CLOSING or (following == "''" and not gap):
        return False
    at = position
    while at > 0 and tokens[at] in _CLOSING:
        at -= 1
    last = tokens[at]
    if not gap and at == position:
        return False
    first = following[0]
    high = first.isupper() or first.isdigit() or not first.isalnum()
    if last in _ENDS:
        return bool(gap) and high and (last != "..." or first.isupper())
    if at == position and last.endswith(".") and len(last) > 1 and last[:-1].lower() not in _TITLES:
        return following.lower() in _STARTERS and first.isupper()
    return False

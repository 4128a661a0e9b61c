"""Raw text to words as the Penn Treebank has them, each with its place in the text.

Words come out in Penn spelling (brackets as -LRB-, and so on), while ``text[token.begin:token.end]`` is what stands
there. Every character that is neither white space nor a control character belongs to exactly one token.

This holds for every script: letters keep their marks, emoji and flags are one token. Words are only told apart where
white space or punctuation does: Chinese, Japanese, Thai and other text that is written without spaces is not segmented
into words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Generator, Iterable, Iterator

from sapwood.errors import DataError
from sapwood.penn import BRACKETS

__all__ = [
    "BLANK_LINE",
    "FACE",
    "FULL_STOP",
    "FULL_STOPS",
    "HAN",
    "LOOKAHEAD",
    "PICTURE_STYLE",
    "SPACE",
    "TITLES",
    "Token",
    "check_text",
    "is_emoji",
    "is_uncased",
    "iter_tokens",
    "separate",
    "shape_of",
    "tokenize",
]


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
p pp ch art ed eds cf e.g i.e al approx est
"""
_ELSEWHERE = """
inc co corp ltd bros jr sr ph.d m.d b.a m.a u.s u.k u.n a.m p.m etc dept univ assn ave blvd rd mt ft calif mass conn fla
ariz ala ark colo del ga ill ind kan ky la md mich minn miss mo mont neb nev okla ore pa tenn tex va vt wash wis wyo mon
tue tues wed thu thurs fri sat sun
"""
TITLES = frozenset(_BEFORE_NAMES.split())
_ABBREVIATIONS = TITLES | _MONTHS | frozenset(_ELSEWHERE.split())
# Of these, some are also plain words: at the end of a sentence the full stop is not theirs, in small letters never.
_ALSO_WORDS = frozenset(
    ("no", "co", "mass", "la", "pa", "sat", "sun", "mar", "ill", "ore", "wash", "miss", "fig", "st", "mon")
)
# The full stop of these is theirs where a number follows.
_BEFORE_DIGITS = frozenset(("no", "p", "ch", "art"))
# And of these where a word in small letters does: "2 tbsp. sugar", "by appt. only".
_SHORTENED = "oz lb lbs tsp tbsp qt pt hr hrs min mins yr yrs approx appt incl excl tel ext misc"
_BEFORE_SMALL = frozenset(_SHORTENED.split())

# Directional marks and isolates count as white space, and so do halves of surrogate pairs.
SPACE = r"\s\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff"
# What ends a sentence, with or without white space after it: Unicode's Sentence_Terminal, of the scripts in use.
FULL_STOPS = frozenset(
    "\u061d\u061e\u061f\u0700\u0701\u0702\u07f9\u0964\u0965\u104b\u1362\u1367\u1368\u166e\u17d4\u17d5\u1803\u1809"
    "\u1944\u1945\u1b5a\u1b5b\u1b5e\u1b5f\u1c3b\u1c3c\u1c7e\u1c7f\u3002\ua4ff\ua60e\ua60f\ua876\ua877\ua8ce\ua8cf"
    "\ua92f\ua9c9\uaa5d\uaa5e\uaa5f\uabeb\ufe12\ufe15\ufe16\ufe56\ufe57\uff01\uff1f\uff61"
)
HAN = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_MARK, _JOINER, PICTURE_STYLE, _KEY, FULL_STOP, _PREFIX = "\u0301", "\u200d", "\ufe0f", "\u20e3", "。", "\u0600"


class _Shapes(dict[int, str]):
    """For each character the one that stands for it in the patterns, where a set of thousands would be slow."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in FULL_STOPS:
            shape = FULL_STOP
        elif char in (_JOINER, PICTURE_STYLE, _KEY):
            shape = char
        # Beside marks: soft hyphen, non-joiner, signs inside Armenian and Hebrew words, letters of Thai, Lao and
        # Katakana that are written like marks, skin tones, and the letters in flags of regions.
        elif (
            unicodedata.category(char) in ("Mn", "Mc", "Me")
            or char in "\xad\u200c\u055a\u055b\u055c\u055e\u05f3\u0e33\u0eb3\uff9e\uff9f"
            or 0x1F3FB <= code <= 0x1F3FF
            or 0xE0020 <= code <= 0xE007F
        ):
            shape = _MARK
        elif char in "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd":
            shape = _PREFIX  # signs of numbers and verses, which stay with what follows
        else:
            shape = char
        self[code] = shape
        return shape


_SHAPES = _Shapes()
_EXTENDERS = _MARK + _JOINER + PICTURE_STYLE + _KEY  # what stays with the character before it
_EXTEND = f"[{_EXTENDERS}]"
_NO_EXTEND = f"(?!{_EXTEND})"
_WORD = r"[^\W_]"
_END_OF_WORD = rf"(?![\w{_EXTENDERS}])"
_BOXED = f"(?:[0-9]{PICTURE_STYLE}?{_KEY}|\u2139{PICTURE_STYLE})"  # letters and digits that are emoji
# Letters with their marks; the first way is for words without marks, which are most.
_LETTERS = rf"(?:{_WORD}++{_NO_EXTEND}|(?:(?!{_BOXED}){_WORD}{_EXTEND}*+)++)"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_PICTURE = "[©®\u203c\u2049\u2122-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff\U0001fc00-\U0001fffd]"
_HEBREW = "[\u05d0-\u05ea]"
# Faces of signs: with a nose anywhere, without one where no word stands before it; a few others by themselves.
_FACE = rf"""(?=[:;=(^>-])(?:
    (?:[:;=]['^-]{{1,2}}[)(DPp/\\|*]+ | (?<![\w:;=])[:;=](?:[)(]+|[DPpOo3/\\|*](?![/\\])))(?!\w)
  | (?<!\w)(?:\([-']?[:;=] | \^[_.-]?\^ | -_+- | >[_.]<)(?![^\s.!?,])){_NO_EXTEND}"""
# Signs that belong together: lines of signs, arrows, what programs compare with.
_SIGNS = r"(?:\*{2,}|={2,}|~{2,}|\#{2,}|\+{2,}|\|{2,}|[-=]+>|<[-=]+(?!\w)|>=|!=|:=|<{2,}|>{2,})"
_NO_LINK = rf"{SPACE}<>\"{FULL_STOP}\u3001\u3008-\u3011\u3014-\u301b\uff08\uff09\uff0c\uff1a\uff1b\uff62-\uff64"
FACE = re.compile(_FACE, re.VERBOSE)
_PIECES = re.compile(
    rf"""
      (?P<link>(?:https?://|www\.)[^{_NO_LINK}]*[^{_NO_LINK}'.,;:!?)\]}}]
              |[\w.+{_EXTENDERS}-]{{1,64}}+@{_WORD}[\w{_EXTENDERS}-]*(?:\.[\w{_EXTENDERS}-]+)+ )
    | (?P<face>{_FACE})
    | (?P<stops>[!?]{{2,}}{_NO_EXTEND})
    | (?P<signs>{_SIGNS}{_NO_EXTEND})
    | (?P<dots>(?:\.{{2,}}|…){_NO_EXTEND})
    | (?P<dash>(?:-{{2,}}|[–—]+){_NO_EXTEND})
    | (?P<boxed>{_BOXED}{_EXTEND}*)
    | (?P<name>(?<![\w@\#&/.])[@\#](?=[^\W\d])(?:{_LETTERS}|_+)+{_NO_EXTEND}
              |(?<!\w)[A-Za-z](?:\+\+|\#)(?!\w){_NO_EXTEND} )
    | (?P<number>[+-]?(?<![\w.])(?>\d+(?:[.,:/-]\d+)*)(?:st|nd|rd|th|s)?(?!-[^\W\d]){_END_OF_WORD}|\.\d+{_END_OF_WORD})
    | (?P<initials>(?:{_WORD}{_EXTEND}*\.){{2,}}(?!{_WORD}|{_EXTEND}))
    | (?P<clitic>['’](?:(?:s|S|m|M|d|D|re|RE|ve|VE|ll|LL|em|cause|til|\d0s|\d\d(?!['’])){_END_OF_WORD}
              |[Tt](?=(?:is|was|were|will)\b)) )
    | (?P<word>{HAN}++(?=https?://|www\.)
              |(?:\d+(?:[.,]\d+)+{_NO_EXTEND}|{_PREFIX}*{_LETTERS})
               (?:(?:[-'’&/_+]|\.(?!(?:(?<={HAN}\.)|(?<={HAN}{_MARK}\.)){HAN})){_LETTERS}|_+{_EXTEND}*
                 |(?<={_HEBREW})["\u05f4]{_HEBREW}{_END_OF_WORD})*
              |_+{_EXTEND}*)
    | (?P<quote>(?:``|''|["“”„«»]|['‘’`]){_NO_EXTEND})
    | (?P<bracket>[()\[\]{{}}]{_NO_EXTEND})
    | (?P<sign>{_PREFIX}*(?:{_FLAG}|(?!{_EXTEND})[^\w{SPACE}]){_EXTEND}*+
               (?:(?<={_JOINER})(?:{_FLAG}|{_PICTURE}){_EXTEND}*+)*)
    | (?P<other>{_EXTEND}+|[^{SPACE}])
    """,
    re.VERBOSE,
)
_BRACKET = re.compile(r"[()]")
_SEPARATORS = re.compile(rf"[{SPACE}]+")
BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\u2029|\f")
_CLITIC = re.compile(r"(?i)(?<=.)(?:n['’]t|['’](?:s|m|d|re|ve|ll))$")
# Two words in one, and where the second begins; also contractions without their apostrophe, unless they are words.
_FUSED = {"cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "gimme": 3, "lemme": 3} | {
    first + second: len(first)
    for firsts, second in (
        ("do does did is was are were has have had could would should must ca wo ai", "nt"),
        ("i", "m"), ("i you we they", "ve"), ("you they", "re"), ("that what there he she who where", "s"),
        ("you they it that", "ll"),
    )
    for first in firsts.split()
}  # fmt: skip
_OWN_STOP = re.compile(rf"\.(?!\.\.|{_EXTEND})")  # one that may belong to the word before it
LOOKAHEAD = 200  # how far after a full stop is looked for what follows
_LONGEST = max(map(len, _ABBREVIATIONS))


def tokenize(text: str) -> list[Token]:
    """Split text into words as the Penn Treebank does.

    Letters keep their marks, whatever the script, and an emoji or a flag is one token. Words that are written without
    white space between them, as in Chinese, Japanese and Thai, are not told apart.

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
    >>> tokenize("नमस्ते दुनिया।")
    ['नमस्ते', 'दुनिया', '।']
    """
    return list(iter_tokens(check_text(text), []))


def separate(line: str) -> list[str]:
    """Split a line at white space and control characters, and change nothing else.

    >>> separate("It 's\\tfine\\x07 .")
    ['It', "'s", 'fine', '.']
    """
    return [word for word in _SEPARATORS.split(line) if word]


def check_text(text: str) -> str:
    """Return a text, or say what else it is."""
    if not isinstance(text, str):
        hint = "; pass texts one at a time" if isinstance(text, Iterable) else ""
        hint = "; decode bytes first" if isinstance(text, bytes) else hint
        raise DataError(f"text must be a str, got {type(text).__name__}{hint}.")
    return text


def shape_of(text: str) -> str:
    """Return a text of the same length in which one character stands for each kind that patterns tell apart."""
    return text if text.isascii() else text.translate(_SHAPES)


def iter_tokens(text: str, quotes: list[tuple[int, str]]) -> Iterator[Token]:
    """Yield tokens; quotes are added to the list with their places, an opening one as itself, others as nothing."""
    last_end, opened = -1, quotes[-1][1] if quotes else ""
    shape = shape_of(text)
    for found in _PIECES.finditer(shape):
        # The full stop of an abbreviation was taken with it.
        begin, end = max(found.start(), last_end), found.end()
        word = text[begin:end]
        kind = found.lastgroup
        if kind == "quote":
            if word == "'" and last_end == begin:
                yield Token("'", begin, end)
            else:
                opened = word if _opens(text, begin, opened, last_end == begin) else ""
                quotes.append((begin, opened))
                single = word in ("'", "‘", "’", "`")
                yield Token(("`" if opened else "'") * (1 if single else 2), begin, end)
        elif kind == "bracket":
            yield Token(BRACKETS[word], begin, end)
        elif kind == "face":
            yield Token(_BRACKET.sub(lambda found: BRACKETS[found.group()], word), begin, end)
        elif kind == "dots":
            yield Token("..." if word in ("...", "…") else word, begin, end)
        elif kind == "dash":
            yield Token("--" if word[0] != "-" or len(word) == 3 else word, begin, end)
        elif kind == "word":
            end = yield from _word(text, shape, begin, end)
        elif word:
            yield Token(word.replace("’", "'"), begin, end)
        last_end = end


def _opens(text: str, begin: int, opened: str, glued: bool) -> bool:
    """Whether the quote here opens, after the quote that opened last if it is not closed."""
    quote = text[begin]
    if quote == '"':
        after = text[begin + 1 : begin + 2]
        # Beside letters and signs of scripts without capitals, a missing space says nothing.
        free = not glued or (after.isalnum() and any(is_uncased(c) or c > "\u2fff" for c in (text[begin - 1], after)))
        # An apostrophe or a backtick may stand there without ever being closed.
        return free and opened in ("", "'", "‘", "`")
    if quote == "“" and opened == "„":
        return False
    if quote == "`" and opened == "`" and glued:
        return False
    return quote in "“„«‘`" or (quote == "'" and text[begin : begin + 2] != "''")


def _word(text: str, shape: str, begin: int, end: int) -> Generator[Token, None, int]:
    """Split contractions off a word, and give an abbreviation its full stop."""
    word = text[begin:end]
    if _OWN_STOP.match(shape, end) and _belongs(text, shape, end):
        yield Token(word + ".", begin, end + 1)
        return end + 1
    low = word.lower()
    head = _FUSED.get(low)
    # "He was wont to say", and IM is short for other things.
    if head and not (low == "wont" and text.startswith(" to ", end)) and not (low == "im" and word.isupper()):
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


def _belongs(text: str, shape: str, stop: int) -> bool:
    """Whether the full stop here is part of the word before it."""
    begin = stop
    while begin > 0 and (text[begin - 1].isalnum() or text[begin - 1] in ".-" or shape[begin - 1] in _EXTENDERS):
        begin -= 1
        if stop - begin > 4 * _LONGEST:  # no abbreviation, even with marks
            return False
    word = unicodedata.normalize("NFC", text[begin:stop])
    # Degrees are of Celsius, not somebody's initial.
    if not word or not word[-1].isalpha() or text[begin - 1 : begin] == "°":
        return False
    low = word.lower()
    if low not in _ABBREVIATIONS and low not in _BEFORE_SMALL and not (len(word) == 1 and _is_initial(word)):
        return False
    window = text[stop + 1 : stop + LOOKAHEAD]
    rest = window.lstrip()
    if low in _BEFORE_DIGITS:
        return rest[:1].isdigit()
    if low in _BEFORE_SMALL:
        return rest[:1].islower()
    if not rest or BLANK_LINE.search(window[: len(window) - len(rest)]):
        return low in _ABBREVIATIONS and low not in _ALSO_WORDS
    return low not in _ALSO_WORDS or word[0].isupper()


def _is_initial(letter: str) -> bool:
    # Hebrew, Arabic and Thai also shorten names and titles to one letter.
    return (letter.isupper() and letter != "I") or "\u05d0" <= letter <= "\u06d3" or "\u0e01" <= letter <= "\u0e2e"


def is_emoji(word: str) -> bool:
    """Whether a word is an emoji, a flag or another picture.

    >>> is_emoji("😂"), is_emoji("❤️"), is_emoji("♥s"), is_emoji("→")
    (True, True, False, False)
    """
    return word[:1] > "\u25ff" and unicodedata.category(word[0]) in ("So", "Sk") and not any(map(str.isalnum, word[1:]))


def is_uncased(letter: str) -> bool:
    """Whether a letter is of a script that does not begin sentences with capitals."""
    # Georgian letters have capitals, but not for this.
    return unicodedata.category(letter) in ("Lo", "Lm") or "\u10d0" <= letter <= "\u10ff"

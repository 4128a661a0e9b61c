"""Trees for any text: what a parser makes of it, and flat trees with a flag where it makes nothing.

Whoever compares or classifies texts wants a tree of each of them, whatever the parser at hand is and whether it gets
through. Parsers themselves are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sapwood import settings
from sapwood.errors import ParameterError
from sapwood.parse.tokenizing import split_sentences
from sapwood.trees.convert import is_nltk
from sapwood.trees.tree import Tree

__all__ = ["ParsedTexts", "ask_parser", "check_parser", "flat_tree", "parse_texts"]

_TAGS = {
    tag: frozenset(words.split())
    for tag, words in {
        "WP": "what who whom",
        "WDT": "which",
        "WP$": "whose",
        "WRB": "when where why how",
        "DT": "a an the this that these those some any all each every no",
        "IN": "of in on at for from by with about as into like after before between during under over than through if",
        "TO": "to",
        "CC": "and or but nor",
        "MD": "can could will would may might shall should must",
        "VBZ": "is does has 's",
        "VBP": "are do have 're am 've",
        "VBD": "was were did had",
        "VB": "be name find get define",
        "VBN": "been called born made used known",
        "PRP": "i you he she it we they me him her us them",
        "PRP$": "my your his its our their",
        "RB": "not n't most very so first",
        "JJ": "many much long old far tall big high deep fast large first new",
    }.items()
}


def flat_tree(words: Sequence[str]) -> Tree:
    """Return a tree without phrases: every word under a tag that a short list and its spelling suggest.

    >>> print(flat_tree(["What", "is", "the", "capital", "?"]))
    (X (WP What) (VBZ is) (DT the) (NN capital) (. ?))
    """
    return Tree("X", [Tree(_tag(word, at), [word]) for at, word in enumerate(words)])


def _tag(word: str, at: int) -> str:
    lower = word.lower()
    for tag, words in _TAGS.items():
        if lower in words:
            return tag
    if not any(letter.isalnum() for letter in word):
        return "." if word in ".?!" else ":"
    if word[0].isdigit():
        return "CD"
    if at and word[0].isupper():
        return "NNP"
    if lower.endswith("ed"):
        return "VBD"
    return "NNS" if lower.endswith("s") and len(lower) > 3 and not lower.endswith("ss") else "NN"


def check_parser(parser: Any) -> None:
    """Raise unless something can be asked for trees."""
    if parser is not None and not callable(parser) and not hasattr(parser, "parse"):
        raise ParameterError(f"parser must be callable or have a method parse, got {parser!r}.")


def ask_parser(parser: Any, text: str, words: Sequence[str]) -> Tree | None:
    """Ask any parser for the tree of a sentence; None if it has none, whatever goes wrong inside it.

    Parameters
    ----------
    parser : callable or object with ``parse``
        A callable takes the text and returns a tree, or text in brackets, or None; an object's ``parse`` takes the
        words instead.
    text : str
    words : sequence of str
    """
    try:
        found = parser.parse(list(words)) if hasattr(parser, "parse") else parser(text)
        if isinstance(found, str):
            found = Tree.fromstring(found)
        elif is_nltk(found):
            found = Tree.from_nltk(found)
    except (ValueError, ArithmeticError, LookupError, TypeError, RuntimeError):
        return None
    return found if isinstance(found, Tree) and not found.is_leaf else None


@dataclass(frozen=True)
class ParsedTexts:
    """Texts with the trees of their sentences.

    Attributes
    ----------
    trees : dict
        Text → its trees, one per sentence; none for a text without words.
    unparsed : frozenset of str
        The texts of which at least one sentence has a flat tree, or one put together from pieces.
    """

    trees: dict[str, tuple[Tree, ...]]
    unparsed: frozenset[str]


def parse_texts(texts: Iterable[str], parser: Any = None) -> ParsedTexts:
    """Split texts into sentences and words, and parse each different one once.

    Parameters
    ----------
    texts : iterable of str
    parser : PCFGParser, callable or object with ``parse``, optional
        See ``ask_parser``. A ``PCFGParser`` gets many sentences at a time, which uses all threads.

    Examples
    --------
    >>> found = parse_texts(["Why me ? Why not ?", ""])
    >>> {text: [str(tree) for tree in trees] for text, trees in found.trees.items()}
    {'Why me ? Why not ?': ['(X (WRB Why) (PRP me) (. ?))', '(X (WRB Why) (RB not) (. ?))'], '': []}
    >>> found.unparsed
    frozenset({'Why me ? Why not ?'})
    """
    check_parser(parser)
    sentences = {text: split_sentences(text) for text in dict.fromkeys(texts)}
    flat: list[tuple[str, list[str]]] = [(text, [*words]) for text, parts in sentences.items() for words in parts]
    trees: dict[str, list[Tree]] = {text: [] for text in sentences}
    unparsed: set[str] = set()
    with settings.progress_bar(len(flat), "parsing") as progress:
        for begin in range(0, len(flat), _BATCH):
            batch = flat[begin : begin + _BATCH]
            for (text, words), tree in zip(batch, _parse(parser, [words for _, words in batch]), strict=True):
                trees[text].append(flat_tree(words) if tree is None else tree[0])
                if tree is None or not tree[1]:
                    unparsed.add(text)
            if progress is not None:
                progress(begin + len(batch))
    return ParsedTexts({text: tuple(found) for text, found in trees.items()}, frozenset(unparsed))


# Sentences parsed before progress is shown: enough for all threads.
_BATCH = 256


def _parse(parser: Any, sentences: list[list[str]]) -> list[tuple[Tree, bool] | None]:
    """Return per sentence its tree and whether it is whole; None if there is none."""
    if hasattr(parser, "analyse"):
        with settings.options(progress=False):
            answers = parser.analyse(sentences, 1)
        return [(answer.parses.parses[0], answer.how != "pieces") for answer in answers]
    if parser is None:
        return [None] * len(sentences)
    found = [ask_parser(parser, " ".join(words), words) for words in sentences]
    return [None if tree is None else (tree, True) for tree in found]

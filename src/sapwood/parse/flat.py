"""Trees without phrases, for words that no parser has a tree for."""

from __future__ import annotations

from collections.abc import Sequence

from sapwood.trees.tree import Tree

__all__ = ["flat_tree"]

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

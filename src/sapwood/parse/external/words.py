"""What the wrappers of other parsers share: the spelling of words, checks of parameters and of answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sapwood.errors import DataError, ParameterError
from sapwood.parse.base import with_leaves
from sapwood.penn import BRACKETS, written_word
from sapwood.trees.tree import Tree

__all__ = ["as_text", "check_text", "penn", "trees_in", "with_words"]

_SPACE = re.compile(r"\s")
_TO_PENN = str.maketrans(BRACKETS)


def penn(word: str) -> str:
    """Return a word as a treebank has it: brackets spelled out and, as other parsers need it, no white space.

    >>> penn("f(x"), penn("1 1/2")
    ('f-LRB-x', '1_1/2')
    """
    return _SPACE.sub("_", word).translate(_TO_PENN)


def as_text(word: str) -> str:
    """Return a word as text has it, for parsers that learnt from text.

    >>> as_text("-LRB-"), as_text("``"), as_text("rain")
    ('(', '"', 'rain')
    """
    return _SPACE.sub("_", written_word(word))


def with_words(tree: Tree, sent: Sequence[str], words: Sequence[str]) -> Tree:
    """Put the words that were given in the place of the ones that were sent; a tree of other words stays as it is.

    >>> with_words(Tree.fromstring("(NP (NN f-LRB-x))"), ["f-LRB-x"], ["f(x"]).leaves()
    ('f(x',)
    """
    leaves = tree.leaves()
    same = len(leaves) == len(sent) and all(leaf in (one, penn(one)) for leaf, one in zip(leaves, sent, strict=True))
    return with_leaves(tree, words) if same and not tree.is_leaf else tree


def check_text(parser: object, *names: str) -> None:
    """Raise unless these parameters of a parser are text."""
    for name in names:
        value = getattr(parser, name)
        if not isinstance(value, str) or not value:
            raise ParameterError(f"{name} must be text that is not empty, got {value!r}.")


def trees_in(document: Any, name: str, expected: str, tree: Callable[[Any], Tree], hint: str) -> list[Tree]:
    """Return the trees of another parser's document, one per sentence.

    Parameters
    ----------
    document : object
        With its sentences under ``name``.
    name, expected, hint : str
        Where the sentences are; for messages, what kind of document it should be and how to get one with trees.
    tree : callable
        Takes a sentence; an ``AttributeError`` says that it has no tree.
    """
    sentences = getattr(document, name, None)
    if not isinstance(sentences, Iterable):
        raise DataError(f"expected {expected} with .{name}, got {type(document).__name__}.")
    trees = []
    for index, sentence in enumerate(sentences):
        try:
            trees.append(tree(sentence))
        except AttributeError:
            raise DataError(f"sentence {index} of {expected} has no tree; {hint}.") from None
    return trees

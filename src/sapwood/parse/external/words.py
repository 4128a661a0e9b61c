"""Words on their way to other parsers, which have their own ideas of brackets and white space, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sapwood.errors import ParameterError
from sapwood.parse.base import relabelled
from sapwood.penn import BRACKETS
from sapwood.trees.tree import Tree

__all__ = ["as_text", "check_text", "penn", "with_words"]

_SPACE = re.compile(r"\s")
_TO_PENN = str.maketrans(BRACKETS)
_FROM_PENN = {**{penn: sign for sign, penn in BRACKETS.items()}, "``": '"', "''": '"'}


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
    return _SPACE.sub("_", _FROM_PENN.get(word, word))


def with_words(tree: Tree, sent: Sequence[str], words: Sequence[str]) -> Tree:
    """Put the words that were given in the place of the ones that were sent; a tree of other words stays as it is.

    >>> with_words(Tree.fromstring("(NP (NN f-LRB-x))"), ["f-LRB-x"], ["f(x"]).leaves()
    ('f(x',)
    """
    leaves = tree.leaves()
    same = len(leaves) == len(sent) and all(leaf in (one, penn(one)) for leaf, one in zip(leaves, sent, strict=True))
    return relabelled(tree, words) if same and not tree.is_leaf else tree


def check_text(parser: object, *names: str) -> None:
    """Raise unless these parameters of a parser are text."""
    for name in names:
        value = getattr(parser, name)
        if not isinstance(value, str) or not value:
            raise ParameterError(f"{name} must be text that is not empty, got {value!r}.")

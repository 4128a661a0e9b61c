"""From whatever a question is given as to a tree: text through a parser, trees as they are, and a flat tree with a
flag where neither helps.

A question is never refused because it could not be parsed: its words still say much. Training on some of these flat
trees is the user's decision, so the flags are kept beside the trees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.questions import Question
from sapwood.errors import DataError, SapwoodError
from sapwood.notebook import Shown
from sapwood.parse.texts import ask_parser, check_parser, flat_tree
from sapwood.trees.array import TreeArray
from sapwood.trees.convert import is_nltk
from sapwood.trees.tree import Tree

__all__ = ["EMPTY", "Reading", "flat_tree", "read_trees_of", "split_question"]


_CLITIC = re.compile(r"(?i)^(.+?)(n't|'(?:s|re|ve|d|ll|m))$")

EMPTY = Tree("X", [Tree("-NONE-", ["-NOTHING-"])])
"""What stands for a question without words."""


@dataclass(frozen=True)
class Reading(Shown):
    """Trees of questions, and which of them are flat because there was no parse.

    Attributes
    ----------
    trees : list of Tree
    unparsed : array of bool
    """

    trees: list[Tree]
    unparsed: NDArray[np.bool_]


def split_question(text: str) -> list[str]:
    """Split text into words and punctuation as the Penn Treebank does, as far as questions need it.

    >>> split_question("What's the U.S. capital, and who isn't there?")
    ['What', "'s", 'the', 'U.S.', 'capital', ',', 'and', 'who', 'is', "n't", 'there', '?']
    """
    found: list[str] = []
    for piece in text.replace("’", "'").split():
        for token in _pieces(piece):
            clitic = _CLITIC.match(token)
            found += [clitic[1], clitic[2]] if clitic else [token]
    return found


def _pieces(piece: str) -> list[str]:
    """Take punctuation off both ends of what stands between blanks, but not out of its middle."""
    start = re.match(r"[\"(\[{`'¿]*", piece)
    first = start.end() if start and start.end() < len(piece) else 0
    if first and re.match(r"(?i)'(s|re|ve|d|ll|m)$", piece):
        return [piece]
    end = re.search(r"[\"')\]},;:?!.]*$", piece[first:])
    last = first + end.start() if end else len(piece)
    if last == first:
        return list(piece)
    core, tail = piece[first:last], piece[last:]
    if tail.startswith(".") and re.fullmatch(r"(?:[^\W\d_]\.)*[^\W\d_]|Mr|Mrs|Ms|Dr|St|No|Jr|vs", core):
        core, tail = core + ".", tail[1:]
    return [*piece[:first], core, *tail]


def read_trees_of(questions: Any, parser: Any = None) -> Reading:
    """Turn questions into trees.

    Parameters
    ----------
    questions : TreeArray, or a list of text, trees, NLTK trees or ``Question`` objects
        Text that is one tree in brackets is that tree. A ``Question`` stands for its automatic tree, or its words.
    parser : callable or object with ``parse``, optional
        A callable takes the text of one question and returns a tree, or text in brackets, or None; an object's
        ``parse`` takes its words instead.

    Examples
    --------
    >>> reading = read_trees_of(["Who ran ?", "(S (WP Who) (VBD ran))"])
    >>> [str(tree) for tree in reading.trees], reading.unparsed.tolist()
    (['(X (WP Who) (NN ran) (. ?))', '(S (WP Who) (VBD ran))'], [True, False])
    """
    check_parser(parser)
    if isinstance(questions, TreeArray):
        if questions.has_bags:
            raise DataError("a question is one tree, but these elements are bags of trees; pass one tree each.")
        return Reading(list(questions), np.zeros(len(questions), dtype=np.bool_))  # type: ignore[arg-type]
    if isinstance(questions, (str, Tree, Question)) or is_nltk(questions) or not isinstance(questions, Iterable):
        raise DataError(f"expected a list of questions, got one {type(questions).__name__}; wrap it in a list.")
    trees: list[Tree] = []
    flags: list[bool] = []
    for number, question in enumerate(questions):
        tree, unparsed = _one(question, number, parser)
        trees.append(tree)
        flags.append(unparsed)
    return Reading(trees, np.array(flags, dtype=np.bool_))


def _one(question: Any, number: int, parser: Any) -> tuple[Tree, bool]:
    if isinstance(question, Tree):
        return question, False
    if is_nltk(question):
        return Tree.from_nltk(question), False
    words: Sequence[str]
    if isinstance(question, Question):
        if question.tree is not None:
            return question.tree, False
        words, text = question.words, " ".join(question.words)
    elif isinstance(question, str):
        text = question.strip()
        if text.startswith("("):
            try:
                return Tree.fromstring(text), False
            except SapwoodError:
                pass  # a question may well begin with a bracket
        words = split_question(text)
    else:
        raise DataError(
            f"question {number} is a {type(question).__name__}; expected text, a tree or a Question of sapwood.corpora."
        )
    if parser is not None and words:
        tree = ask_parser(parser, text, words)
        if tree is not None:
            return tree, False
    return flat_tree(words) if words else EMPTY, True

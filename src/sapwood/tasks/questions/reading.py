"""From whatever a question is given as to one tree, with a flag where there is no parse.

A question is never refused because it could not be parsed: its words still say much. Training on some of these flat
trees is the user's decision, so the flags are kept beside the trees.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.questions import Question
from sapwood.errors import DataError
from sapwood.parse.base import Sentence
from sapwood.parse.flat import flat_tree
from sapwood.parse.reading import Reading, check_listed, read_examples
from sapwood.trees.array import TreeArray
from sapwood.trees.arrow import unpacked
from sapwood.trees.convert import is_missing
from sapwood.trees.tree import Tree

__all__ = ["EMPTY", "QuestionReading", "read_question_trees"]

EMPTY = Tree("X", [Tree("-NONE-", ["-NOTHING-"])])
"""What stands for a question without words."""


class QuestionReading(Reading):
    """Questions with one tree each; the trees of several sentences stand under one node."""

    @cached_property
    def trees(self) -> list[Tree]:
        """One tree per question, ``EMPTY`` for one without words."""
        return [_joined(sentences) for sentences in self.examples]

    @property
    def unparsed(self) -> NDArray[np.bool_]:
        """Which trees are flat, put together from pieces, or empty."""
        return super().unparsed | np.array([not sentences for sentences in self.examples], dtype=np.bool_)


def read_question_trees(questions: Any, parser: Any = None) -> QuestionReading:
    """Turn questions into trees.

    Parameters
    ----------
    questions : TreeArray, or a list of text, lists of words, trees, NLTK trees or ``Question`` objects
        Text that is one tree in brackets is that tree. A ``Question`` stands for its automatic tree, or its words.
    parser : optional
        See ``sapwood.parse.as_parser``.

    Examples
    --------
    >>> found = read_question_trees(["Who ran?", "(S (WP Who) (VBD ran))"])
    >>> [str(tree) for tree in found.trees], found.unparsed.tolist()
    (['(X (WP Who) (NN ran) (. ?))', '(S (WP Who) (VBD ran))'], [True, False])
    """
    questions = unpacked(questions)
    if isinstance(questions, TreeArray):
        if questions.has_bags:
            raise DataError("a question is one tree, but these elements are bags of trees; pass one tree each.")
    elif isinstance(questions, Question):
        raise DataError("expected a list of questions, got one Question; wrap it in a list.")
    else:
        check_listed(questions, "question")
        questions = [_plain(one, number) for number, one in enumerate(questions)]
    return QuestionReading(read_examples(questions, parser, what="question").examples, "question")


def _plain(question: Any, number: int) -> Any:
    if isinstance(question, Question):
        return list(question.words) if question.tree is None else question.tree
    if not isinstance(question, np.ndarray) and is_missing(question):
        raise DataError(f"question {number} is {question!r}; expected text, a tree or a Question of sapwood.corpora.")
    return question


def _joined(sentences: tuple[Sentence, ...]) -> Tree:
    if not sentences:
        return EMPTY
    if len(sentences) == 1:
        return sentences[0].tree
    if all(one.how == "flat" for one in sentences):
        return flat_tree([str(word) for one in sentences for word in one.words])
    return Tree("X", [one.tree for one in sentences])

"""Question classification: which kind of answer a question asks for (a person, a place, a number, ...).

``focus`` finds what a question asks about, ``shapes`` builds the trees that kernels look at, ``reading`` gets from text
to trees, ``classifier`` trains and predicts, ``tuning`` chooses kernels and prices by cross-validation.
"""

from sapwood.tasks.questions.classifier import (
    VIEWS,
    QuestionClassifier,
    plain_kernel,
    question_views,
    semantic_kernel,
)
from sapwood.tasks.questions.focus import Focus, find_focus
from sapwood.tasks.questions.reading import Reading, flat_tree, read_trees_of, split_question
from sapwood.tasks.questions.shapes import focus_tree, lemma_tree, lexical_tree, word_counts
from sapwood.tasks.questions.tuning import Tuning, tune

__all__ = [
    "VIEWS",
    "Focus",
    "QuestionClassifier",
    "Reading",
    "Tuning",
    "find_focus",
    "flat_tree",
    "focus_tree",
    "lemma_tree",
    "lexical_tree",
    "plain_kernel",
    "question_views",
    "read_trees_of",
    "semantic_kernel",
    "split_question",
    "tune",
    "word_counts",
]

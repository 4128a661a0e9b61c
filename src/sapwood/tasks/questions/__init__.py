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
from sapwood.tasks.questions.reading import QuestionReading, read_question_trees
from sapwood.tasks.questions.shapes import focus_tree, lemma_tree, lexical_tree, word_counts
from sapwood.tasks.questions.tuning import Tuning, tune

__all__ = [
    "VIEWS",
    "Focus",
    "QuestionClassifier",
    "QuestionReading",
    "Tuning",
    "find_focus",
    "focus_tree",
    "lemma_tree",
    "lexical_tree",
    "plain_kernel",
    "question_views",
    "read_question_trees",
    "semantic_kernel",
    "tune",
    "word_counts",
]

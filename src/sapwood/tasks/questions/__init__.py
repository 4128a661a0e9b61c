"""Question classification: which kind of answer a question asks for (a person, a place, a number, ...).

``focus`` finds what a question asks about, ``views`` builds the trees that kernels look at, ``reading`` gets from text
to trees, ``classifier`` trains and predicts, ``tuning`` chooses kernels and C by cross-validation.
"""

from sapwood.lazy import public_names
from sapwood.tasks.questions.classifier import QuestionClassifier, contextual_kernel, plain_kernel, semantic_kernel
from sapwood.tasks.questions.focus import find_focus
from sapwood.tasks.questions.tuning import tune
from sapwood.tasks.questions.views import question_views

__all__ = [
    "QuestionClassifier",
    "contextual_kernel",
    "find_focus",
    "plain_kernel",
    "question_views",
    "semantic_kernel",
    "tune",
]

__dir__ = public_names(__name__)

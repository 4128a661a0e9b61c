"""Loading models for commands that need one of a certain kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.errors import ModelFileError

if TYPE_CHECKING:
    from sapwood.learn import KernelSVC
    from sapwood.tasks.questions import QuestionClassifier

__all__ = ["load_classifier"]


def load_classifier(path: str) -> KernelSVC | QuestionClassifier:
    """Load a classifier, or say what the file holds instead."""
    from sapwood.files import load
    from sapwood.learn import KernelSVC
    from sapwood.tasks.questions import QuestionClassifier

    model = load(path)
    # Asked with trees like any other classifier, one of questions makes the shapes that it looks at by itself.
    if not isinstance(model, (KernelSVC, QuestionClassifier)):
        raise ModelFileError(
            f"{path}: holds a {type(model).__name__}, not a classifier; train one with sapwood train trees."
        )
    return model

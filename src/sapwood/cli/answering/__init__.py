"""Asking models: one module per kind of model, with ``predict(model, options)`` and ``evaluate(model, options)``.

``sapwood predict`` and ``sapwood evaluate`` load a file, look up what it holds here, and leave the rest to the module.
A module whose ``PARSES`` is true takes raw text as well, through ``--parser``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from sapwood.errors import ModelFileError

__all__ = ["load_model"]

# Class of the stored model → module of this package.
_ANSWERING = {
    "AttachmentRanker": "ranking",
    "FrameLabeler": "frames",
    "FrameParser": "frames",
    "KernelSVC": "trees",
    "PairClassifier": "pairs",
    "ParseReranker": "ranking",
    "QuestionClassifier": "questions",
    "RoleLabeler": "roles",
    "ShardClassifier": "trees",
}


def load_model(path: str) -> tuple[Any, ModuleType]:
    """Load a model and the module that knows how to ask it, or say what the file holds instead."""
    from sapwood.files import load

    model = load(path)
    name = type(model).__name__
    if name not in _ANSWERING:
        raise ModelFileError(f"{path}: holds a {name}, not a model that labels data; train one with sapwood train.")
    return model, import_module(f"sapwood.cli.answering.{_ANSWERING[name]}")

"""Asking models: one module per kind of model, which the commands ``predict`` and ``evaluate`` look up here.

A module has

- ``OPTIONS``: which options it has a use for of those that not every kind of model has;
- ``items(model, options)``: what is asked, read little by little;
- ``answer(model, options, tally, items)``: one text per item, and in ``tally`` how trees came about;
- ``evaluate(model, options)``: the scores, for JSON and as text;
- perhaps ``page(model, options, tally, items)``: a page of HTML;
- perhaps ``explain(model, options, items)``: explanations of its decisions, for the class ``options.label`` if it is
  given, with ``options.top`` fragments.
"""

from __future__ import annotations

import argparse
import gc
from importlib import import_module
from types import ModuleType
from typing import Any

from sapwood.errors import ModelFileError, ParameterError

__all__ = ["load_model", "reject_unsupported"]

# What to say where an option is given that the kind of model has no use for.
_UNSUPPORTED = {
    "dependencies": "takes no trees from CoNLL-U; leave the option out.",
    "margins": "has no margins to add; leave the option out.",
    "format": "writes its answers in one way only; leave the option out.",
    "lines": "takes one item per line anyway; leave the option out.",
    "encoding": "reads UTF-8; convert the file first, for example with iconv -f latin1 -t utf8.",
}

# Class of the stored model → module of this package.
_MODULES = {
    "AttachmentRanker": "ranking",
    "FrameLabeler": "frames",
    "FrameParser": "frames",
    "KernelSVC": "trees",
    "PairClassifier": "pairs",
    "PCFGParser": "parses",
    "ParseReranker": "ranking",
    "QuestionClassifier": "questions",
    "RoleLabeler": "roles",
    "ShardClassifier": "trees",
    "SpanParser": "parses",
}


def reject_unsupported(model: Any, inference: ModuleType, options: argparse.Namespace) -> None:
    """Refuse options that would be ignored, and fill in what is not given."""
    for name, reason in _UNSUPPORTED.items():
        if getattr(options, name, None) not in (None, False) and name not in inference.OPTIONS:
            raise ParameterError(f"--{name}: a {type(model).__name__} {reason}")
    options.encoding = options.encoding or "utf-8"
    options.dependencies = options.dependencies or "relation"


def load_model(path: str, parser: str | None = None) -> tuple[Any, ModuleType]:
    """Load a model and the module that knows how to ask it, or say what the file holds instead.

    A parser's model file takes the place of the parser that the model may have.
    """
    from sapwood.files import load
    from sapwood.parse import as_parser

    model = load(path)
    name = type(model).__name__
    if name not in _MODULES:
        raise ModelFileError(f"{path}: holds a {name}, not a model that labels data; train one with sapwood train.")
    if parser is not None and "parser" in model.get_params(deep=False):
        as_parser(parser)  # says what is wrong with it before anything is read
        model.set_params(parser=parser)
    # A command ends before its model is garbage, which need not be looked for in there.
    gc.freeze()
    return model, import_module(f"sapwood.cli.inference.{_MODULES[name]}")

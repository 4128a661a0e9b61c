"""``sapwood evaluate``: compare a model's labels with the right ones."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, argument
from sapwood.cli.options import DEPENDENCIES, ENCODING, JSON, PARSER, THREADS
from sapwood.cli.output import report

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.cli.inference import load_model, reject_unsupported

    model, inference = load_model(options.model, options.parser)
    reject_unsupported(model, inference, options)
    report(options, *inference.evaluate(model, options))


COMMAND = Command(
    "evaluate",
    "score a model on labeled data",
    "Score a model on data with the right answers, in the format that it was trained on: accuracy, and precision, "
    "recall and F1 per class.",
    (
        argument("model", metavar="MODEL", help="model file"),
        argument("data", metavar="DATA", help="data with the right answers, or - for standard input"),
        ENCODING.but(default=None, help="encoding of DATA, except for pairs and lists of parses (default: utf-8)"),
        DEPENDENCIES.but(default=None),
        PARSER.but(help="DATA is text, parsed with this model instead of the parser that MODEL has"),
        JSON,
        THREADS,
    ),
    _run,
)

"""``sapwood evaluate``: compare a model's labels with the right ones."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_parser_model, add_threads

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "evaluate",
        help="score a model on labelled trees",
        description="Print accuracy, and precision, recall and F1 per class.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    parser.add_argument("data", metavar="DATA", help="file of label<TAB>tree lines, or - for standard input")
    parser.add_argument("--encoding", metavar="NAME", help="trees, questions: of DATA (default: utf-8)")
    add_parser_model(parser, "DATA is text with labels; the model's own parser is used where it has one")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load the model and let its kind score it."""
    from sapwood.cli.answering import load_model, refuse_foreign

    model, answering = load_model(options.model, options.parser)
    refuse_foreign(model, answering, options)
    code: int = answering.evaluate(model, options)
    return code

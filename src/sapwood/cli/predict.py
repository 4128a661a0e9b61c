"""``sapwood predict``: label trees with a model."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_threads, check_outputs

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "predict",
        help="label trees or sentences with a model",
        description="Write one line per tree: the predicted label, with --margins also the margin of every class.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    parser.add_argument("data", metavar="DATA", help="one tree or label<TAB>tree per line, or - for standard input")
    parser.add_argument("--margins", action="store_true", help="add class=margin columns, largest first")
    parser.add_argument("--out", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument(
        "--format", metavar="NAME", help="roles: jsonl (default), props, conll09, text, html; frames: jsonl, text, html"
    )
    parser.add_argument(
        "--parser",
        metavar="FILE",
        help="questions, pairs, roles, frames: DATA is text; parse it with this model of sapwood train parser",
    )
    parser.add_argument("--encoding", metavar="NAME", help="trees, questions: of DATA (default: utf-8)")
    parser.add_argument("--resume", action="store_true", help="roles: go on where a stopped run to --out ended")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load the model and let its kind answer."""
    from sapwood.cli.answering import load_model, refuse_foreign

    check_outputs(options.out)
    model, answering = load_model(options.model)
    refuse_foreign(model, answering, options)
    code: int = answering.predict(model, options)
    return code

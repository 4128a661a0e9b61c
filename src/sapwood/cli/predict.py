"""``sapwood predict``: ask a model, line by line or sentence by sentence."""

from __future__ import annotations

import argparse
from collections import Counter
from functools import partial
from types import ModuleType
from typing import Any

from sapwood.cli.command import Command, argument
from sapwood.cli.options import DEPENDENCIES, ENCODING, LINES, OUTPUT, PARSER, RESUME, THREADS, flag
from sapwood.cli.output import note, write_file, write_output

__all__ = ["COMMAND", "write_answers"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.cli.inference import load_model, reject_unsupported

    model, inference = load_model(options.model, options.parser)
    reject_unsupported(model, inference, options)
    write_answers(model, inference, options)


def write_answers(model: Any, inference: ModuleType, options: argparse.Namespace) -> None:
    """Ask a model of the kind that a module of ``inference`` is for, and tell how trees came about."""
    from sapwood.errors import ParameterError

    tally: Counter[str] = Counter()
    items = inference.items(model, options)
    if options.format == "html":
        if options.resume:
            raise ParameterError("--resume: a page is made as a whole; leave the option out.")
        write_file(options.output, inference.page(model, options, tally, items))
        total = tally["items"]
    else:
        total = write_output(
            options,
            items,
            partial(inference.answer, model, options, tally),
            models=[options.model, options.parser],
            settings=("data", "dependencies", "encoding", "format", "margins", "lines"),
            what="answers",
        )
    if options.output:
        note(f"{options.output}: {total:,} answered")
    flat = f"{tally['flat']:,} of {tally['items']:,} had no parse"
    pieces = f"{tally['pieces']:,} were parsed in pieces"
    told = [text for text, count in ((flat, tally["flat"]), (pieces, tally["pieces"])) if count]
    if told:
        marked = "; they are marked in the output" if options.format in (None, "jsonl") else ""
        note(f"{' and '.join(told)}{marked}")


COMMAND = Command(
    "predict",
    "label trees or text with a model",
    "Write one line per tree, question, pair or sentence: the predicted label, with --margins also the margin of every "
    "class; roles and frames as --format says.",
    (
        argument("model", metavar="MODEL", help="model file"),
        argument(
            "data",
            metavar="DATA",
            help="one tree, label<TAB>tree, question or pair per line, CoNLL-U, text, or - for standard input",
        ),
        flag("--margins", "add class=margin columns, largest first"),
        OUTPUT,
        RESUME,
        argument(
            "--format",
            metavar="NAME",
            help="roles: jsonl (default), allennlp, conll, props, conll09, text, brackets, html; frames: jsonl "
            "(default), text, brackets, html",
        ),
        LINES.but(help="every line of DATA is a sentence, for models of roles and frames"),
        ENCODING.but(default=None, help="encoding of DATA, except for pairs and lists of parses (default: utf-8)"),
        DEPENDENCIES.but(default=None),
        PARSER.but(help="DATA is text, parsed with this model instead of the parser that MODEL has"),
        THREADS,
    ),
    _run,
)

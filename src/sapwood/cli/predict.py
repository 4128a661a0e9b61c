"""``sapwood predict``: ask a model, line by line or sentence by sentence."""

from __future__ import annotations

import argparse
from collections import Counter
from functools import partial

from sapwood.cli.arguments import Subparsers, add_parser_model, add_threads, check_outputs
from sapwood.cli.output import add_output, write_output

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "predict",
        help="label trees or text with a model",
        description="Write one line per tree, question, pair or sentence: the predicted label, with --margins also the "
        "margin of every class; roles and frames as --format says.",
    )
    parser.add_argument("model", metavar="MODEL", help="model file")
    parser.add_argument(
        "data",
        metavar="DATA",
        help="one tree, label<TAB>tree, question or pair per line, text, or - for standard input",
    )
    parser.add_argument("--margins", action="store_true", help="add class=margin columns, largest first")
    add_output(parser)
    parser.add_argument(
        "--format", metavar="NAME", help="roles: jsonl (default), props, conll09, text, html; frames: jsonl, text, html"
    )
    add_parser_model(parser, "DATA is text; the model's own parser is used where it has one")
    parser.add_argument("--encoding", metavar="NAME", help="trees, questions: of DATA (default: utf-8)")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load the model, and write what it answers as the answers come."""
    import sys

    from sapwood.cli.answering import load_model, refuse_foreign
    from sapwood.errors import ParameterError
    from sapwood.writing import atomic_write

    check_outputs(options.out)
    model, answering = load_model(options.model, options.parser)
    refuse_foreign(model, answering, options)
    tally: Counter[str] = Counter()
    items = answering.items(model, options)
    if options.format == "html":
        if options.resume:
            raise ParameterError("--resume: a page is made as a whole; leave the option out.")
        page = answering.page(model, options, tally, items)
        if options.out:
            atomic_write(options.out, page.encode())
        else:
            print(page)
        total = tally["items"]
    else:
        total = write_output(
            options,
            items,
            partial(answering.answer, model, options, tally),
            models=[options.model, options.parser],
            settings=("data", "format", "margins"),
            what="answers",
        )
    if options.out:
        print(f"{options.out}: {total:,} answered", file=sys.stderr)
    flat = f"{tally['flat']:,} of {tally['items']:,} had no parse"
    pieces = f"{tally['pieces']:,} were parsed in pieces"
    told = [text for text, count in ((flat, tally["flat"]), (pieces, tally["pieces"])) if count]
    if told:
        marked = "; they are marked in the output" if options.format in (None, "jsonl") else ""
        print(f"sapwood: {' and '.join(told)}{marked}", file=sys.stderr)
    return 0

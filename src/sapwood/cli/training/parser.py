"""``sapwood train parser``: a parser from a treebank."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, OneOf, argument
from sapwood.cli.inputs import open_named
from sapwood.cli.options import ENCODING, MODEL_OUTPUT, THREADS, positive_float, positive_int
from sapwood.cli.output import summary

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.files import save
    from sapwood.parse import PCFGParser
    from sapwood.trees import concatenate, read_trees

    trees = concatenate([read_trees(open_named(name), encoding=options.encoding) for name in options.data])
    parser = PCFGParser(
        vertical=options.vertical, horizontal=options.horizontal, splits=() if options.no_splits else "penn"
    )
    if options.exact or options.beam:
        parser.set_params(beam=None if options.exact else options.beam)
    parser.fit(trees)
    save(parser, options.output)
    size = parser.size()
    learnt = f"{size['words']:,} words, {size['symbols']:,} symbols, {size['rules']:,} rules, {len(parser.tags_)} tags"
    summary(options, f"{options.output}: {len(trees):,} trees, {learnt}")


COMMAND = Command(
    "parser",
    "a parser from a treebank",
    "Learn a probabilistic grammar from bracketed trees. Traces and function tags are taken off.",
    (
        argument(
            "data",
            nargs="+",
            metavar="TREEBANK",
            help="files, folders or patterns of bracketed trees; - is standard input",
        ),
        MODEL_OUTPUT,
        argument(
            "--vertical",
            type=positive_int,
            default=2,
            metavar="N",
            help="labels that a symbol holds (default: %(default)s)",
        ),
        argument(
            "--horizontal", type=positive_int, default=2, metavar="N", help="siblings remembered (default: %(default)s)"
        ),
        argument("--no-splits", action="store_true", help="leave out the marks made for Penn labels"),
        OneOf(
            argument(
                "--beam",
                type=positive_float,
                metavar="X",
                help="width of the beam in natural logarithms (default: built in)",
            ),
            argument("--exact", action="store_true", help="prune nothing; several times slower"),
        ),
        ENCODING,
        THREADS,
    ),
    _run,
)

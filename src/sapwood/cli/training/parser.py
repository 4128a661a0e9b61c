"""``sapwood train parser``: a parser from a treebank."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import OneOf, argument
from sapwood.cli.inputs import open_named
from sapwood.cli.options import ENCODING, flag, integer, number
from sapwood.cli.training import task

__all__ = ["COMMAND"]


def _train(options: argparse.Namespace) -> tuple[Any, str]:
    from sapwood.parse import PCFGParser
    from sapwood.trees import concatenate, read_trees

    trees = concatenate([read_trees(open_named(name), encoding=options.encoding) for name in options.data])
    parser = PCFGParser(
        vertical=options.vertical, horizontal=options.horizontal, splits=() if options.no_splits else "penn"
    )
    if options.exact or options.beam:
        parser.set_params(beam=None if options.exact else options.beam)
    parser.fit(trees)
    size = parser.size()
    learned = f"{size['words']:,} words, {size['symbols']:,} symbols, {size['rules']:,} rules, {len(parser.tags_)} tags"
    return parser, f"{len(trees):,} trees, {learned}"


COMMAND = task(
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
        integer("--vertical", "labels that a symbol holds", 2),
        integer("--horizontal", "siblings remembered", 2),
        flag("--no-splits", "leave out the marks made for Penn labels"),
        OneOf(
            number("--beam", "width of the beam in natural logarithms (default: built in)"),
            flag("--exact", "prune nothing; several times slower"),
        ),
        ENCODING,
    ),
    _train,
)

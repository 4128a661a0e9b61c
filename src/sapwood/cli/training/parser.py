"""``sapwood train parser``: a parser from a treebank."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_threads, check_outputs, positive_float, positive_int

__all__ = ["add_parser", "run"]


def add_parser(tasks: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the task."""
    parser = tasks.add_parser(
        "parser",
        help="a parser from a treebank",
        description="Learn a probabilistic grammar from bracketed trees. Traces and function tags are taken off.",
    )
    parser.add_argument(
        "data", nargs="+", metavar="TREEBANK", help="files, folders or patterns of bracketed trees; - is standard input"
    )
    parser.add_argument("-o", "--out", required=True, metavar="MODEL", help="the model file to write")
    parser.add_argument("--encoding", default="utf-8", help="of the treebank (default: %(default)s)")
    parser.add_argument(
        "--vertical",
        type=positive_int,
        default=2,
        metavar="N",
        help="labels that a symbol holds (default: %(default)s)",
    )
    parser.add_argument(
        "--horizontal", type=positive_int, default=2, metavar="N", help="siblings remembered (default: %(default)s)"
    )
    parser.add_argument("--no-splits", action="store_true", help="leave out the marks made for Penn labels")
    parser.add_argument(
        "--beam", type=positive_float, metavar="X", help="width of the beam in natural logarithms (default: built in)"
    )
    parser.add_argument("--exact", action="store_true", help="prune nothing; several times slower")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, fit, save, and say what was learnt."""
    import sys

    from sapwood.errors import ParameterError
    from sapwood.files import save
    from sapwood.parse import PCFGParser
    from sapwood.trees import concatenate, read_trees

    check_outputs(options.out)
    if options.exact and options.beam:
        raise ParameterError("--exact and --beam exclude each other; give one of them.")
    sources = [sys.stdin if name == "-" else name for name in options.data]
    trees = concatenate([read_trees(source, encoding=options.encoding) for source in sources])
    parser = PCFGParser(
        vertical=options.vertical, horizontal=options.horizontal, splits=() if options.no_splits else "penn"
    )
    if options.exact or options.beam:
        parser.set_params(beam=None if options.exact else options.beam)
    parser.fit(trees)
    save(parser, options.out)
    size = parser.size()
    print(
        f"{options.out}: {len(trees):,} trees, {size['words']:,} words, {size['symbols']:,} symbols, "
        f"{size['rules']:,} rules, {len(parser.tags_)} tags"
    )
    return 0

"""``sapwood clones``: copies among the functions and blocks of source files."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, argument
from sapwood.cli.options import HTML, JSON, THREADS, flag, integer, number
from sapwood.cli.output import note, report, write_file

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.errors import ParameterError
    from sapwood.search import find_clones

    grammars = {}
    for given in options.grammar:
        ending, _, package = given.partition("=")
        if not ending.startswith(".") or not package:
            raise ParameterError(f"--grammar must be like .zig=tree_sitter_zig, got {given!r}.")
        grammars[ending] = package
    found = find_clones(
        options.folder,
        at_least=options.at_least,
        min_nodes=options.min_nodes,
        blocks=not options.functions_only,
        normalize=not options.names,
        max_bytes=options.max_bytes,
        grammars=grammars,
        cache=options.cache,
    )
    report(options, found.to_dict(), found.to_text(sources=options.sources or 0))
    if options.html:
        write_file(options.html, found.to_html())
    if options.cache:
        note(f"{found.parsed:,} of {found.files:,} files were parsed; the others had not changed")


COMMAND = Command(
    "clones",
    "find copies among functions and blocks of source code",
    "Compare the functions and blocks of all source files below FOLDER and list copies: exact ones, renamed ones, and "
    "restructured ones that share most of their syntax. Files are parsed by tree-sitter with the grammars that are "
    "installed, such as pip install tree-sitter tree-sitter-python.",
    (
        argument("folder", metavar="FOLDER", help="a folder of source files, or one file"),
        number("--at-least", "smallest share of restructured copies that is the same, up to 1", 0.7),
        integer("--min-nodes", "smallest function or block, in nodes of syntax", 40),
        flag("--functions-only", "compare functions, not blocks"),
        flag("--names", "names and literals must be the same, too"),
        integer("--sources", "show the sources of so many copies, with a bar before shared lines"),
        integer("--max-bytes", "leave out longer files", 2_000_000),
        argument("--grammar", action="append", default=[], metavar=".EXT=PACKAGE", help="one more grammar; repeatable"),
        argument(
            "--cache", metavar="FILE", help="keep what is parsed, so that only changed files are parsed next time"
        ),
        JSON,
        HTML.but(help="write a page with the marked sources"),
        THREADS,
    ),
    _run,
)

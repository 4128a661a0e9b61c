"""``sapwood index``: a collection of trees, prepared for ``sapwood nearest``, in a file."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named
from sapwood.cli.nearest import index_of
from sapwood.cli.options import KERNEL, OUTPUT, READING, THREADS, flag
from sapwood.cli.output import summary

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood import save
    from sapwood.errors import ParameterError

    if not options.output:
        raise ParameterError("the name of the file to write is empty; name a file.")
    (trees,) = read_named(options, options.trees, None)
    index = index_of(options, trees)
    if options.portable:
        save(index, options.output)
    else:
        index.save_mapped(options.output)
    summary(options, f"{options.output}: {index!r}")


COMMAND = Command(
    "index",
    "prepare a collection of trees for nearest",
    "Prepare TREES for searches, and keep what was prepared in a file that sapwood nearest takes in place of TREES. It "
    "is not read into memory, but opened where it lies. Open such files only from those you trust; for others there is "
    "--portable.",
    (
        argument("trees", metavar="TREES", help="file of bracketed trees or CoNLL-U, a quoted glob pattern, or -"),
        OUTPUT.but(required=True, help="the file to write"),
        flag("--portable", "write a small model file instead, safe to share, whose trees are prepared anew each time"),
        KERNEL,
        *READING,
        THREADS,
    ),
    _run,
)

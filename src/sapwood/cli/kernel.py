"""``sapwood kernel``: compare the trees of one or two files."""

from __future__ import annotations

import argparse
import io
import sys
from typing import Any

from sapwood.cli.arguments import Subparsers, add_kernel, add_reading, add_threads, check_outputs, read_named

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "kernel",
        help="compare the trees of one or two files",
        description="Compute the Gram matrix of the trees in A, or the values of A against B.",
    )
    parser.add_argument("A", help="file of bracketed trees, a quoted glob pattern, or - for standard input")
    parser.add_argument("B", nargs="?", help="a second file")
    add_kernel(parser, required=True)
    parser.add_argument("--out", metavar="FILE", help="gram.npz or gram.tsv; by default a table on standard output")
    add_reading(parser)
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compute and write the values."""
    import numpy as np

    from sapwood.errors import ParameterError
    from sapwood.kernels import parse_kernel
    from sapwood.writing import atomic_write

    check_outputs(options.out)
    kernel = parse_kernel(options.kernel)
    if options.out and not options.out.endswith((".npz", ".tsv")):
        raise ParameterError(f"--out must end in .npz or .tsv, got {options.out!r}.")
    rows, *others = read_named(options, options.A, options.B)
    columns = others[0] if others else None
    # Kernels that learn from data learn from what the rows are compared with.
    K = kernel.bind(rows if columns is None else columns)(rows, columns)
    if options.out and options.out.endswith(".npz"):
        buffer = io.BytesIO()
        np.savez(buffer, gram=K, kernel=repr(kernel))
        atomic_write(options.out, buffer.getvalue())
    elif options.out:
        text = io.StringIO()
        _write_rows(K, text)
        atomic_write(options.out, text.getvalue().encode())
    else:
        _write_rows(K, sys.stdout)
    return 0


def _write_rows(K: Any, stream: Any) -> None:
    for row in K:
        stream.write("\t".join(map(repr, row.tolist())) + "\n")

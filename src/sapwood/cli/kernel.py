"""``sapwood kernel``: compare the trees of one or two files."""

from __future__ import annotations

import argparse
import io

from sapwood.cli.command import Command, argument
from sapwood.cli.inputs import read_named
from sapwood.cli.options import KERNEL, OUTPUT, READING, THREADS
from sapwood.cli.output import write_file

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    import numpy as np

    from sapwood.errors import ParameterError
    from sapwood.kernels import parse_kernel

    kernel = parse_kernel(options.kernel)
    if options.output and not options.output.endswith((".npz", ".tsv")):
        raise ParameterError(f"--output must end in .npz or .tsv, got {options.output!r}.")
    rows, *others = read_named(options, options.A, options.B)
    columns = others[0] if others else None
    # Kernels that learn from data learn from what the rows are compared with.
    K = kernel.bind(rows if columns is None else columns)(rows, columns)
    if options.output and options.output.endswith(".npz"):
        buffer = io.BytesIO()
        np.savez(buffer, gram=K, kernel=repr(kernel))
        write_file(options.output, buffer.getvalue())
    else:
        write_file(options.output, "".join("\t".join(map(repr, row.tolist())) + "\n" for row in K))


COMMAND = Command(
    "kernel",
    "compare the trees of one or two files",
    "Compute the Gram matrix of the trees in A, or the values of A against B.",
    (
        argument("A", help="file of bracketed trees or CoNLL-U, a quoted glob pattern, or - for standard input"),
        argument("B", nargs="?", help="a second file"),
        KERNEL.but(required=True),
        OUTPUT.but(help="gram.npz or gram.tsv (default: a table on standard output)"),
        *READING,
        THREADS,
    ),
    _run,
)

"""``sapwood gram``: a Gram matrix of any size, tile by tile, into a folder."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sapwood.cli.command import Command, OneOf, argument
from sapwood.cli.inputs import read_named
from sapwood.cli.local_cluster import local_cluster
from sapwood.cli.locking import locked
from sapwood.cli.options import KERNEL, OUTPUT, READING, THREADS, choice, flag, integer
from sapwood.cli.output import summary

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.errors import ParameterError
    from sapwood.kernels import parse_kernel
    from sapwood.scale import gram_to_zarr

    if not options.output:
        raise ParameterError("the name of the folder to write is empty; name a folder.")
    kernel = parse_kernel(options.kernel)
    rows, *others = read_named(options, options.A, options.B)
    columns = others[0] if others else None
    os.makedirs(os.path.dirname(os.path.abspath(options.output)), exist_ok=True)
    with locked(options.output), _client(options) as client:
        store = gram_to_zarr(
            kernel,
            rows,
            options.output,
            Y=columns,
            client=client,
            tile=options.tile,
            dtype=options.dtype,
            compress=options.compress,
        )
    shape = f"{store.shape[0]:,} x {store.shape[1]:,}"
    summary(options, f"{options.output}: {shape}, {len(store.tiles):,} tiles, {store.computed:,} new")


@contextmanager
def _client(options: argparse.Namespace) -> Iterator[Any]:
    from sapwood.errors import ParameterError
    from sapwood.extras import need

    if options.scheduler is None and options.workers is None:
        yield None
        return
    distributed = need("distributed", "a cluster")
    if options.scheduler is not None:
        try:
            client = distributed.Client(options.scheduler, timeout=20)
        except (OSError, ValueError) as error:
            raise ParameterError(f"--scheduler {options.scheduler}: cannot be reached ({error}).") from None
        with client:
            yield client
        return
    # Dask reports at length what we report in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with local_cluster(options.workers) as address, distributed.Client(address) as client:
        yield client


COMMAND = Command(
    "gram",
    "compute a large Gram matrix, here or on a cluster",
    "Compute the Gram matrix of the trees in A, or the values of A against B, into a Zarr array, tile by tile. Stopped "
    "runs go on when the same command is given again. Needs pip install sapwood[scale].",
    (
        argument("A", help="file of bracketed trees or CoNLL-U, a quoted glob pattern, or - for standard input"),
        argument("B", nargs="?", help="a second file"),
        OUTPUT.but(required=True, metavar="DIR", help="a new folder, or that of a stopped run"),
        KERNEL.but(required=True),
        integer("--tile", "rows of a tile", 2000),
        choice("--dtype", ("float64", "float32"), "how values are stored"),
        flag("--compress", "compress tiles (zstd)"),
        *READING,
        OneOf(
            integer("--workers", "start so many worker processes here"),
            argument("--scheduler", metavar="ADDRESS", help="a running Dask cluster, such as tcp://head:8786"),
        ),
        THREADS,
    ),
    _run,
    writes=(),
)

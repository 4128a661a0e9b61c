"""``sapwood gram``: a Gram matrix of any size, tile by tile, into a folder."""

from __future__ import annotations

import argparse
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sapwood.cli.arguments import Subparsers, add_kernel, add_reading, add_threads, positive_int, read_named

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "gram",
        help="compute a large Gram matrix into a folder, here or on a cluster",
        description="Compute the Gram matrix of the trees in A, or the values of A against B, into a Zarr array, tile "
        "by tile. Stopped runs go on when the same command is given again. Needs pip install sapwood[scale].",
    )
    parser.add_argument("A", help="file of bracketed trees, a quoted glob pattern, or - for standard input")
    parser.add_argument("B", nargs="?", help="a second file")
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="a new folder, or that of a stopped run")
    add_kernel(parser, required=True)
    parser.add_argument("--tile", type=positive_int, default=2000, metavar="N", help="rows of a tile (default: 2000)")
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="default: %(default)s")
    parser.add_argument("--compress", action="store_true", help="compress tiles (zstd)")
    add_reading(parser)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=positive_int, metavar="N", help="start so many worker processes here")
    where.add_argument("--scheduler", metavar="ADDRESS", help="a running Dask cluster, such as tcp://head:8786")
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compute what is missing, and say what there is."""
    from sapwood.errors import ParameterError
    from sapwood.kernels import parse_kernel
    from sapwood.scale import gram_to_zarr

    if not options.out:
        raise ParameterError("the name of the folder to write is empty; name a folder.")
    kernel = parse_kernel(options.kernel)
    rows, *others = read_named(options, options.A, options.B)
    columns = others[0] if others else None
    with _client(options) as client:
        store = gram_to_zarr(
            kernel,
            rows,
            options.out,
            Y=columns,
            client=client,
            tile=options.tile,
            dtype=options.dtype,
            compress=options.compress,
        )
    print(f"{options.out}: {store.shape[0]:,} x {store.shape[1]:,}, {len(store.tiles):,} tiles, {store.computed:,} new")
    return 0


@contextmanager
def _client(options: argparse.Namespace) -> Iterator[Any]:
    from sapwood.errors import ParameterError
    from sapwood.scale.extras import need

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
    with _processes(distributed, options.workers) as cluster, distributed.Client(cluster) as client:
        yield client


@contextmanager
def _processes(distributed: Any, workers: int) -> Iterator[Any]:
    """Start worker processes that leave Ctrl-C to this one, and end with it."""
    # Dask reports at length what we report in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # What is ignored while a process starts stays ignored in it.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        )
    finally:
        signal.signal(signal.SIGINT, handler)
    with cluster:
        try:
            yield cluster
        except BaseException:
            # Nobody waits for what they are computing.
            for nanny in cluster.workers.values():
                nanny.auto_restart = False
                if nanny.pid:
                    os.kill(nanny.pid, signal.SIGKILL)
            raise

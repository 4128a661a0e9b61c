"""``sapwood serve``: the explorer, a page on one's own machine to look at models with."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from sapwood.cli.arguments import Subparsers, positive_float, positive_int

if TYPE_CHECKING:
    from sapwood.explorer.server import Explorer

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "serve",
        help="look at models, kernels and decoding in a browser",
        description="Serve the explorer: a page to analyse sentences with the models of a folder, to compare trees "
        "under each kernel, and to decode roles under constraints. Without a folder, small models are trained first.",
    )
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="folder with model files (*.sap)")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s, this machine only)")
    parser.add_argument("--port", type=_port, default=8765, metavar="N", help="0 takes any (default: %(default)s)")
    parser.add_argument(
        "--workers",
        type=positive_int,
        default=2,
        metavar="N",
        help="requests worked on at once, each with its own copy of the models (default: %(default)s)",
    )
    parser.add_argument(
        "--time-limit",
        type=positive_float,
        default=10.0,
        metavar="SECONDS",
        help="for each request (default: %(default)g)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from sapwood.errors import ParameterError
    from sapwood.explorer import Limits, serve

    if options.time_limit > 3600:
        raise ParameterError(f"--time-limit must be at most 3600 seconds, got {options.time_limit:g}.")
    if not options.host:
        raise ParameterError("--host is empty; leave it out to listen on this machine only, or name an address.")
    if options.host not in ("127.0.0.1", "localhost", "::1"):
        print(
            f"sapwood: warning: {options.host} can be reached from other machines, and there is no password: whoever "
            "reaches it can use these models.",
            file=sys.stderr,
        )
    try:
        serve(
            options.folder,
            host=options.host,
            port=options.port,
            workers=options.workers,
            limits=Limits(seconds=options.time_limit),
            ready=_tell,
        )
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
    return 0


def _tell(server: Explorer) -> None:
    assert server.pool is not None
    for model in server.pool.contents["models"]:
        print(f"  {model['name']:<16} {model['fault'] or model['title']}", file=sys.stderr)
    print(f"Sapwood explorer: {server.url}", flush=True)
    print("Ctrl-C stops it.", file=sys.stderr, flush=True)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 0 <= int(text[:9]) <= 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)

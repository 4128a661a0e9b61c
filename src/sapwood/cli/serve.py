"""``sapwood serve``: the explorer, a page on one's own machine to look at models with."""

from __future__ import annotations

import argparse
import warnings
from contextlib import ExitStack
from typing import TYPE_CHECKING

from sapwood.cli.command import Command, argument
from sapwood.cli.options import flag, integer, number
from sapwood.cli.output import note

if TYPE_CHECKING:
    from sapwood.explorer.server import Explorer

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    from sapwood.errors import ParameterError
    from sapwood.explorer import Limits, serve
    from sapwood.settings import stage

    if options.time_limit > 3600:
        raise ParameterError(f"--time-limit must be at most 3600 seconds, got {options.time_limit:g}.")
    if not options.host:
        raise ParameterError("--host is empty; leave it out to listen on this machine only, or name an address.")
    if options.host not in ("127.0.0.1", "localhost", "::1"):
        warnings.warn(
            f"{options.host} can be reached from other machines, and there is no password: whoever reaches it can use "
            "these models.",
            stacklevel=1,
        )
    starting = ExitStack()

    def ready(server: Explorer) -> None:
        starting.close()
        _tell(server)

    try:
        with starting:
            starting.enter_context(stage("Getting models ready"))
            serve(
                options.folder,
                nursery=options.nursery,
                host=options.host,
                port=options.port,
                workers=options.workers,
                limits=Limits(seconds=options.time_limit),
                ready=ready,
            )
    except KeyboardInterrupt:
        note("stopped")


def _tell(server: Explorer) -> None:
    assert server.pool is not None
    for model in server.pool.contents["models"]:
        note(f"{model['name']:<16} {model['fault'] or model['title']}")
    print(f"Sapwood explorer: {server.url}", flush=True)
    note("Ctrl-C stops it")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 0 <= int(text[:9]) <= 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return int(text)


COMMAND = Command(
    "serve",
    "look at models, kernels and decoding in a browser",
    "Serve the explorer: a page to analyze sentences with the models of a folder, to compare trees under each kernel, "
    "and to decode roles under constraints. Without a folder, the English models are shown if they are installed; "
    "otherwise small models are trained first.",
    (
        argument("folder", nargs="?", metavar="FOLDER", help="folder with model files (*.sap)"),
        flag("--nursery", "train small models on the built-in corpus, one of each kind, and show them"),
        argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, this machine only)"),
        argument("--port", type=_port, default=8765, metavar="N", help="port to listen on; 0 takes any"),
        integer("--workers", "requests worked on at once, each with its own copy of the models", 2),
        number("--time-limit", "seconds for each request at most", 10.0, metavar="SECONDS"),
    ),
    _run,
    waits=True,
)

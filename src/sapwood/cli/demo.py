"""``sapwood demo``: Sapwood at work on its built-in corpus, in a minute and without any data."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_threads

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "demo",
        help="show every task on the built-in corpus",
        description="Run every task on the nursery, a corpus that Sapwood grows from a grammar. It is a garden, not a "
        "benchmark: the figures show that things work, not how well they do on real language.",
    )
    add_threads(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Grow the corpus and show one section after the other."""
    from importlib import import_module

    from sapwood.corpora import nursery
    from sapwood.experiments.demo import SECTIONS

    print("The nursery: sentences grown from a grammar. A garden, not a benchmark.")
    garden = nursery.grow()
    for name in SECTIONS:
        section = import_module(f"sapwood.experiments.demo.{name}")
        print(f"\n{section.TITLE}\n{'=' * len(section.TITLE)}")
        for part in section.run(garden):
            print(f"\n{part}", flush=True)
    return 0

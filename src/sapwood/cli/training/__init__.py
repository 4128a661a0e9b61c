"""What can be trained: one module per task, each of which says what it takes and how a model is learned from that."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from sapwood.cli.command import Argument, Command, OneOf
from sapwood.cli.options import OUTPUT, THREADS
from sapwood.cli.output import summary

__all__ = ["TASKS", "task"]

# Modules of this package, in the order of ``sapwood train --help``.
TASKS = ("trees", "parser", "questions", "pairs", "roles", "frames", "ranking")


def task(
    name: str,
    help: str,
    description: str,
    arguments: Sequence[Argument | OneOf],
    train: Callable[[argparse.Namespace], tuple[Any, str]],
) -> Command:
    """Describe the command that trains a model and saves it; ``train`` returns the model, and what it has learned."""

    def run(options: argparse.Namespace) -> None:
        from sapwood.files import save

        model, learned = train(options)
        save(model, options.output)
        summary(options, f"{options.output}: {learned}")

    output = OUTPUT.but(metavar="MODEL", required=True, help="the model file to write")
    return Command(name, help, description, (output, *arguments, THREADS), run)

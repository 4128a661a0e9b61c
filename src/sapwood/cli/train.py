"""``sapwood train``: learn a model from a file."""

from __future__ import annotations

import argparse
from importlib import import_module

from sapwood.cli.arguments import Subparsers
from sapwood.cli.training import TASKS

__all__ = ["add_parser"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command, which has one subcommand per task."""
    parser = subparsers.add_parser(
        "train",
        help="learn a model from a file",
        description="Learn a model from a file and write it to another; sapwood train TASK --help says what is read.",
    )
    tasks = parser.add_subparsers(title="tasks", metavar="TASK", required=True)
    for name in TASKS:
        import_module(f"sapwood.cli.training.{name}").add_parser(tasks)

"""``sapwood train``: learn a model from a file."""

from __future__ import annotations

from importlib import import_module

from sapwood.cli.command import Command
from sapwood.cli.training import TASKS

__all__ = ["COMMAND"]

COMMAND = Command(
    "train",
    "learn a model from a file",
    "Learn a model from a file and write it to another; sapwood train TASK --help says what is read.",
    commands=lambda: (import_module(f"sapwood.cli.training.{name}").COMMAND for name in TASKS),
    kind="task",
)

"""What can be trained: one module per task, each with ``add_parser`` for its arguments and ``run``."""

from __future__ import annotations

__all__ = ["TASKS"]

# Modules of this package, in the order of ``sapwood train --help``.
TASKS = ("trees", "parser", "questions", "pairs", "roles", "frames", "ranking")

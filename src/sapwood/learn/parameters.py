"""Checks of parameters that only learners have."""

from __future__ import annotations

from sapwood.checks import is_whole
from sapwood.errors import ParameterError

__all__ = ["check_iterations"]


def check_iterations(value: object, name: str) -> int:
    """Raise unless a parameter is a limit on iterations: a whole number of at least 1, however large, or -1."""
    if not is_whole(value) or (value != -1 and value < 1):
        raise ParameterError(
            f"{name} must be an integer of at least 1, or -1 for the limit of the solver itself, got {value!r}."
        )
    return int(value)

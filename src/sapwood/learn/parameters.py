"""Checks of parameters that only learners have."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from sapwood.checks import MOST, is_whole
from sapwood.errors import ParameterError

__all__ = ["check_iterations", "check_seed"]


def check_iterations(value: object, name: str) -> int:
    """Raise unless a parameter is a limit on iterations: a whole number of at least 1, however large, or -1."""
    if not is_whole(value) or (value != -1 and value < 1):
        raise ParameterError(
            f"{name} must be an integer of at least 1, or -1 for the limit of the solver itself, got {value!r}."
        )
    return int(value)


def check_seed(random_state: Any) -> int:
    """Return the seed that a parameter ``random_state`` stands for, drawing one where it is none itself."""
    seed = random_state
    if not is_whole(seed):
        try:
            seed = check_random_state(random_state).randint(MOST)
        except ValueError:
            seed = -1
    if seed < 0:
        raise ParameterError(
            f"random_state must be None, a RandomState or an integer of at least 0, got {random_state!r}."
        )
    return int(seed)

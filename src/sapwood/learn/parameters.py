"""Checks of the parameters that learners have in common; messages name the parameter and what it may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sapwood.errors import ParameterError
from sapwood.scalars import is_finite

__all__ = ["check_amount", "check_choice", "check_count", "check_seed"]

_MOST = 2**31 - 1  # what solvers count in


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    """Raise unless a parameter is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def check_count(value: object, name: str, least: int = 1) -> int:
    """Raise unless a parameter is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= _MOST:
        limit = f" and at most {_MOST:,}" if isinstance(value, (int, np.integer)) and value > _MOST else ""
        raise ParameterError(f"{name} must be an integer of at least {least}{limit}, got {value!r}.")
    return int(value)


def check_amount(value: object, name: str, *, zero: bool = True, below: float = np.inf) -> float:
    """Raise unless a parameter is a finite number of at least 0 (more than 0 without ``zero``) and below a limit."""
    if not is_finite(value) or not 0 <= value < below or (value == 0 and not zero):
        limits = ("at least 0" if zero else "more than 0") + ("" if below == np.inf else f" and below {below:g}")
        raise ParameterError(f"{name} must be a finite number of {limits}, got {value!r}.")
    return float(value)


def check_seed(random_state: Any) -> int:
    """Return the seed that a parameter ``random_state`` stands for, drawing one where it is none itself."""
    seed = random_state
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        try:
            seed = check_random_state(random_state).randint(_MOST)
        except ValueError:
            seed = -1
    if seed < 0:
        raise ParameterError(
            f"random_state must be None, a RandomState or an integer of at least 0, got {random_state!r}."
        )
    return int(seed)

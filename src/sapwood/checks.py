"""Checks of parameters; a message names the parameter, what is expected and what was given.

Numbers are Python's and NumPy's real ones; truth values are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np

from sapwood.errors import ParameterError

__all__ = [
    "MOST",
    "check_amount",
    "check_choice",
    "check_count",
    "check_flag",
    "check_limit",
    "check_seed",
    "check_share",
    "is_finite",
    "is_number",
    "is_whole",
]

MOST = 2**31 - 1  # what solvers count in


def is_whole(value: object) -> TypeGuard[int]:
    """Tell whether a value is an integer."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a real number."""
    return is_whole(value) or isinstance(value, (float, np.floating))


def is_finite(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number that a float can hold: neither infinite nor NaN, nor too long an integer."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def check_choice(value: object, name: str, choices: Iterable[str]) -> None:
    """Raise unless a parameter is one of a few words."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def check_flag(value: object, name: str) -> None:
    """Raise unless a parameter is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} must be True or False, got {value!r}.")


def check_count(value: object, name: str, least: int = 1, most: int | None = MOST) -> int:
    """Return an integer of at least ``least`` and at most ``most``, if there is a limit; raise for anything else."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        # The limit of all parameters is of interest to those alone who go beyond it.
        shown = most is not None and (most < MOST or (is_whole(value) and value > most))
        limit = f" and at most {most:,}" if shown else ""
        raise ParameterError(f"{name} must be an integer of at least {least:,}{limit}, got {value!r}.")
    return int(value)


def check_limit(value: object, name: str, least: int = 1) -> int | None:
    """Return None or an integer of at least ``least``, however large; raise for anything else."""
    if value is not None and (not is_whole(value) or value < least):
        raise ParameterError(f"{name} must be None or an integer of at least {least:,}, got {value!r}.")
    return None if value is None else int(value)


def check_amount(value: object, name: str, *, zero: bool = True, below: float = math.inf) -> float:
    """Return a finite number of at least 0, or more than 0 without ``zero``, and below a limit; raise otherwise."""
    if not is_finite(value) or not 0 <= value < below or (value == 0 and not zero):
        limits = ("at least 0" if zero else "more than 0") + ("" if below == math.inf else f" and below {below:g}")
        raise ParameterError(f"{name} must be a finite number of {limits}, got {value!r}.")
    return float(value)


def check_share(value: object, name: str) -> None:
    """Raise unless a parameter is a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ParameterError(f"{name} must be a number in [0, 1], got {value!r}.")


def check_seed(random_state: Any) -> int:
    """Return the seed that a parameter ``random_state`` stands for, drawing one where it is none itself."""
    from sklearn.utils import check_random_state

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

"""Parameters that learners have in common: checks, whose messages name the parameter, and what model files hold."""

from __future__ import annotations

import os
from typing import Any, TypeGuard

import numpy as np
from sklearn.utils import check_random_state

from sapwood.errors import ParameterError
from sapwood.registry import plain_value
from sapwood.scalars import is_finite

__all__ = ["MOST", "check_amount", "check_choice", "check_count", "check_iterations", "check_seed", "stored"]

MOST = 2**31 - 1  # what solvers count in


def check_choice(value: object, name: str, choices: tuple[str, ...]) -> None:
    """Raise unless a parameter is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def check_count(value: object, name: str, least: int = 1, most: int = MOST) -> int:
    """Raise unless a parameter is a whole number of at least ``least`` and at most ``most``."""
    if not _is_whole(value) or not least <= value <= most:
        # The limit of all parameters is of interest to those alone who go beyond it.
        limit = f" and at most {most:,}" if most < MOST or (_is_whole(value) and value > most) else ""
        raise ParameterError(f"{name} must be an integer of at least {least}{limit}, got {value!r}.")
    return int(value)


def check_iterations(value: object, name: str) -> int:
    """Raise unless a parameter is a limit on iterations: a whole number of at least 1, however large, or -1."""
    if not _is_whole(value) or (value != -1 and value < 1):
        raise ParameterError(
            f"{name} must be an integer of at least 1, or -1 for the limit of the solver itself, got {value!r}."
        )
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
            seed = check_random_state(random_state).randint(MOST)
        except ValueError:
            seed = -1
    if seed < 0:
        raise ParameterError(
            f"random_state must be None, a RandomState or an integer of at least 0, got {random_state!r}."
        )
    return int(seed)


def stored(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as model files hold them.

    >>> from pathlib import Path
    >>> stored({"checkpoint": Path("state"), "random_state": np.random.RandomState(0), "epochs": np.int64(3)})
    {'checkpoint': 'state', 'random_state': None, 'epochs': 3}
    """
    plain = {}
    for name, value in params.items():
        if isinstance(value, np.random.RandomState):
            # The generator has been used; what it gave is in the weights.
            value = None
        plain[name] = plain_value(os.fspath(value) if isinstance(value, os.PathLike) else value)
    return plain


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)

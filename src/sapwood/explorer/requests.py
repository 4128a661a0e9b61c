"""Validation of requests: fields taken out of JSON, each checked for its type and range."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from sapwood.errors import ParameterError

__all__ = ["choice", "flag", "integer", "items", "number", "text"]

Request = Mapping[str, Any]


def text(request: Request, name: str, default: str | None = None) -> str:
    """Take text out of a request.

    >>> text({"model": "parser"}, "model")
    'parser'
    """
    value = request.get(name, default)
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be text, got {_shown(value)}.")
    return value


def choice(request: Request, name: str, allowed: Collection[str], default: str | None = None) -> str:
    """Take one of some words out of a request."""
    value = text(request, name, default)
    if value not in allowed:
        raise ParameterError(f"{name} must be one of {', '.join(allowed)}; got {_shown(value)}.")
    return value


def number(request: Request, name: str, low: float, high: float, default: float | None = None) -> float:
    """Take a number from low to high out of a request."""
    value = request.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ParameterError(f"{name} must be a number from {low:g} to {high:g}, got {_shown(value)}.")
    return float(value)


def integer(request: Request, name: str, low: int, high: int, default: int | None = None) -> int:
    """Take a whole number from low to high out of a request."""
    value = request.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParameterError(f"{name} must be a whole number from {low} to {high}, got {_shown(value)}.")
    return value


def flag(request: Request, name: str, default: bool = False) -> bool:
    """Take true or false out of a request."""
    value = request.get(name, default)
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be true or false, got {_shown(value)}.")
    return value


def items(request: Request, name: str, most: int) -> list[Any]:
    """Take a list of limited length out of a request; a missing one is empty."""
    value = request.get(name, [])
    if not isinstance(value, list):
        raise ParameterError(f"{name} must be a list, got {_shown(value)}.")
    if len(value) > most:
        raise ParameterError(f"{name} has {len(value):,} entries; at most {most} are taken.")
    return value


def finite(value: float) -> float | None:
    """Return a number as JSON knows it: what is infinite or no number becomes null."""
    return float(value) if math.isfinite(value) else None


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."

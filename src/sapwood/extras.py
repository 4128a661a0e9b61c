"""Packages of the extras ``scale`` and ``train``, and what to say where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sapwood.errors import ParameterError

__all__ = ["import_torch", "need"]


def need(module: str, what: str) -> Any:
    """Import a module of the ``scale`` extra, or say how to get it.

    Parameters
    ----------
    module : str
        What to import, such as ``"zarr"``.
    what : str
        What it is needed for, to begin the message with.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.split(".")[0]:
            raise
        raise ParameterError(
            f"{what} needs {error.name}, which is not installed: pip install sapwood[scale]."
        ) from None


def import_torch(what: str, instead: str = "") -> Any:
    """Import PyTorch, which only training needs, or say how to get it.

    Parameters
    ----------
    what : str
        What it is needed for, to begin the message with.
    instead : str
        What does without it, to end the message with.
    """
    try:
        return import_module("torch")
    except ImportError as error:
        raise ParameterError(
            f"{what} needs PyTorch, which cannot be imported ({error}); install it with: "
            f"pip install 'sapwood[train]'. {instead}".rstrip()
        ) from None

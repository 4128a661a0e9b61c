"""Packages of the ``scale`` extra, and what to say where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sapwood.errors import ParameterError

__all__ = ["need"]


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

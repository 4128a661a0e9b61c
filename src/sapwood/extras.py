"""Packages of the extras ``scale``, ``arrow`` and ``train``, and what to say where they are missing."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from sapwood.errors import ParameterError

__all__ = ["avoid_amx", "import_torch", "need"]


def need(module: str, what: str, extra: str = "scale") -> Any:
    """Import a module of an extra, or say how to get it.

    Parameters
    ----------
    module : str
        What to import, such as ``"zarr"``.
    what : str
        What it is needed for, to begin the message with.
    extra : str
        The extra that brings it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.split(".")[0]:
            raise
        raise ParameterError(
            f"{what} needs {error.name}, which is not installed: pip install sapwood[{extra}]."
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
    avoid_amx()
    try:
        return import_module("torch")
    except ImportError as error:
        raise ParameterError(
            f"{what} needs PyTorch, which cannot be imported ({error}); install it with: "
            f"pip install 'sapwood[train]'. {instead}".rstrip()
        ) from None


def avoid_amx() -> None:
    """Keep PyTorch from its kernels for AMX, which stop the process on some processors (an illegal instruction).

    It chooses them when the first one is needed, so this works after the import too. Who has set the variable has
    chosen already.
    """
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

"""The packages that encoders need; they are optional."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sapwood.errors import DataError

__all__ = ["require"]


def require(name: str) -> Any:
    """Import a package, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        # A native package that is stopped by Ctrl-C while it is imported reports that its import has failed.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise DataError(
            f"encoders need the package {name.partition('.')[0]}, which cannot be imported ({error}); "
            "install it with: pip install 'sapwood[encoder]'"
        ) from None

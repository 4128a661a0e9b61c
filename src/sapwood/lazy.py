"""What a package shows: its public names alone, imported when they are first asked for where imports take long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names", "public_names"]


def lazy_names(package: str, homes: Mapping[str, str | None]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        The module of the package that each name is in, with a dot in front if it is beside the package; None for a
        name that is itself a module.

    Examples
    --------
    >>> find, _ = lazy_names("sapwood", {"Tree": "trees", "errors": None})
    >>> find("Tree").__name__, find("errors").__name__
    ('Tree', 'sapwood.errors')
    """

    def find(name: str) -> Any:
        if name not in homes:
            # With the two, Python proposes what is spelled alike.
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        home = homes[name]
        value = import_module(f".{home or name}", package)
        if home is not None:
            value = getattr(value, name)
        # Next time it is found without asking here.
        setattr(sys.modules[package], name, value)
        return value

    return find, public_names(package)


def public_names(package: str) -> Callable[[], list[str]]:
    """Make ``__dir__`` of a package or module: tab completion then shows ``__all__`` and Python's own names.

    >>> public_names("sapwood.errors")()[:2]
    ['BracketError', 'DataError']
    """

    def names() -> list[str]:
        module = sys.modules[package]
        return sorted({*module.__all__, *(name for name in vars(module) if name.startswith("__"))})

    return names

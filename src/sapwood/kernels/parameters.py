"""Values that are their constructor's arguments: parameters by name, equality, and a repr that reads back.

Knows nothing of what the parameters mean.
"""

from __future__ import annotations

import functools
import inspect
from difflib import get_close_matches
from typing import Any, Self

import numpy as np

from sapwood.errors import ParameterError
from sapwood.notebook import HtmlTable

__all__ = ["Parametrized", "as_written"]


class Parametrized(HtmlTable):
    """What keeps each constructor argument under its own name, as scikit-learn's estimators do.

    Subclasses check their parameters in ``_validate``.
    """

    def _validate(self) -> None:
        """Raise ParameterError if a parameter is outside its range."""

    @classmethod
    @functools.cache
    def _names(cls) -> tuple[str, ...]:
        return tuple(inspect.signature(cls).parameters)

    def _heads(self) -> tuple[str, ...]:
        """What names of parameters may begin with, for messages."""
        return self._names()

    def _summary(self) -> dict[str, Any]:
        return {"kernel": repr(self)} | {name: repr(value) for name, value in self.get_params(deep=False).items()}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; those of a part are named ``part__parameter``."""
        return self._full_params() if deep else {name: getattr(self, name) for name in self._names()}

    def _full_params(self) -> dict[str, Any]:
        """Return parameters and those of parts, each under one name."""
        params: dict[str, Any] = {}
        for name in self._names():
            value = getattr(self, name)
            params[name] = value
            if hasattr(value, "get_params") and not isinstance(value, type):
                inner = value._full_params() if isinstance(value, Parametrized) else value.get_params()
                params.update({f"{name}__{key}": part for key, part in inner.items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters by the names that ``get_params`` gives; a refused value changes nothing."""
        nested: dict[str, dict[str, Any]] = {}
        names = self._names()
        before = {name: getattr(self, name) for name in names}
        plain: dict[str, Any] = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in names:
                # The shortest of all names that end alike.
                ends = {full.rpartition("__")[2]: full for full in sorted(self.get_params(), key=len, reverse=True)}
                close = get_close_matches(name, ends, 1)
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._heads()) or 'none'}"
                    f"{f'; did you mean {ends[close[0]]}?' if close else '.'} See kernel.get_params().keys()."
                )
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                plain[name] = value
        undo: list[tuple[Any, dict[str, Any]]] = []
        try:
            for name, value in plain.items():
                setattr(self, name, value)
            self._validate()
            for name, values in nested.items():
                part = getattr(self, name)
                if not hasattr(part, "set_params"):
                    raise ParameterError(f"the parameter {name!r} of {type(self).__name__} has no parts.")
                # By value: a part may have set some of its own parts before it met the one that it refuses.
                undo.append((part, {key: old for key, old in part.get_params().items() if key in values}))
                part.set_params(**values)
        except Exception:
            for name, value in before.items():
                setattr(self, name, value)
            for part, old in undo:
                part.set_params(**old)
            raise
        return self

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented if not isinstance(other, Parametrized) else False
        assert isinstance(other, Parametrized)
        return self.get_params(deep=False) == other.get_params(deep=False)

    # Parameters can be set, so a hash would change under a dictionary's feet.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        signature = inspect.signature(type(self))
        shown = []
        for position, (name, parameter) in enumerate(signature.parameters.items()):
            value = getattr(self, name)
            if position == 0 or (value is not parameter.default and value != parameter.default):
                shown.append(f"{name}={as_written(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def as_written(value: object) -> str:
    """Write a parameter so that it reads back: NumPy's numbers, which come out of grids, as plain ones."""
    return repr(value.item() if isinstance(value, np.generic) else value)

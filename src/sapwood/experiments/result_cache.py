"""Finished parts of an experiment in the folder named by ``--cache``: a run that was stopped goes on where it was.

Small results only, as JSON; models and n-best lists have files of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sapwood.errors import DataError
from sapwood.experiments.setting import Setting
from sapwood.resuming import fingerprint
from sapwood.writing import atomic_write

__all__ = ["ResultCache"]


class ResultCache:
    """Results by name, in one file per experiment and data.

    Parameters
    ----------
    setting : Setting
        Says where the cache is; without one, nothing is kept and everything computed.
    name : str
        Of the experiment.
    *about : object
        Data, seed and settings that all results depend on: others have a file of their own.

    Examples
    --------
    >>> cache = ResultCache(Setting(), "toy", 0)
    >>> cache("the third number", range(9).__getitem__, 2)
    2
    """

    def __init__(self, setting: Setting, name: str, *about: Any) -> None:
        from sapwood import __version__

        self._values: dict[str, Any] = {}
        # The fingerprint of a treebank takes a while, and is of no use without a cache.
        key = fingerprint(__version__, *about)[:12] if setting.cache else ""
        self._path = setting.cached(f"{name}-{key}.json")
        if self._path is not None and self._path.exists():
            try:
                self._values = json.loads(self._path.read_text(encoding="utf-8"))["results"]
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise DataError(f"{self._path}: no results are in this file ({error}); remove it.") from None

    def __call__(self, name: str, compute: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of this name: from the file, or computed and then kept.

        Parameters
        ----------
        name : str
            What it is, with all settings that it depends on.
        compute : callable
            Makes it, from the arguments; anything that JSON can hold.
        """
        if name not in self._values:
            # Through JSON in any case, so that a result is the same whether it was kept or not.
            self._values[name] = json.loads(json.dumps(compute(*arguments)))
            if self._path is not None:
                atomic_write(self._path, json.dumps({"results": self._values}, indent=1).encode())
        return self._values[name]

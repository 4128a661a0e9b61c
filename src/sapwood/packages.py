"""Models that are installed as packages: which file a name such as ``en/parser`` stands for.

A package of models for the language ``en`` is the Python package ``sapwood_en``: a folder of model files with
``models.json``, which says what they are, and for which versions of Sapwood they were made.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sapwood.callers import levels_to_user
from sapwood.errors import ModelFileError

__all__ = [
    "ModelPackage",
    "find_package",
    "forget_packages",
    "model_file",
    "model_language",
    "package_in",
    "package_model",
]

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_NAME = re.compile(rf"({_LANGUAGE.pattern})/([a-z][a-z0-9-]*)")


@dataclass(frozen=True)
class ModelPackage:
    """An installed package of models.

    Attributes
    ----------
    language : str
        Its language, such as ``en``.
    folder : Path
        Where its files are.
    version : str
        Its version.
    models : dict of str to dict
        For each model, what ``models.json`` says of it: its ``file``, the ``sha256`` of that, what it is (``about``),
        what it was ``trained_on``, and its ``figures``.
    """

    language: str
    folder: Path
    version: str
    models: dict[str, dict[str, Any]]

    def path(self, model: str) -> str:
        """Return the file of a model."""
        if model not in self.models:
            known = ", ".join(f"{self.language}/{name}" for name in self.models)
            raise ModelFileError(f"{self.language}/{model}: the package sapwood-{self.language} has {known}.")
        return str(self.folder / self.models[model]["file"])


def find_package(language: str) -> ModelPackage | None:
    """Return the package of models for a language, or None if none is installed.

    Raises
    ------
    ModelFileError
        If it is made for another version of Sapwood, or damaged.
    """
    try:
        spec = find_spec(f"sapwood_{language}")
    except (ImportError, ValueError):
        return None
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    return _read(language, places[0]) if places else None


def forget_packages() -> None:
    """Read what packages say of their models anew when they are next asked for."""
    _read.cache_clear()


def package_in(folder: Path) -> str | None:
    """Return the language of the package whose models a folder holds, or None if it is not an installed one's."""
    match = re.fullmatch(rf"sapwood_({_LANGUAGE.pattern})", folder.name)
    package = find_package(match[1]) if match else None
    return package.language if package is not None and package.folder.resolve() == folder else None


@lru_cache(maxsize=8)
def _read(language: str, folder: str) -> ModelPackage:
    from sapwood import __version__

    name, path = f"sapwood-{language}", Path(folder) / "models.json"
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        found = ModelPackage(language, path.parent, about["version"], dict(about["models"]))
        series = str(about["sapwood"])
        if not all(_is_model(one) for one in found.models.values()):
            raise ValueError("a model has no file")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{path}: the package {name} is damaged ({error}); install it again.") from None
    if __version__.split(".")[:2] != series.split("."):
        raise ModelFileError(
            f"{name} {found.version} is made for Sapwood {series}, and this is {__version__}; install the package of "
            "models that belongs to it."
        )
    return found


def _is_model(one: Any) -> bool:
    file = one["file"]
    return isinstance(file, str) and file == os.path.basename(file) and isinstance(one["sha256"], str)


def package_model(name: Any) -> str | None:
    """Return the full name if a value names a model of a package, and no file; a language alone is its parser.

    >>> package_model("en/roles"), package_model("en"), package_model("models/en.sap")
    ('en/roles', 'en/parser', None)
    """
    if not isinstance(name, str) or os.path.exists(name):
        return None
    if _LANGUAGE.fullmatch(name):
        return f"{name}/parser"
    return name if _NAME.fullmatch(name) else None


def model_language(name: Any) -> str | None:
    """Return the language of the package that a name stands for; None for files.

    >>> model_language("en/roles"), model_language("en"), model_language("models/en.sap")
    ('en', 'en', None)
    """
    full = package_model(name)
    return None if full is None else full.partition("/")[0]


def model_file(name: str) -> str:
    """Return the file that a name stands for: that of a package for ``en/parser`` and the like, or the name itself.

    A file of that name comes first, with a warning if there is a package, too.

    Raises
    ------
    ModelFileError
        If there is neither a file nor a package of that name.
    """
    match = _NAME.fullmatch(package_model(name) or name)
    if match is None:
        return name
    package = find_package(match[1])
    if not os.path.exists(name):
        if package is not None:
            return package.path(match[2])
        raise ModelFileError(
            f"{name}: there is no such file (looked from {os.getcwd()}), and the package sapwood-{match[1]}, whose "
            f"models have such names, is not installed; in a checkout of Sapwood: pip install ./models/{match[1]}"
        )
    if package is not None and match[2] in package.models:
        warnings.warn(
            f"{name} is taken for the file of that name in {os.getcwd()}, not for the model of sapwood-{match[1]}.",
            UserWarning,
            stacklevel=levels_to_user(),
        )
    return name

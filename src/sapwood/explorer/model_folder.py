"""The models of one folder, by name. Nothing outside the folder is ever opened, whatever name is asked for.

What can be done with a model is said in ``analyzing`` and ``comparing``; here it is found, loaded and listed. A file
that cannot be loaded stays on the list with the reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from sapwood.errors import DataError, ModelFileError, SapwoodError
from sapwood.files import load
from sapwood.packages import package_in
from sapwood.words.encoder.needed import UsesEncoder

__all__ = ["ModelEntry", "ModelFolder", "model_files", "read_cards"]

_ENDING = ".sap"
_CARDS = "models.json"
_SAID = {"about": "what it does", "trained_on": "trained on"}
# What the page says about all models of the folder.
_ABOUT = "about.txt"

T = TypeVar("T")


@dataclass(frozen=True)
class ModelEntry:
    """A model of the folder, or why it could not be loaded.

    Attributes
    ----------
    name : str
        The name of its file, without ending.
    model : object
        The model; None if it could not be loaded.
    fault : str
        Why not; empty otherwise.
    card : tuple of (str, str)
        What it was trained on and how good it is, from ``models.json`` in the folder: names and texts.
    source : str
        What ``sapwood.load`` takes to load it: the name of the file, or that of a model of an installed package.
    """

    name: str
    model: Any
    fault: str = ""
    card: tuple[tuple[str, str], ...] = ()
    source: str = ""


def model_files(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the model files of a folder by name, sorted; those in folders below are not looked at."""
    try:
        found = [path for path in Path(folder).iterdir() if path.suffix == _ENDING and len(path.stem) > 0]
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"{os.fspath(folder)}: there is no such folder; name one that holds model files.") from None
    return {path.stem: path for path in sorted(found, key=lambda path: path.stem)}


class ModelFolder:
    """The models of a folder.

    Parameters
    ----------
    folder : path
        Every file in it that ends in ``.sap`` is loaded. Links are followed only to files that lie in the folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        root = Path(folder).resolve()
        about = root / _ABOUT
        self.about = about.read_text(encoding="utf-8")[:500].strip() if about.is_file() else ""
        cards = read_cards(root)
        package = package_in(root)
        found = {name: _open(root, name, path) for name, path in model_files(root).items()}
        self._entries = {
            name: replace(one, card=cards.get(name, ()), source=f"{package}/{name}" if package else f"{name}{_ENDING}")
            for name, one in found.items()
        }

    def __iter__(self) -> Iterator[ModelEntry]:
        return iter(self._entries.values())

    def __getitem__(self, name: str) -> Any:
        """Return a model; raise if there is none of this name, or if it could not be loaded."""
        entry = self._entries.get(name)
        if entry is None:
            shown = name if len(name) <= 60 else f"{name[:57]}..."
            raise DataError(f"there is no model {shown!r}; choose one of {', '.join(self._entries) or 'none'}.")
        if entry.model is None:
            raise ModelFileError(entry.fault)
        return entry.model

    def of(self, kind: type[T]) -> dict[str, T]:
        """Return all models of a class by name."""
        return {entry.name: entry.model for entry in self if isinstance(entry.model, kind)}


def read_cards(folder: Path) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return what ``models.json`` says of the models of a folder, as names and texts; nothing where there is none."""
    try:
        models = json.loads((folder / _CARDS).read_text(encoding="utf-8"))["models"]
        return {name: _card(one) for name, one in models.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _card(one: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    said = [(name, str(one[key])[:1000]) for key, name in _SAID.items() if one.get(key)]
    figures = [(str(name)[:100], f"{value:g}") for name, value in one.get("figures", {}).items()]
    return tuple([*said, *figures][:20])


def _open(root: Path, name: str, path: Path) -> ModelEntry:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            return ModelEntry(name, None, f"{path.name}: is a link out of the folder; copy the file itself into it.")
        if not real.is_file():
            return ModelEntry(name, None, f"{path.name}: is not a file; put model files into the folder.")
        model = load(real)
        if isinstance(model, UsesEncoder) and not _has_encoder(model):
            return ModelEntry(name, None, f"{path.name}: needs an encoder that is not here; see sapwood doctor -v.")
        return ModelEntry(name, model)
    except (SapwoodError, OSError, MemoryError) as error:
        # Whoever looks at the page knows the folder; the rest of the path is not theirs to see.
        return ModelEntry(
            name, None, str(error).replace(f"{root}{os.sep}", "") or f"{path.name}: {type(error).__name__}"
        )
    except Exception as error:  # a damaged file can go wrong in any way, and the others are to be shown all the same
        return ModelEntry(name, None, f"{path.name}: cannot be loaded ({type(error).__name__}: {error}).")


def _has_encoder(model: UsesEncoder) -> bool:
    try:
        model._encoder()
    except DataError:
        return False
    return True

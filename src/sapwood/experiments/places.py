"""Where the corpora of an experiment lie, and what to tell a user who does not have one."""

from __future__ import annotations

from sapwood.corpora.catalogue import data_folders, find
from sapwood.errors import DataError
from sapwood.experiments.tables import Setting

__all__ = ["data_folders_of", "place_if_any", "place_of"]


def data_folders_of(setting: Setting) -> list[str]:
    """Return where an experiment looks for data."""
    return data_folders([setting.data] if setting.data else [])


def place_if_any(setting: Setting, corpus: str) -> str | None:
    """Return the path of a corpus of the catalogue, which is then to be read, or None if it is not there."""
    path = find(data_folders_of(setting), names=[corpus])[0].path
    if path is not None:
        setting.read[corpus] = path
    return path


def place_of(setting: Setting, corpus: str) -> str:
    """Return the path of a corpus of the catalogue, which is then to be read.

    Raises
    ------
    DataError
        If it is not there: where it was looked for, and how to get it.
    """
    folders = data_folders_of(setting)
    (found,) = find(folders, names=[corpus])
    if found.path is None:
        where = ", ".join(folders) or "any folder; name one with --data"
        raise DataError(f"the corpus {corpus!r} was not found in {where}. How to get it: {found.corpus.obtain}.")
    setting.read[corpus] = found.path
    return found.path

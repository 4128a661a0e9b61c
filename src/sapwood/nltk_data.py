"""Where NLTK keeps its data, found without importing NLTK, and where ``sapwood data get`` puts corpora."""

from __future__ import annotations

import os
import sys

from sapwood.errors import DataError

__all__ = ["find_nltk", "nltk_search_path", "user_data_folder"]


def user_data_folder() -> str:
    """Return the folder into which ``sapwood data get`` puts corpora, laid out as NLTK's."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "sapwood", "data")


def nltk_search_path() -> list[str]:
    """Return the folders in which NLTK looks for its data, in NLTK's order, without importing NLTK.

    If NLTK is loaded already, its own ``nltk.data.path`` is taken, with whatever the user has added to it. The folder
    of ``sapwood data get`` comes last.
    """
    return [*_nltk_path(), user_data_folder()]


def _nltk_path() -> list[str]:
    loaded = sys.modules.get("nltk.data")
    if loaded is not None and hasattr(loaded, "path"):
        return [str(folder) for folder in loaded.path]
    path = [folder for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    if os.path.expanduser("~/") != "~/":
        path.append(os.path.expanduser("~/nltk_data"))
    path += [os.path.join(sys.prefix, *parts, "nltk_data") for parts in ((), ("share",), ("lib",))]
    if sys.platform.startswith("win"):
        path += [os.path.join(os.environ.get("APPDATA", "C:\\"), "nltk_data")]
        return path + [rf"{drive}:\nltk_data" for drive in "CDE"]
    return path + [f"/usr/{place}/nltk_data" for place in ("share", "local/share", "lib", "local/lib")]


def find_nltk(package: str) -> str:
    """Return where a corpus of NLTK lies, unpacked or zipped.

    Parameters
    ----------
    package : str
        Its name in NLTK, such as ``"treebank"`` or ``"qc"``.

    Returns
    -------
    str
        A folder, or a path into a zip that every reader accepts: ``.../corpora/treebank.zip/treebank``.

    Raises
    ------
    DataError
        If it is not found; says where it was looked for and how to get it.
    """
    for folder in nltk_search_path():
        place = os.path.join(folder, "corpora", package)
        if os.path.isdir(place):
            return place
        if os.path.isfile(f"{place}.zip"):
            return os.path.join(f"{place}.zip", package)
    raise DataError(
        f"NLTK's {package} was not found; looked in {', '.join(nltk_search_path())}. "
        f"Get it with: python -m nltk.downloader {package}"
    )

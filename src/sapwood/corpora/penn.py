"""Penn treebanks: folders and archives of bracketed files, and NLTK's sample wherever NLTK would find it.

Finding and opening files is here; brackets themselves are read by ``sapwood.trees``, and written by its
``write_trees``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sapwood.corpora.sources import Source, open_all
from sapwood.errors import DataError
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import iter_tree_blocks, read_trees

__all__ = ["find_nltk", "iter_treebank", "nltk_search_path", "read_treebank", "treebank_files"]

_ENDINGS = (".mrg", ".ptb", ".prd", ".parse", ".psd", ".tree", ".trees")
_PACKED_ENDINGS = tuple(ending + ".gz" for ending in _ENDINGS)


def nltk_search_path() -> list[str]:
    """Return the folders in which NLTK looks for its data, in NLTK's order, without importing NLTK.

    If NLTK is loaded already, its own ``nltk.data.path`` is taken, with whatever the user has added to it.
    """
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


def find_nltk(package: str) -> str | None:
    """Return where a corpus of NLTK lies, unpacked or zipped, or None.

    Parameters
    ----------
    package : str
        Its name in NLTK, such as ``"treebank"`` or ``"qc"``.

    Returns
    -------
    str or None
        A folder, or a path into a zip that every reader here accepts: ``.../corpora/treebank.zip/treebank``.
    """
    for folder in nltk_search_path():
        place = os.path.join(folder, "corpora", package)
        if os.path.isdir(place):
            return place
        if os.path.isfile(f"{place}.zip"):
            return os.path.join(f"{place}.zip", package)
    return None


def treebank_files(source: Source | Sequence[Source] | None = None) -> Source | Sequence[Source]:
    """Resolve what ``read_treebank`` takes to files: None to NLTK's sample, a folder to the treebank files under it."""
    if source is None:
        place = find_nltk("treebank")
        if place is None:
            raise DataError(
                "NLTK's Penn Treebank sample was not found; looked in "
                f"{', '.join(nltk_search_path())}. Get it with: python -m nltk.downloader treebank"
            )
        return os.path.join(place, "combined", "wsj_*.mrg")
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        names = sorted(
            str(name) for name in Path(source).rglob("*") if name.name.lower().endswith(_ENDINGS + _PACKED_ENDINGS)
        )
        if not names:
            raise DataError(
                f"{os.fspath(source)}: no treebank file under this folder; looked for names ending in "
                f"{', '.join(_ENDINGS)}. Name the files with a pattern such as 'folder/*.txt'."
            )
        return names
    return source


def iter_treebank(
    source: Source | Sequence[Source] | None = None,
    *,
    drop_traces: bool = False,
    drop_function_tags: bool = False,
    collapse_unary: bool = False,
    unescape: bool = False,
    encoding: str = "utf-8",
) -> Iterator[TreeArray]:
    """Yield a treebank as arrays of trees, a block or a file at a time, in memory that does not grow with it.

    Parameters
    ----------
    source : folder, path, pattern, open file, or a list of these, optional
        Also compressed files and members of archives, as ``"gum.tar.xz/const/*.ptb"``. None finds NLTK's sample.
    drop_traces, drop_function_tags, collapse_unary, unescape, encoding
        As in ``sapwood.read_trees``.

    Examples
    --------
    >>> import io
    >>> sum(len(block) for block in iter_treebank(io.StringIO("( (S (NP (NN rain))) ) (FRAG (UH no))")))
    2
    """
    for stream in open_all(treebank_files(source)):
        yield from iter_tree_blocks(
            stream,
            drop_traces=drop_traces,
            drop_function_tags=drop_function_tags,
            collapse_unary=collapse_unary,
            unescape=unescape,
            encoding=encoding,
        )


def read_treebank(
    source: Source | Sequence[Source] | None = None,
    *,
    drop_traces: bool = False,
    drop_function_tags: bool = False,
    collapse_unary: bool = False,
    unescape: bool = False,
    encoding: str = "utf-8",
) -> TreeArray:
    """Read a whole treebank into one array; parameters as in ``iter_treebank``.

    Examples
    --------
    >>> import io
    >>> read_treebank(io.StringIO("(NP-SBJ (NN rain)) (NP (NN rain))"), drop_function_tags=True)
    TreeArray(2 trees, 6 nodes, 3 distinct subtrees)
    """
    return read_trees(
        open_all(treebank_files(source)),
        drop_traces=drop_traces,
        drop_function_tags=drop_function_tags,
        collapse_unary=collapse_unary,
        unescape=unescape,
        encoding=encoding,
    )

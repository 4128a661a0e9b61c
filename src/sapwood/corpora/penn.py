"""Penn treebanks: folders and archives of bracketed files, and NLTK's sample wherever NLTK would find it.

Finding and opening files is here; brackets themselves are read by ``sapwood.trees``, and written by its
``write_trees``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sapwood.corpora.sources import Source, open_all
from sapwood.errors import DataError
from sapwood.nltk_data import nltk_search_path
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import iter_tree_blocks, read_trees

__all__ = ["find_nltk", "iter_treebank", "read_treebank", "treebank_files"]

_ENDINGS = (".mrg", ".ptb", ".prd", ".parse", ".psd", ".tree", ".trees")
_PACKED_ENDINGS = tuple(ending + ".gz" for ending in _ENDINGS)


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

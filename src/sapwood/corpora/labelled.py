"""Labelled trees: one ``label<TAB>tree`` per line."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import BracketError, DataError
from sapwood.trees.array import TreeArray
from sapwood.trees.brackets import read_into

__all__ = ["read_labelled"]


def read_labelled(
    source: str | os.PathLike[str] | IO[str], *, labels: bool = True
) -> tuple[TreeArray, NDArray[np.str_] | None]:
    """Read labelled trees.

    Parameters
    ----------
    source : path or open text file
        One ``label<TAB>tree`` per line, as UTF-8; empty lines are passed over. Names in ``.gz`` are decompressed.
    labels : bool
        With False, lines may also hold a tree alone, and no labels are returned unless every line has one.

    Returns
    -------
    trees : TreeArray
    labels : array of str, or None

    Raises
    ------
    DataError, BracketError
        With file and line, and nothing is returned.

    Examples
    --------
    >>> import io
    >>> trees, y = read_labelled(io.StringIO("ask\\t(S (WH who) (V runs))\\ntell\\t(S (N he) (V runs))\\n"))
    >>> len(trees), y.tolist()
    (2, ['ask', 'tell'])
    """
    name, lines = _lines(source)
    arena = _core.trees.Arena()
    roots: list[int] = []
    found: list[str | None] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        label, tab, tree = line.partition("\t")
        if not tab:
            if labels:
                raise DataError(f"{name}:{number}: expected label<TAB>tree, but the line has no tab.")
            label, tree = "", line
        elif not label.strip():
            raise DataError(f"{name}:{number}: the label before the tab is empty.")
        try:
            read = read_into(arena, tree.encode("utf-8", "surrogateescape"), name)
        except BracketError as error:
            column = error.column + (len(label) + 1 if tab else 0)
            raise BracketError(name, number, column, error.reason, error.context) from None
        if len(read) != 1:
            raise DataError(f"{name}:{number}: expected exactly one tree on the line, found {len(read)}.")
        roots.append(int(read[0]))
        found.append(label.strip() if tab else None)
    if not roots:
        raise DataError(f"{name}: holds no tree. Expected lines of label<TAB>tree.")
    trees = TreeArray._from_arena(arena, np.array(roots, dtype=np.uint32))
    given = [label for label in found if label is not None]
    return trees, np.array(given) if len(given) == len(found) else None


def _lines(source: str | os.PathLike[str] | IO[str]) -> tuple[str, Iterable[str]]:
    if not isinstance(source, (str, os.PathLike)):
        return str(getattr(source, "name", "<stream>")), source
    name = os.fspath(source)
    return name, _file_lines(name)


def _file_lines(name: str) -> Iterator[str]:
    try:
        with gzip.open(name, "rb") if name.endswith(".gz") else open(name, "rb") as stream:
            for number, raw in enumerate(stream, 1):
                try:
                    yield raw.decode().rstrip("\r\n")
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"{name}:{number}: byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8."
                    ) from None
    except FileNotFoundError:
        raise DataError(f"{name}: no such file (looked from {os.getcwd()}).") from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: is not a whole gzip file ({error}); fetch or pack it again.") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror}).") from None

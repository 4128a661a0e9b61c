"""How an experiment is run: where its data is, the seed, which tables are wanted, and where results are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sapwood.errors import DataError
from sapwood.notebook import HtmlTable

__all__ = ["Setting"]


@dataclass(frozen=True)
class Setting(HtmlTable):
    """How to run an experiment.

    Parameters
    ----------
    data : Path or None
        The folder that holds the corpora, one folder each; None looks where ``sapwood data`` looks.
    seed : int
        Seed of everything that is random.
    cache : Path or None
        A folder for intermediate results that are worth keeping (models, n-best lists); None keeps none.
    tables : tuple of str
        The tables wanted; empty means all.
    read : dict
        Name and path of the data that has been read so far; the experiment fills it.
    """

    data: Path | None = None
    seed: int = 0
    cache: Path | None = None
    tables: tuple[str, ...] = ()
    read: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def wants(self, *tables: str) -> bool:
        """Whether one of these tables is to be made."""
        return not self.tables or any(table in self.tables for table in tables)

    def folders(self) -> list[str]:
        """Return the folders in which corpora are looked for."""
        # Here and not above: the catalog imports all readers, and listing experiments should not.
        from sapwood.corpora.catalog import data_folders

        return data_folders([self.data] if self.data else [])

    def find(self, corpus: str) -> str | None:
        """Return the path of a corpus of the catalog, which is then to be read, or None if it is not there."""
        from sapwood.corpora.catalog import find

        path = find(self.folders(), names=[corpus])[0].path
        if path is not None:
            self.read[corpus] = path
        return path

    def path(self, corpus: str) -> str:
        """Return the path of a corpus of the catalog, which is then to be read.

        Raises
        ------
        DataError
            If it is not there: where it was looked for, and how to get it.
        """
        path = self.find(corpus)
        if path is None:
            from sapwood.corpora.catalog import lookup

            where = ", ".join(self.folders()) or "any folder; name one with --data"
            raise DataError(f"the corpus {corpus!r} was not found in {where}. How to get it: {lookup(corpus).obtain}.")
        return path

    def cached(self, name: str) -> Path | None:
        """Return the path of a file in the cache, which need not exist; None without a cache."""
        if self.cache is None:
            return None
        self.cache.mkdir(parents=True, exist_ok=True)
        return self.cache / name

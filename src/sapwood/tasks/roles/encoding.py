"""Candidates as rows of a sparse matrix: flat features, and fragments of their portions of the tree.

This is what makes labeling linear in the number of candidates: no row is ever compared with a training example. The
fragments are those of the subset-tree kernel, up to a size (``FragmentMap``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import DataError
from sapwood.kernels.maps import FragmentMap
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.feature_sets import describe, feature_names
from sapwood.tasks.roles.views import Candidate
from sapwood.trees.array import TreeArray
from sapwood.trees.portions import portion

__all__ = ["Encoder"]


class Encoder:
    """Turns candidates into rows.

    Parameters
    ----------
    features : str
        The set of flat features; see ``sapwood.tasks.roles.feature_sets``.
    min_count : int
        How often a value must occur in training to get a column.
    fragments : mapping of str to float
        Kinds of portions whose fragments get columns too, each with its weight; see ``sapwood.trees.portions``. The
        rows of one kind have this squared length.
    max_fragments : int
        Most fragments per kind: those that occur in most training examples.
    """

    def __init__(
        self, features: str, *, min_count: int = 2, fragments: Mapping[str, float] | None = None, max_fragments: int = 0
    ) -> None:
        self.features, self.min_count = features, min_count
        self.fragments, self.max_fragments = dict(fragments or {}), max_fragments
        self.columns: list[dict[str, int]] = []
        self.width = 0
        self.maps: dict[str, FragmentMap] = {}

    def fit(self, candidates: Sequence[Candidate], values: Sequence[Sequence[str]]) -> Self:
        """Choose columns; ``values`` are the flat features of the candidates, in the order of their names."""
        self._number(self._frequent(values))
        for kind in self.fragments:
            made = FragmentMap(max_size=4, min_df=5, n_fragments=self.max_fragments or None, max_fragments=5_000_000)
            self.maps[kind] = made.fit(_portions(candidates, kind))
        return self

    def _frequent(self, values: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the values of each feature that occur often enough, in order."""
        counts: list[Counter[str]] = [Counter() for _ in feature_names(self.features)]
        for row in values:
            for count, value in zip(counts, row, strict=True):
                if value:
                    count[value] += 1
        # NUL stands between values in model files; no corpus has it in a word.
        return [
            sorted(value for value, times in count.items() if times >= self.min_count and "\0" not in value)
            for count in counts
        ]

    def _number(self, kept: Iterable[Iterable[str]]) -> None:
        """Give the values of each feature their columns."""
        self.columns, self.width = [], 0
        for values in kept:
            self.columns.append({value: self.width + at for at, value in enumerate(values)})
            self.width += len(self.columns[-1])

    def joined(self, values: Sequence[Sequence[str]]) -> Encoder:
        """Return one with the columns of this one, and of what is frequent among other values; fragments are kept."""
        found = Encoder(
            self.features, min_count=self.min_count, fragments=self.fragments, max_fragments=self.max_fragments
        )
        found._number(
            dict.fromkeys([*own, *new]) for own, new in zip(self.columns, self._frequent(values), strict=True)
        )
        found.maps = self.maps
        return found

    def places_of(self, other: Encoder) -> NDArray[np.int64]:
        """Return in which columns those of another encoder are, all of whose values this one has."""
        flat = [own[value] for own, column in zip(self.columns, other.columns, strict=True) for value in column]
        return np.array([*flat, *range(self.width, self.total)], np.int64)

    def transform(
        self, candidates: Sequence[Candidate], values: Sequence[Sequence[str]] | None = None
    ) -> sparse.csr_array:
        """Return one row per candidate."""
        flat = self._flat([describe(*one, self.features) for one in candidates] if values is None else values)
        if not self.maps:
            return flat
        parts = [flat]
        for kind, made in self.maps.items():
            rows = made.transform(_portions(candidates, kind))
            lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
            scale = np.sqrt(self.fragments[kind]) / np.where(lengths > 0, lengths, 1.0)
            rows.data *= np.repeat(scale, np.diff(rows.indptr))
            parts.append(rows)
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def _flat(self, values: Sequence[Sequence[str]]) -> sparse.csr_array:
        indices: list[int] = []
        ends = [0]
        for row in values:
            for column, value in zip(self.columns, row, strict=True):
                found = column.get(value)
                if found is not None:
                    indices.append(found)
            ends.append(len(indices))
        shape = (len(ends) - 1, self.width)
        return sparse.csr_array((np.ones(len(indices)), np.array(indices, np.int32), np.array(ends, np.int32)), shape)

    @property
    def total(self) -> int:
        """The number of columns, with those of fragments."""
        return self.width + sum(len(made.fragments_) for made in self.maps.values())

    def only(self, used: NDArray[np.bool_]) -> Encoder:
        """Return one without the columns of values that are not used; fragments keep theirs."""
        found = Encoder(
            self.features, min_count=self.min_count, fragments=self.fragments, max_fragments=self.max_fragments
        )
        found._number([value for value, number in column.items() if used[number]] for column in self.columns)
        found.maps = self.maps
        return found

    def names(self) -> list[str]:
        """Return what each column stands for."""
        found = [
            f"{name}={value}"
            for name, column in zip(feature_names(self.features), self.columns, strict=True)
            for value in column
        ]
        for kind, made in self.maps.items():
            found += [f"{kind} {text}" for text in made.get_feature_names_out()]
        return found

    def write(self, writer: Writer) -> dict[str, Any]:
        """Describe the encoder for a model file; the long list of values goes into an array of bytes."""
        text = "\0\0".join("\0".join(column) for column in self.columns)
        return {
            "features": self.features,
            "min_count": self.min_count,
            "max_fragments": self.max_fragments,
            "fragments": self.fragments,
            "values": writer.array(np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)),
            "maps": {kind: [made.decay, writer.part(made.fragments_)] for kind, made in self.maps.items()},
        }

    @classmethod
    def read(cls, data: dict[str, Any], reader: Reader) -> Encoder:
        """Rebuild what ``write`` described."""
        encoder = cls(
            data["features"],
            min_count=data["min_count"],
            fragments=data["fragments"],
            max_fragments=data["max_fragments"],
        )
        packed: NDArray[np.uint8] = reader.array(data["values"], np.uint8, 1)
        columns = packed.tobytes().decode("utf-8", "surrogatepass").split("\0\0")
        if len(columns) != len(feature_names(encoder.features)):
            raise reader.fail("the features are not those of this version")
        # Many words are values of several features: one of each is enough.
        one: dict[str, str] = {}
        encoder._number(
            [one.setdefault(value, value) for value in column.split("\0")] if column else [] for column in columns
        )
        for kind, (decay, fragments) in data["maps"].items():
            made = FragmentMap(decay)
            made._keep(reader.part(fragments, TreeArray))
            encoder.maps[kind] = made
        return encoder


def _portions(candidates: Sequence[Candidate], kind: str) -> TreeArray:
    if not candidates:
        raise DataError("there is no candidate to cut portions for.")
    return TreeArray([portion(view.at, node, view.predicate, kind, lemma=view.lemma) for view, node in candidates])

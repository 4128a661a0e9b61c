"""Candidates as rows of a sparse matrix: flat features, and fragments of their portions of the tree.

This is what makes labeling linear in the number of candidates: no row is ever compared with a training example. The
fragments are those of the subset-tree kernel, up to a size (``FragmentMap``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood._core.columns import TextColumns
from sapwood.errors import DataError
from sapwood.kernels.maps import FragmentMap
from sapwood.registry import Reader, Writer
from sapwood.tasks.roles.feature_sets import describe, feature_names, feature_set
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
        self.maps: dict[str, FragmentMap] = {}
        self._number([[]] * len(feature_names(features)))

    def fit(self, candidates: Sequence[Candidate], values: Sequence[Sequence[str]]) -> Self:
        """Choose columns; ``values`` are the single flat features of the candidates, as ``describe`` has them."""
        self._number(self._frequent(values))
        for kind in self.fragments:
            made = FragmentMap(max_size=4, min_df=5, n_fragments=self.max_fragments or None, max_fragments=5_000_000)
            self.maps[kind] = made.fit(_portions(candidates, kind))
        return self

    def _frequent(self, values: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the values of each feature that occur often enough, in order."""
        chosen = feature_set(self.features)
        counts: list[Counter[str]] = [Counter() for _ in chosen.names]
        for row in values:
            for count, value in zip(counts, [*row, *chosen.joined(row)], strict=True):
                if value:
                    count[value] += 1
        # NUL stands between values in model files; no corpus has it in a word.
        return [
            sorted(value for value, times in count.items() if times >= self.min_count and "\0" not in value)
            for count in counts
        ]

    def _number(self, kept: Iterable[Iterable[str]]) -> None:
        """Give the values of each feature their columns."""
        self._give_columns(["\0".join(values).encode("utf-8", "surrogatepass") for values in kept])

    def _give_columns(self, packed: Sequence[bytes]) -> None:
        """Do so for values that NUL stands between."""
        ends = np.cumsum([values.count(b"\0") + 1 if values else 0 for values in packed]).tolist()
        texts = b"".join(values + b"\0" for values in packed if values)
        self._columns = TextColumns(texts, ends, feature_set(self.features).groups)

    @property
    def values(self) -> list[list[str]]:
        """The values of each feature that have columns, in the order of these."""
        ends, every = self._columns.ends, self._columns.texts.decode("utf-8", "surrogatepass").split("\0")
        return [every[begin:end] for begin, end in pairwise([0, *ends])]

    @property
    def width(self) -> int:
        """The number of columns for values."""
        return self._columns.ends[-1]

    def joined(self, values: Sequence[Sequence[str]]) -> Encoder:
        """Return one with the columns of this one, and of what is frequent among other values; fragments are kept."""
        found = Encoder(
            self.features, min_count=self.min_count, fragments=self.fragments, max_fragments=self.max_fragments
        )
        found._number(dict.fromkeys([*own, *new]) for own, new in zip(self.values, self._frequent(values), strict=True))
        found.maps = self.maps
        return found

    def places_of(self, other: Encoder) -> NDArray[np.int64]:
        """Return in which columns those of another encoder are, all of whose values this one has."""
        flat: list[int] = []
        begin = 0
        for own, theirs in zip(self.values, other.values, strict=True):
            columns = {value: begin + at for at, value in enumerate(own)}
            flat += [columns[value] for value in theirs]
            begin += len(own)
        return np.array([*flat, *range(self.width, self.total)], np.int64)

    def transform(self, candidates: Sequence[Candidate], values: Sequence[list[str]] | None = None) -> sparse.csr_array:
        """Return one row per candidate."""
        if values is None:
            values = [describe(*one, self.features) for one in candidates]
        indices, ends = self._columns.find(list(values))
        flat = sparse.csr_array((np.ones(len(indices)), indices, ends), (len(values), self.width))
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

    @property
    def total(self) -> int:
        """The number of columns, with those of fragments."""
        return self.width + sum(len(made.fragments_) for made in self.maps.values())

    def only(self, used: NDArray[np.bool_]) -> Encoder:
        """Return one without the columns of values that are not used; fragments keep theirs."""
        found = Encoder(
            self.features, min_count=self.min_count, fragments=self.fragments, max_fragments=self.max_fragments
        )
        wanted = iter(used.tolist())
        found._number([value for value in values if next(wanted)] for values in self.values)
        found.maps = self.maps
        return found

    def names(self) -> list[str]:
        """Return what each column stands for."""
        found = [
            f"{name}={value}"
            for name, values in zip(feature_names(self.features), self.values, strict=True)
            for value in values
        ]
        for kind, made in self.maps.items():
            found += [f"{kind} {text}" for text in made.get_feature_names_out()]
        return found

    def write(self, writer: Writer) -> dict[str, Any]:
        """Describe the encoder for a model file; the long list of values goes into an array of bytes."""
        text = "\0\0".join("\0".join(values) for values in self.values)
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
        columns = packed.tobytes().split(b"\0\0")
        if len(columns) != len(feature_names(encoder.features)):
            raise reader.fail("the features are not those of this version")
        try:
            packed.tobytes().decode("utf-8", "surrogatepass")
            encoder._give_columns(columns)
        except ValueError as error:
            raise reader.fail(f"the values of features cannot be read: {error}") from None
        for kind, (decay, fragments) in data["maps"].items():
            made = FragmentMap(decay)
            made._keep(reader.part(fragments, TreeArray))
            encoder.maps[kind] = made
        return encoder


def _portions(candidates: Sequence[Candidate], kind: str) -> TreeArray:
    if not candidates:
        raise DataError("there is no candidate to cut portions for.")
    return TreeArray([portion(view.at, node, view.predicate, kind, lemma=view.lemma) for view, node in candidates])

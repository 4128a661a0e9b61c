"""Words that mean concepts, and concepts that lie under others: superconcept kernels.

A concept is the vector of everything it is a kind of, itself included, and two words are as similar as the vectors of
their senses. Such dot products are positive semi-definite whatever the weights. Measures defined pair by pair are not,
on a taxonomy with several parents per concept; they are given only together with a repair.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.checks import check_choice, check_flag, is_finite
from sapwood.errors import DataError, ParameterError
from sapwood.words.base import Source, as_words
from sapwood.words.hierarchy import WEIGHTS, Hierarchy, information_content, superconcepts
from sapwood.words.repair import repair
from sapwood.words.vectors import Vectors

__all__ = ["MEASURES", "Superconcepts", "Taxonomy"]

# Similarities of two concepts, of which none is a kernel on every taxonomy.
MEASURES = ("path", "wu-palmer", "lin", "resnik")

# From so many words on they are looked up together.
_MANY = 256

_Vector = tuple[NDArray[np.int64], NDArray[np.float64]]


class Superconcepts(Source):
    """A similarity of words through the superconcepts of their senses."""

    weights: str
    senses: Any
    normalized: bool

    def __init__(self) -> None:
        self._known: dict[str, _Vector] = {}
        # The rows of many words, so that a large vocabulary is looked up at once.
        self._table: tuple[dict[str, int], sparse.csr_array] | None = None

    @abstractmethod
    def _hierarchy(self) -> Hierarchy: ...

    @abstractmethod
    def _width(self) -> int:
        """Return a number larger than that of any concept."""

    @abstractmethod
    def _senses(self, word: str) -> Sequence[int]:
        """Return the concepts that a word means, the most frequent first."""

    @property
    def is_psd(self) -> bool:
        """Always True: dot products of superconcept vectors are."""
        return True

    def measured(self, words: Sequence[str], *, measure: str = "lin", repair: str) -> Vectors:
        """Compare words by a pairwise measure of their first senses, repaired to be positive semi-definite.

        Parameters
        ----------
        words : sequence of str
            The whole vocabulary: the repair is one for all of them. Words without a sense are left out, and follow
            the rule for unknown words. The cost grows with the cube of their number.
        measure : {"lin", "path", "resnik", "wu-palmer"}
            Which one; the common superconcept is the one that gives the largest value.
        repair : {"clip", "shift"}
            How negative eigenvalues are removed; see ``sapwood.words.repair``.
        """
        check_choice(measure, "measure", MEASURES)
        known = [word for word in dict.fromkeys(as_words(words)) if len(self._senses(word))]
        concepts = [self._senses(word)[0] for word in known]
        values = np.empty((len(known), len(known)))
        pairs: dict[tuple[int, int], float] = {}
        for i, first in enumerate(concepts):
            for j, second in enumerate(concepts[: i + 1]):
                key = (min(first, second), max(first, second))
                if key not in pairs:
                    pairs[key] = pair_measure(self._hierarchy(), first, second, measure)
                values[i, j] = values[j, i] = pairs[key]
        return _repair(known, values, repair)

    def _features(self, words: list[str]) -> sparse.csr_array:
        if len(words) < _MANY:
            return self._stacked(words)
        rows, table = self._table or ({}, self._stacked([]))
        fresh = [word for word in dict.fromkeys(words) if word not in rows]
        if fresh:
            rows = rows | {word: row for row, word in enumerate(fresh, len(rows))}
            table = sparse.vstack([table, self._stacked(fresh)], format="csr")
            self._table = rows, table
        return table[np.fromiter(map(rows.__getitem__, words), dtype=np.int64, count=len(words))]

    def _stacked(self, words: list[str]) -> sparse.csr_array:
        found = [self._known.get(word) or self._learn(word) for word in words]
        columns = np.concatenate([vector[0] for vector in found]) if found else np.zeros(0, dtype=np.int64)
        data = np.concatenate([vector[1] for vector in found]) if found else np.zeros(0)
        ends = np.cumsum([0, *(len(vector[0]) for vector in found)])
        return sparse.csr_array((data, columns, ends), shape=(len(words), self._width()))

    def _learn(self, word: str) -> _Vector:
        """Look a word up for the first time."""
        concepts = self._senses(word)
        if len(concepts) == 1:
            vector = self._concept_vector(concepts[0], unit=self.normalized)
        else:
            # Each sense has length 1 and counts by its rank, so that the first outweighs the rest.
            total: dict[int, float] = {}
            for rank, concept in enumerate(concepts, 1):
                indices, values = self._concept_vector(concept, unit=True)
                for index, value in zip(indices.tolist(), values.tolist(), strict=True):
                    total[index] = total.get(index, 0.0) + value / rank
            vector = _as_vector(total, unit=self.normalized)
        self._known[word] = vector
        return vector

    def _concept_vector(self, concept: int, *, unit: bool) -> _Vector:
        return _as_vector(superconcepts(self._hierarchy(), concept, self.weights), unit=unit)

    def _check(self) -> None:
        check_choice(self.weights, "weights", WEIGHTS)
        check_flag(self.normalized, "normalized")


class Taxonomy(Superconcepts):
    """Words compared through a taxonomy of one's own.

    Parameters
    ----------
    edges : iterable of (concept, superconcept)
        What is a kind of what. A concept may have several superconcepts; there may be no cycles.
    counts : mapping from concepts to numbers, optional
        How often each concept itself was seen; P of a concept adds up what lies under it. Without counts every concept
        counts 1 ("intrinsic" information). Used by the Lin and Resnik weights.
    senses : mapping from words to lists of concepts, optional
        What words mean, the most frequent sense first. A word that is not listed means the concept of its own name.
    weights : {"full", "path", "wu-palmer", "lin", "resnik"}
        How much a superconcept c' counts for c: 1; 1/(1+d) with d steps between them; 2·dep(c')/(dep(c)+dep(c'));
        2·log P(c')/(log P(c)+log P(c')); -log P(c').
    normalized : bool
        Whether vectors are scaled to length 1, so that a word is 1 with itself.

    Examples
    --------
    >>> animals = Taxonomy([("dog", "mammal"), ("cat", "mammal"), ("mammal", "animal"), ("trout", "animal")])
    >>> round(animals("dog", "cat"), 4), round(animals("dog", "trout"), 4), animals("dog", "stone")
    (0.6667, 0.4082, 0.0)
    """

    def __init__(
        self,
        edges: Iterable[tuple[str, str]],
        counts: Mapping[str, float] | None = None,
        *,
        senses: Mapping[str, Sequence[str]] | None = None,
        weights: str = "full",
        normalized: bool = True,
    ) -> None:
        super().__init__()
        self.edges = tuple(_edge(edge) for edge in edges)
        self.counts = None if counts is None else dict(counts)
        self.senses = None if senses is None else {word: tuple(meant) for word, meant in senses.items()}
        self.weights, self.normalized = weights, normalized
        self._check()
        self._concepts = {name: number for number, name in enumerate(dict.fromkeys(sum(self.edges, ())))}
        self._graph = _Graph(self.edges, self.counts, self._concepts)
        for word, meant in (self.senses or {}).items():
            for concept in meant:
                if concept not in self._concepts:
                    raise DataError(f"the word {word!r} means {concept!r}, which is in no edge of the taxonomy.")

    def _hierarchy(self) -> Hierarchy:
        return self._graph

    def _width(self) -> int:
        return len(self._concepts)

    def _senses(self, word: str) -> Sequence[int]:
        if self.senses is not None and word in self.senses:
            return [self._concepts[concept] for concept in self.senses[word]]
        return [self._concepts[word]] if word in self._concepts else []

    def __repr__(self) -> str:
        if len(self.edges) > 50 or len(self.senses or ()) > 50:
            return f"Taxonomy(<{len(self._concepts):,} concepts>, weights={self.weights!r})"
        shown = [repr(list(self.edges))]
        shown += [] if self.counts is None else [repr(self.counts)]
        shown += [] if self.senses is None else [f"senses={self.senses!r}"]
        shown += [] if self.weights == "full" else [f"weights={self.weights!r}"]
        shown += [] if self.normalized else ["normalized=False"]
        return f"Taxonomy({', '.join(shown)})"


class _Graph(Hierarchy):
    """The hierarchy of a Taxonomy."""

    def __init__(
        self, edges: tuple[tuple[str, str], ...], counts: dict[str, float] | None, numbers: dict[str, int]
    ) -> None:
        super().__init__()
        above: list[dict[int, None]] = [{} for _ in numbers]
        for concept, parent in edges:
            above[numbers[concept]][numbers[parent]] = None
        self._parents = [tuple(parents) for parents in above]
        self._refuse_cycles(list(numbers))
        own = [1.0] * len(numbers)
        if counts is not None:
            own = [0.0] * len(numbers)
            for concept, count in counts.items():
                if concept not in numbers:
                    raise DataError(f"the counts name {concept!r}, which is in no edge of the taxonomy.")
                if not is_finite(count) or count < 0:
                    raise ParameterError(f"the count of {concept!r} is {count!r}; expected a number of at least 0.")
                own[numbers[concept]] = float(count)
        if numbers and not any(own):
            raise ParameterError("all counts are 0; leave them out or give some that are not.")
        below = [0.0] * len(numbers)
        for number in range(len(numbers)):
            for ancestor in self.ancestors(number):
                below[ancestor] += own[number]
        # A concept never seen counts as the rarest one that was.
        least = min((count for count in below if count > 0), default=1.0)
        self._information = [information_content(max(count, least), sum(own)) for count in below]

    def parents(self, concept: int) -> tuple[int, ...]:
        return self._parents[concept]

    def information(self, concept: int) -> float:
        return self._information[concept]

    def _refuse_cycles(self, names: list[str]) -> None:
        waiting = [len(parents) for parents in self._parents]
        below: list[list[int]] = [[] for _ in names]
        for concept, parents in enumerate(self._parents):
            for parent in parents:
                below[parent].append(concept)
        ready = [concept for concept, count in enumerate(waiting) if count == 0]
        done = 0
        while ready:
            done += 1
            for child in below[ready.pop()]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    ready.append(child)
        if done < len(names):
            caught = [name for name, count in zip(names, waiting, strict=True) if count > 0]
            raise DataError(
                f"the taxonomy has a cycle, through {', '.join(map(repr, caught[:5]))} or what is above it."
            )


def pair_measure(hierarchy: Hierarchy, first: int, second: int, measure: str) -> float:
    """Return a similarity of two concepts by their best common superconcept; 0 if they have none."""
    common = hierarchy.common(first, second)
    if not common:
        return 0.0
    if measure == "path":
        up, down = hierarchy.ancestors(first), hierarchy.ancestors(second)
        return 1.0 / (1.0 + min(up[a] + down[a] for a in common))
    if measure == "wu-palmer":
        # Depths are counted along the common superconcept, from 1 at the root.
        up, down = hierarchy.ancestors(first), hierarchy.ancestors(second)
        return max(2.0 * (d := hierarchy.depth(a) + 1) / (2.0 * d + up[a] + down[a]) for a in common)
    content = max(hierarchy.information(a) for a in common)
    if measure == "resnik":
        return content
    if first == second:
        return 1.0
    total = hierarchy.information(first) + hierarchy.information(second)
    return 2.0 * content / total if total > 0 else 0.0


def _repair(words: list[str], values: Any, method: str) -> Vectors:
    return repair(words, values, method=method)


def _as_vector(weights: dict[int, float], *, unit: bool) -> _Vector:
    # Weights of 0 are left out: a concept with no other weight counts as unknown.
    indices = np.array(sorted(index for index, weight in weights.items() if weight != 0), dtype=np.int64)
    values = np.array([weights[index] for index in indices.tolist()], dtype=np.float64)
    return indices, values / np.sqrt(values @ values) if unit and len(values) else values


def _edge(edge: object) -> tuple[str, str]:
    if isinstance(edge, (tuple, list)) and len(edge) == 2 and all(isinstance(name, str) and name for name in edge):
        return edge[0], edge[1]
    raise ParameterError(f"{edge!r} is no edge; give pairs such as ('dog', 'mammal'), the lower concept first.")

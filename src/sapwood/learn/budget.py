"""Who gets how much memory: tables in full, by half or in 16 bits, caches of rows, and the windows of the solver."""

from __future__ import annotations

from sapwood import _core
from sapwood.errors import TooLargeError
from sapwood.kernels.base import Kernel, Normalized
from sapwood.kernels.flat import Linear, Polynomial
from sapwood.kernels.grammar_driven import GrammarDriven
from sapwood.kernels.syntactic import PartialTree, SubsetTree, Subtree
from sapwood.learn.holes import compares_words_by_equality
from sapwood.learn.parts import Part, compares_words, inner_kernel
from sapwood.memory import available
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Budget", "top_of"]

_SMALL = 1 << 29  # bytes of tables up to which double precision is worth its memory
_SHARE = 0.8  # of the memory that tables may take; the rest is for rows
_SHARE_BESIDE_DOTS = 0.4
_KINDS = ("square", "triangle", "short", "asked")  # whole tables, halves, halves in 16 bits, rows when asked for
_FEWEST_ROWS = 200  # that a cache must hold for rows to be computed when asked for
_LARGEST_BLOCK = 1 << 29  # bytes computed at a time
# Kernels that count fragments: 0 or more, and at most 1 when normalized. By type, since a subclass may do as it likes.
_NEVER_NEGATIVE = (Subtree, SubsetTree, PartialTree, GrammarDriven)


class Budget:
    """Who gets how much: tables in full or by half, caches of rows, and the solver's windows."""

    def __init__(self, parts: list[Part], examples: int, memory: float | None, threads: int) -> None:
        free = available()
        limit = 4e9 if free is None else 0.75 * free
        if memory is not None:
            limit = memory * 1e9 if free is None else min(memory * 1e9, 0.95 * free)
        self.dots = {id(part): is_dot(part) for part in parts}
        values = sum(part.values for part in parts)
        self.bits = 64 if 8 * values <= min(_SMALL, limit / 4) else 32
        self.block = int(min(max(limit / 8, 1 << 20), _LARGEST_BLOCK))
        rest = limit - self.block
        rest -= sum(part.fillings.values * self.bits / 8 for part in parts if part.fillings is not None)
        self.kinds, taken = self._divide(parts, rest, limit)
        rest -= taken
        self.window = int(max(1 << 20, min(rest / (4 * threads), 1 << 30, examples**2 * self.bits / 8)))
        rest -= self.window * threads
        # Rows of half a table are quickly put together again, so what has to be computed gets most.
        shares = {"square": 0.0, "triangle": 1.0, "short": 1.0, "dot": 8.0, "asked": 8.0}
        total = sum(shares[self.kinds[id(part)]] for part in parts)
        self.cache = {
            id(part): int(max(1 << 20, rest * shares[self.kinds[id(part)]] / total)) if total else 0 for part in parts
        }

    def _divide(self, parts: list[Part], rest: float, limit: float) -> tuple[dict[int, str], float]:
        """Make tables smaller, first where it saves most, until they leave room; return their kinds and bytes."""
        ways = {id(part): self._ways(part) for part in parts}
        # Products of features are dear to compute again, and live on what tables leave.
        share = _SHARE_BESIDE_DOTS if any(self.dots.values()) else _SHARE
        # Where there is nothing but products of features, there is nothing to make smaller.
        while (taken := sum(sizes[0][1] for sizes in ways.values())) > max(0.0, share * rest):
            smaller = [one for one in ways.values() if len(one) > 1 and one[1][1] < one[0][1]]
            # Beyond that share it is still better to keep tables than to compute rows again and again.
            if taken <= _SHARE * rest and all(one[1][0] == "asked" for one in smaller):
                break
            if not smaller:
                part = max((one for one in parts if not self.dots[id(one)]), key=lambda one: one.size)
                raise TooLargeError(
                    f"the kernel values of {part.size:,} distinct items need "
                    f"{_core.smo.Triangle.nbytes(part.size) / 1e9:,.1f} GB, but "
                    f"{max(rest, 0) / 1e9:,.1f} GB of the limit of {limit / 1e9:,.1f} GB are left. Raise memory, train "
                    "on a subset, or describe every example by its kernel with a few hundred landmarks, "
                    "sapwood.kernels.LandmarkMap(kernel), and train a linear model on it."
                )
            max(smaller, key=lambda one: (one[1][0] != "asked", one[0][1] - one[1][1])).pop(0)
        return {number: one[0][0] for number, one in ways.items()}, taken

    def _ways(self, part: Part) -> list[tuple[str, float]]:
        """List how the values of a part can be kept, and the bytes that takes, the quickest first."""
        if self.dots[id(part)]:
            return [("dot", 0.0)]
        found = [("square", part.size**2 * self.bits / 8)]
        if self.bits == 32:
            found.append(("triangle", _core.smo.Triangle.nbytes(part.size)))
            if top_of(part) is not None:
                found.append(("short", _core.smo.ShortTriangle.nbytes(part.size)))
            if computes_rows(part):
                found.append(("asked", float(_FEWEST_ROWS * part.size * 4)))
        return [one for one in found if one[0] in _KINDS] or found[:1]


def top_of(part: Part) -> float | None:
    """Return what no value of a table exceeds, if that is known and none is below 0; 16 bits can hold it then."""
    known = all(
        weight >= 0
        and isinstance(piece, Normalized)
        and type(piece.kernel) in _NEVER_NEGATIVE
        and compares_words_by_equality(piece)
        for weight, piece in part.pieces
    )
    return sum(weight for weight, _ in part.pieces) if known else None


def computes_rows(part: Part) -> bool:
    """Return whether rows can be computed one by one, which takes a kernel with its own native code."""
    if not isinstance(part.view, TreeArray) or len(part.pieces) != 1:
        return False
    return type(inner_kernel(part.pieces[0][1]))._rows is not Kernel._rows


def is_dot(part: Part) -> bool:
    """Return whether rows are dot products that the native core can compute when asked."""
    if isinstance(part.view, (TreeArray, Examples)) or len(part.pieces) != 1:
        return False
    kernel = part.pieces[0][1]
    return type(inner_kernel(kernel)) in (Linear, Polynomial) and not compares_words(kernel)

"""Who gets how much memory: tables in full, by half or in 16 bits, caches of rows, and the windows of the solver."""

from __future__ import annotations

from sapwood import _core
from sapwood.errors import TooLargeError
from sapwood.kernels.base import Kernel, Normalized
from sapwood.kernels.flat import Linear, Polynomial
from sapwood.kernels.grammar_driven import GrammarDriven
from sapwood.kernels.memory import available
from sapwood.kernels.syntactic import PartialTree, SubsetTree, Subtree
from sapwood.learn.holes import compares_words_by_equality
from sapwood.learn.parts import Part, compares_words, inner_kernel
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Budget", "top_of"]

_SMALL = 1 << 29  # bytes of tables up to which double precision is worth its memory
_FULL_SHARE = 0.75  # of what is left that one part may take with all its table rather than half
_HALF_SHARE = 0.85
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
        self.kinds: dict[int, str] = {}
        # The smallest first: a part that is halved should be the one that gains most by it.
        for part in sorted(parts, key=lambda one: one.size):
            if self.dots[id(part)]:
                self.kinds[id(part)] = "dot"
                continue
            rest -= 0 if part.fillings is None else part.fillings.values * self.bits / 8
            full = part.size**2 * self.bits / 8
            half, short = (kind.nbytes(part.size) for kind in (_core.smo.Triangle, _core.smo.ShortTriangle))
            if full <= _FULL_SHARE * rest:
                self.kinds[id(part)], rest = "square", rest - full
            elif half <= _HALF_SHARE * rest and self.bits == 32:
                self.kinds[id(part)], rest = "triangle", rest - half
            elif short <= _HALF_SHARE * rest and self.bits == 32 and top_of(part) is not None:
                self.kinds[id(part)], rest = "short", rest - short
            elif self.bits == 32 and computes_rows(part) and rest > _FEWEST_ROWS * part.size * 4:
                self.kinds[id(part)] = "asked"
            else:
                raise TooLargeError(
                    f"the kernel values of {part.size:,} distinct items need {half / 1e9:,.1f} GB, but "
                    f"{max(rest, 0) / 1e9:,.1f} GB of the limit of {limit / 1e9:,.1f} GB are left. Raise memory, train "
                    "on a subset, or describe every example by its kernel with a few hundred landmarks, "
                    "sapwood.kernels.LandmarkMap(kernel), and train a linear model on it."
                )
        self.window = int(max(1 << 20, min(rest / (4 * threads), 1 << 30, examples**2 * self.bits / 8)))
        rest -= self.window * threads
        # Rows of half a table are quickly put together again, so what has to be computed gets most.
        shares = {"square": 0.0, "triangle": 1.0, "short": 1.0, "dot": 8.0, "asked": 8.0}
        total = sum(shares[self.kinds[id(part)]] for part in parts)
        self.cache = {
            id(part): int(max(1 << 20, rest * shares[self.kinds[id(part)]] / total)) if total else 0 for part in parts
        }


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

"""Who gets how much memory: tables in full, by half or in 16 bits, caches of rows, and the windows of the solver."""

from __future__ import annotations

from sapwood import _core
from sapwood.errors import TooLargeError
from sapwood.kernels.base import Kernel
from sapwood.learn.solver.components import Component
from sapwood.memory import available
from sapwood.trees.array import TreeArray
from sapwood.trees.examples import Examples

__all__ = ["Budget", "most_bytes", "upper_bound"]

_SMALL = 1 << 29  # bytes of tables up to which double precision is worth its memory
_SHARE = 0.8  # of the memory that tables may take; the rest is for rows
_SHARE_BESIDE_DOTS = 0.4
_KINDS = ("square", "triangle", "short", "asked")  # whole tables, halves, halves in 16 bits, rows when asked for
_FEWEST_ROWS = 200  # that a cache must hold for rows to be computed when asked for
_LARGEST_BLOCK = 1 << 29  # bytes computed at a time


def most_bytes(memory_limit: float | None) -> float:
    """Return how many bytes kernel values may take, given the limit in megabytes that the user has set, if any."""
    free = available()
    if memory_limit is None:
        return 4e9 if free is None else 0.75 * free
    return memory_limit * 1e6 if free is None else min(memory_limit * 1e6, 0.95 * free)


class Budget:
    """Who gets how much: tables in full or by half, caches of rows, and the solver's windows."""

    def __init__(self, components: list[Component], examples: int, memory_limit: float | None, threads: int) -> None:
        limit = most_bytes(memory_limit)
        self.dots = {id(component): is_dot(component) for component in components}
        values = sum(component.values for component in components)
        self.bits = 64 if 8 * values <= min(_SMALL, limit / 4) else 32
        self.block = int(min(max(limit / 8, 1 << 20), _LARGEST_BLOCK))
        rest = limit - self.block
        rest -= sum(component.words.values * self.bits / 8 for component in components if component.words is not None)
        self.kinds, taken = self._divide(components, rest, limit)
        rest -= taken
        self.window = int(max(1 << 20, min(rest / (4 * threads), 1 << 30, examples**2 * self.bits / 8)))
        rest -= self.window * threads
        # Rows of half a table are quickly put together again, so what has to be computed gets most.
        shares = {"square": 0.0, "triangle": 1.0, "short": 1.0, "dot": 8.0, "asked": 8.0}
        total = sum(shares[self.kinds[id(component)]] for component in components)
        self.cache = {
            id(component): int(max(1 << 20, rest * shares[self.kinds[id(component)]] / total)) if total else 0
            for component in components
        }

    def _divide(self, components: list[Component], rest: float, limit: float) -> tuple[dict[int, str], float]:
        """Make tables smaller, first where it saves most, until they leave room; return their kinds and bytes."""
        ways = {id(component): self._ways(component) for component in components}
        # Products of features take long to compute again, so they need a large cache beside the tables.
        share = _SHARE_BESIDE_DOTS if any(self.dots.values()) else _SHARE
        # Where there is nothing but products of features, there is nothing to make smaller.
        while (taken := sum(sizes[0][1] for sizes in ways.values())) > max(0.0, share * rest):
            smaller = [one for one in ways.values() if len(one) > 1 and one[1][1] < one[0][1]]
            # Beyond that share it is still better to keep tables than to compute rows again and again.
            if taken <= _SHARE * rest and all(one[1][0] == "asked" for one in smaller):
                break
            if not smaller:
                component = max((one for one in components if not self.dots[id(one)]), key=lambda one: one.size)
                raise TooLargeError(
                    f"the kernel values of {component.size:,} distinct items need "
                    f"{_core.smo.Triangle.nbytes(component.size) / 1e6:,.1f} MB, but "
                    f"{max(rest, 0) / 1e6:,.1f} MB of the limit of {limit / 1e6:,.1f} MB are left. Raise memory_limit, "
                    "train on a subset, or describe every example by its kernel with a few hundred landmarks, "
                    "sapwood.kernels.LandmarkMap(kernel), and train a linear model on it."
                )
            max(smaller, key=lambda one: (one[1][0] != "asked", one[0][1] - one[1][1])).pop(0)
        return {number: one[0][0] for number, one in ways.items()}, taken

    def _ways(self, component: Component) -> list[tuple[str, float]]:
        """List how the values of a component can be kept, and the bytes that takes, the quickest first."""
        if self.dots[id(component)]:
            return [("dot", 0.0)]
        found = [("square", component.size**2 * self.bits / 8)]
        if self.bits == 32:
            found.append(("triangle", _core.smo.Triangle.nbytes(component.size)))
            if upper_bound(component) is not None:
                found.append(("short", _core.smo.ShortTriangle.nbytes(component.size)))
            if computes_rows(component):
                found.append(("asked", float(_FEWEST_ROWS * component.size * 4)))
        return [one for one in found if one[0] in _KINDS] or found[:1]


def upper_bound(component: Component) -> float | None:
    """Return what no value of a table exceeds, if that is known and none is below 0; 16 bits can hold it then."""
    known = all(term.self_normalized and term.kernel.never_negative for term in component.summands)
    return sum(term.weight for term in component.summands) if known else None


def computes_rows(component: Component) -> bool:
    """Return whether rows can be computed one by one, which takes a kernel with its own native code."""
    if not isinstance(component.view, TreeArray) or len(component.summands) != 1:
        return False
    return type(component.summands[0].kernel)._rows is not Kernel._rows


def is_dot(component: Component) -> bool:
    """Return whether rows are dot products that the native core can compute when asked."""
    if isinstance(component.view, (TreeArray, Examples)) or len(component.summands) != 1:
        return False
    return component.summands[0].kernel._dot_form() is not None

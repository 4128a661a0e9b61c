"""Small random grammars, and a slow parser that lists every derivation: the truth that k-best lists are held to."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

import sapwood as sw
from sapwood import _core

HIDDEN = 0xFFFFFFFF


@dataclass
class Toy:
    """A grammar in the form of the native core: symbol 0 is the root, the last ones are tags."""

    labels: list[str]
    shown: list[int]
    binary: dict[tuple[int, int, int], float]
    chains: list[tuple[int, int, float, tuple[int, ...]]]
    stay: list[float]
    tags: list[int]

    def rules(self) -> _core.parse.Rules:
        keys = sorted(self.binary)
        ends = np.cumsum([len(chain[3]) for chain in self.chains], dtype=np.uint64)
        return _core.parse.Rules(
            np.array([key[0] for key in keys], dtype=np.uint32),
            np.array([key[1] for key in keys], dtype=np.uint32),
            np.array([key[2] for key in keys], dtype=np.uint32),
            np.array([self.binary[key] for key in keys]),
            np.array([chain[0] for chain in self.chains], dtype=np.uint32),
            np.array([chain[1] for chain in self.chains], dtype=np.uint32),
            np.array([chain[2] for chain in self.chains]),
            ends.astype(np.uint64),
            np.array([label for chain in self.chains for label in chain[3]], dtype=np.uint32),
            np.array(self.stay),
            np.zeros(len(self.stay)),
            np.array(self.shown, dtype=np.uint32),
            0,
        )


def draw(seed: int) -> Toy:
    """Draw a grammar of a few symbols, some of them hidden, with chains that may lead in circles."""
    rng = random.Random(seed)
    plain, hidden, tags = rng.randint(1, 3), rng.randint(0, 2), rng.randint(1, 3)
    labels = [f"L{at}" for at in range(plain + tags)]
    shown = [HIDDEN, *range(plain), *[HIDDEN] * hidden, *range(plain, plain + tags)]
    count = len(shown)
    tag_symbols = list(range(count - tags, count))
    weight = lambda: math.log(rng.choice([0.5, 0.25, 0.1, rng.random()]) + 1e-3)  # noqa: E731 - ties are wanted too
    binary = {
        (parent, left, right): weight()
        for parent in range(1, 1 + plain + hidden)
        for left in range(1, count)
        for right in range(1, count)
        if rng.random() < 0.35
    }
    visible = [symbol for symbol in range(1, count) if shown[symbol] != HIDDEN]
    chains = [
        (upper, lower, weight(), tuple(rng.randrange(len(labels)) for _ in range(rng.randint(1, 2))))
        for upper in range(0, 1 + plain)
        for lower in visible
        if rng.random() < (0.7 if upper == 0 else 0.4)
    ]
    stay = [-math.inf] + [0.0 if rng.random() < 0.5 else weight() for _ in range(count - 1)]
    return Toy(labels, shown, binary, chains, stay, tag_symbols)


def sentence(toy: Toy, length: int, seed: int) -> list[list[tuple[int, float]]]:
    """Draw tags with weights for each word."""
    rng = random.Random(seed)
    rows = []
    for _ in range(length):
        some = [tag for tag in toy.tags if rng.random() < 0.7] or toy.tags[:1]
        rows.append([(tag, math.log(rng.random() + 1e-3)) for tag in some])
    return rows


def derivations(toy: Toy, words: list[list[tuple[int, float]]]) -> list[tuple[float, str]]:
    """List every derivation of the whole sentence as a weight and a tree."""
    memo: dict[tuple[str, int, int, int], list[tuple[float, list[str]]]] = {}

    def lower(begin: int, end: int, symbol: int) -> list[tuple[float, list[str]]]:
        key = ("lower", begin, end, symbol)
        if key not in memo:
            found: list[tuple[float, list[str]]] = []
            if end - begin == 1:
                found += [(weight, [f"w{begin}"]) for tag, weight in words[begin] if tag == symbol]
            for (parent, left, right), weight in toy.binary.items():
                if parent != symbol:
                    continue
                for split in range(begin + 1, end):
                    for a, first in upper(begin, split, left):
                        for b, second in upper(split, end, right):
                            found.append((a + b + weight, first + second))
            if toy.shown[symbol] != HIDDEN:
                found = [(w, [f"({toy.labels[toy.shown[symbol]]} {' '.join(parts)})"]) for w, parts in found]
            memo[key] = found
        return memo[key]

    def upper(begin: int, end: int, symbol: int) -> list[tuple[float, list[str]]]:
        key = ("upper", begin, end, symbol)
        if key not in memo:
            found: list[tuple[float, list[str]]] = []
            if toy.stay[symbol] > -math.inf:
                found += [(weight + toy.stay[symbol], parts) for weight, parts in lower(begin, end, symbol)]
            for top, below, weight, labels in toy.chains:
                if top == symbol:
                    for inner, parts in lower(begin, end, below):
                        text = " ".join(parts)
                        for label in reversed(labels):
                            text = f"({toy.labels[label]} {text})"
                        found.append((inner + weight, [text]))
            memo[key] = found
        return memo[key]

    return [(weight, " ".join(parts)) for weight, parts in upper(0, len(words), 0)]


def pack(rows: list[list[tuple[int, float]]]) -> tuple[np.ndarray, ...]:
    """Lay out one sentence as the native core takes it."""
    return (
        np.array([len(rows)], dtype=np.uint64),
        np.cumsum([len(row) for row in rows], dtype=np.uint64),
        np.array([tag for row in rows for tag, _ in row], dtype=np.uint32),
        np.array([weight for row in rows for _, weight in row]),
    )


def native_kbest(
    toy: Toy, rows: list[list[tuple[int, float]]], count: int, *, derivation_count: int = 100_000
) -> list[tuple[float, str]]:
    """Parse natively, without pruning."""
    arena, roots, _, weights, _, _ = _core.parse.parse_batch(
        toy.rules(), toy.labels, *pack(rows), [f"w{at}" for at in range(len(rows))], count, derivation_count,
        math.inf, 1 << 30, [], 0.0, 1, None,
    )  # fmt: skip
    trees = sw.TreeArray._from_arena(arena, roots)
    return list(zip(weights.tolist(), trees.to_strings(), strict=True))

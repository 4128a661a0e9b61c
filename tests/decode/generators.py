"""Random problems for the tests: small, full of ties, sometimes impossible."""

from __future__ import annotations

import numpy as np


def spans_of(rng: np.random.Generator, count: int, tokens: int) -> list[tuple[int, int]]:
    first = rng.integers(0, tokens, count)
    last = np.minimum(tokens - 1, first + rng.integers(0, 3, count))
    return [(int(a), int(b)) for a, b in zip(first, last, strict=True)]


def pairs_of(rng: np.random.Generator, count: int, most: int, low: int = 0) -> list[tuple[int, int]]:
    if count - low < 2:
        return []
    return [
        tuple(int(x) for x in low + rng.permutation(count - low)[:2])  # type: ignore[misc]
        for _ in range(int(rng.integers(0, most + 1)))
    ]


def role_problem(rng: np.random.Generator) -> dict:
    roles, count = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    tokens = int(rng.integers(1, 7))
    spans = spans_of(rng, count - 1, tokens)
    spans.insert(int(rng.integers(0, count)), (-1, -1))
    problem = {
        "scores": rng.integers(-2, 4, (roles, count)).astype(float) * float(rng.choice([1.0, 0.25])),
        "spans": spans,
        "excludes": pairs_of(rng, roles, 2),
        "requires": pairs_of(rng, roles, 2),
    }
    if rng.random() < 0.3:
        problem["allowed"] = rng.random((roles, count)) < 0.7
    return problem


def role_problem_in_pieces(rng: np.random.Generator) -> dict:
    """Spans of a problem of roles get further pieces, before and behind them; some of these adjoin."""
    problem = role_problem(rng)
    pieces = []
    for number, (first, last) in enumerate(problem["spans"]):
        taken = set(range(first, last + 1))
        for token in rng.integers(0, 8, int(rng.integers(0, 3))) if first >= 0 else ():
            if int(token) not in taken:
                taken.add(int(token))
                pieces.append((number, int(token), int(token)))
    rng.shuffle(pieces)
    return {**problem, "pieces": pieces}


def label_problem(rng: np.random.Generator) -> dict:
    count, labels = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    spans = spans_of(rng, count, int(rng.integers(1, 9)))
    problem = {
        "scores": rng.integers(-2, 4, (count, labels)).astype(float),
        "spans": spans,
        "unique": [int(x) for x in np.flatnonzero(rng.random(labels) < 0.4) if x],
        "implies": pairs_of(rng, labels, 2, low=1),
        "after": pairs_of(rng, labels, 2, low=1),
    }
    if rng.random() < 0.3:
        problem["allowed"] = rng.random((count, labels)) < 0.75
    return problem


def factor_problem(rng: np.random.Generator) -> tuple[np.ndarray, list]:
    n = int(rng.integers(2, 10))
    scores = rng.integers(-3, 4, n).astype(float)
    factors = []
    for _ in range(int(rng.integers(1, 7))):
        kind = str(rng.choice(["xor", "at_most_one", "or_", "budget", "xor_out", "or_out", "imply", "pair"]))
        size = 2 if kind in ("imply", "pair") else int(rng.integers(2, min(n, 5) + 1))
        literals = [(int(v), bool(rng.random() < 0.3)) for v in rng.permutation(n)[:size]]
        extra = int(rng.integers(0, size)) if kind == "budget" else float(rng.integers(-3, 4)) if kind == "pair" else 0
        factors.append((kind, literals, extra))
    return scores, factors

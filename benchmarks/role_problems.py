"""Random role problems of realistic shape: as frame-semantic parsing poses them, with near ties, and of any
size."""

from __future__ import annotations

import numpy as np

from sapwood.decode import RoleProblem


def nested_spans(rng: np.random.Generator, tokens: int, keep: float = 0.7) -> np.ndarray:
    """Every token by itself, and a share of the brackets of a random binary tree; the null span last."""
    spans = {(i, i) for i in range(tokens)} | {(0, tokens - 1)}
    stack = [(0, tokens - 1)]
    while stack:
        first, last = stack.pop()
        if last <= first:
            continue
        split = int(rng.integers(first, last))
        for part in ((first, split), (split + 1, last)):
            if rng.random() < keep:
                spans.add(part)
            stack.append(part)
    return np.array([*sorted(spans), (-1, -1)], np.int64)


def pairs(rng: np.random.Generator, roles: int, mean: float) -> list[tuple[int, int]]:
    if roles < 2:
        return []
    count = int(rng.poisson(mean))
    return [tuple(sorted(rng.permutation(roles)[:2].tolist())) for _ in range(count)]  # type: ignore[misc]


def ordinary(rng: np.random.Generator) -> dict:
    """Most roles are clearly unfilled, some clearly filled, and now and then two want the same words."""
    roles = int(np.clip(rng.normal(10, 4.0), 3, 20))
    spans = nested_spans(rng, int(rng.integers(12, 41)))
    scores = rng.normal(-4.5, 1.5, (roles, len(spans)))
    scores[:, -1] = rng.normal(3.0, 1.2, roles)
    short = 1.0 / (spans[:-1, 1] - spans[:-1, 0] + 1.0)  # fillers are short more often than long
    for role in np.flatnonzero(rng.random(roles) < 0.16):
        scores[role, rng.choice(len(short), p=short / short.sum())] = scores[role, -1] + rng.exponential(2.0)
    return {
        "scores": scores.round(4),
        "spans": spans,
        "excludes": pairs(rng, roles, 0.2),
        "requires": pairs(rng, roles, 0.03),
    }


def near_ties(rng: np.random.Generator, roles: int | None = None, tokens: int | None = None) -> dict:
    """Every role would rather be filled, by many spans, and hardly cares which."""
    roles = roles or int(np.clip(rng.normal(11, 3.5), 5, 19))
    spans = nested_spans(rng, tokens or int(rng.integers(11, 41)))
    grid = float(rng.choice([1.0, 0.5, 0.25]))
    scores = np.round(rng.normal(0.0, 1.5, (roles, len(spans))) / grid) * grid
    scores += rng.normal(0.0, 0.01, scores.shape)
    scores[:, -1] = rng.normal(-1.0, 0.3, roles)
    return {
        "scores": scores.round(4),
        "spans": spans,
        "excludes": pairs(rng, roles, 2.7),
        "requires": pairs(rng, roles, 0.6),
    }


def prepare(problem: dict) -> RoleProblem:
    return RoleProblem(problem["scores"], problem["spans"], problem["excludes"], problem["requires"])

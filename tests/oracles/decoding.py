"""Slow twins of the decoders: every assignment is enumerated, every factor is stated by its vertices.

They share no code and no idea with the library, so that agreement means something.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from scipy.optimize import minimize, nnls


@cache
def _product(values: int, places: int) -> np.ndarray:
    grid = np.array(list(itertools.product(range(values), repeat=places)), dtype=np.intp)
    return grid.reshape(-1, places)


def _overlap(a, b) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def best_roles(scores, spans, excludes=(), requires=(), allowed=None, pieces=()):
    """Return the best value over all assignments, or None when none obeys the constraints."""
    scores = np.asarray(scores, float)
    roles, count = scores.shape
    null = [tuple(span) for span in spans].index((-1, -1))
    every = _product(count, roles)
    fine = np.ones(len(every), bool)
    tokens = [set(range(first, last + 1)) if first >= 0 else set() for first, last in spans]
    for span, first, last in pieces:
        tokens[span] |= set(range(first, last + 1))
    clash = np.array([[bool(one & other) for one in tokens] for other in tokens])
    for i, j in itertools.combinations(range(roles), 2):
        fine &= ~clash[every[:, i], every[:, j]]
    for i, j in excludes:
        fine &= (every[:, i] == null) | (every[:, j] == null)
    for i, j in requires:
        fine &= (every[:, i] == null) == (every[:, j] == null)
    if allowed is not None:
        fine &= np.asarray(allowed)[np.arange(roles), every].all(axis=1)
    if not fine.any():
        return None
    return float(scores[np.arange(roles), every[fine]].sum(axis=1).max())


def best_labels(scores, spans, unique=(), implies=(), after=(), allowed=None):
    """Return the best value over all labellings, or None when none obeys the constraints."""
    scores = np.asarray(scores, float)
    count, labels = scores.shape
    every = _product(labels, count)
    fine = np.ones(len(every), bool)
    for i, j in itertools.combinations(range(count), 2):
        if _overlap(spans[i], spans[j]):
            fine &= (every[:, i] == 0) | (every[:, j] == 0)
    for label in unique:
        fine &= (every == label).sum(axis=1) <= 1
    for a, b in implies:
        fine &= ~(every == a).any(axis=1) | (every == b).any(axis=1)
    for a, b in after:
        for i in range(count):
            earlier = [j for j in range(count) if spans[j][1] < spans[i][0]]
            fine &= (every[:, i] != a) | (every[:, earlier] == b).any(axis=1)
    if allowed is not None:
        fine &= np.asarray(allowed)[np.arange(count), every].all(axis=1)
    if not fine.any():
        return None
    return float(scores[np.arange(count), every[fine]].sum(axis=1).max())


def obeys_labels(assignment, spans, unique=(), implies=(), after=(), allowed=None) -> bool:
    used = [(spans[i], int(label)) for i, label in enumerate(assignment) if label]
    if any(_overlap(a, b) for (a, _), (b, _) in itertools.combinations(used, 2)):
        return False
    if any(sum(label == once for _, label in used) > 1 for once in unique):
        return False
    present = {label for _, label in used}
    if any(a in present and b not in present for a, b in implies):
        return False
    for a, b in after:
        for span, label in used:
            if label == a and not any(other == b and place[1] < span[0] for place, other in used):
                return False
    return allowed is None or all(allowed[i][label] for i, label in enumerate(assignment))


def allows(kind: str, bits, limit: int = 0) -> bool:
    """Say whether a factor of this kind allows these truth values."""
    on = sum(bits)
    return {
        "xor": on == 1,
        "at_most_one": on <= 1,
        "or_": on >= 1,
        "budget": on <= limit,
        "xor_out": sum(bits[:-1]) == bits[-1],
        "or_out": (sum(bits[:-1]) > 0) == bool(bits[-1]),
        "imply": not bits[0] or bool(bits[-1]),
        "pair": True,
    }[kind]


def vertices(kind: str, size: int, limit: int = 0) -> np.ndarray:
    return np.array([bits for bits in itertools.product((0, 1), repeat=size) if allows(kind, bits, limit)], float)


def contains(corners: np.ndarray, point: np.ndarray) -> bool:
    """Say whether a point is a convex combination of corners, up to rounding."""
    rows = np.vstack([corners.T, np.ones(len(corners))])
    return bool(nnls(rows, np.append(point, 1.0))[1] < 1e-8)


def inequalities(kind: str, size: int, limit: int = 0) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return rows and sides of a factor's polytope within the unit cube, and whether they are tight.

    Every row says row · z >= side.
    """
    ones = np.ones((1, size))
    inputs = np.append(np.ones(size - 1), -1.0)[None, :]
    table = {
        "xor": (ones, [1.0], True),
        "at_most_one": (-ones, [-1.0], False),
        "or_": (ones, [1.0], False),
        "budget": (-ones, [-float(limit)], False),
        "xor_out": (inputs, [0.0], True),
        "imply": (np.array([[-1.0, 1.0]]), [0.0], False),
        "or_out": (
            np.vstack([inputs, np.hstack([-np.eye(size - 1), np.ones((size - 1, 1))])]),
            [0.0] * size,
            False,
        ),
        # z1, z2 and "both"
        "pair": (np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]), [0.0, 0.0, -1.0], False),
    }
    if kind not in table:
        raise ValueError(kind)
    rows, sides, tight = table[kind]
    return rows, np.array(sides), tight


def project_by_quadratic_program(kind: str, point: np.ndarray, limit: int = 0, score: float = 0.0) -> np.ndarray:
    """Return the point of a factor's polytope that minimises |z - point|²/2 - score · both."""
    size = len(point)
    rows, sides, tight = inequalities(kind, size, limit)
    pair = np.array([0.0, 0.0, score]) if kind == "pair" else np.zeros(size)
    target = np.append(point, 0.0) if kind == "pair" else point
    weigh = np.array([1.0, 1.0, 0.0]) if kind == "pair" else np.ones(size)
    result = minimize(
        lambda z: 0.5 * (weigh * (z - target) ** 2).sum() - pair @ z,
        np.full(len(target), 0.5),
        jac=lambda z: weigh * (z - target) - pair,
        bounds=[(0.0, 1.0)] * len(target),
        constraints={
            "type": "eq" if tight else "ineq",
            "fun": lambda z: rows @ z - sides,
            "jac": lambda z: rows,
        },
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-15},
    )
    return result.x[:size]


def best_graph(scores, factors):
    """Return the best value over all assignments of a graph.

    A factor is (kind, [(variable, negated), ...], limit or pair score).
    """
    scores = np.asarray(scores, float)
    every = _product(2, len(scores)).astype(bool)
    value = every @ scores
    fine = np.ones(len(every), bool)
    for kind, literals, extra in factors:
        bits = np.stack([every[:, variable] ^ negated for variable, negated in literals], axis=1)
        if kind == "pair":
            value = value + extra * bits.all(axis=1)
            continue
        table = np.array([allows(kind, row, extra) for row in itertools.product((0, 1), repeat=len(literals))])
        code = bits @ (1 << np.arange(len(literals))[::-1])
        fine &= table[code]
    return float(value[fine].max()) if fine.any() else None

"""Every factor's projection: against a quadratic solver, and by the property that defines a projection."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.decoding import contains, project_by_quadratic_program, vertices
from sapwood._core.decode import project_factor

XOR, AT_MOST_ONE, OR, OR_OUT, BUDGET, PAIR = range(6)
# kind of the core, kind of the oracle, literals to negate (the core knows XOR-out and implication as negated
# literals)
KINDS = {
    "xor": (XOR, ()),
    "at_most_one": (AT_MOST_ONE, ()),
    "or_": (OR, ()),
    "or_out": (OR_OUT, ()),
    "xor_out": (XOR, (-1,)),
    "imply": (OR, (0,)),
    "budget": (BUDGET, ()),
}


def project(kind: str, point: np.ndarray, limit: int = 0) -> np.ndarray:
    code, negated = KINDS[kind]
    signed = point.copy()
    for i in negated:
        signed[i] = 1.0 - signed[i]
    result = project_factor(code, signed, limit, 0.0)
    for i in negated:
        result[i] = 1.0 - result[i]
    return result


def points(rng: np.random.Generator, size: int) -> np.ndarray:
    scale = float(rng.choice([0.3, 1.0, 3.0, 30.0]))
    point = rng.normal(0.5, scale, size)
    if rng.random() < 0.3:
        point = np.round(point)  # ties
    return point


@pytest.mark.parametrize("kind", KINDS)
def test_projection_is_the_nearest_point(kind):
    rng = np.random.default_rng(len(kind))
    for _ in range(400):
        size = 2 if kind == "imply" else int(rng.integers(2, 7))
        limit = int(rng.integers(0, size + 2)) if kind == "budget" else 0
        point, corners = points(rng, size), vertices(kind, size, limit)
        nearest = project(kind, point, limit)
        # Inside the hull, and no corner lies beyond the plane through it that faces the point.
        assert ((corners - nearest) @ (point - nearest)).max() <= 1e-9 * max(1.0, np.abs(point).max()) ** 2
        assert contains(corners, nearest)


@pytest.mark.parametrize("kind", KINDS)
def test_projection_agrees_with_a_quadratic_solver(kind):
    rng = np.random.default_rng(40 + len(kind))
    for _ in range(60):
        size = 2 if kind == "imply" else int(rng.integers(2, 6))
        limit = int(rng.integers(1, size)) if kind == "budget" else 0
        point = rng.normal(0.5, 1.0, size)
        expected = project_by_quadratic_program(kind, point, limit)
        assert np.allclose(project(kind, point, limit), expected, atol=1e-5), (point, limit)


@pytest.mark.parametrize("size", [1, 50, 2_000])
@pytest.mark.parametrize("kind", ["xor", "at_most_one", "or_", "budget", "or_out"])
def test_large_and_tiny_projections_stay_inside(kind, size):
    rng = np.random.default_rng(size)
    point = rng.normal(0.0, 5.0, size + (kind == "or_out"))  # an output needs an input
    nearest = project(kind, point, limit=3)
    assert (nearest >= 0).all()
    assert (nearest <= 1 + 1e-12).all()
    total = nearest.sum()
    if kind == "xor":
        assert total == pytest.approx(1.0)
    elif kind == "or_":
        assert total >= 1 - 1e-9
    elif kind == "or_out":
        assert nearest[:-1].max() <= nearest[-1] + 1e-9
        assert nearest[:-1].sum() >= nearest[-1] - 1e-9
    else:
        assert total <= (1 if kind == "at_most_one" else 3) + 1e-9


def test_pair_agrees_with_a_quadratic_solver():
    rng = np.random.default_rng(2)
    for _ in range(200):
        point, score = rng.normal(0.5, 1.0, 2), float(rng.normal(0.0, 1.5))
        expected = project_by_quadratic_program("pair", point, score=score)
        assert np.allclose(project_factor(PAIR, point, 0, score), expected, atol=1e-5), (point, score)


def test_projection_of_a_corner_is_that_corner_exactly():
    for kind in KINDS:
        for corner in vertices(kind, 2 if kind == "imply" else 4, 2):
            assert (project(kind, corner, 2) == corner).all()

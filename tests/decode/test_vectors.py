"""A hundred problems with known optima and relaxation bounds, when they are at hand."""

from __future__ import annotations

import json

import pytest

from paths import SHARED
from sapwood.decode import RoleProblem, decode_roles_batch

VECTORS = SHARED / "vectors" / "decoding.jsonl"
pytestmark = pytest.mark.skipif(not VECTORS.exists(), reason=f"reference problems are not at {VECTORS}")


@pytest.fixture(scope="module")
def cases():
    rows = [json.loads(line) for line in VECTORS.read_text().splitlines()]
    problems = [
        RoleProblem(row["scores"], row["spans"], row["excludes"], row["requires"], tokens=row["n_tokens"])
        for row in rows
    ]
    return rows, problems


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exact", "ilp", "ad3-exact"])
def test_optimum_is_reached(cases, method):
    rows, problems = cases
    for row, result in zip(rows, decode_roles_batch(problems, method=method), strict=True):
        assert result.status == "optimal"
        assert result.value == pytest.approx(row["optimal"], abs=1e-6)
        assert result.bound == pytest.approx(row["optimal"], abs=1e-6)
        assert not any(result.violations.values())


def test_unpruned_graph_reaches_the_optimum_by_branch_and_bound(cases):
    rows, problems = cases
    for row, problem in zip(rows, problems, strict=True):
        graph, takes = problem.to_factor_graph()
        solution = graph.solve()
        assert solution.status == "optimal"
        assert solution.value == pytest.approx(row["optimal"], abs=1e-6)
        assert (solution[takes].sum(axis=1) == 1).all()


@pytest.mark.slow
def test_relaxation_reaches_the_linear_programs_bound(cases):
    rows, problems = cases
    for method in ("lp", "ad3"):
        for row, result in zip(rows, decode_roles_batch(problems, method=method), strict=True):
            assert result.bound == pytest.approx(row["lp_bound"], abs=1e-3 if method == "ad3" else 1e-5)
            assert result.bound >= row["optimal"] - 1e-6
            if row["lp_bound"] > row["optimal"] + 1e-3:
                assert result.status != "optimal"

"""Every exact method against enumeration, on thousands of small problems full of ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from decode.generators import factor_problem, label_problem, role_problem, role_problem_in_pieces
from oracles.decoding import best_graph, best_labels, best_roles, obeys_labels
from sapwood.decode import FactorGraph, RoleProblem, decode_labels, decode_roles_batch

COUNT = 3_000


@pytest.fixture(scope="module")
def role_cases():
    rng = np.random.default_rng(20120607)
    problems = [role_problem(rng) for _ in range(COUNT)]
    return problems, [best_roles(**problem) for problem in problems]


@pytest.fixture(scope="module")
def role_cases_in_pieces():
    rng = np.random.default_rng(20120608)
    problems = [role_problem_in_pieces(rng) for _ in range(COUNT)]
    return problems, [best_roles(**problem) for problem in problems]


@pytest.fixture(scope="module")
def label_cases():
    rng = np.random.default_rng(20080203)
    problems = [label_problem(rng) for _ in range(COUNT)]
    return problems, [best_labels(**problem) for problem in problems]


@pytest.mark.slow
@pytest.mark.parametrize("cases", ["role_cases", "role_cases_in_pieces"])
@pytest.mark.parametrize(
    ("method", "options"),
    [("exact", {}), ("exact", {"max_states": 1}), ("ad3-exact", {}), ("ilp", {})],
    ids=["exact", "exact-handing-over", "ad3-exact", "ilp"],
)
def test_roles_agree_with_enumeration(request, cases, method, options):
    problems, expected = request.getfixturevalue(cases)
    assert sum(value is None for value in expected) > 30, "the sample must hold infeasible problems"
    prepared = [RoleProblem(**problem) for problem in problems]
    results = decode_roles_batch(prepared, method=method, threads=1, **options)
    for problem, result, value in zip(problems, results, expected, strict=True):
        if value is None:
            assert (result.status, result.assignment) == ("infeasible", None), problem
            continue
        assert result.status == "optimal", problem
        assert result.value == pytest.approx(value, abs=1e-6), problem
        assert result.bound == pytest.approx(value, abs=1e-6), problem
        assert not any(result.violations.values()), problem
        taken = np.asarray(problem["scores"])[np.arange(len(result.assignment)), result.assignment]
        assert taken.sum() == pytest.approx(value, abs=1e-6), problem


@pytest.mark.slow
@pytest.mark.parametrize("cases", ["role_cases", "role_cases_in_pieces"])
@pytest.mark.parametrize("method", ["local", "beam", "lp", "ad3"])
def test_roles_bounds_are_bounds_and_proofs_are_proofs(request, cases, method):
    problems, expected = (part[:800] for part in request.getfixturevalue(cases))
    for problem, result, value in zip(
        problems,
        decode_roles_batch([RoleProblem(**problem) for problem in problems], method=method, beam=3, threads=1),
        expected,
        strict=True,
    ):
        if value is None:
            assert result.status != "optimal", problem
            continue
        assert result.bound >= value - 1e-6, problem
        if result.status == "optimal":
            assert result.value == pytest.approx(value, abs=1e-6), problem
            assert not any(result.violations.values()), problem
        if method == "beam" and result.assignment is not None:
            assert result.violations["overlap"] == 0, problem


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"max_states": 1}, {"method": "ad3-exact"}], ids=["exact", "handing-over", "ad3-exact"]
)
def test_labels_agree_with_enumeration(label_cases, options):
    problems, expected = label_cases
    assert sum(value is None for value in expected) > 30, "the sample must hold infeasible problems"
    for problem, value in zip(problems, expected, strict=True):
        result = decode_labels(**problem, **options)
        if value is None:
            assert (result.status, result.assignment) == ("infeasible", None), problem
            continue
        assert result.status == "optimal", problem
        assert result.value == pytest.approx(value, abs=1e-6), problem
        constraints = {name: part for name, part in problem.items() if name != "scores"}
        assert obeys_labels(result.assignment, **constraints), problem


def build(scores, factors):
    graph = FactorGraph()
    u = graph.variables(scores)
    for kind, literals, extra in factors:
        parts = [~u[variable] if negated else u[variable] for variable, negated in literals]
        if kind in ("xor_out", "or_out"):
            getattr(graph, kind)(*parts[:-1], out=parts[-1])
        elif kind == "budget":
            graph.budget(*parts, limit=extra)
        elif kind == "pair":
            graph.pair(parts[0], parts[1], extra)
        else:
            getattr(graph, kind)(*parts)
    return graph, u


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ad3", "ilp"])
def test_graphs_agree_with_enumeration(method):
    rng = np.random.default_rng(2011)
    infeasible = 0
    for _ in range(COUNT if method == "ad3" else 400):
        scores, factors = factor_problem(rng)
        value = best_graph(scores, factors)
        graph, u = build(scores, factors)
        solution = graph.solve(method=method)
        if value is None:
            infeasible += 1
            assert solution.status == "infeasible", (scores, factors)
            continue
        assert solution.status == "optimal", (scores, factors)
        assert solution.value == pytest.approx(value, abs=1e-6), (scores, factors)
        assert solution.gap <= 1e-6
        # The assignment itself, looked at by the oracle's eyes: only it is left to choose.
        fixed = [("or_", [(i, not on)], 0) for i, on in enumerate(solution[u])]
        assert best_graph(scores, factors + fixed) == pytest.approx(value, abs=1e-6)
    assert infeasible > 10


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ad3", "lp", "subgradient"])
def test_relaxations_never_claim_more_than_they_prove(method):
    rng = np.random.default_rng(7)
    whole = 0
    for _ in range(300):
        scores, factors = factor_problem(rng)
        value = best_graph(scores, factors)
        graph, _ = build(scores, factors)
        solution = graph.solve(exact=False, method=method, max_iterations=500)
        if value is None:
            assert solution.status != "optimal"
            continue
        assert solution.bound >= value - 1e-6, (scores, factors)
        assert solution.status != "infeasible"
        if solution.status == "optimal":
            whole += 1
            assert solution.value == pytest.approx(value, abs=1e-6)
    assert whole > 100


@pytest.mark.slow
def test_relaxation_bound_is_the_linear_programs():
    rng = np.random.default_rng(11)
    compared = 0
    for _ in itertools.count():
        scores, factors = factor_problem(rng)
        graph, _ = build(scores, factors)
        program = graph.solve(method="lp")
        if program.status == "infeasible":
            continue
        relaxed = graph.solve(exact=False)
        # AD3 first draws logical conclusions, so its relaxation can only be the tighter one.
        assert relaxed.bound <= program.bound + 1e-5, (scores, factors)
        compared += 1
        if compared == 200:
            break

"""The factor graph as its users see it: tensors, factors, solutions, limits and mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decode.generators import factor_problem
from decode.test_agreement import build
from sapwood.decode import FactorGraph
from sapwood.errors import DataError, ParameterError


def hard_graph(n: int = 40, seed: int = 0) -> FactorGraph:
    """Return a graph whose relaxation says little: spread frustration over every triangle."""
    rng = np.random.default_rng(seed)
    graph = FactorGraph()
    u = graph.variables(rng.normal(0.0, 0.1, n))
    first, second = np.triu_indices(n, 1)
    graph.pair(u[first], u[second], rng.choice([-1.0, 1.0], len(first)))
    return graph


def test_variables_behave_like_an_array():
    graph = FactorGraph()
    u = graph.variables(np.arange(12.0).reshape(3, 4))
    assert (u.shape, u.ndim, u.size, len(u)) == ((3, 4), 2, 12, 3)
    assert u[1, 2].literals == 2 * 6
    assert u[:, [0, 3]].shape == (3, 2)
    assert u.T.shape == (4, 3)
    assert u.reshape(2, 6).shape == (2, 6)
    assert [row.shape for row in u] == [(4,)] * 3
    assert ((~~u).literals == u.literals).all()
    assert repr(u) == "Variables(shape=(3, 4))"
    assert repr(graph) == "FactorGraph(12 variables, 0 factors)"


def test_negation_is_respected_everywhere():
    graph = FactorGraph()
    u = graph.variables([1.0, 1.0, -1.0])
    graph.xor(~u)
    solution = graph.solve()
    assert solution[u].tolist() == [True, True, False]
    assert solution[~u].tolist() == [False, False, True]
    assert solution.posterior(~u).tolist() == [0.0, 0.0, 1.0]
    assert "<td>optimal</td>" in solution._repr_html_()
    assert repr(solution).startswith("Solution(status='optimal', value=2,")


def test_axis_makes_one_factor_per_row():
    scores = np.random.default_rng(0).normal(size=(3, 5))
    by_axis, by_loop = FactorGraph(), FactorGraph()
    u, w = by_axis.variables(scores), by_loop.variables(scores)
    by_axis.xor(u, axis=1)
    by_axis.at_most_one(u, axis=0)
    for row in w:
        by_loop.xor(row)
    for column in w.T:
        by_loop.at_most_one(column)
    assert by_axis.solve().value == by_loop.solve().value


def test_outputs_per_row():
    graph = FactorGraph()
    u = graph.variables([[1.0, -3.0], [-1.0, -1.0]])
    any_on = graph.variables([-0.5, 2.0])
    graph.or_out(u, out=any_on, axis=1)
    solution = graph.solve()
    assert solution.value == pytest.approx(1.0 - 0.5 - 1.0 + 2.0)
    assert solution[any_on].tolist() == [True, True]


def test_caching_changes_nothing_but_the_work():
    rng = np.random.default_rng(5)
    saved = 0
    for _ in range(60):
        graph, _ = build(*factor_problem(rng))
        on = graph.solve(exact=False, caching=True, trace=True)
        off = graph.solve(exact=False, caching=False, trace=True)
        assert (on.value, on.bound, on.status, on.iterations) == (
            off.value,
            off.bound,
            off.status,
            off.iterations,
        )
        assert np.array_equal(on.posteriors, off.posteriors, equal_nan=True)
        assert np.array_equal(on.trace.dual, off.trace.dual)
        assert on.projections <= off.projections
        saved += off.projections - on.projections
    assert saved > 0


def test_trace_follows_the_relaxation():
    graph = hard_graph(8)
    solution = graph.solve(exact=False, trace=True)
    assert len(solution.trace.dual) == len(solution.trace.primal) == solution.iterations > 10
    assert min(solution.trace.dual) >= solution.bound - 1e-9
    assert solution.trace.dual[-1] == pytest.approx(solution.bound, abs=1e-3)
    assert abs(solution.trace.primal[-1] - solution.trace.dual[-1]) < 1e-2
    assert graph.solve(exact=False).trace is None


def test_warm_start_saves_work_and_keeps_the_answer():
    graph = hard_graph(12, seed=3)
    cold = graph.solve()
    warm = graph.solve(warm_start=cold)
    assert warm.status == cold.status == "optimal"
    assert warm.value == pytest.approx(cold.value, abs=1e-6)
    assert warm.iterations <= cold.iterations
    relaxed = graph.solve(exact=False)
    assert graph.solve(exact=False, warm_start=relaxed).iterations < relaxed.iterations


def test_a_rounded_answer_is_not_called_exact():
    graph = FactorGraph()  # an odd cycle: the relaxation takes half of each
    u = graph.variables([1.0, 1.0, 1.0])
    for a, b in ((0, 1), (1, 2), (0, 2)):
        graph.at_most_one(u[a], u[b])
    relaxed = graph.solve(exact=False)
    assert relaxed.status == "fractional"
    assert relaxed.bound == pytest.approx(1.5, abs=1e-5)
    assert relaxed.posterior(u) == pytest.approx([0.5, 0.5, 0.5], abs=1e-4)
    assert relaxed.gap > 0.4
    exact = graph.solve()
    assert (exact.status, exact.value) == ("optimal", 1.0)
    assert exact.gap <= 1e-6
    assert graph.solve(method="lp").status == "fractional"
    assert graph.solve(method="ilp").status == "optimal"


@pytest.mark.parametrize("method", ["ad3", "ilp", "lp"])
def test_contradictions_are_an_answer(method):
    graph = FactorGraph()
    u = graph.variables([1.0, 2.0])
    graph.or_(u[0])
    graph.imply(u[0], u[1])
    graph.at_most_one(u)
    solution = graph.solve(method=method)
    assert (solution.status, solution.assignment, solution.gap) == ("infeasible", None, 0.0)
    assert solution.value == -np.inf
    with pytest.raises(DataError, match="infeasible"):
        solution[u]


def test_empty_factors_mean_what_logic_says():
    for method in ("ad3", "ilp"):
        graph = FactorGraph()
        u = graph.variables([1.0])
        graph.at_most_one(u[:0])
        graph.budget(u[:0], limit=0)
        assert graph.solve(method=method).value == 1.0
        graph.xor(u[:0])
        assert graph.solve(method=method).status == "infeasible"


def test_empty_graphs():
    for method in ("ad3", "lp", "ilp", "subgradient"):
        solution = FactorGraph().solve(method=method)
        assert (solution.status, solution.value) == ("optimal", 0.0)
        assert len(solution.assignment) == 0


def test_a_variable_may_occur_twice_in_a_factor():
    graph = FactorGraph()
    u = graph.variables([3.0, 1.0])
    graph.xor(u[0], u[0], u[1])
    assert graph.solve()[u].tolist() == [False, True]
    graph.or_(u[1], ~u[1])
    assert graph.solve().value == graph.solve(method="ilp").value == 1.0


def test_limits_are_kept_and_admitted(stopwatch):
    graph = hard_graph(60)
    with stopwatch(at_most=2):
        solution = graph.solve(time_limit=0.3)
    assert solution.status == "limit"
    assert solution.value <= solution.bound
    assert solution.gap > 0
    few = graph.solve(max_nodes=3)
    assert (few.status, few.nodes) == ("limit", 3)
    assert graph.solve(exact=False, max_iterations=4).status == "limit"
    assert graph.solve(method="ilp", time_limit=0.05).status in ("limit", "optimal")


def test_deep_searches_do_not_recurse():
    graph = FactorGraph()
    u = graph.variables(np.ones(3 * 120))
    for i in range(120):
        a, b, c = u[3 * i], u[3 * i + 1], u[3 * i + 2]
        graph.at_most_one(a, b)
        graph.at_most_one(b, c)
        graph.at_most_one(a, c)
    solution = graph.solve(max_nodes=400)
    assert solution.value == 120.0
    assert solution.bound >= 120.0


@pytest.mark.parametrize("scores", [[np.nan], [[1.0, np.inf]], [-np.inf], ["a"], [[1.0], [1.0, 2.0]]])
def test_bad_scores(scores):
    with pytest.raises(DataError, match="scores"):
        FactorGraph().variables(scores)


def test_bad_arguments():
    graph, other = FactorGraph(), FactorGraph()
    u, w = graph.variables([1.0, 2.0]), other.variables([1.0])
    for call, match in (
        (lambda: graph.xor(w), "another graph"),
        (lambda: graph.xor([0, 1]), "variables"),
        (lambda: graph.xor(u, axis=1), "axis"),
        (lambda: graph.budget(u, limit=-1), "limit"),
        (lambda: graph.budget(u, limit=1.5), "limit"),
        (lambda: graph.xor_out(u, out=u), "out"),
        (lambda: graph.imply(u, graph.variables([1.0, 1.0, 1.0])), "shapes"),
        (lambda: graph.solve(method="magic"), "method"),
        (lambda: graph.solve(time_limit=0), "time_limit"),
        (lambda: graph.solve(time_limit=float("nan")), "time_limit"),
        (lambda: graph.solve(max_nodes=0), "max_nodes"),
        (lambda: graph.solve(penalty=0.0), "penalty"),
        (lambda: graph.solve(warm_start=other.solve()), "warm_start"),
    ):
        with pytest.raises(ParameterError, match=match):
            call()
    with pytest.raises(DataError, match="pair"):
        graph.pair(u[0], u[1], np.inf)
    with pytest.raises(DataError, match="pair"):
        graph.pair(u, u, [1.0, 2.0, 3.0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.01, 100.0))
def test_scaling_the_scores_scales_the_answer(seed, factor):
    scores, factors = factor_problem(np.random.default_rng(seed))
    scaled = [(kind, literals, extra * factor if kind == "pair" else extra) for kind, literals, extra in factors]
    first, second = build(scores, factors)[0].solve(), build(scores * factor, scaled)[0].solve()
    assert first.status == second.status
    if first.status == "optimal":
        assert second.value == pytest.approx(first.value * factor, rel=1e-6, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31))
def test_negating_a_variable_is_renaming_it(seed):
    scores, factors = factor_problem(np.random.default_rng(seed))
    flipped = [(kind, [(v, not n if v == 0 else n) for v, n in literals], extra) for kind, literals, extra in factors]
    mirrored = scores.copy()
    mirrored[0] = -scores[0]
    first, second = build(scores, factors)[0].solve(), build(mirrored, flipped)[0].solve()
    assert first.status == second.status
    if first.status == "optimal":
        assert second.value == pytest.approx(first.value - scores[0], abs=1e-6)


def test_warm_start_survives_a_new_factor():
    graph = hard_graph(6)
    u = graph.variables([0.0])
    solution = graph.solve()
    graph.or_(~u[0])
    again = graph.solve(warm_start=solution)
    assert again.value == pytest.approx(solution.value, abs=1e-6)

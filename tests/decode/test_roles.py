"""Role decoding as its users see it: methods, batches, sizes, limits and mistakes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood.settings
from decode.generators import role_problem
from oracles.decoding import best_roles
from sapwood.decode import RoleProblem, decode_roles, decode_roles_batch
from sapwood.decode.roles import METHODS
from sapwood.errors import DataError, ParameterError

SPANS = [(0, 1), (1, 2), (3, 3), (-1, -1)]
SCORES = [[3.0, 1.0, 0.5, 0.0], [2.0, 2.5, 0.5, 0.0]]


def crowded(rng: np.random.Generator, roles: int, tokens: int, excludes: int = 0, requires: int = 0) -> RoleProblem:
    """Every role wants nearly every span about equally: nothing can be pruned."""
    spans = [(i, min(tokens - 1, i + k)) for i in range(tokens) for k in range(3)]
    spans = [*sorted(set(spans)), (-1, -1)]
    scores = np.round(rng.normal(0.0, 1.0, (roles, len(spans)))) + rng.normal(0.0, 0.01, (roles, len(spans)))
    scores[:, -1] = -1.0
    pairs = [tuple(rng.permutation(roles)[:2].tolist()) for _ in range(excludes + requires)]
    return RoleProblem(scores, spans, pairs[:excludes], pairs[excludes:])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_in_the_same_terms(method):
    result = decode_roles(SCORES, SPANS, method=method)
    assert result.assignment.tolist() == ([0, 1] if method == "local" else [0, 2])
    assert result.value == (5.5 if method == "local" else 3.5)
    assert result.bound == 5.5 if method in ("local", "beam") else result.bound == pytest.approx(3.5)
    assert result.status == ("limit" if method in ("local", "beam") else "optimal")
    assert result.violations == {
        "overlap": int(method == "local"),
        "excludes": 0,
        "requires": 0,
        "allowed": 0,
    }
    assert result.gap == pytest.approx(result.bound - result.value)
    assert "status=" in repr(result)


def test_constraints_do_what_they_say():
    spans = [(0, 0), (1, 1), (2, 2), (-1, -1)]
    scores = [[2.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.5]]
    assert decode_roles(scores, spans).assignment.tolist() == [0, 1, 3]
    assert decode_roles(scores, spans, excludes=[(0, 1)]).value == 4.5
    assert decode_roles(scores, spans, requires=[(1, 2)]).assignment.tolist() == [0, 1, 2]
    both = decode_roles(scores, spans, requires=[(0, 1)], excludes=[(1, 0)])  # together or not, and never together
    assert (both.assignment.tolist(), both.status) == ([3, 3, 3], "optimal")
    assert decode_roles(scores, spans, excludes=[(0, 1)], method="local").violations["excludes"] == 1
    assert decode_roles(scores, spans, requires=[(1, 2)], method="local").violations["requires"] == 1


def test_forbidden_spans_and_mandatory_roles():
    allowed = np.ones((2, 4), bool)
    allowed[:, 3] = False  # both must be filled
    for method in ("exact", "ad3-exact", "ilp"):
        forced = decode_roles([[-5.0, -5.0, -1.0, 0.0]] * 2, SPANS, allowed=allowed, method=method)
        assert (forced.value, forced.status) == (-6.0, "optimal")
        narrow = allowed & np.array([True, True, False, True])  # but only by spans that overlap
        nothing = decode_roles(SCORES, SPANS, allowed=narrow, method=method)
        assert (nothing.status, nothing.assignment, nothing.gap) == ("infeasible", None, 0.0)
        assert (nothing.value, nothing.bound) == (-np.inf, -np.inf)
    no_choice = decode_roles(SCORES, SPANS, allowed=np.zeros((2, 4), bool))
    assert no_choice.status == "infeasible"


def test_beam_of_any_width():
    rng = np.random.default_rng(1)
    problem = crowded(rng, 8, 14)
    values = [decode_roles_batch([problem], method="beam", beam=width)[0].value for width in (1, 2, 20, 5_000)]
    best = decode_roles_batch([problem])[0]
    assert all(value <= best.value + 1e-9 for value in values)
    assert values[0] < values[-1]
    assert values[-1] == pytest.approx(best.value)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(8)
    problems = [RoleProblem(**role_problem(rng)) for _ in range(300)]
    problems += [crowded(rng, 9, 12, 3, 1) for _ in range(40)]
    for method in ("exact", "ad3", "ad3-exact", "beam"):
        one, two = (decode_roles_batch(problems, method=method, threads=threads) for threads in (1, 2))
        for a, b in zip(one, two, strict=True):
            assert (a.value, a.bound, a.status, a.nodes, a.states) == (
                b.value,
                b.bound,
                b.status,
                b.nodes,
                b.states,
            )
            assert np.array_equal(a.assignment, b.assignment)
    single = [
        decode_roles(p.scores, p.spans, excludes=p.excludes, requires=p.requires, allowed=p.allowed) for p in problems
    ]
    for a, b in zip(decode_roles_batch(problems), single, strict=True):
        assert (a.value, a.status) == (b.value, b.status)
        assert np.array_equal(a.assignment, b.assignment)


def test_hard_problems_agree_between_exact_methods():
    rng = np.random.default_rng(17)
    problems = [crowded(rng, 10, 16, 3, 1) for _ in range(12)]
    exact = decode_roles_batch(problems)
    branch = decode_roles_batch(problems, method="ad3-exact")
    handed = decode_roles_batch(problems, max_states=1)
    reference = decode_roles_batch(problems, method="ilp")
    assert any(result.nodes > 0 for result in handed)
    assert all(result.nodes == 0 for result in exact)
    for results in (exact, branch, handed):
        for result, other in zip(results, reference, strict=True):
            assert result.status == "optimal"
            assert result.value == pytest.approx(other.value, abs=1e-6)


@pytest.mark.slow
def test_more_roles_than_dynamic_programming_remembers():
    rng = np.random.default_rng(23)
    problem = crowded(rng, 90, 40, 10, 2)
    result = decode_roles_batch([problem], time_limit=20)[0]
    reference = decode_roles_batch([problem], method="ilp")[0]
    assert result.status == "optimal"
    assert result.value == pytest.approx(reference.value, abs=1e-6)


def test_ten_thousand_roles(stopwatch):
    rng = np.random.default_rng(4)
    spans = [*((i, i + k) for i in range(12) for k in range(2)), (-1, -1)]
    scores = rng.normal(0.0, 1.0, (10_000, len(spans)))
    scores[:, -1] = 0.0
    with stopwatch(at_most=12):
        result = decode_roles(scores, spans, excludes=[(0, 9_999)], time_limit=10)
    assert result.status == "optimal"
    assert not any(result.violations.values())
    filled = np.sort(result.assignment[result.assignment != len(spans) - 1])
    assert len(filled) == len(set(filled))
    assert result.value == pytest.approx(scores[np.arange(10_000), result.assignment].sum())


def test_time_limit_returns_what_is_known(stopwatch):
    rng = np.random.default_rng(2)
    problem = crowded(rng, 200, 120, 150, 40)
    for method in ("exact", "ad3-exact"):
        with stopwatch(at_most=2.5):
            result = decode_roles_batch([problem], method=method, time_limit=0.2)[0]
        assert result.status == "limit"
        assert result.bound >= result.value
        if result.assignment is not None:
            assert not any(result.violations.values())


def test_spans_in_pieces_let_others_in_between_them():
    spans = [(0, 0), (1, 1), (2, 2), (-1, -1)]
    scores = [[2.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.5, 0.0]]
    for method in ("exact", "ad3-exact", "ilp", "ad3", "lp", "beam"):
        result = decode_roles(scores, spans, pieces=[(0, 2, 3)], method=method)
        assert result.assignment.tolist() == [0, 1, 3], method
        assert result.value == 3.0
        assert not any(result.violations.values())
    # They meet twice and are one pair of roles.
    clash = decode_roles(scores[:1] * 2, spans, pieces=[(0, 2, 3)], method="local")
    assert clash.violations == {"overlap": 1, "excludes": 0, "requires": 0, "allowed": 0}


def test_pieces_make_crowded_problems_no_less_exact():
    rng = np.random.default_rng(31)
    problems = []
    for _ in range(12):
        whole = crowded(rng, 8, 14, 3, 1)
        ends = [(number, last + 2, last + 3) for number, (_, last) in enumerate(whole.spans) if last > 0]
        chosen = rng.permutation(len(ends))[: len(ends) // 2]
        pieces = [ends[at] for at in chosen]
        problems.append(RoleProblem(whole.scores, whole.spans, whole.excludes, whole.requires, pieces=pieces))
    for one, two, other in zip(
        decode_roles_batch(problems, threads=1),
        decode_roles_batch(problems, threads=2),
        decode_roles_batch(problems, method="ilp"),
        strict=True,
    ):
        assert one.status == "optimal"
        assert not any(one.violations.values())
        assert one.value == pytest.approx(other.value, abs=1e-6)
        assert np.array_equal(one.assignment, two.assignment)


@pytest.mark.slow
def test_ctrl_c_stops_a_batch_within_a_second(interrupt):
    code = """
        import numpy as np
        from decode.test_roles import crowded
        from sapwood.decode import decode_roles_batch
        problem = crowded(np.random.default_rng(2), 200, 120, 150, 40)
        print("ready", flush=True)
        try:
            decode_roles_batch([problem] * 50, threads=2)
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    assert interrupt(code) == "stopped\n"


def test_problems_can_be_looked_into_and_pickled():
    problem = RoleProblem(SCORES, SPANS, [(1, 0), (0, 1)], [(0, 1)], allowed=np.ones((2, 4), bool))
    assert (problem.excludes, problem.requires, problem.null) == ([(0, 1)], [(0, 1)], 3)
    assert problem.scores.tolist() == SCORES
    assert [tuple(span) for span in problem.spans] == SPANS
    assert problem.allowed.all()
    copy = pickle.loads(pickle.dumps(problem))
    assert repr(copy) == repr(problem) == "RoleProblem(2 roles, 4 spans, 1 excludes, 1 requires)"
    assert decode_roles_batch([copy])[0].value == decode_roles_batch([problem])[0].value
    scattered = RoleProblem(SCORES, SPANS, pieces=[(1, 5, 6), (0, 3, 3), (1, 4, 4)])
    assert pickle.loads(pickle.dumps(scattered)).pieces.tolist() == [[0, 3, 3], [1, 4, 4], [1, 5, 6]]


def test_a_problem_keeps_its_own_copy():
    scores = np.array(SCORES)
    problem = RoleProblem(scores, SPANS)
    scores[:] = -9.0
    assert decode_roles_batch([problem])[0].value == 3.5


def test_empty_problems():
    for scores, spans in (([], []), (np.zeros((0, 3)), [(0, 0), (1, 1), (-1, -1)]), ([], [(-1, -1)])):
        for method in METHODS:
            result = decode_roles(scores, spans, method=method)
            assert (result.value, result.bound, result.status, len(result.assignment)) == (
                0.0,
                0.0,
                "optimal",
                0,
            )
    only_null = decode_roles([[1.5], [2.0]], [(-1, -1)], requires=[(0, 1)])
    assert (only_null.value, only_null.assignment.tolist()) == (3.5, [0, 0])
    assert decode_roles_batch([]) == []


def test_huge_scores_and_positions():
    big = decode_roles(np.array(SCORES) * 1e300, SPANS)
    assert (big.value, big.status) == (3.5e300, "optimal")
    far = decode_roles([[1.0, 2.0, 0.0]], [(0, 1_999_999_999), (5, 5), (-1, -1)])
    assert far.assignment.tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"scores": [[1.0, np.nan, 0.0, 0.0], [0.0] * 4]}, r"scores\[0, 1\] is NaN"),
        ({"scores": [[1.0] * 4, [0.0, 0.0, np.inf, 0.0]]}, r"scores\[1, 2\] is infinite"),
        ({"scores": [[-np.inf] * 4] * 2}, "infinite"),
        ({"scores": [[1.0, 2.0], [3.0]]}, "equally long"),
        ({"scores": [["a", "b", "c", "d"]]}, "numbers"),
        ({"scores": [1.0, 2.0]}, "dimension"),
        ({"scores": [[1.0, 2.0, 3.0]]}, "3 columns for 4 spans"),
        ({"spans": [(0, 1), (2, 1), (3, 3), (-1, -1)]}, r"spans\[1\] is \(2, 1\), which ends before"),
        ({"spans": [(0, 1), (-2, 1), (3, 3), (-1, -1)]}, r"spans\[1\] is \(-2, 1\)"),
        ({"spans": [(0, 1), (-1, 1), (3, 3), (-1, -1)]}, r"spans\[1\] is \(-1, 1\)"),
        ({"tokens": 3}, r"spans\[2\] is \(3, 3\), beyond the last token 2"),
        ({"spans": [(0, 1), (1, 1), (3, 3), (4, 4)]}, "no null span"),
        ({"spans": [(0, 1), (-1, -1), (3, 3), (-1, -1)]}, "second null span"),
        ({"spans": [0, 1, 2, 3]}, "pairs"),
        ({"spans": [(0, 1), (2,), (3, 3), (-1, -1)]}, "differ in length"),
        ({"spans": [(0.5, 1), (2, 2), (3, 3), (-1, -1)]}, "integers"),
        ({"spans": [(0, 2**40), (2, 2), (3, 3), (-1, -1)]}, "beyond"),
        ({"pieces": [(4, 5, 5)]}, r"pieces\[0\] is \(4, 5, 5\), but there are 4 spans"),
        ({"pieces": [(-1, 5, 5)]}, "but there are 4 spans"),
        ({"pieces": [(0, 5, 5), (3, 5, 5)]}, r"pieces\[1\] is \(3, 5, 5\), but the null span has no pieces"),
        ({"pieces": [(0, 6, 5)]}, "ends before it starts"),
        ({"pieces": [(0, -1, -1)]}, "token numbers start at 0"),
        ({"pieces": [(0, 4, 4)], "tokens": 4}, "beyond the last token 3"),
        ({"pieces": [(1, 0, 1)]}, r"pieces of spans\[1\] share the token 1"),
        ({"pieces": [(0, 5, 7), (0, 7, 8)]}, r"pieces of spans\[0\] share the token 7"),
        ({"pieces": [(0, 1)]}, "triples"),
        ({"pieces": [(0, 1, 2.5)]}, "integers"),
        ({"excludes": [(0, 0)]}, r"excludes\[0\] is \(0, 0\): a role cannot"),
        ({"requires": [(1, 1)]}, r"requires\[0\] is \(1, 1\): a role cannot"),
        ({"excludes": [(0, 2)]}, "there are 2 roles"),
        ({"requires": [(-1, 0)]}, "there are 2 roles"),
        ({"excludes": [0, 1]}, "pairs"),
        ({"excludes": [(0, 1.5)]}, "integers"),
        ({"allowed": [[1, 0, 1, 1]] * 2}, "True and False"),
        ({"allowed": [[True]]}, "shape"),
    ],
)
def test_bad_data(arguments, match):
    for method in ("exact", "ilp"):
        with pytest.raises(DataError, match=match) as caught:
            decode_roles(**{"scores": SCORES, "spans": SPANS, **arguments}, method=method)
        assert "nanobind" not in str(caught.value)
        assert "incompatible" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"method": "best"}, "method must be one of 'local', 'beam'"),
        ({"beam": 0}, "beam"),
        ({"beam": 2.5}, "beam"),
        ({"time_limit": -1}, "time_limit"),
        ({"time_limit": "1"}, "time_limit"),
        ({"max_nodes": 0}, "max_nodes"),
        ({"max_states": True}, "max_states"),
    ],
)
def test_bad_parameters(arguments, match):
    with pytest.raises(ParameterError, match=match):
        decode_roles(SCORES, SPANS, **arguments)


def test_a_batch_names_what_it_cannot_take():
    with pytest.raises(ParameterError, match=r"problems\[1\] is a dict"):
        decode_roles_batch([RoleProblem(SCORES, SPANS), {"scores": SCORES}])
    with pytest.raises(ParameterError, match="threads"):
        decode_roles_batch([], threads=0)


def test_progress_does_not_disturb(capsys):
    problems = [RoleProblem(SCORES, SPANS)] * 5
    with sapwood.settings.options(progress=True):
        assert [result.value for result in decode_roles_batch(problems)] == [3.5] * 5


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31), st.floats(-50.0, 50.0))
def test_a_constant_per_role_shifts_the_value_only(seed, shift):
    problem = role_problem(np.random.default_rng(seed))
    moved = {**problem, "scores": problem["scores"] + shift}
    first, second = decode_roles(**problem), decode_roles(**moved)
    assert first.status == second.status
    if first.status == "optimal":
        assert second.value == pytest.approx(first.value + shift * len(problem["scores"]), abs=1e-6)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31))
def test_order_does_not_matter_and_constraints_only_cost(seed):
    rng = np.random.default_rng(seed)
    problem = role_problem(rng)
    problem.pop("allowed", None)
    result = decode_roles(**problem)
    roles, count = problem["scores"].shape
    role_order, span_order = rng.permutation(roles), rng.permutation(count)
    place = np.argsort(role_order)
    shuffled = decode_roles(
        problem["scores"][role_order][:, span_order],
        [problem["spans"][i] for i in span_order],
        excludes=[(int(place[a]), int(place[b])) for a, b in problem["excludes"]],
        requires=[(int(place[a]), int(place[b])) for a, b in problem["requires"]],
    )
    assert shuffled.value == pytest.approx(result.value, abs=1e-9)
    free = decode_roles(problem["scores"], problem["spans"])
    assert result.value <= free.value + 1e-9
    assert free.value == pytest.approx(best_roles(problem["scores"], problem["spans"]), abs=1e-9)

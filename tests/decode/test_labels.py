"""Label decoding as its users see it: constraints, sizes, limits and mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decode.generators import label_problem
from oracles.decoding import obeys_labels
from sapwood.decode import decode_labels
from sapwood.errors import DataError, ParameterError

SPANS = [(0, 1), (2, 3), (4, 5)]


def propbank(rng: np.random.Generator, tokens: int, core: int = 6) -> dict:
    """Return a problem in the shape of PropBank: core labels once, R-X with X, C-X after X, adjuncts
    freely."""
    spans = sorted({(int(a), int(min(tokens - 1, a + k))) for a in range(tokens) for k in rng.integers(0, 6, 2)})
    labels = 1 + 3 * core + 4
    scores = rng.normal(-1.0, 1.0, (len(spans), labels))
    scores[:, 0] = 0.0
    return {
        "scores": scores,
        "spans": spans,
        "unique": range(1, core + 1),
        "implies": [(core + i, i) for i in range(1, core + 1)],
        "after": [(2 * core + i, i) for i in range(1, core + 1)],
    }


def test_each_constraint():
    scores = np.array([[0.0, 2.0, 1.0], [0.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    assert decode_labels(scores, SPANS).assignment.tolist() == [1, 1, 2]
    assert decode_labels(scores, SPANS, unique=[1]).assignment.tolist() == [2, 1, 2]
    assert decode_labels(scores, SPANS, unique=[1, 2]).assignment.tolist() == [0, 1, 2]
    assert decode_labels(scores, [(0, 1), (1, 3), (4, 5)]).assignment.tolist() == [0, 1, 2]
    lonely = np.array([[0.0, -2.0, 1.0], [0.0, -2.0, 0.5], [0.0, -2.0, 0.0]])
    assert decode_labels(lonely, SPANS, implies=[(2, 1)]).value == 0.0
    assert decode_labels(lonely + [[0, 0, 2]] * 3, SPANS, implies=[(2, 1)]).assignment.tolist() == [2, 2, 1]
    assert decode_labels(lonely + [[0, 0, 2]] * 3, SPANS, after=[(2, 1)]).assignment.tolist() == [1, 2, 2]


def test_spans_that_must_be_labelled():
    scores = np.array([[0.0, -2.0], [0.0, -3.0]])
    allowed = np.array([[True, True], [False, True]])
    forced = decode_labels(scores, [(0, 1), (1, 2)], allowed=allowed)
    assert (forced.assignment.tolist(), forced.value) == ([0, 1], -3.0)
    both = decode_labels(scores, [(0, 1), (1, 2)], allowed=[[False, True]] * 2)
    assert (both.status, both.assignment, both.gap) == ("infeasible", None, 0.0)


def test_propbank_shapes_agree_between_methods():
    rng = np.random.default_rng(6)
    for _ in range(8):
        problem = propbank(rng, 14)
        result = decode_labels(**problem)
        other = decode_labels(**problem, method="ad3-exact", time_limit=20)
        handed = decode_labels(**problem, max_states=1, time_limit=20)
        assert result.status == other.status == handed.status == "optimal"
        assert result.value == pytest.approx(other.value, abs=1e-6)
        assert result.value == pytest.approx(handed.value, abs=1e-6)
        assert result.bound == result.value
        assert obeys_labels(result.assignment, **{k: v for k, v in problem.items() if k != "scores"})


def test_time_limit(stopwatch):
    rng = np.random.default_rng(9)
    problem = propbank(rng, 400, core=30)
    problem["scores"] = np.abs(problem["scores"])
    problem["scores"][:, 0] = 0.0
    with stopwatch(at_most=3):
        result = decode_labels(**problem, time_limit=0.3)
    assert result.bound >= result.value
    assert result.status in ("limit", "optimal")


def test_empty_problems():
    nothing = decode_labels([], [], unique=[2], implies=[(1, 2)])
    assert (nothing.value, nothing.status, len(nothing.assignment)) == (0.0, "optimal", 0)
    none = decode_labels([[1.0], [2.0]], [(0, 0), (0, 0)])
    assert (none.value, none.assignment.tolist()) == (3.0, [0, 0])


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"scores": [[np.nan, 1.0]] * 3}, r"scores\[0, 0\] is NaN"),
        ({"scores": [[0.0, 1.0]] * 2}, "2 rows for 3 spans"),
        ({"scores": np.zeros((3, 0))}, "no columns"),
        ({"spans": [(0, 1), (3, 2), (4, 5)]}, "ends before"),
        ({"spans": [(0, 1), (-1, -1), (4, 5)]}, "no place here"),
        ({"tokens": 5}, "beyond"),
        ({"unique": [7]}, "unique holds 7"),
        ({"unique": [0]}, "NONE"),
        ({"implies": [(1, 1)]}, "itself"),
        ({"implies": [(0, 1)]}, "NONE"),
        ({"after": [(1, 5)]}, "there are 3 labels"),
        ({"allowed": [[True] * 3]}, "shape"),
    ],
)
def test_bad_data(arguments, match):
    with pytest.raises(DataError, match=match):
        decode_labels(**{"scores": np.zeros((3, 3)), "spans": SPANS, **arguments})


def test_bad_method():
    with pytest.raises(ParameterError, match="method"):
        decode_labels([[0.0]], [(0, 0)], method="beam")


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31))
def test_shifting_a_span_and_adding_constraints(seed):
    problem = label_problem(np.random.default_rng(seed))
    result = decode_labels(**problem)
    shift = np.arange(1.0, len(problem["scores"]) + 1.0)
    moved = decode_labels(**{**problem, "scores": problem["scores"] + shift[:, None]})
    assert moved.status == result.status
    if result.status == "optimal":
        assert moved.value == pytest.approx(result.value + shift.sum(), abs=1e-6)
        free = decode_labels(problem["scores"], problem["spans"], allowed=problem.get("allowed"))
        assert free.value >= result.value - 1e-9

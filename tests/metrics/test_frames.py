"""The SemEval-2007 scorer on cases worked out by hand, and properties that hold for any."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import DataError
from sapwood.metrics import FrameAnalysis, score_frames


def is_core(frame, role):
    return role in ("Agent", "Theme")


def scored(gold, guess, **options):
    result = score_frames({0: gold}, {0: guess}, is_core, **options)
    return result.correct, result.predicted, result.gold


def test_core_roles_are_worth_one_point_and_others_half():
    gold = FrameAnalysis("Motion", [("Agent", 0, 2), ("Time", 9, 12)])
    assert scored(gold, gold) == (1.5, 1.5, 1.5)


def test_spans_must_be_exact_and_labels_right():
    gold = FrameAnalysis("Motion", [("Agent", 0, 2), ("Theme", 4, 5)])
    assert scored(gold, FrameAnalysis("Motion", [("Agent", 0, 3), ("Agent", 4, 5)])) == (0.0, 1.0, 2.0)


def test_pieces_of_a_role_match_together():
    gold = FrameAnalysis("Motion", [("Theme", 0, 2), ("Theme", 6, 8)])
    assert scored(gold, FrameAnalysis("Motion", [("Theme", 0, 2)])) == (0.0, 1.0, 1.0)
    assert scored(gold, FrameAnalysis("Motion", [("Theme", 6, 8), ("Theme", 0, 2)])) == (1.0, 1.0, 1.0)


def test_pieces_of_path_match_one_by_one():
    gold = FrameAnalysis("Motion", [("Path", 0, 2), ("Path", 6, 8)])
    assert scored(gold, FrameAnalysis("Motion", [("Path", 0, 2)])) == (0.5, 0.5, 1.0)


def test_arguments_need_the_right_frame():
    gold, guess = FrameAnalysis("Motion", [("Theme", 0, 2)]), FrameAnalysis("Giving", [("Theme", 0, 2)])
    assert scored(gold, guess) == (0.0, 1.0, 1.0)
    assert scored(gold, guess, frame_points=1.0) == (0.0, 2.0, 2.0)
    assert scored(gold, gold, frame_points=1.0) == (2.0, 2.0, 2.0)


def test_targets_missing_on_either_side_count():
    one = FrameAnalysis("Motion", [("Theme", 0, 2)])
    result = score_frames({1: one}, {2: one}, is_core)
    assert (result.correct, result.predicted, result.gold) == (0.0, 1.0, 1.0)
    empty = score_frames({}, {}, is_core)
    assert (empty.precision, empty.recall, empty.f1) == (0.0, 0.0, 0.0)


def test_negative_points_are_refused():
    with pytest.raises(DataError, match="frame_points"):
        score_frames({}, {}, is_core, frame_points=-1.0)


analyses = st.dictionaries(
    st.integers(0, 5),
    st.builds(
        FrameAnalysis,
        st.sampled_from(["Motion", "Giving"]),
        st.lists(st.tuples(st.sampled_from(["Agent", "Theme", "Path", "Time"]), st.integers(0, 3), st.integers(3, 5))),
    ),
)


@given(gold=analyses, guess=analyses)
def test_scores_are_symmetric_and_bounded(gold, guess):
    one, other = score_frames(gold, guess, is_core), score_frames(guess, gold, is_core)
    assert one.correct == other.correct <= min(one.predicted, one.gold)
    assert (one.precision, one.recall) == (other.recall, other.precision)
    same = score_frames(gold, gold, is_core)
    assert same.correct == same.gold == same.predicted
    assert one + same == type(one)(one.correct + same.correct, one.predicted + same.predicted, one.gold + same.gold)

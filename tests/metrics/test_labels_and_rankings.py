from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from sapwood.errors import DataError, ParameterError
from sapwood.metrics import score_labels, score_ranking

LABELS = st.sampled_from(["A", "B", "C", "NONE"])


@pytest.mark.slow
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
def test_labels_agree_with_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    scores = score_labels(gold, predicted)
    assert scores.accuracy == pytest.approx(accuracy_score(gold, predicted))
    expected = f1_score(gold, predicted, labels=["A", "B", "C"], average="micro", zero_division=0)
    assert score_labels(gold, predicted, ignore=["NONE"]).micro.f1 == pytest.approx(expected)
    assert scores.micro.f1 == pytest.approx(scores.accuracy)
    table = precision_recall_fscore_support(gold, predicted, labels=list(scores.classes), zero_division=0)
    for row, one in zip(np.transpose(table), scores.classes.values(), strict=True):
        assert (one.precision, one.recall, one.f1, one.gold) == pytest.approx(tuple(row))


def test_classes_and_numpy_labels() -> None:
    scores = score_labels(np.array([1, 1, 2]), [1, 2, 2])
    assert scores.classes[1].recall == 0.5
    assert scores.classes[2].precision == 0.5
    assert scores.classes[1].f1 == pytest.approx(2 / 3)


def test_labels_must_match_in_number() -> None:
    with pytest.raises(DataError, match="2 gold labels but 1 predicted"):
        score_labels(["a", "b"], ["a"])
    with pytest.raises(DataError, match="no label to score"):
        score_labels([], [])


def test_losses_by_hand() -> None:
    # Group 1: the best is second. Group 2: the best is first. Group 3: the best is third of three.
    relevance = [9, 1, 2, 5, 0, 0, 0, 7]
    scores = [3, 4, 1, 8, 2, 6, 5, 4]
    groups = [1, 1, 1, 2, 2, 3, 3, 3]
    found = score_ranking(relevance, scores, groups=groups, at=(1, 2, 3))
    assert found.ranks.tolist() == [2, 1, 3]
    assert found.setwise == {1: 2 / 3, 2: 1 / 3, 3: 0.0}
    assert (found.wrong_pairs, found.pairs) == (3, 5)
    assert found.mean_rank == 2.0


def test_ties_count_against_the_model() -> None:
    found = score_ranking([1, 0], [0.5, 0.5], groups=[0, 0])
    assert (found.setwise[1], found.pairwise) == (1.0, 1.0)


def test_several_best_elements_do_not_count_against_each_other() -> None:
    found = score_ranking([1, 1, 0], [0.1, 0.9, 0.5], groups=["a"] * 3)
    assert found.setwise[1] == 0.0
    assert (found.wrong_pairs, found.pairs) == (0, 1)


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=20))
def test_ranks_by_the_formula(rows: list[tuple[int, int, int]]) -> None:
    """Rank = the number of elements with at least the score, other best elements left aside (Heaviside, h(0) = 1)."""
    groups, relevance, scores = (list(column) for column in zip(*rows, strict=True))
    expected = []
    for group in dict.fromkeys(groups):
        members = [(r, s) for g, r, s in rows if g == group]
        top = max(r for r, _ in members)
        best = max(s for r, s in members if r == top)
        expected.append(1 + sum(s - best >= 0 for r, s in members if r != top))
    found = score_ranking(relevance, scores, groups=groups, at=(1, 2, 3))
    assert found.ranks.tolist() == expected
    losses = found.setwise
    assert losses[1] >= losses[2] >= losses[3]


def test_unusable_rankings() -> None:
    with pytest.raises(DataError, match="expected equally many"):
        score_ranking([1, 2], [1], groups=[0, 0])
    with pytest.raises(DataError, match="holds NaN at index 1"):
        score_ranking([1, 2], [1, np.nan], groups=[0, 0])
    with pytest.raises(DataError, match="nothing to rank"):
        score_ranking([], [], groups=[])
    with pytest.raises(DataError, match="an array of shape"):
        score_ranking([[1]], [1], groups=[0])
    with pytest.raises(ParameterError, match="at must hold integers"):
        score_ranking([1], [1], groups=[0], at=(0,))

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from sapwood.errors import DataError, ParameterError
from sapwood.metrics import accuracy, micro_f1, pairwise_loss, rank_of_best, score_labels, score_ranking, setwise_loss

LABELS = st.sampled_from(["A", "B", "C", "NONE"])


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
def test_labels_agree_with_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    assert accuracy(gold, predicted) == pytest.approx(accuracy_score(gold, predicted))
    expected = f1_score(gold, predicted, labels=["A", "B", "C"], average="micro", zero_division=0)
    assert micro_f1(gold, predicted, ignore=["NONE"]) == pytest.approx(expected)
    assert micro_f1(gold, predicted) == pytest.approx(accuracy(gold, predicted))


def test_classes_and_numpy_labels() -> None:
    scores = score_labels(np.array([1, 1, 2]), [1, 2, 2])
    assert scores.classes[1].recall == 0.5
    assert scores.classes[2].precision == 0.5
    assert scores.classes[1].f1 == pytest.approx(2 / 3)


def test_labels_must_match_in_number() -> None:
    with pytest.raises(DataError, match="2 gold labels but 1 predicted"):
        accuracy(["a", "b"], ["a"])
    with pytest.raises(DataError, match="no label to score"):
        accuracy([], [])


def test_losses_by_hand() -> None:
    # Group 1: the best is second. Group 2: the best is first. Group 3: the best is third of three.
    relevance = [9, 1, 2, 5, 0, 0, 0, 7]
    scores = [3, 4, 1, 8, 2, 6, 5, 4]
    groups = [1, 1, 1, 2, 2, 3, 3, 3]
    assert rank_of_best(relevance, scores, groups=groups).tolist() == [2, 1, 3]
    found = score_ranking(relevance, scores, groups=groups, at=(1, 2, 3))
    assert found.setwise == {1: 2 / 3, 2: 1 / 3, 3: 0.0}
    assert (found.wrong_pairs, found.pairs) == (3, 5)
    assert found.mean_rank == 2.0


def test_ties_count_against_the_model() -> None:
    assert setwise_loss([1, 0], [0.5, 0.5], groups=[0, 0]) == 1.0
    assert pairwise_loss([1, 0], [0.5, 0.5], groups=[0, 0]) == 1.0


def test_several_best_elements_do_not_count_against_each_other() -> None:
    found = score_ranking([1, 1, 0], [0.1, 0.9, 0.5], groups=["a"] * 3)
    assert found.setwise[1] == 0.0
    assert (found.wrong_pairs, found.pairs) == (0, 1)


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
    assert rank_of_best(relevance, scores, groups=groups).tolist() == expected
    losses = score_ranking(relevance, scores, groups=groups, at=(1, 2, 3)).setwise
    assert losses[1] >= losses[2] >= losses[3]


def test_unusable_rankings() -> None:
    with pytest.raises(DataError, match="expected equally many"):
        setwise_loss([1, 2], [1], groups=[0, 0])
    with pytest.raises(DataError, match="holds NaN at index 1"):
        setwise_loss([1, 2], [1, np.nan], groups=[0, 0])
    with pytest.raises(DataError, match="nothing to rank"):
        setwise_loss([], [], groups=[])
    with pytest.raises(DataError, match="an array of shape"):
        setwise_loss([[1]], [1], groups=[0])
    with pytest.raises(ParameterError, match="at must hold integers"):
        setwise_loss([1], [1], groups=[0], r=0)

"""Groups in any order, ranks by counting, and errors that name the row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from sapwood.errors import DataError
from sapwood.learn import from_ranks
from sapwood.learn.groups import RankerMixin, make_groups, softmax_in_groups


class Fixed(RankerMixin, BaseEstimator):
    """Scores rows by their only feature, which takes no training."""

    def fit(self):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(-2, 2)), min_size=1, max_size=12)


@pytest.mark.slow
@given(ROWS)
def test_answers_are_those_of_counting(rows):
    names, scores = [name for name, _ in rows], np.array([float(score) for _, score in rows])
    X = scores[:, None]
    ranks = Fixed().predict_rank(X, groups=names)
    for at, (name, score) in enumerate(zip(names, scores, strict=True)):
        assert ranks[at] == sum(n == name and s >= score for n, s in zip(names, scores, strict=True))
    chosen = Fixed().predict(X, groups=np.array(names, dtype=object))
    for name, at in zip(dict.fromkeys(names), chosen, strict=True):
        members = [k for k, n in enumerate(names) if n == name]
        assert at == max(members, key=lambda k: (scores[k], -k))
    chances = softmax_in_groups(scores, make_groups(names, len(names)))
    for name in set(names):
        members = [k for k, n in enumerate(names) if n == name]
        expected = np.exp(scores[members]) / np.exp(scores[members]).sum()
        np.testing.assert_allclose(chances[members], expected)


def test_score_counts_ties_as_errors():
    assert Fixed().score([[1.0], [1.0], [2.0], [0.0]], [1, 0, 1, 0], groups=[0, 0, 1, 1]) == 0.5


def test_interleaved_groups_are_put_together():
    groups = make_groups(["b", "a", "b", "a", "c"], 5)
    assert groups.rows.tolist() == [0, 2, 1, 3, 4]
    assert groups.ends.tolist() == [2, 4, 5]
    assert groups.sizes.tolist() == [2, 2, 1]


def test_group_names_of_several_kinds():
    assert make_groups([1, "x", None, 1], 4).ends.tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "needs groups"),
        (7, "for each row"),
        ("aab", "for each row"),
        ([1, 2], "3 examples but groups has 2"),
        ([0.0, np.nan, 1.0], r"groups\[1\] is NaN"),
        ([[1], [2], [3]], "one entry per row"),
    ],
)
def test_bad_groups(groups, message):
    with pytest.raises(DataError, match=message):
        make_groups(groups, 3)


def test_ranks_become_relevance():
    np.testing.assert_array_equal(from_ranks([1, 3, 2]), [2.0, 0.0, 1.0])
    with pytest.raises(DataError, match="finite"):
        from_ranks([1, np.nan])

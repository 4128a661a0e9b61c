"""What all experiments measure with, against the tests and sums it stands for; and what a setting decides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from sapwood.errors import DataError
from sapwood.experiments import Setting
from sapwood.experiments.measuring import Stopwatch, compare_errors, interval, peak_memory, percent
from sapwood.experiments.result_cache import ResultCache
from sapwood.metrics import mcnemar


def test_errors_are_compared_argument_by_argument_and_by_counts():
    random = np.random.default_rng(0)
    base, other = random.random(500) < 0.8, random.random(500) < 0.9
    gone, p, squared, p_squared = compare_errors(base, other)
    assert gone == pytest.approx(100 * (other.sum() - base.sum()) / (~base).sum())
    assert p == mcnemar(base, other).p_value
    expected = chi2_contingency([[base.sum(), (~base).sum()], [other.sum(), (~other).sum()]])
    assert (squared, p_squared) == pytest.approx((expected.statistic, expected.pvalue))


def test_without_errors_there_is_nothing_to_compare():
    right = np.ones(10, dtype=bool)
    assert compare_errors(right, right) == [None, 1.0, None, None]


def test_intervals_leave_out_what_is_not_a_number():
    assert interval([float("nan"), *range(101)], "+.1f") == "[+2.5, +97.5]"
    assert percent(np.array([True, False])) == 50.0


def test_a_stopwatch_measures_a_block_that_fails_too():
    spent = Stopwatch()
    with pytest.raises(ValueError, match="done"), spent:
        raise ValueError("done")
    assert spent.wall >= 0
    assert spent.cpu >= 0
    assert peak_memory() > 10


def test_a_setting_says_what_is_wanted_and_where_things_are_kept(tmp_path):
    assert Setting().wants("any")
    some = Setting(tables=("one", "two"), cache=tmp_path / "new" / "cache")
    assert some.wants("two")
    assert some.wants("three", "one")
    assert not some.wants("three")
    assert Setting().cached("x.sap") is None
    assert some.cached("x.sap") == tmp_path / "new" / "cache" / "x.sap"
    assert (tmp_path / "new" / "cache").is_dir()


def test_results_are_computed_once_per_name_and_data(tmp_path):
    asked = []

    def compute(value):
        asked.append(value)
        return {"value": (value,)}

    setting = Setting(cache=tmp_path)
    first = ResultCache(setting, "toy", 0)("one", compute, 1)
    # As JSON holds it, whether it comes from the file or not.
    assert first == {"value": [1]} == ResultCache(setting, "toy", 0)("one", compute, 1)
    assert asked == [1]
    assert ResultCache(setting, "toy", 1)("one", compute, 2) == {"value": [2]}
    for file in tmp_path.iterdir():
        file.write_text("[]")
    with pytest.raises(DataError, match=r"toy-.*\.json: no results are in this file .*remove it"):
        ResultCache(setting, "toy", 0)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency

from sapwood.errors import DataError, ParameterError
from sapwood.metrics import chi_squared, mcnemar, paired_bootstrap


def outcomes(both: int, only_first: int, only_second: int, neither: int) -> tuple[list[bool], list[bool]]:
    first = [True] * both + [True] * only_first + [False] * (only_second + neither)
    second = [True] * both + [False] * only_first + [True] * only_second + [False] * neither
    return first, second


@given(st.integers(0, 20), st.integers(0, 12), st.integers(0, 12))
def test_exact_mcnemar_is_a_binomial_test(both: int, only_first: int, only_second: int) -> None:
    first, second = outcomes(both + 1, only_first, only_second, 2)
    result = mcnemar(first, second, method="exact")
    total = only_first + only_second
    expected = binomtest(only_first, total).pvalue if total else 1.0
    assert result.p_value == pytest.approx(expected)


def test_mcnemar_by_hand() -> None:
    # b = 59, c = 6: (|59 - 6| - 1)^2 / 65 = 41.6.
    first, second = outcomes(30, 59, 6, 5)
    result = mcnemar(first, second)
    assert result.method == "chi2"
    assert result.statistic == pytest.approx(52**2 / 65)
    assert result.p_value == pytest.approx(1.1e-10, rel=0.05)
    assert mcnemar(first, first).p_value == 1.0
    assert mcnemar(second, first).p_value == result.p_value


@given(st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=2, max_size=4), st.booleans())
def test_chi_squared_agrees_with_scipy(table: list[list[int]], correction: bool) -> None:
    for counts in (table, [row[:2] for row in table[:2]]):
        result = chi_squared(counts, correction=correction)
        statistic, p_value, degrees, _ = chi2_contingency(counts, correction=correction)
        assert result.degrees == degrees
        assert result.statistic == pytest.approx(statistic, abs=1e-9)
        assert result.p_value == pytest.approx(p_value, abs=1e-9)


def test_bootstrap_is_reproducible_and_knows_no_difference_from_a_large_one() -> None:
    random = np.random.default_rng(1)
    good, bad = random.random(400) < 0.8, random.random(400) < 0.6
    result = paired_bootstrap(good, bad, samples=500, random_state=3)
    assert result == paired_bootstrap(good, bad, samples=500, random_state=3)
    assert result != paired_bootstrap(good, bad, samples=500, random_state=4)
    assert result.low < result.difference < result.high
    assert result.p_value < 0.01
    assert paired_bootstrap(good, good, samples=100, random_state=0).p_value == 1.0
    shuffled = random.permutation(good)
    assert paired_bootstrap(good, shuffled, samples=500, random_state=0).p_value > 0.2


def test_bootstrap_of_a_score_made_from_counts() -> None:
    first = np.array([[3, 4, 4], [1, 4, 5], [2, 2, 2]] * 20)
    second = np.array([[2, 4, 4], [1, 4, 5], [2, 2, 2]] * 20)

    def f1(sums: np.ndarray) -> float:
        return float(2 * sums[0] / (sums[1] + sums[2]))

    result = paired_bootstrap(first, second, metric=f1, samples=300, random_state=0)
    assert result.difference == pytest.approx(12 / 21 - 10 / 21)
    with pytest.raises(ParameterError, match="pass metric="):
        paired_bootstrap(first, second)


def test_the_bootstrap_interval_has_about_the_width_theory_says() -> None:
    random = np.random.default_rng(0)
    first, second = random.normal(0.1, 1, 500), random.normal(0, 1, 500)
    result = paired_bootstrap(first, second, samples=2000, random_state=0)
    expected = 2 * 1.96 * np.std(first - second) / np.sqrt(500)
    assert result.high - result.low == pytest.approx(expected, rel=0.1)


def test_unusable_input() -> None:
    with pytest.raises(DataError, match="the same items"):
        mcnemar([True], [True, False])
    with pytest.raises(DataError, match="True and False"):
        mcnemar([2, 1], [1, 1])
    with pytest.raises(ParameterError, match="method must be"):
        mcnemar([True], [True], method="z")  # type: ignore[arg-type]
    for table in ([[1, 2]], [[1, -1], [1, 1]], [[1, 2], [3]], "no"):
        with pytest.raises(DataError, match="the table must hold counts"):
            chi_squared(table)
    with pytest.raises(DataError, match="only zeros"):
        chi_squared([[1, 0], [2, 0]])
    with pytest.raises(DataError, match="both must be"):
        paired_bootstrap([1, 2], [1])
    with pytest.raises(DataError, match="NaN or infinite"):
        paired_bootstrap([np.nan], [1])
    with pytest.raises(ParameterError, match="samples must be"):
        paired_bootstrap([1], [1], samples=0)
    with pytest.raises(ParameterError, match="confidence must be"):
        paired_bootstrap([1], [1], confidence=1.0)

"""Is the difference between two systems on the same data more than chance? McNemar, χ² and the paired bootstrap.

All tests take what two systems did on the same items, or counts of it. They say how surprising a difference would be
if there were none, not how large or useful it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_count
from sapwood.errors import DataError, ParameterError
from sapwood.notebook import HtmlTable

__all__ = ["BootstrapResult", "TestResult", "chi_squared", "mcnemar", "paired_bootstrap"]


@dataclass(frozen=True)
class TestResult(HtmlTable):
    """A test's statistic and how likely one at least as large is by chance.

    Attributes
    ----------
    statistic : float
        χ², or for the exact form of McNemar's test the smaller of the two counts.
    p_value : float
        Two-sided.
    degrees : int
        Degrees of freedom; 0 for an exact test.
    method : str
        Which form was used.
    """

    __test__ = False  # pytest would take the name for a test of its own

    statistic: float
    p_value: float
    degrees: int
    method: str


@dataclass(frozen=True)
class BootstrapResult(HtmlTable):
    """What a paired bootstrap found about the score of A minus the score of B.

    Attributes
    ----------
    difference : float
        On the data as they are.
    low, high : float
        Bounds of the percentile interval.
    p_value : float
        Two-sided: how often a resampled difference, centred on zero, is at least as large as the one observed.
    samples : int
        Resamples drawn.
    """

    difference: float
    low: float
    high: float
    p_value: float
    samples: int


def mcnemar(first: Any, second: Any, *, method: Literal["auto", "exact", "chi2"] = "auto") -> TestResult:
    """Test whether two systems make equally many errors on the same items.

    Parameters
    ----------
    first, second : arrays of bool, shape (n,)
        Whether each system got each item right.
    method : {"auto", "exact", "chi2"}
        ``exact`` sums the binomial distribution over the items that one system alone got right; ``chi2`` uses
        (abs(b − c) − 1)² / (b + c), with Edwards' correction, on one degree of freedom. ``auto`` is exact below 25 such
        items.

    Examples
    --------
    >>> a = [True] * 8 + [False] * 2
    >>> b = [False] * 6 + [True] * 4
    >>> result = mcnemar(a, b)
    >>> result.method, result.statistic, round(result.p_value, 4)
    ('exact', 2.0, 0.2891)
    """
    from scipy.stats import binom, chi2

    if method not in ("auto", "exact", "chi2"):
        raise ParameterError(f"method must be 'auto', 'exact' or 'chi2', got {method!r}.")
    a, b = _outcomes(first, "first"), _outcomes(second, "second")
    if len(a) != len(b):
        raise DataError(f"first has {len(a)} items, second {len(b)}; both must be outcomes on the same items.")
    only_a, only_b = int(np.sum(a & ~b)), int(np.sum(~a & b))
    total = only_a + only_b
    if method == "exact" or (method == "auto" and total < 25):
        tail = float(binom.cdf(min(only_a, only_b), total, 0.5)) if total else 0.5
        return TestResult(float(min(only_a, only_b)), min(1.0, 2 * tail), 0, "exact")
    statistic = (max(0, abs(only_a - only_b) - 1)) ** 2 / total if total else 0.0
    return TestResult(statistic, float(chi2.sf(statistic, 1)), 1, "chi2")


def chi_squared(table: Any, *, correction: bool = True) -> TestResult:
    """Test whether rows and columns of a table of counts are independent (Pearson's χ²).

    Parameters
    ----------
    table : array of counts, shape (rows, columns)
        For two systems on different items: one row each, right and wrong as columns.
    correction : bool
        Yates' correction, for tables of two rows and two columns.

    Examples
    --------
    >>> result = chi_squared([[90, 10], [70, 30]])
    >>> round(result.statistic, 3), round(result.p_value, 5), result.degrees
    (11.281, 0.00078, 1)
    """
    from scipy.stats import chi2_contingency

    try:
        counts = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        counts = np.zeros(0)
    if counts.ndim != 2 or min(counts.shape) < 2 or not np.isfinite(counts).all() or (counts < 0).any():
        raise DataError("the table must hold counts of at least 0 in at least two rows and two columns.")
    if (counts.sum(axis=0) == 0).any() or (counts.sum(axis=1) == 0).any():
        raise DataError("a row or column of the table holds only zeros; leave it out.")
    found = chi2_contingency(counts, correction=correction)
    method = "yates" if correction and counts.shape == (2, 2) else "pearson"
    return TestResult(float(found.statistic), float(found.pvalue), int(found.dof), method)


def paired_bootstrap(
    first: Any,
    second: Any,
    *,
    metric: Callable[[NDArray[np.float64]], float] | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = None,
) -> BootstrapResult:
    """Resample items with replacement, the same for both systems, and see how their scores differ.

    Parameters
    ----------
    first, second : arrays, shape (n,) or (n, k)
        What each system scored on each item: one number (right or wrong, a loss), or k counts that ``metric`` turns
        into a score, such as matched, predicted and gold brackets.
    metric : callable, optional
        Takes the counts summed over the items, shape (k,), and returns a score. Without it, scores are means.
    samples : int
        Resamples to draw.
    confidence : float
        Of the interval.
    random_state : int or Generator, optional
        Where randomness comes from; the same number gives the same result.

    Examples
    --------
    >>> a, b = [1, 1, 1, 0] * 50, [1, 1, 0, 0] * 50
    >>> result = paired_bootstrap(a, b, samples=1000, random_state=0)
    >>> result.difference, result.low > 0, result.p_value < 0.05
    (0.25, True, True)
    """
    check_count(samples, "samples")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must be a number between 0 and 1, got {confidence!r}.")
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if a.shape != b.shape or a.ndim not in (1, 2) or not len(a):
        raise DataError(
            f"first has shape {a.shape}, second {b.shape}; both must be (n,) or (n, k), with n of 1 or more."
        )
    if not np.isfinite(a).all() or not np.isfinite(b).all():
        raise DataError("a score is NaN or infinite; every item needs a number from both systems.")
    if a.ndim == 2 and metric is None:
        raise ParameterError("with several counts per item, pass metric= to say how their sums make a score.")
    count = len(a)
    a, b = a.reshape(count, -1), b.reshape(count, -1)
    score = metric if metric is not None else (lambda sums: float(sums[0]) / count)
    observed = score(a.sum(axis=0)) - score(b.sum(axis=0))
    try:
        random = np.random.default_rng(random_state)
    except ValueError as error:
        raise ParameterError(f"random_state cannot be used: {error}.") from None
    differences = np.empty(samples)
    for at in range(samples):
        # How often each item is drawn: one multinomial draw stands for n draws with replacement.
        times = random.multinomial(count, np.full(count, 1 / count)).astype(np.float64)
        differences[at] = score(times @ a) - score(times @ b)
    edge = (1 - confidence) / 2
    low, high = np.quantile(differences, [edge, 1 - edge])
    # Adding the observed sample itself keeps p above zero.
    extreme = int(np.sum(np.abs(differences - observed) >= abs(observed) - 1e-12))
    return BootstrapResult(float(observed), float(low), float(high), (extreme + 1) / (samples + 1), samples)


def _outcomes(values: Any, name: str) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.ndim != 1 or not len(array):
        raise DataError(f"{name} must say for each item whether it was right, got an array of shape {array.shape}.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise DataError(f"{name} must hold True and False (or 1 and 0) only.")
    return array.astype(np.bool_)

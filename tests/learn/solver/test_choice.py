"""What the native solver works on: what the grid of ``benchmarks/solver_choice.py`` found, and where memory decides."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood.learn.solver import budget
from sapwood.learn.solver.choice import gram_is_quicker


def distinct(count: int) -> sw.TreeArray:
    return sw.TreeArray([f"(A b{k})" for k in range(count)])


@pytest.mark.parametrize("examples", [100, 500, 2000, 5452])
@pytest.mark.parametrize("problems", [1, 6, 50])
def test_a_gram_matrix_where_trees_differ(examples: int, problems: int) -> None:
    assert gram_is_quicker(distinct(examples), [examples] * problems)


def test_tables_where_trees_repeat() -> None:
    X = distinct(5000)
    some = X[np.arange(5000) % 1000]
    assert not gram_is_quicker(some, [5000])
    assert not gram_is_quicker(sw.Examples(path=some, constituent=some), [5000] * 36)


def test_without_trees_size_decides() -> None:
    assert gram_is_quicker(np.zeros((8000, 2)), [8000])
    assert not gram_is_quicker(np.zeros((8001, 2)), [8001])


def test_a_gram_matrix_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X = distinct(5000)
    assert not gram_is_quicker(X, [5000], memory_limit=300.0)
    assert gram_is_quicker(X, [5000], memory_limit=400.0)
    assert not gram_is_quicker(X, [5000], arrays=2, memory_limit=400.0)
    monkeypatch.setattr(budget, "available", lambda: 10**8)
    assert not gram_is_quicker(X, [5000])

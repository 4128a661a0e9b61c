"""Which solver ``auto`` takes: what the grid of ``benchmarks/solver_choice.py`` found, and where memory decides."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood.learn.solver import choice
from sapwood.learn.solver.choice import native_is_quicker


def distinct(count: int) -> sw.TreeArray:
    return sw.TreeArray([f"(A b{k})" for k in range(count)])


@pytest.mark.parametrize(
    ("examples", "problems", "native"),
    [
        (100, 50, False),
        (500, 50, True),
        (1000, 50, True),
        (2000, 1, False),
        (2000, 50, False),
        (5452, 1, False),
        (5452, 6, False),
        (10_000, 6, False),
    ],
)
def test_measured_cells(examples: int, problems: int, native: bool) -> None:
    assert native_is_quicker(distinct(examples), [examples] * problems) is native


def test_trees_that_repeat_make_tables_small() -> None:
    X = distinct(5000)
    assert native_is_quicker(X[np.arange(5000) % 1000], [5000])
    some = X[np.arange(5000) % 1000]
    assert native_is_quicker(sw.Examples(path=some, constituent=some), [5000] * 36)


def test_without_trees_size_decides() -> None:
    assert native_is_quicker(np.zeros((3001, 2)), [3001])
    assert not native_is_quicker(np.zeros((3000, 2)), [3000])


def test_a_gram_matrix_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "available", lambda: 10**8)
    assert native_is_quicker(distinct(5000), [5000])

"""Charts and k-best lists against a parser that lists every derivation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.parsing import derivations, draw, native_kbest, pack, sentence
from sapwood import _core

seeds = st.integers(0, 2**32)


def _best_of_each_tree(listed):
    best: dict[str, float] = {}
    for weight, tree in listed:
        best[tree] = max(best.get(tree, -math.inf), weight)
    return best


@pytest.mark.slow
@given(seeds, st.integers(1, 4), st.integers(1, 40))
def test_k_best_lists_equal_brute_force(seed, length, count):
    toy = draw(seed)
    rows = sentence(toy, length, seed)
    truth = _best_of_each_tree(derivations(toy, rows))
    found = native_kbest(toy, rows, count)
    assert len(found) == min(count, len(truth))
    assert len({tree for _, tree in found}) == len(found)
    expected = sorted(truth.values(), reverse=True)[:count]
    np.testing.assert_allclose([weight for weight, _ in found], expected, rtol=1e-12)
    for weight, tree in found:
        assert truth[tree] == pytest.approx(weight, rel=1e-12)


@pytest.mark.slow
@given(seeds, st.integers(1, 4))
def test_all_derivations_add_up_to_the_inside_probability(seed, length):
    toy = draw(seed)
    rows = sentence(toy, length, seed)
    weights = [weight for weight, _ in derivations(toy, rows)]
    expected = np.logaddexp.reduce(weights) if weights else -math.inf
    (found,) = _core.parse.inside(toy.rules(), *pack(rows), 1 << 30, 1, None)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.slow
def test_the_brute_force_is_not_empty():
    sizes = [
        len(_best_of_each_tree(derivations(toy, sentence(toy, 4, seed)))) for seed in range(60) for toy in [draw(seed)]
    ]
    assert sum(size > 40 for size in sizes) > 5


def test_fewer_derivations_than_asked_for_keep_the_order():
    toy = draw(3)
    rows = sentence(toy, 5, 3)
    some = native_kbest(toy, rows, 10, derivation_count=10)
    weights = [weight for weight, _ in some]
    assert weights == sorted(weights, reverse=True)


def test_rules_with_unknown_symbols_are_refused():
    toy = draw(1)
    toy.binary[1, 1, 99] = -1.0
    with pytest.raises(ValueError, match="unknown symbol"):
        toy.rules()

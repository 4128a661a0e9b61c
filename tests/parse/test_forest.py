"""What a chart of a grammar says about all derivations, against a parser that lists every one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from oracles.parsing import Toy, derivations, draw, pack, sentence
from sapwood import _core

seeds = st.integers(0, 2**32)
lengths = st.integers(1, 4)


def forest_of(toy: Toy, rows: list) -> _core.parse.Forest:
    return _core.parse.forest(toy.rules(), *pack(rows)[1:], math.inf, 1 << 30)


def enumerated(seed: int, length: int) -> tuple[Toy, list, dict[str, float], float, list[float]]:
    """Return a grammar, a sentence, the share of each of its trees, the sum of all, and weights of derivations."""
    toy = draw(seed)
    rows = sentence(toy, length, seed)
    listed = derivations(toy, rows)
    total = np.logaddexp.reduce([weight for weight, _ in listed]) if listed else -math.inf
    trees: dict[str, float] = defaultdict(float)
    for weight, tree in listed:
        trees[tree] += math.exp(weight - total)
    return toy, rows, trees, float(total), [weight for weight, _ in listed]


def label_lists(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the labels over each span of a tree from the top down."""
    found: dict[tuple[int, int], tuple[str, ...]] = {}

    def walk(node: sw.Tree, begin: int) -> int:
        if node.is_leaf:
            return begin + 1
        end = begin
        for child in node.children:
            end = walk(child, end)
        found[begin, end] = (node.label, *found.get((begin, end), ()))
        return end

    walk(sw.Tree.fromstring(text), 0)
    return [(*span, labels) for span, labels in found.items()]


def post_order(text: str, labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of a tree as the native core takes them."""
    nodes, word = [], 0
    for node in sw.Tree.fromstring(text).postorder():
        if node.is_leaf:
            nodes.append((word, 0))
            word += 1
        else:
            nodes.append((labels.index(node.label), len(node.children)))
    return np.array([one[0] for one in nodes], np.uint32), np.array([one[1] for one in nodes], np.uint32)


def names(rows: list) -> list[str]:
    return [f"w{at}" for at in range(len(rows))]


@pytest.mark.slow
@given(seeds, lengths)
def test_marginals_and_entropy(seed, length):
    toy, rows, trees, total, weights = enumerated(seed, length)
    forest = forest_of(toy, rows)
    assert forest.empty == (not trees)
    if not trees:
        return
    assert forest.total == pytest.approx(total, abs=1e-9)
    expected: Counter[tuple] = Counter()
    for tree, share in trees.items():
        for one in label_lists(tree):
            expected[one] += share
    lists, spans, shares, entropy = forest.marginals()
    found = {
        (begin, end, tuple(toy.labels[label] for label in lists[number])): share
        for (begin, end, number), share in zip(spans.reshape(-1, 3).tolist(), shares.tolist(), strict=True)
    }
    assert found.keys() == expected.keys()
    for key, share in expected.items():
        assert found[key] == pytest.approx(share, abs=1e-9)
    assert entropy == pytest.approx(-sum(math.exp(w - total) * (w - total) for w in weights), abs=1e-9)


@pytest.mark.slow
@given(seeds, lengths)
def test_weights_of_trees(seed, length):
    toy, rows, trees, total, found = enumerated(seed, length)
    if not trees:
        return
    forest = forest_of(toy, rows)
    arena, roots, weights = forest.trees(toy.labels, names(rows), len(trees), 2 * len(found))
    listed = sw.TreeArray._from_arena(arena, roots).to_strings()
    assert set(listed) == set(trees)
    assert (np.diff(weights) <= 1e-12).all()
    for tree, weight in zip(listed, weights.tolist(), strict=True):
        assert math.exp(weight - total) == pytest.approx(trees[tree], rel=1e-9)
    for tree in list(trees)[:20]:
        assert math.exp(forest.weight(*post_order(tree, toy.labels)) - total) == pytest.approx(trees[tree], rel=1e-9)
    # The same words under other labels.
    flat = sw.Tree(toy.labels[0], [sw.Tree(toy.labels[-1], [word]) for word in names(rows)])
    assert (forest.weight(*post_order(str(flat), toy.labels)) > -math.inf) == (str(flat) in trees)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5, 15))
def test_samples(seed):
    toy, rows, trees, _, _ = enumerated(seed, 3)
    count = 5000
    arena, roots, _ = forest_of(toy, rows).samples(toy.labels, names(rows), count, 7)
    drawn = Counter(sw.TreeArray._from_arena(arena, roots).to_strings())
    assert set(drawn) <= set(trees)
    for tree, share in trees.items():
        # Six standard deviations.
        assert abs(drawn[tree] - count * share) <= 6 * math.sqrt(count * share * (1 - share)) + 6


def test_trees_of_other_words_are_refused():
    toy = draw(5)
    forest = forest_of(toy, sentence(toy, 3, 5))
    assert not forest.empty
    for nodes in ([(0, 0)], [(0, 0), (1, 0), (0, 2)], [(0, 0), (0, 5)], [(1, 0), (0, 0), (2, 0), (0, 3)], []):
        with pytest.raises(ValueError, match="tree"):
            forest.weight(np.array([n[0] for n in nodes], np.uint32), np.array([n[1] for n in nodes], np.uint32))

"""Charts of labeled spans against enumeration of all trees."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from sapwood import _core

Tree = tuple[tuple[int, int, int], ...]


def all_trees(words: int, labels: int) -> list[Tree]:
    """Return the labeled spans of every tree over so many words, children before parents, left to right."""

    @lru_cache(None)
    def nodes(begin: int, end: int) -> tuple[Tree, ...]:
        """Return all ways to make a child."""
        below: tuple[Tree, ...] = ((),) if end - begin == 1 else rows(begin, end)
        made = [(*tree, (begin, end, label)) for tree in below for label in range(labels)]
        return tuple(made) if end - begin > 1 or words == 1 else ((), *made)

    @lru_cache(None)
    def rows(begin: int, end: int) -> tuple[Tree, ...]:
        """Return all ways to set two or more children side by side."""
        return tuple(
            left + right
            for split in range(begin + 1, end)
            for left in nodes(begin, split)
            for right in nodes(split, end) + (rows(split, end) if end - split > 1 else ())
        )

    return list(nodes(0, words))


def cell(begin: int, end: int) -> int:
    return end * (end - 1) // 2 + begin


def unpacked(found: tuple[np.ndarray, ...]) -> list[list[Tree]]:
    sentence_ends, tree_ends, spans, _ = found
    rows = [tuple(row) for row in spans.reshape(-1, 3).tolist()]
    trees = [tuple(rows[a:b]) for a, b in zip([0, *tree_ends[:-1]], tree_ends, strict=True)]
    return [trees[a:b] for a, b in zip([0, *sentence_ends[:-1]], sentence_ends, strict=True)]


SHAPES = [(1, 2), (2, 2), (3, 2), (4, 2), (5, 1)]


@pytest.fixture(params=SHAPES, ids=lambda shape: f"{shape[0]} words, {shape[1]} labels")
def case(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray, list[Tree], np.ndarray]:
    words, labels = request.param
    scores = np.random.default_rng(words).normal(size=(words * (words + 1) // 2, labels)).astype(np.float32)
    trees = all_trees(words, labels)
    weights = np.array([sum(float(scores[cell(b, e), label]) for b, e, label in tree) for tree in trees])
    return np.array([words], dtype=np.uint64), scores, trees, weights


def test_number_of_trees():
    # Schröder's second problem counts trees without labels; with words that may have one label or none, twice per word.
    for words, count in ((2, 1), (3, 3), (4, 11), (5, 45)):
        assert len(all_trees(words, 1)) == count * 2**words
    trees = all_trees(4, 2)
    assert len(set(trees)) == len(trees)


def test_sum_and_marginals(case):
    lengths, scores, trees, weights = case
    totals, shares = _core.spans.marginals(lengths, scores.ravel(), scores.shape[1], 1, None)
    total = np.logaddexp.reduce(weights)
    expected = np.zeros(scores.shape)
    for tree, weight in zip(trees, weights, strict=True):
        for begin, end, label in tree:
            expected[cell(begin, end), label] += np.exp(weight - total)
    assert totals[0] == pytest.approx(total, abs=1e-9)
    np.testing.assert_allclose(shares.reshape(scores.shape), expected, atol=1e-6)


@pytest.mark.parametrize("count", [1, 7, 1000])
def test_best_trees(case, count):
    lengths, scores, trees, weights = case
    found = _core.spans.best_trees(lengths, scores.ravel(), scores.shape[1], count, 1, None)
    (best,) = unpacked(found)
    assert len(best) == min(count, len(trees))
    np.testing.assert_allclose(found[3], np.sort(weights)[::-1][: len(best)], atol=1e-6)
    known = dict(zip(trees, weights, strict=True))
    assert len(set(best)) == len(best)
    np.testing.assert_allclose(found[3], [known[tree] for tree in best], atol=1e-6)


def test_samples(case):
    lengths, scores, trees, weights = case
    count = 20_000
    (drawn,) = unpacked(_core.spans.sample_trees(lengths, scores.ravel(), scores.shape[1], count, 3, 1, None))
    share = np.exp(weights - np.logaddexp.reduce(weights))
    seen = np.array([drawn.count(tree) for tree in trees[:20]]) if len(trees) > 20 else None
    numbers = {tree: at for at, tree in enumerate(trees)}
    counts = np.bincount([numbers[tree] for tree in drawn], minlength=len(trees))
    assert seen is None or (seen == counts[:20]).all()
    # Six standard deviations of each count.
    assert (np.abs(counts - count * share) <= 6 * np.sqrt(count * share * (1 - share)) + 6).all()


def test_gradient_of_the_sum_is_the_share_of_spans(case):
    lengths, scores, _, _ = case
    weights = np.logaddexp.reduce(scores.astype(np.float64), axis=1)
    totals, shares = _core.spans.inside_outside(lengths, weights, 1)
    for at in range(len(weights)):
        moved = weights.copy()
        moved[at] += 1e-6
        assert (_core.spans.inside_outside(lengths, moved, 1)[0][0] - totals[0]) / 1e-6 == pytest.approx(
            shares[at], abs=1e-5
        )


def test_sentences_beside_each_other_change_nothing():
    random = np.random.default_rng(0)
    lengths = np.array([3, 1, 12, 7, 2], dtype=np.uint64)
    counts = (lengths * (lengths + 1) // 2).astype(int)
    parts = [random.normal(size=(count, 5)).astype(np.float32).ravel() for count in counts]
    together = _core.spans.best_trees(lengths, np.concatenate(parts), 5, 4, 2, None)
    alone = [
        unpacked(_core.spans.best_trees(lengths[at : at + 1], part, 5, 4, 1, None))[0] for at, part in enumerate(parts)
    ]
    assert unpacked(together) == alone


def test_trees_of_spans():
    lengths = np.array([3], dtype=np.uint64)
    spans = np.array([0, 1, 0, 0, 3, 1], dtype=np.uint32)
    ends = np.array([1], dtype=np.uint64), np.array([2], dtype=np.uint64)
    arena, roots = _core.spans.build_trees(
        ["a", "b", "c"], ["X", "Y", "Z"], lengths, [["NP"], ["S", "VP"]], *ends, spans, "TOP"
    )
    from sapwood import TreeArray

    assert str(TreeArray._from_arena(arena, roots)[0]) == "(TOP (S (VP (NP (X a)) (Y b) (Z c))))"
    crossing = np.array([0, 2, 0, 1, 3, 0, 0, 3, 1], dtype=np.uint32)
    ends = np.array([1], dtype=np.uint64), np.array([3], dtype=np.uint64)
    with pytest.raises(ValueError, match="of no tree"):
        _core.spans.build_trees(["a", "b", "c"], ["X", "Y", "Z"], lengths, [["NP"], ["S"]], *ends, crossing, "")

"""Tree edit distance against its definition, against other programs, and what it refuses."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from oracles.edit_distance import distance as by_definition
from oracles.edit_distance import nested
from sapwood import Tree
from sapwood.errors import DataError, ParameterError, TooLargeError
from sapwood.search import EditDistance, costs, edit
from sapwood.words import Contextual, Table
from strategies import chains, trees, wide

SMALL = st.one_of(trees(3), chains(6), wide(3))
COSTS = [
    {},
    {"rename": 0.7, "insert": 0.3, "delete": 1.1},
    {"rename": 5.0, "insert": 1 / 7, "delete": 0.0},
    {
        "rename": lambda a, b: 0.37 * abs(ord(a) - ord(b)),
        "insert": lambda label: 0.5 + ord(label) % 3,
        "delete": lambda label: 0.25 + ord(label) % 2,
    },
]


def functions(costs: dict[str, Any]) -> dict[str, Any]:
    return {name: cost if callable(cost) else (lambda *_, cost=cost: cost) for name, cost in costs.items()}


def random_tree(rng: random.Random, size: int, labels: str = "abcdefgh") -> Tree:
    """Draw trees of all shapes: a node hangs below one of the latest, so some are deep and some are flat."""
    reach = rng.choice([1, 2, 4, size])
    parents = [rng.randrange(max(0, node - reach), node) for node in range(1, size)]
    below: list[list[Tree]] = [[] for _ in range(size)]
    for node in range(size - 1, 0, -1):
        siblings = below[parents[node - 1]]
        siblings.insert(rng.randint(0, len(siblings)), Tree(rng.choice(labels), below[node]))
    return Tree(rng.choice(labels), below[0])


@pytest.mark.parametrize("costs", COSTS, ids=range(len(COSTS)))
@settings(max_examples=40, deadline=None)
@given(SMALL, SMALL)
def test_distance_and_script_are_those_of_the_definition(costs: dict[str, Any], one: Tree, other: Tree) -> None:
    expected = by_definition(nested(one), nested(other), **functions(costs))
    distance = EditDistance(**costs)
    assert distance(one, other) == pytest.approx(expected, abs=1e-9)
    script = distance.script(one, other)
    assert script.cost == pytest.approx(expected, abs=1e-9)
    check_script(script, distance)
    for limit in (0.0, 1.0, 2.5, 4.0):
        found = distance(one, other, limit=limit)
        assert found == pytest.approx(expected, abs=1e-9) if expected <= limit else found == math.inf


def check_script(script: edit.EditScript, distance: EditDistance) -> None:
    """Every node once, costs as given, and kept nodes in the same order and under each other as before."""
    first, second = (sw.trees.Positions(tree) for tree in (script.source, script.target))
    assert sorted(one.source for one in script if one.source is not None) == list(range(len(first)))
    assert sorted(one.target for one in script if one.target is not None) == list(range(len(second)))
    assert sum(one.cost for one in script) == pytest.approx(script.cost)
    kept = [(one.source, one.target) for one in script if one.source is not None and one.target is not None]
    for a, b in kept:
        for c, d in kept:
            assert (a < c) == (b < d)
            assert (a in first.up(c)) == (b in second.up(d))


@pytest.mark.slow
def test_equal_to_zss_and_apted() -> None:
    zss, apted = pytest.importorskip("zss"), pytest.importorskip("apted")
    from apted import helpers

    def to_zss(tree: Tree) -> Any:
        node = zss.Node(tree.label)
        for child in tree.children:
            node.addkid(to_zss(child))
        return node

    def to_apted(tree: Tree) -> Any:
        return helpers.Tree(tree.label, *map(to_apted, tree.children))

    rng = random.Random(7)
    pairs = [(random_tree(rng, rng.randint(1, 16)), random_tree(rng, rng.randint(1, 16))) for _ in range(300)]
    found = EditDistance().pairwise([a for a, _ in pairs], [b for _, b in pairs])
    assert found.tolist() == [zss.simple_distance(to_zss(a), to_zss(b)) for a, b in pairs]
    assert found[:100].tolist() == [
        apted.APTED(to_apted(a), to_apted(b)).compute_edit_distance() for a, b in pairs[:100]
    ]


def test_all_pairs_are_the_pairs_for_any_number_of_threads() -> None:
    rng = random.Random(3)
    X = sw.TreeArray([random_tree(rng, rng.randint(1, 30)) for _ in range(12)])
    for given_costs in COSTS:
        distance = EditDistance(**given_costs)
        found = [distance(X)]
        for threads in (1, 2):
            with sw.options(threads=threads):
                found.append(distance(X, X[:]))
        expected = np.array([distance.pairwise(X, X[[k] * len(X)]) for k in range(len(X))]).T
        for one in found:
            np.testing.assert_array_equal(one, expected)


def test_limits_on_larger_trees() -> None:
    rng = random.Random(11)
    for _ in range(60):
        one = random_tree(rng, 60)
        labels = {place: "abcdefgh"[rng.randrange(8)] for place in rng.sample(range(60), rng.randint(0, 12))}
        other = relabeled(one, labels)
        full = EditDistance()(one, other)
        for limit in (0, 2, 5, 9, full):
            assert EditDistance()(one, other, limit=limit) == (full if full <= limit else math.inf)


def relabeled(tree: Tree, labels: dict[int, str]) -> Tree:
    places = sw.trees.Positions(tree)
    made: list[Tree] = [tree] * len(places)
    for place in range(len(places) - 1, -1, -1):
        children = [made[child] for child in places.children[place]]
        made[place] = Tree(labels.get(place, places.labels[place]), children)
    return made[0]


@settings(max_examples=60, deadline=None)
@given(st.tuples(trees(4), trees(4), trees(4)), st.sampled_from([0.25, 1.0, 1.7, 9.0]))
def test_metric_where_it_says_so(three: tuple[Tree, Tree, Tree], rename: float) -> None:
    for normalization in (None, "metric"):
        distance = EditDistance(rename, normalization=normalization)
        assert distance.is_metric()
        found = distance(list(three))
        np.testing.assert_array_equal(found, found.T)
        for i in range(3):
            for j in range(3):
                assert (found[i, j] == 0) == (three[i] == three[j])
                assert all(found[i, j] <= found[i, k] + found[k, j] + 1e-12 for k in range(3))
                assert normalization is None or found[i, j] <= 1


def test_dividing_by_size_is_no_metric() -> None:
    distance = EditDistance(normalization="size")
    assert not distance.is_metric()
    assert distance("(a b c)", "(a b)") == pytest.approx(1 / 3)
    assert distance("(a b c)", "(a b)", limit=0.4) == pytest.approx(1 / 3)
    assert distance("(a b c)", "(a b)", limit=0.3) == math.inf


def test_is_metric_looks_at_the_labels() -> None:
    X = ["(A b)", "(c d)"]
    assert EditDistance(lambda a, b: 1.0, insert=lambda label: 2.0, delete=lambda label: 2.0).is_metric(X)
    assert not EditDistance(lambda a, b: 1.0 if a < b else 0.5).is_metric(X)
    assert not EditDistance(lambda a, b: 0.0).is_metric(X)
    assert EditDistance(Table({("b", "d"): 0.5})).is_metric(X)
    assert not EditDistance(insert=0.8).is_metric()
    assert EditDistance(insert=lambda label: 1.0, delete=lambda label: 1.0).is_metric(X)
    with pytest.raises(DataError, match="pass X"):
        EditDistance(lambda a, b: 1.0).is_metric()


def test_words_cost_what_they_differ_by() -> None:
    distance = EditDistance(Table({("nation", "country"): 0.75}))
    assert distance("(NP (DT a) (NN nation))", "(NP (DT a) (NN country))") == 0.25
    assert distance("(nation (NN dog))", "(country (NN dog))") == 1.0
    script = distance.script("(NP (DT a) (NN nation))", "(NP (DT a) (NN country))")
    assert [one.kind for one in script if one.kind != "keep"] == ["rename"]


def test_deep_and_wide_trees_do_not_recurse() -> None:
    deep = Tree("a")
    for _ in range(3000):
        deep = Tree("a", [deep])
    other = Tree("b", [deep])
    assert EditDistance()(deep, other) == 1.0
    assert EditDistance()(deep, other, limit=2) == 1.0
    assert EditDistance().script(deep, other).cost == 1.0
    flat = Tree("a", [Tree("b")] * 3000)
    assert EditDistance()(flat, Tree("a", [Tree("b")] * 2990)) == 10.0


def test_nothing_to_compare() -> None:
    assert EditDistance()([]).shape == (0, 0)
    assert EditDistance()(["(A b)"], []).shape == (1, 0)
    assert EditDistance(lambda a, b: 1.0)([], ["(A b)"]).shape == (0, 1)
    assert EditDistance().pairwise([], []).shape == (0,)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"rename": -1.0}, "rename must be a finite number of at least 0"),
        ({"rename": math.nan}, "rename must be a finite number"),
        ({"rename": "far"}, "rename must be a finite number"),
        ({"insert": math.inf}, "insert must be a finite number"),
        ({"delete": -0.5}, "delete must be a finite number"),
        ({"normalization": "both"}, "normalization must be one of"),
        ({"normalization": "metric", "insert": 0.8}, "the same positive number"),
        ({"rename": Contextual()}, "words in context"),
    ],
)
def test_costs_that_make_no_sense(costs: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        EditDistance(**costs)


def test_functions_that_give_no_costs() -> None:
    for wrong, name in (
        ({"rename": lambda a, b: math.nan}, r"rename\('A', 'B'\) is nan"),
        ({"insert": lambda label: -1}, r"insert\('[AB]'\) is -1"),
        ({"delete": lambda label: "much"}, r"delete\('[AB]'\) is 'much'"),
    ):
        with pytest.raises(ParameterError, match=name):
            EditDistance(**wrong)("A", "B")


def test_what_cannot_be_compared() -> None:
    with pytest.raises(DataError, match="one tree with one tree"):
        EditDistance()("(A b)", ["(A b)"])
    with pytest.raises(DataError, match="bags"):
        EditDistance()([["(A b)", "(A c)"]])
    with pytest.raises(DataError, match="two trees"):
        EditDistance().script(["(A b)"], ["(A b)"])
    for limit in (-1, math.nan, "far"):
        with pytest.raises(ParameterError, match="limit must be"):
            EditDistance()("(A b)", "(A c)", limit=limit)
    tree = Tree("a", [Tree("b")])
    for _ in range(80):
        tree = Tree("a", [tree, tree])
    with pytest.raises(DataError, match="too many to compare"):
        EditDistance()(tree, "(A b)")


def test_more_than_memory_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "available", lambda: 1 << 20)
    flat = Tree("a", [Tree(str(k)) for k in range(3000)])
    with pytest.raises(TooLargeError, match="comparing trees of 3,001 and 3,001 nodes takes up to"):
        EditDistance()(flat, flat)


def test_ctrl_c(interrupt: Any) -> None:
    answer = interrupt(
        """
        import sapwood as sw
        from sapwood.search import EditDistance
        tree = "(a b)"
        for k in range(200):
            tree = f"(a {tree} (c d))" if k % 2 else f"(a (e f) {tree})"
        X = sw.TreeArray([tree.replace("f", f"f{k}") for k in range(300)])
        print("ready", flush=True)
        try:
            EditDistance()(X)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    )
    assert answer == "stopped\n"

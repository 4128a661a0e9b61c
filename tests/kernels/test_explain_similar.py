"""Fragments of kernels that match by likeness: those of enumeration, for two trees, one decision and a whole model."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sapwood as sw
from kernels.grammar_samples import SharedLetters, nouns
from kernels.test_grammar_driven import OPTIONS, SHARES, both, problems
from kernels.test_grammar_driven import PHRASES as PHRASE_LABELS
from kernels.test_semantic import PHRASES, WORDS, phrase_trees
from oracles.fragments import decays, small_trees
from oracles.similar_fragments import (
    as_tree,
    grammar_pairs,
    marked_likeness,
    partial_marked,
    semantic_fragments,
    semantic_pairs,
)
from sapwood import Tree, TreeArray
from sapwood.errors import TooLargeError
from sapwood.kernels import GrammarDriven, PartialTree, SemanticSubsetTree, SmoothedPartialTree, SubsetTree
from sapwood.words import Table, Vectors

FEW = settings(max_examples=40, deadline=None)


def sigmas():
    return st.sampled_from(
        [
            Table({("u", "v"): 0.5}),
            Vectors(WORDS, [[2.0, 0.0], [0.6, 0.8], [-0.8, 0.6], [0.0, 0.5]], measure="dot"),
            2.0 * Table({("u", "v"): 0.9, ("v", "w"): 0.2}),
        ]
    )


def added_up(fragments, key):
    total = defaultdict(float)
    for fragment in fragments:
        total[key(fragment)] += fragment.weight
    return total


def same(found, expected):
    scale = max((abs(weight) for weight in expected.values()), default=1.0)
    for key in found.keys() | expected.keys():
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), rel=1e-9, abs=1e-12 * scale), key


def largest(weights, count):
    return sorted(map(abs, weights), reverse=True)[:count]


def heaviest(kernel, support, weights, top, element=None):
    """The fragments of a machine with these support trees, or of its decision."""
    attribution = kernel._attribution(TreeArray(support), np.asarray(weights, dtype=float)[:, None])
    return attribution.heaviest(np.ones(1), top, None if element is None else TreeArray([element])._compact())


def small(tree):
    return tree.size() <= 12


# Semantic subset trees.


@pytest.mark.slow
@FEW
@given(phrase_trees().filter(small), phrase_trees().filter(small), sigmas(), decays, st.sampled_from([0.0, 0.5, 2.0]))
def test_semantic_pairs_are_those_of_enumeration(a, b, sigma, decay, leaf_weight):
    kernel = SemanticSubsetTree(sigma, decay=decay, leaf_weight=leaf_weight, phrasal_labels=tuple(PHRASES))
    expected = defaultdict(float)
    for (one, _, other), weight in semantic_pairs(a, b, sigma, decay, leaf_weight, PHRASES).items():
        expected[one, other] += weight
    found = kernel.explain(a, b, top=100_000)
    assert found.exact
    same(added_up(found.fragments, lambda f: (f.tree, f.other)), expected)
    assert sum(f.weight for f in found.fragments) == pytest.approx(kernel(a, b), rel=1e-9, abs=1e-9)
    few = kernel.explain(a, b, top=3)
    assert largest([f.weight for f in few.fragments], 3) == pytest.approx(largest(expected.values(), 3), rel=1e-9)
    assert sum(f.weight for f in few.fragments) + few.remainder == pytest.approx(few.value, rel=1e-9, abs=1e-12)


@pytest.mark.slow
@FEW
@given(
    st.lists(phrase_trees().filter(small), min_size=1, max_size=3),
    phrase_trees().filter(small),
    sigmas(),
    decays,
    st.integers(0, 99),
)
def test_semantic_decisions_and_models_are_those_of_enumeration(support, tree, sigma, decay, seed):
    weights = np.random.default_rng(seed).normal(size=len(support))
    kernel = SemanticSubsetTree(sigma, decay=decay, leaf_weight=0.7, phrasal_labels=tuple(PHRASES))
    expected = defaultdict(float)
    for one, weight in zip(support, weights, strict=True):
        for (fragment, _, _), value in semantic_pairs(tree, one, sigma, decay, 0.7, PHRASES).items():
            expected[fragment] += weight * value
    found = heaviest(kernel, support, weights, 100_000, tree)
    assert found.exact
    same(dict(zip(found.fragments, found.weights.tolist(), strict=True)), expected)
    few = heaviest(kernel, support, weights, 2, tree)
    assert largest(few.weights, 2) == pytest.approx(largest(expected.values(), 2), rel=1e-9, abs=1e-12)
    held = {fragment: times for (fragment, *_), times in semantic_fragments(tree, PHRASES).items()}
    assert all(held[f] == count for f, count in zip(found.fragments, found.counts.tolist(), strict=True))

    # The model: a tree that holds a fragment once scores √(λ^size·α^words) times the weight for it.
    # (C A) may end in a word A or in a node A that goes on, which are two fragments with the same tree.
    of_model = defaultdict(float)
    for fragment, skeleton, words, size in {key for one in support for key in semantic_fragments(one, PHRASES)}:
        for one, weight in zip(support, weights, strict=True):
            for (_, other_skeleton, other_words, _), times in semantic_fragments(one, PHRASES).items():
                if skeleton == other_skeleton:
                    alike = np.prod([sigma(*pair) for pair in zip(words, other_words, strict=True)])
                    of_model[fragment, skeleton] += weight * times * (decay**size * 0.7 ** len(words)) ** 0.5 * alike
    found = heaviest(kernel, support, weights, 100_000)
    sums, expected_sums = defaultdict(float), defaultdict(float)
    for fragment, weight in zip(found.fragments, found.weights.tolist(), strict=True):
        sums[fragment] += weight
    for (fragment, _), weight in of_model.items():
        expected_sums[fragment] += weight
    same(sums, expected_sums)
    few = heaviest(kernel, support, weights, 2)
    assert largest(few.weights, 2) == pytest.approx(largest(of_model.values(), 2), rel=1e-9, abs=1e-12)


def test_equal_words_give_subset_trees():
    rng = np.random.default_rng(3)
    trees = [f"(S (NP (DT a) (NN {noun})) (VP (VB {verb})))" for noun in ("dog", "cat") for verb in ("ran", "saw")]
    weights = rng.normal(size=len(trees))
    for element in (None, Tree.fromstring(trees[0])):
        plain = heaviest(SubsetTree(decay=0.6), trees, weights, 50, element)
        lenient = heaviest(SemanticSubsetTree(Table({}), decay=0.6), trees, weights, 50, element)
        assert lenient.weights == pytest.approx(plain.weights, rel=1e-12)
        assert set(lenient.fragments) == set(plain.fragments)


# Partial trees, smoothed or with a terminal factor.

MIXED = Table({("a", "b"): 0.5})


def partial_case(a, b, terminal_factor, lexical, sigma, decay, depth_decay, limit):
    """Fragments of both trees with marks, and how alike two marked nodes are."""

    def is_word(node):
        known = sigma is not None and bool(sigma.covers([node.label])[0])
        return known and (lexical == "all" or node.is_leaf)

    def mark(node):
        return (is_word(node), node.is_leaf if terminal_factor != 1 else None)

    def factor(one, other):
        if one[1][0] != other[1][0]:
            return 0.0
        alike = sigma(one[0], other[0]) if one[1][0] else float(one[0] == other[0])
        return alike * (terminal_factor if one[1][1] and other[1][1] else 1.0)

    sides = [partial_marked(tree, mark, decay, depth_decay, limit) for tree in (a, b)]
    return sides, factor


@pytest.mark.slow
@FEW
@given(
    small_trees,
    small_trees,
    decays,
    decays,
    st.sampled_from([None, 2]),
    st.sampled_from([1.0, 0.5, 2.0]),
    st.sampled_from(["leaves", "all"]),
)
def test_smoothed_pairs_are_those_of_enumeration(a, b, decay, depth_decay, limit, terminal_factor, lexical):
    kernel = SmoothedPartialTree(
        MIXED,
        decay=decay,
        depth_decay=depth_decay,
        max_subsequence=limit,
        terminal_factor=terminal_factor,
        lexical=lexical,
    )
    (left, right), factor = partial_case(a, b, terminal_factor, lexical, MIXED, decay, depth_decay, limit)
    assume(len(left) * len(right) < 40_000)
    expected, marked = defaultdict(float), {}
    for one, value in left.items():
        for other, other_value in right.items():
            if alike := marked_likeness(one, other, factor):
                marked[one, other] = value * other_value * alike
                expected[as_tree(one), as_tree(other)] += value * other_value * alike
    found = kernel.explain(a, b, top=1_000_000)
    assert found.exact
    same(added_up(found.fragments, lambda f: (f.tree, f.other)), expected)
    assert len(found.fragments) == len(marked)
    assert sum(f.weight for f in found.fragments) == pytest.approx(kernel(a, b), rel=1e-9, abs=1e-12)
    few = kernel.explain(a, b, top=3)
    assert largest([f.weight for f in few.fragments], 3) == pytest.approx(largest(marked.values(), 3), rel=1e-9)


@pytest.mark.slow
@FEW
@given(
    st.lists(small_trees, min_size=1, max_size=3),
    small_trees,
    decays,
    decays,
    st.sampled_from([0.5, 2.0]),
    st.booleans(),
    st.integers(0, 99),
)
def test_partial_decisions_and_models_are_those_of_enumeration(
    support, tree, decay, depth_decay, terminal_factor, smoothed, seed
):
    weights = np.random.default_rng(seed).normal(size=len(support))
    options = {"decay": decay, "depth_decay": depth_decay, "terminal_factor": terminal_factor}
    kernel = SmoothedPartialTree(MIXED, **options) if smoothed else PartialTree(**options)
    sigma = MIXED if smoothed else None
    expected, of_model = defaultdict(float), defaultdict(float)
    sides = []
    for one in (tree, *support):
        (side, _), factor = partial_case(one, one, terminal_factor, "leaves", sigma, decay, depth_decay, None)
        sides.append(side)
    assume(sum(map(len, sides)) < 600)
    mine, theirs = sides[0], sides[1:]

    for weight, side in zip(weights, theirs, strict=True):
        for other, other_value in side.items():
            for one, value in mine.items():
                if alike := marked_likeness(one, other, factor):
                    expected[one] += weight * value * other_value * alike
            for one in {fragment for each in theirs for fragment in each}:
                if alike := marked_likeness(one, other, factor):
                    of_model[one] += weight * other_value * alike
    for element, truth in ((tree, expected), (None, of_model)):
        found = heaviest(kernel, support, weights, 1_000_000, element)
        assert found.exact
        total, by_tree = defaultdict(float), defaultdict(float)
        for fragment, weight in zip(found.fragments, found.weights.tolist(), strict=True):
            total[fragment] += weight
        for fragment, weight in truth.items():
            by_tree[as_tree(fragment)] += weight
        same(total, by_tree)
        few = heaviest(kernel, support, weights, 2, element)
        assert largest(few.weights, 2) == pytest.approx(largest(truth.values(), 2), rel=1e-9, abs=1e-12)


def test_a_terminal_factor_without_leaves_changes_nothing():
    a, b = "(a (b c) (d c))", "(a (b c) d)"
    plain = PartialTree(leaves=False).explain(a, b)
    other = PartialTree(leaves=False, terminal_factor=3.0).explain(a, b)
    assert [(f.tree, f.weight) for f in other.fragments] == [(f.tree, f.weight) for f in plain.fragments]


# The grammar-driven kernel.


def few_variations(oracle, tree):
    return oracle.size(tree) < 300


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(problems(depth=2), OPTIONS, SHARES, SHARES, st.sampled_from([Fraction(2, 5), Fraction(1)]))
def test_grammar_driven_pairs_are_those_of_enumeration(problem, options, deletion, mutation, decay):
    (a, b), *_ = problem
    oracle, kernel = both(problem, options, deletion, mutation, decay)
    assume(few_variations(oracle, a) and few_variations(oracle, b))
    expected = grammar_pairs(oracle, a, b)
    found = kernel.explain(a, b, top=1_000_000)
    assert found.exact
    same(added_up(found.fragments, lambda f: (f.tree, f.other)), expected)
    assert sum(f.weight for f in found.fragments) == pytest.approx(kernel(a, b), rel=1e-9)
    few = kernel.explain(a, b, top=3)
    listed = [f.weight for f in found.fragments]
    assert largest([f.weight for f in few.fragments], 3) == pytest.approx(largest(listed, 3), rel=1e-9)


@pytest.mark.slow
@FEW
@given(problems(depth=2), OPTIONS, SHARES, SHARES, st.integers(0, 99))
def test_grammar_driven_decisions_are_sums_of_pairs(problem, options, deletion, mutation, seed):
    (a, b), *_ = problem
    oracle, kernel = both(problem, options, deletion, mutation, Fraction(2, 5))
    assume(few_variations(oracle, a) and few_variations(oracle, b))
    weights = np.random.default_rng(seed).normal(size=2)
    expected = defaultdict(float)
    for weight, other in zip(weights, (a, b), strict=True):
        for (fragment, _), value in grammar_pairs(oracle, b, other).items():
            expected[fragment] += weight * value
    found = heaviest(kernel, [a, b], weights, 1_000_000, b)
    assert found.exact
    total = defaultdict(float)
    for fragment, weight in zip(found.fragments, found.weights.tolist(), strict=True):
        total[fragment] += weight
    same(total, expected)
    few = heaviest(kernel, [a, b], weights, 3, b)
    assert largest(few.weights, 3) == pytest.approx(largest(found.weights, 3), rel=1e-9, abs=1e-12)


@pytest.mark.slow
@FEW
@given(problems(depth=2), SHARES, st.integers(0, 99))
def test_grammar_driven_model_weights_are_those_of_the_fragment_as_a_tree(problem, deletion, seed):
    """Without mutation, the fragment itself is a tree that holds it once, at its root."""
    (a, b), *_ = problem
    options = {"lexical": "exact", "mutation_scope": "deep", "duplicates": "count"}
    oracle, kernel = both(problem, options, deletion, Fraction(0), Fraction(2, 5))
    assume(few_variations(oracle, a) and few_variations(oracle, b))
    weights = np.random.default_rng(seed).normal(size=2)
    found = heaviest(kernel, [a, b], weights, 1_000_000)
    assert found.exact

    def productions(tree):
        return bool(tree.children) + sum(map(productions, tree.children))

    for fragment, weight in list(zip(found.fragments, found.weights.tolist(), strict=True))[:8]:
        # A phrase cut off below its only child would be read as a tag with a word.
        if any(oracle.is_tag(node) and oracle.bare(node.label) in PHRASE_LABELS for node in fragment.preorder()):
            continue
        decided = heaviest(kernel, [a, b], weights, 1_000_000, fragment)
        rooted = dict(zip(decided.fragments, zip(decided.weights, decided.counts, strict=True), strict=True))
        value, count = rooted.get(fragment, (0.0, 1.0))
        if count == 1.0:
            assert value == pytest.approx(weight * 0.4 ** (productions(fragment) / 2), rel=1e-9, abs=1e-12)
    few = heaviest(kernel, [a, b], weights, 3)
    assert largest(few.weights, 3) == pytest.approx(largest(found.weights, 3), rel=1e-9, abs=1e-12)


def test_similar_words_in_the_grammar_driven_kernel():
    kernel = GrammarDriven(nouns(), lexical=SharedLetters(), mutation_sets=(("NN", "NNS"),))
    a, b = "(NP (DT a) (JJ big) (NN car))", "(NP (DT a) (NNS cars))"
    found = kernel.explain(a, b, top=1000)
    assert sum(f.weight for f in found.fragments) == pytest.approx(kernel(a, b), rel=1e-12)
    pair = next(f for f in found.fragments if str(f.tree) == "(NP DT (NN car))")
    assert str(pair) == "(NP DT (NN car)) without JJ ~ (NP DT (NNS cars))"
    assert pair.deleted == ("JJ",)
    assert pair.other_deleted == ()


def test_more_deletions_than_can_be_listed_are_owned_up_to():
    rules = [("NP", ("DT", *["JJ"] * k, "NN"), k + 1) for k in range(25)]
    kernel = GrammarDriven(sw.trees.Grammar(rules))
    tree = f"(NP (DT a) {' '.join(['(JJ big)'] * 24)} (NN car))"
    found = kernel.explain(tree, tree)
    assert not found.exact
    assert found.value == kernel(tree, tree)
    assert sum(f.weight for f in found.fragments) + found.remainder == pytest.approx(found.value, rel=1e-9)


def test_what_was_deleted_is_the_cheapest_way():
    kernel = GrammarDriven(nouns(), mutation_sets=())
    red, plain = "(NP (DT a) (JJ red) (NN car))", "(NP (DT a) (NN car))"
    (found,) = [f for f in kernel.explain(red, plain).fragments if str(f.tree) == "(NP DT NN)"]
    assert (found.deleted, found.other_deleted) == (("JJ",), ())
    both_ways = kernel.explain(f"(S {red} {plain})", plain)
    assert all(f.deleted == () for f in both_ways.fragments if str(f.tree) == "(NP DT NN)")


def test_all_words_alike_is_refused_where_it_would_take_all_memory(monkeypatch):
    monkeypatch.setattr("sapwood.kernels.links._MOST_PAIRS", 3)
    kernel = SemanticSubsetTree(Vectors(["u", "v"], [[1.0, 0.0], [0.6, 0.8]]))
    with pytest.raises(TooLargeError, match="2 words are to be compared with 2, up to 4 pairs"):
        kernel.explain("(S (A u) (B v))", "(S (A u) (B v))")


PAIR = (
    "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))))",
    "(S (NP (DT one) (NN puppy)) (VP (VBD met) (NP (DT some) (NN bird))))",
)
ENTRIES = {("dog", "puppy"): 0.8, ("cat", "bird"): 0.4, ("dog", "bird"): 0.3, ("saw", "met"): 0.7, ("the", "some"): 0.5}


@pytest.mark.parametrize("make", [SemanticSubsetTree, SmoothedPartialTree])
def test_a_pair_of_words_weighs_what_is_lost_without_it(make):
    def value(entries):
        return 3.0 * make(Table(entries))(*PAIR)

    found = (3.0 * make(Table(ENTRIES))).explain(*PAIR, top=20)
    weights = {pair.words: pair.weight for pair in found.words}
    assert weights.keys() == ENTRIES.keys()
    for words in ENTRIES:
        without = {pair: similar for pair, similar in ENTRIES.items() if pair != words}
        assert weights[words] == pytest.approx(value(ENTRIES) - value(without), rel=1e-9)
    first = next(pair for pair in found.words if pair.words == ("dog", "bird"))
    assert (first.first, first.second, first.similarity) == (1, 4, pytest.approx(0.3))
    assert "dog (1) ~ bird (4), 0.3" in str(found)
    assert found.svg().count("<path") == len(ENTRIES)
    assert "<path" in found._repr_html_()


def test_pairs_of_words_with_norms_views_and_without_words():
    norm = np.sqrt(
        SemanticSubsetTree(Table(ENTRIES))(PAIR[0], PAIR[0]) * SemanticSubsetTree(Table(ENTRIES))(PAIR[1], PAIR[1])
    )
    plain = SemanticSubsetTree(Table(ENTRIES)).explain(*PAIR)
    normalized = SemanticSubsetTree(Table(ENTRIES)).normalized().explain(*PAIR)
    assert normalized.words[0].weight == pytest.approx(plain.words[0].weight / norm)
    views = [sw.Examples(tree=[text]) for text in PAIR]
    viewed = SemanticSubsetTree(Table(ENTRIES)).on("tree").explain(*views)
    assert viewed.words[0].view == "tree"
    assert viewed.trees is None
    with pytest.raises(sw.errors.DataError, match="only one tree"):
        viewed.svg()
    assert SubsetTree().explain(*PAIR).words == ()
    assert SmoothedPartialTree(Table(ENTRIES), lexical="all").explain(*PAIR).words == ()
    assert SemanticSubsetTree(Table(ENTRIES)).explain(*PAIR, top=2).words == plain.words[:2]

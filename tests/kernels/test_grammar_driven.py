"""The grammar-driven kernel against worked values, an exact oracle, and what the definition promises."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sapwood as sw
from kernels.grammar_samples import NOUN_RULES, SharedLetters, made_up_sentences, nouns, treebank_sample
from oracles.grammar_driven import Oracle
from paths import SHARED
from sapwood.kernels import PENN_TAG_SETS, GrammarDriven, SubsetTree
from sapwood.trees import Grammar, Tree

needs_vectors = pytest.mark.skipif(
    not (SHARED / "vectors" / "grammar_kernel.json").exists(), reason=f"no worked values in {SHARED}"
)

PHRASES = ["S", "A", "B"]
TAGS = ["x", "y", "z", "u"]
# B is a phrase that stands in a set of tags, as NX does among Penn's; "v" is never used.
SETS = (("x", "y", "B"), ("z", "v"))


@st.composite
def trees(draw, label=None, depth=3, top=True):
    """Trees over few labels, with repeated children, words, bare frontier labels and marks."""
    label = label or draw(st.sampled_from(PHRASES))
    if depth == 0:
        return Tree(label)
    children = []
    for _ in range(draw(st.integers(1, 5 if top else 3))):
        kind = draw(st.integers(0, 9))
        mark = draw(st.sampled_from(["", "", "", "", "", "-ARG"]))
        if kind < 6:
            children.append(Tree(draw(st.sampled_from(TAGS)) + mark, [Tree(draw(st.sampled_from("pq")))]))
        elif kind < 7:
            children.append(Tree(draw(st.sampled_from(TAGS + PHRASES)) + mark))
        else:
            child = draw(trees(draw(st.sampled_from(PHRASES)), depth - 1, top=False))
            children.append(Tree(child.label + mark, child.children))
    return Tree(label, children)


@st.composite
def problems(draw, depth=3):
    """Two trees, and a grammar that knows some of their productions and some subsequences of them."""
    pair = draw(trees("S", depth)), draw(trees("S", depth))
    rules, heads = {}, {}
    for tree in pair:
        for node in tree.preorder():
            if not node.children or node.label.removesuffix("-ARG") in TAGS:
                continue
            lhs = node.label.removesuffix("-ARG")
            rhs = tuple(child.label.removesuffix("-ARG") for child in node.children)
            if draw(st.booleans()):
                rules.setdefault((lhs, rhs), draw(st.integers(0, len(rhs) - 1)))
            else:
                heads.setdefault((lhs, rhs), draw(st.integers(0, len(rhs) - 1)))
            for _ in range(draw(st.integers(0, 4)) if len(rhs) > 2 else 0):
                kept = [label for label in rhs if draw(st.integers(0, 3))]
                if kept:
                    rules.setdefault((lhs, tuple(kept)), draw(st.integers(0, len(kept) - 1)))
    heads = {production: head for production, head in heads.items() if production not in rules}
    knobs = {
        "max_deletions": draw(st.sampled_from([None, None, 0, 1, 2])),
        "deletable": draw(st.sampled_from([None, None, ["x", "z", "A"]])),
        "strict_head": draw(st.booleans()),
    }
    return pair, rules, heads, knobs


def build(rules, heads, knobs, **options):
    grammar = Grammar([(lhs, rhs, head) for (lhs, rhs), head in rules.items()], heads, **knobs)
    return GrammarDriven(grammar, mutation_sets=SETS, **options)


OPTIONS = st.fixed_dictionaries(
    {
        "lexical": st.sampled_from(["exact", "ignore"]),
        "mutation_scope": st.sampled_from(["deep", "root"]),
        "duplicates": st.sampled_from(["count", "canonical"]),
    }
)
SHARES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(3, 5), Fraction(1)])


def both(problem, options, deletion, mutation, decay):
    """The oracle and the kernel for one problem."""
    _, rules, heads, knobs = problem
    oracle = Oracle(
        rules,
        heads,
        decay=decay,
        deletion=deletion,
        mutation=mutation,
        sets=SETS,
        lexical=options["lexical"],
        scope=options["mutation_scope"],
        duplicates=options["duplicates"],
        **knobs,
    )
    kernel = build(
        rules, heads, knobs, decay=float(decay), deletion=float(deletion), mutation=float(mutation), **options
    )
    return oracle, kernel


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(problems(), OPTIONS, SHARES, SHARES, st.sampled_from([Fraction(2, 5), Fraction(1)]))
def test_it_is_enumeration(problem, options, deletion, mutation, decay):
    first, second = problem[0]
    oracle, kernel = both(problem, options, deletion, mutation, decay)
    expected = float(oracle.kernel(first, second))
    assert kernel(first, second) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert kernel(second, first) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    selves = [float(oracle.kernel(tree, tree)) for tree in (first, second)]
    np.testing.assert_allclose(kernel.diag([first, second]), selves, rtol=1e-12)
    together = [[selves[0], expected], [expected, selves[1]]]
    np.testing.assert_allclose(kernel([first, second]), together, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(problems(depth=2), OPTIONS, SHARES, SHARES)
def test_it_is_a_product_of_explicit_feature_vectors(problem, options, deletion, mutation):
    first, second = problem[0]
    oracle, kernel = both(problem, options, deletion, mutation, Fraction(2, 5))
    assume(max(oracle.size(first), oracle.size(second)) < 3000)
    expected = oracle.product(first, second)
    assert oracle.kernel(first, second) == expected
    assert kernel(first, second) == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(problems(), OPTIONS, SHARES)
def test_normalized_mutation_and_word_similarity_agree_with_enumeration(problem, options, mutation):
    (first, second), rules, heads, knobs = problem
    letters = SharedLetters()
    oracle = Oracle(
        rules,
        heads,
        decay=0.4,
        deletion=0.6,
        mutation=float(mutation),
        sets=SETS,
        lexical="similar",
        similarity=lambda a, b: float(letters.matrix([a], [b])[0, 0]),
        scope=options["mutation_scope"],
        duplicates=options["duplicates"],
        normalize=True,
        **knobs,
    )
    options = {**options, "lexical": letters}
    kernel = build(rules, heads, knobs, mutation=float(mutation), normalize_mutation=True, **options)
    assert kernel(first, second) == pytest.approx(float(oracle.kernel(first, second)), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(kernel.diag([first]), float(oracle.kernel(first, first)), rtol=1e-12)


def adjectives(count, words="abc"):
    inside = " ".join(f"(JJ {words[i % len(words)]})" for i in range(count))
    return Tree.fromstring(f"(NP (DT the) {inside} (NN dog))")


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("scope", ["deep", "root"])
def test_many_embeddings_are_summed_without_listing_them(strict, scope):
    """Eight adjectives leave 256 variations, more than are ever listed; seven and three leave few enough."""
    rules = {("NP", ("DT", *["JJ"] * k, "NN")): k + 1 for k in range(9)}
    rules |= {("NP", ("JJ",) * k): k // 2 for k in range(1, 10)}
    grammar = Grammar([(lhs, rhs, head) for (lhs, rhs), head in rules.items()], strict_head=strict)
    kernel = GrammarDriven(grammar, mutation_scope=scope)
    oracle = Oracle(
        rules,
        {},
        decay=0.4,
        deletion=0.6,
        mutation=0.3,
        sets=PENN_TAG_SETS,
        scope=scope,
        strict_head=strict,
    )
    # In the second kind the head is one of many equal labels, so that strictness about it matters.
    some = [adjectives(8), adjectives(7, "ba"), adjectives(3), Tree("NP", [Tree("JJ", [Tree(w)]) for w in "abcabcaba"])]
    expected = [[float(oracle.kernel(a, b)) for b in some] for a in some]
    np.testing.assert_allclose(kernel(some), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(some, some), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(some), np.diagonal(expected), rtol=1e-12)


def test_cost_does_not_explode_with_optional_children():
    grammar = Grammar([("NP", ("DT", *["JJ"] * k, "NN"), k + 1) for k in range(25)])
    kernel = GrammarDriven(grammar)
    sizes = (12, 24)
    trees = {size: sw.TreeArray([adjectives(size)] * 20) for size in sizes}
    times = {size: [] for size in sizes}
    # In turn, and the least of each: other work on the machine must not decide.
    for _ in range(5):
        for size in sizes:
            start = time.process_time()
            assert np.isfinite(kernel(trees[size])).all()
            times[size].append(time.process_time() - start)
    # Twice the children: a fourth power of them would be 16 times the work, enumerating deletions 4,096 times.
    assert min(times[24]) < 100 * min(times[12])


@needs_vectors
def test_worked_values():
    vectors = json.loads((SHARED / "vectors" / "grammar_kernel.json").read_text())["vectors"]
    assert len(vectors) >= 8
    for case in vectors:
        rules, params = case["grammar"], case["params"]
        heads = {(lhs, tuple(rhs)): head for lhs, rhs, head in rules["unseen_rules"]}
        kernel = GrammarDriven(
            Grammar(rules["rules"], heads),
            decay=float(params["lambda"]),
            deletion=float(params["lambda1"]),
            mutation=float(params["lambda2"]),
            mutation_sets=params["mutation_sets"],
            lexical=params["lexical"],
            mutation_scope=params["mutation_scope"],
            duplicates=params["duplicates"],
        )
        first, second = case["tree1"], case["tree2"]
        values = {key: float(value) for key, value in case["values"].items()}
        assert kernel(first, second) == pytest.approx(values["K12"], rel=1e-10), case["id"]
        assert kernel(first, first) == pytest.approx(values["K11"], rel=1e-10), case["id"]
        assert kernel(second, second) == pytest.approx(values["K22"], rel=1e-10), case["id"]
        assert kernel.normalized()(first, second) == pytest.approx(float(case["normalised_K12"]), rel=1e-10)
        assert SubsetTree()(first, second) == pytest.approx(float(case["sst_K12"]), rel=1e-10)


# Small cases by hand.


def test_a_unary_rule_is_never_a_target():
    kernel = GrammarDriven(nouns(), decay=1.0, deletion=1.0, mutation=0.0)
    assert kernel("(NP (DT the) (NN dog))", "(NP (NN dog))") == 1.0  # the tag alone


def test_the_head_is_never_deleted():
    wrong = Grammar([("NP", ["DT", "JJ", "NN"], 1), ("NP", ["DT", "NN"], 1)])
    kernel = GrammarDriven(wrong, decay=1.0, deletion=1.0, mutation=0.0)
    assert kernel("(NP (DT a) (JJ b) (NN c))", "(NP (DT d) (NN e))") == 0.0
    kernel.set_params(grammar=nouns())
    assert kernel("(NP (DT a) (JJ b) (NN c))", "(NP (DT d) (NN e))") == 1.0


def test_marked_nodes_are_protected_and_compared_with_their_marks():
    kernel = GrammarDriven(nouns(), decay=1.0, deletion=1.0, mutation=0.0)
    plain = "(NP (DT a) (NN c))"
    assert kernel("(NP (DT d) (JJ b) (NN e))", plain) == 1.0
    for mark in ("-ARG", "-PRED", "-PATH"):
        assert kernel(f"(NP (DT d) (JJ{mark} b) (NN e))", plain) == 0.0
        # A marked production is reducible by the unmarked rules, and what is left still carries its mark.
        marked = f"(NP{mark} (DT d) (JJ b) (NN{mark} e))"
        assert kernel(marked, f"(NP{mark} (DT a) (NN{mark} c))") == 1.0
        assert kernel(marked, plain) == 0.0
    # Marks of one's own.
    own = Grammar(NOUN_RULES, marks=["@"])
    assert GrammarDriven(own, decay=1.0, deletion=1.0, mutation=0.0)("(NP (DT d) (JJ@ b) (NN e))", plain) == 0.0


def test_marked_tags_mutate_among_themselves():
    kernel = GrammarDriven(
        nouns(), decay=1.0, deletion=0.0, mutation=1.0, mutation_sets=[["NN", "NNS"]], lexical="ignore"
    )
    assert kernel("(NN-ARG a)", "(NNS-ARG b)") == 2.0
    assert kernel("(NN-ARG a)", "(NNS b)") == 0.0


def test_a_frontier_label_is_no_pre_terminal():
    verbs = Grammar([("VP", ["NP"], 0), ("VP", ["VBD", "NP"], 0)])
    kernel = GrammarDriven(verbs, lexical="ignore")
    assert kernel("(VP NP)", "(VP PP)") == 0.0  # not two tags over words
    assert kernel("(VP NP)", "(VP NP)") == pytest.approx(0.4)
    unknown = GrammarDriven(nouns(), lexical="ignore")
    assert unknown("(VP NP)", "(VP PP)") == pytest.approx(0.4)  # VP is no left-hand side there, so it is a tag


def test_phrases_in_a_tag_set_never_match_tags():
    kernel = GrammarDriven(nouns(), decay=1.0, deletion=0.0, mutation=0.5, lexical="ignore")
    shared = kernel("(NP (DT a) (NX (NN b)))", "(NP (DT a) (NN b))")
    assert shared == pytest.approx(1.0 + (1.0 + 5 * 0.25))  # DT with DT and NN with NN


# What the definition promises on real and on made-up trees.


@pytest.fixture(scope="module")
def sentences():
    return made_up_sentences()


ALL_OPTIONS = [
    {"lexical": lexical, "mutation_scope": scope, "duplicates": duplicates, "normalize_mutation": normalize}
    for lexical in ("exact", "ignore")
    for scope in ("deep", "root")
    for duplicates in ("count", "canonical")
    for normalize in (False, True)
]


@pytest.fixture(scope="module")
def subtrees(treebank):
    """Phrases of the treebank sample, 240 of them, with frontier labels in some."""
    found = []
    for tree in treebank[:60]:
        found += [node for node in tree.preorder() if 3 <= node.size() <= 40]
    rng = np.random.default_rng(0)
    chosen = [found[i] for i in sorted(rng.choice(len(found), size=240, replace=False))]

    def cut(tree):
        return Tree(tree.label, [Tree(child.label) if rng.random() < 0.4 else child for child in tree.children])

    # Frontier labels beside the same labels with words are where a careless definition stops being a kernel.
    return sw.TreeArray([cut(tree) if i % 4 == 0 else tree for i, tree in enumerate(chosen)])


@pytest.fixture(scope="module")
def treebank():
    return treebank_sample()


@pytest.mark.slow
@pytest.mark.parametrize("options", ALL_OPTIONS, ids=lambda options: "-".join(map(str, options.values())))
def test_positive_semidefinite_symmetric_and_within_bounds_on_real_subtrees(options, subtrees):
    kernel = GrammarDriven(Grammar.from_trees(subtrees), **options)
    raw = kernel(subtrees)
    np.testing.assert_array_equal(raw, raw.T)
    kernel = kernel.normalized()
    K = kernel(subtrees)
    assert len(K) >= 200
    np.testing.assert_allclose(kernel(subtrees, subtrees), K, rtol=1e-12, atol=1e-14)
    assert K.min() >= 0
    assert K.max() <= 1 + 1e-12
    np.testing.assert_allclose(np.diagonal(K), 1.0)
    assert np.linalg.eigvalsh(K).min() >= -1e-9


def test_positive_semidefinite_with_a_word_similarity(sentences):
    kernel = GrammarDriven(Grammar.from_trees(sentences), mutation=0.6, lexical=SharedLetters()).normalized()
    K = kernel(sentences)
    assert np.linalg.eigvalsh(K).min() >= -1e-9
    assert not np.allclose(K, GrammarDriven(Grammar.from_trees(sentences), mutation=0.6).normalized()(sentences))


@pytest.mark.parametrize("scope", ["deep", "root"])
@pytest.mark.parametrize("duplicates", ["count", "canonical"])
def test_without_deletion_and_mutation_it_is_the_subset_tree_kernel(scope, duplicates, sentences):
    options = {"deletion": 0.0, "mutation": 0.0, "mutation_scope": scope, "duplicates": duplicates}
    grammar = Grammar.from_trees(sentences)
    for decay in (0.3, 1.0):
        kernel = GrammarDriven(grammar, decay=decay, **options)
        np.testing.assert_allclose(kernel(sentences), SubsetTree(decay=decay)(sentences), rtol=1e-12)
        ignoring = GrammarDriven(grammar, decay=decay, lexical="ignore", **options)
        # One dummy word per tag stands for "no words".
        without = sw.trees.map_leaves(sentences, lambda word: "*")
        np.testing.assert_allclose(ignoring(sentences), SubsetTree(decay=decay)(without), rtol=1e-12)


def test_it_is_the_subset_tree_kernel_on_the_treebank(treebank):
    some = treebank[:400]
    kernel = GrammarDriven(Grammar.from_trees(treebank), deletion=0.0, mutation=0.0)
    np.testing.assert_allclose(kernel(some), SubsetTree()(some), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(some), SubsetTree().diag(some), rtol=1e-12)


def test_it_is_the_subset_tree_kernel_on_portions_with_frontier_labels():
    some = ["(VP (VBD saw) NP PP)", "(VP (VBD saw) (NP (DT a) (NN dog)) PP)", "(VP VBD NP (PP (IN in) NP))", "(NP NP)"]
    grammar = Grammar([("VP", ["VBD", "NP", "PP"], 0), ("NP", ["DT", "NN"], 1), ("PP", ["IN", "NP"], 0)])
    kernel = GrammarDriven(grammar, deletion=0.0, mutation=0.0)
    np.testing.assert_allclose(kernel(some), SubsetTree()(some), rtol=1e-12)


@pytest.mark.parametrize("name", ["deletion", "mutation"])
@pytest.mark.parametrize("scope", ["deep", "root"])
def test_it_grows_with_deletion_and_mutation(name, scope, sentences):
    kernel = GrammarDriven(Grammar.from_trees(sentences), mutation_scope=scope)
    steps = [kernel.set_params(**{name: share})(sentences) for share in (0.0, 0.2, 0.5, 1.0)]
    for less, more in pairwise(steps):
        assert (more >= less * (1 - 1e-12)).all()
        assert (more > less).any()


def test_a_tree_is_most_like_itself_and_shorter_forms_come_next():
    kernel = GrammarDriven(nouns()).normalized()
    tree, near, far = "(NP (DT a) (JJ red) (NN car))", "(NP (DT a) (NN car))", "(NP (NN mud))"
    assert kernel(tree, tree) == pytest.approx(1.0)
    assert 1 > kernel(tree, near) > kernel(tree, far) >= 0
    assert kernel(tree, near) > SubsetTree().normalized()(tree, near)

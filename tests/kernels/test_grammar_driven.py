"""The grammar-driven kernel against worked values, an exact oracle, and what the definition promises."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import sapwood as sw
from kernels.grammar_oracle import Oracle
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import PENN_TAG_SETS, Grammar, GrammarDriven, SubsetTree, parse_kernel
from sapwood.trees import HeadTable, Tree

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_vectors = pytest.mark.skipif(
    not (SHARED / "vectors" / "grammar_kernel.json").exists(), reason=f"no worked values in {SHARED}"
)

PHRASES = ["S", "A", "B"]
TAGS = ["x", "y", "z", "u"]
# B is a phrase that stands in a set of tags, as NX does among Penn's; "v" is never used.
SETS = (("x", "y", "B"), ("z", "v"))


class SharedLetters:
    """A stand-in for a word similarity: the share of letters in common, as a dot product of letter counts."""

    def matrix(self, words, others):
        assert words
        assert others

        def features(names):
            rows = np.zeros((len(names), 128))
            for row, name in enumerate(names):
                for letter in name:
                    rows[row, ord(letter)] += 1
            return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))

        return sparse.csr_array(features(words) @ features(others).T)

    def __eq__(self, other):
        return isinstance(other, SharedLetters)

    __hash__ = None


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


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(problems(depth=2), OPTIONS, SHARES, SHARES)
def test_it_is_a_product_of_explicit_feature_vectors(problem, options, deletion, mutation):
    first, second = problem[0]
    oracle, kernel = both(problem, options, deletion, mutation, Fraction(2, 5))
    assume(max(oracle.size(first), oracle.size(second)) < 3000)
    expected = oracle.product(first, second)
    assert oracle.kernel(first, second) == expected
    assert kernel(first, second) == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


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
    import time

    grammar = Grammar([("NP", ("DT", *["JJ"] * k, "NN"), k + 1) for k in range(25)])
    kernel = GrammarDriven(grammar)
    tree = adjectives(24)
    kernel(tree, tree)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        value = kernel(tree, tree)
        times.append(time.perf_counter() - start)
    assert np.isfinite(value)
    assert min(times) < 0.01


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

NOUN_RULES = [
    ("NP", ("DT", "NN"), 1),
    ("NP", ("DT", "JJ", "NN"), 2),
    ("NP", ("NN",), 0),
    ("NP", ("DT", "NX"), 1),
    ("NX", ("NN",), 0),
]


def nouns():
    return Grammar(NOUN_RULES)


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
    """Sentences of a small grammar with optional adjectives, adverbs and prepositional phrases."""
    rng = np.random.default_rng(7)
    words = {
        "DT": ["the", "a"],
        "JJ": ["big", "red"],
        "JJR": ["bigger"],
        "NN": ["dog", "cat", "car"],
        "NNS": ["dogs"],
        "VBD": ["saw", "met"],
        "IN": ["in", "on"],
        "RB": ["often"],
    }

    def tag(label):
        return f"({label} {rng.choice(words[label])})"

    def noun(depth=0):
        adjectives = [tag(str(rng.choice(["JJ", "JJR"]))) for _ in range(rng.integers(0, 4))]
        core = [
            "(NP",
            *([tag("DT")] if rng.random() < 0.8 else []),
            *adjectives,
            tag(str(rng.choice(["NN", "NNS"]))),
            ")",
        ]
        inner = " ".join(core)
        return f"(NP {inner} {prepositional(depth + 1)})" if depth < 2 and rng.random() < 0.3 else inner

    def prepositional(depth):
        return f"(PP {tag('IN')} {noun(depth)})"

    def sentence():
        parts = [tag("VBD"), noun()]
        if rng.random() < 0.5:
            parts.insert(rng.integers(0, 2), f"(ADVP {tag('RB')})")
        if rng.random() < 0.5:
            parts.append(prepositional(1))
        return f"(S {noun()} (VP {' '.join(parts)}) {'(. .)' if rng.random() < 0.7 else ''})"

    return sw.TreeArray([sentence() for _ in range(60)])


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
    archive = SHARED / "data" / "nltk-zips" / "treebank.zip"
    if not archive.exists():
        pytest.skip(f"no treebank sample in {archive}")
    import io
    import zipfile

    with zipfile.ZipFile(archive) as files:
        names = sorted(name for name in files.namelist() if name.endswith(".mrg"))
        text = "\n".join(files.read(name).decode() for name in names)
    return sw.read_trees(io.StringIO(text), drop_traces=True, drop_function_tags=True)


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
    before = None
    for share in (0.0, 0.2, 0.5, 1.0):
        K = kernel.set_params(**{name: share})(sentences)
        assert before is None or (K >= before * (1 - 1e-12)).all()
        assert before is None or (K > before).any()
        before = K


def test_a_tree_is_most_like_itself_and_shorter_forms_come_next():
    kernel = GrammarDriven(nouns()).normalized()
    tree, near, far = "(NP (DT a) (JJ red) (NN car))", "(NP (DT a) (NN car))", "(NP (NN mud))"
    assert kernel(tree, tree) == pytest.approx(1.0)
    assert 1 > kernel(tree, near) > kernel(tree, far) >= 0
    assert kernel(tree, near) > SubsetTree().normalized()(tree, near)


# Manners that all kernels share.


def test_rows_and_columns_from_different_stores_agree(sentences):
    kernel = GrammarDriven(Grammar.from_trees(sentences[:20]))
    K = kernel(sentences)
    apart = sw.TreeArray(list(sentences)[30:])
    np.testing.assert_allclose(kernel(sentences, apart), K[:, 30:], rtol=1e-12)
    np.testing.assert_allclose(kernel(apart, sentences), K[30:], rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(apart), np.diagonal(K)[30:], rtol=1e-12)
    one_by_one = [[kernel(a, b) for b in list(sentences)[:5]] for a in list(sentences)[:5]]
    np.testing.assert_allclose(one_by_one, K[:5, :5], rtol=1e-12)


@pytest.mark.parametrize("lexical", ["exact", "ignore", SharedLetters()])
def test_an_expansion_is_the_weighted_sum(lexical, sentences):
    kernel = GrammarDriven(Grammar.from_trees(sentences[:20]), lexical=lexical)
    weights = np.random.default_rng(1).normal(size=(40, 3))
    for each in (kernel, kernel.normalized()):
        score = each.expansion(sentences[:40], weights)
        np.testing.assert_allclose(score(sentences), each(sentences, sentences[:40]) @ weights, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            score(sw.TreeArray(list(sentences)[50:])),
            each(sentences[50:], sentences[:40]) @ weights,
            rtol=1e-9,
            atol=1e-9,
        )


def test_bags_of_trees_add_up(sentences):
    kernel = GrammarDriven(Grammar.from_trees(sentences))
    parts = list(sentences)
    bags = sw.TreeArray([parts[:3], parts[3:4], []])
    K = kernel(sentences)
    expected = [[K[:3, :3].sum(), K[:3, 3].sum(), 0], [K[3, :3].sum(), K[3, 3], 0], [0, 0, 0]]
    np.testing.assert_allclose(kernel(bags), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(bags), np.diagonal(expected), rtol=1e-12)


def test_threads_give_the_same_bits(sentences):
    kernel = GrammarDriven(Grammar.from_trees(sentences))
    with sw.options(threads=1):
        one, diagonal = kernel(sentences), kernel.diag(sentences)
    with sw.options(threads=3):
        np.testing.assert_array_equal(kernel(sentences), one)
        np.testing.assert_array_equal(kernel.diag(sentences), diagonal)


def test_deep_and_wide_trees():
    depth = 3_000
    deep = "(NP (DT a) (JJ b) " * depth + "(NN c)" + ")" * depth
    grammar = Grammar([("NP", ["DT", "JJ", "NP"], 2), ("NP", ["DT", "NP"], 1), ("NP", ["DT", "JJ", "NN"], 2)])
    kernel = GrammarDriven(grammar, decay=0.1, deletion=0.1, mutation=0.1)
    assert kernel.normalized()(deep, "(NP (DT a) (NP (DT a) (JJ b) (NN c)))") > 0
    wide = Tree("NP", [Tree("DT", [Tree("a")]), *[Tree("JJ", [Tree("b")])] * 3000, Tree("NN", [Tree("c")])])
    flat = Grammar([("NP", ["DT", "NN"], 1), ("NP", ["DT", "JJ", "NN"], 2)])
    kernel = GrammarDriven(flat, decay=0.5, deletion=1.0, mutation=0.0)
    # 3000 ways to keep one adjective, one to keep none; each leaves a common form.
    expected = 0.5 * (3000 * 1.5**3 + 1.5**2) + 2 * 0.5 + 3000 * 0.5
    assert kernel(wide, "(NP (DT a) (JJ b) (NN c))") == pytest.approx(expected, rel=1e-12)


def test_it_learns_its_rules_where_it_is_bound(sentences):
    kernel = GrammarDriven()
    with pytest.raises(ParameterError, match="bind"):
        kernel(sentences)
    bound = kernel.bind(sentences)
    assert kernel.grammar is None
    assert bound.grammar == Grammar.from_trees(sentences)
    np.testing.assert_array_equal(bound(sentences), GrammarDriven(Grammar.from_trees(sentences))(sentences))
    mixture = 0.5 * kernel.normalized().on("a") + SubsetTree().on("b")
    assert mixture.bind(sw.Examples(a=sentences, b=sentences))(sw.Examples(a=sentences, b=sentences)).shape == (60, 60)


def test_an_estimator_binds_fits_saves_and_predicts_the_same(sentences, tmp_path):
    from sapwood.learn import KernelSVC

    y = np.array(["pp" if "PP" in text else "none" for text in sentences.to_strings()])
    model = KernelSVC(kernel=GrammarDriven().normalized(), C=5.0).fit(sentences, y)
    assert model.score(sentences, y) > 0.9
    sw.save(model, tmp_path / "model.sap")
    np.testing.assert_array_equal(
        sw.load(tmp_path / "model.sap").decision_function(sentences), model.decision_function(sentences)
    )
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(sentences), model.decision_function(sentences)
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: GrammarDriven(),
        lambda: GrammarDriven(nouns(), decay=0.5, deletion=0, mutation_scope="root"),
        lambda: GrammarDriven(Grammar(NOUN_RULES, {("NP", ("A", "B", "C")): 1}, strict_head=True, deletable=["JJ"])),
        lambda: GrammarDriven(
            Grammar([("X", ["Y Z", "(", "é'\""], 2)], HeadTable(default="right")), mutation_sets=(("a", "b"),)
        ),
        lambda: (
            0.5 * GrammarDriven(nouns(), lexical="ignore", duplicates="canonical", normalize_mutation=True).normalized()
        ),
    ],
)
def test_text_and_files_give_the_kernel_back(make, tmp_path):
    kernel = make()
    assert parse_kernel(repr(kernel)) == kernel
    sw.save(kernel, tmp_path / "kernel.sap")
    assert sw.load(tmp_path / "kernel.sap") == kernel
    assert repr(sw.load(tmp_path / "kernel.sap")) == repr(kernel)


def test_parameters_are_kept_as_given():
    sets = [["NN", "NNS"]]
    grammar = nouns()
    kernel = GrammarDriven(grammar, mutation_sets=sets)
    assert kernel.get_params()["mutation_sets"] is sets
    assert kernel.get_params()["grammar"] is grammar


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decay": 0.0}, r"decay must be a number in \(0, 1\]"),
        ({"decay": 1.5}, "decay"),
        ({"decay": float("nan")}, "decay"),
        ({"deletion": -0.1}, r"deletion must be a number in \[0, 1\]"),
        ({"deletion": 1.1}, "deletion"),
        ({"deletion": "much"}, "deletion"),
        ({"mutation": float("nan")}, "mutation must be"),
        ({"mutation": True}, "mutation must be"),
        ({"mutation_sets": [["NN", "NNS"], ["JJ", "NN"]]}, "'NN' stands in the sets 0 and 1"),
        ({"mutation_sets": [["NN", "NN"]]}, "'NN' stands twice"),
        ({"mutation_sets": "NN"}, "mutation_sets"),
        ({"mutation_sets": ["NN", "NNS"]}, "mutation_sets"),
        ({"mutation_sets": [[1, 2]]}, "mutation_sets"),
        ({"lexical": "fuzzy"}, "lexical must be"),
        ({"lexical": 3}, "lexical must be"),
        ({"mutation_scope": "shallow"}, "mutation_scope must be"),
        ({"duplicates": "all"}, "duplicates must be"),
        ({"normalize_mutation": 1}, "normalize_mutation must be"),
        ({"grammar": [("NP", ["DT"], 0)]}, "Grammar.from_trees"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        GrammarDriven(**parameters)
    kernel = GrammarDriven(nouns())
    with pytest.raises(ParameterError, match=message):
        kernel.set_params(**parameters)
    assert kernel == GrammarDriven(nouns())


@pytest.mark.parametrize(
    ("result", "message"),
    [(np.ones((1, 7)), "shape"), (np.full((3, 3), np.nan), "NaN"), (np.full((3, 3), np.inf), "NaN or infinite")],
)
def test_bad_similarities_are_refused(result, message):
    class Broken:
        def matrix(self, words, others):
            return sparse.csr_array(result)

    with pytest.raises(DataError, match=message):
        GrammarDriven(nouns(), lexical=Broken())(["(NP (DT a) (JJ b) (NN c))"])


def test_data_that_is_no_tree_is_refused(sentences):
    with pytest.raises(DataError, match="compares trees"):
        GrammarDriven(nouns())(np.ones((2, 2)))
    with pytest.raises(DataError, match=r"\.on\('a'\)"):
        GrammarDriven()(sw.Examples(a=sentences))


def test_single_leaves_share_nothing():
    assert GrammarDriven(nouns())("(NP)", "(NP)") == 0.0
    with pytest.warns(UserWarning, match="share nothing"):
        assert GrammarDriven(nouns()).normalized()("NP", "NP") == 0.0

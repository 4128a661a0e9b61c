"""pairwise: the diagonal of k(X, Y) by itself, against definitions, against Gram matrices, and its API."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from kernels.grammar_samples import NOUN_RULES, SharedLetters, made_up_sentences
from oracles.grammar_driven import Oracle
from oracles.tree_kernels import partial_pairs
from sapwood import Tree, TreeArray
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import (
    CrossPair,
    GrammarDriven,
    Linear,
    PartialTree,
    Polynomial,
    SemanticSubsetTree,
    SmoothedPartialTree,
    SubsetTree,
    Subtree,
    parse_kernel,
)
from sapwood.kernels.algebra import Constant
from sapwood.kernels.base import Kernel
from sapwood.learn import KernelSVC
from sapwood.trees import Grammar
from sapwood.words import Folded, Latent, Table
from strategies import bags, chains, decays, trees, wide

WORDS = Table({("a", "b"): 0.5})

KERNELS = [
    Subtree(decay=0.4),
    Subtree(decay=1.0),
    SubsetTree(decay=0.4),
    SubsetTree(decay=1.0, bag_of_words=True),
    SubsetTree(decay=0.5, max_depth=2),
    PartialTree(),
    PartialTree(decay=1.0, depth_decay=0.3),
    PartialTree(decay=0.5, max_subsequence=1),
    PartialTree(decay=0.5, max_subsequence=2, terminal_factor=2.0),
    PartialTree(decay=0.7, leaves=False),
    SemanticSubsetTree(WORDS, decay=0.5, leaf_weight=0.7, phrasal_labels=("c",)),
    SmoothedPartialTree(WORDS, decay=0.5),
    SmoothedPartialTree(WORDS, lexical="all", max_subsequence=2),
    GrammarDriven(Grammar([("a", ("a", "b"), 0), ("b", ("a",), 0)]), mutation_sets=(("a", "c"),)),
    GrammarDriven(Grammar([("a", ("a",), 0), ("b", ("a", "b"), 1)], min_children=1), lexical=WORDS),
    GrammarDriven(Grammar([("a", ("a", "b", "c"), 0)]), lexical="ignore", mutation_scope="root"),
    0.5 * SubsetTree() + Constant(2.0),
    SubsetTree() * Subtree(),
    (PartialTree() + 1) ** 2,
    Linear(words=WORDS),
]


def by_gram(kernel: Kernel, X: TreeArray, Y: TreeArray) -> np.ndarray:
    return np.diagonal(kernel(X, Y))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(max_examples=15)
@given(data=st.data())
def test_it_is_the_diagonal_of_the_gram_matrix(kernel, data):
    one = st.one_of(trees(), chains(), wide(5))
    pairs = data.draw(st.lists(st.tuples(one, one), min_size=1, max_size=5))
    X, Y = TreeArray([a for a, _ in pairs]), TreeArray([b for _, b in pairs])
    np.testing.assert_allclose(kernel.pairwise(X, Y), by_gram(kernel, X, Y), rtol=1e-12, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(max_examples=15)
@given(data=st.data())
def test_bags_of_trees_and_empty_ones(kernel, data):
    pairs = data.draw(st.lists(st.tuples(bags(), bags()), min_size=1, max_size=4))
    X, Y = TreeArray([a for a, _ in pairs]), TreeArray([b for _, b in pairs])
    np.testing.assert_allclose(kernel.pairwise(X, Y), by_gram(kernel, X, Y), rtol=1e-12, atol=0)


@given(trees(), trees(), decays, decays, st.sampled_from([None, 1, 2, 3]))
def test_partial_trees_by_their_definition(a, b, decay, depth_decay, longest):
    kernel = PartialTree(decay=decay, depth_decay=depth_decay, max_subsequence=longest)
    value = partial_pairs(a, b, decay, depth_decay, max_subsequence=longest)
    assert kernel.pairwise([a], [b])[0] == pytest.approx(value, rel=1e-12)
    assert kernel.diag([a])[0] == pytest.approx(
        partial_pairs(a, a, decay, depth_decay, max_subsequence=longest), rel=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("lexical", ["exact", "ignore", "similar"])
def test_grammar_driven_values_by_enumeration(least, lexical):
    rules = [*NOUN_RULES, ("NP", ("JJ", "NN"), 1), ("VP", ("VBD",), 0), ("VP", ("VBD", "NP"), 0)]
    sentences = [Tree.fromstring(text) if isinstance(text, str) else text for text in made_up_sentences()][:24]
    similarity = SharedLetters()
    oracle = Oracle(
        {(lhs, tuple(rhs)): head for lhs, rhs, head in rules},
        {},
        decay=Fraction(2, 5),
        deletion=Fraction(3, 5),
        mutation=Fraction(3, 10),
        sets=(("JJ", "JJR"),),
        lexical=lexical,
        similarity=(lambda v, w: float(similarity.matrix([v], [w])[0, 0])) if lexical == "similar" else None,
        min_children=least,
    )
    kernel = GrammarDriven(
        Grammar(rules, heads={}, min_children=least),
        mutation_sets=(("JJ", "JJR"),),
        lexical=similarity if lexical == "similar" else lexical,
    )
    X, Y = sentences[:12], sentences[12:]
    expected = [float(oracle.kernel(a, b)) for a, b in zip(X, Y, strict=True)]
    np.testing.assert_allclose(kernel.pairwise(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(kernel(X, Y)), expected, rtol=1e-12)


def test_a_single_child_may_be_left_only_where_the_grammar_says_so():
    rules = [("NP", ("DT", "NN"), 1), ("NP", ("NN",), 0)]
    assert Grammar(rules).reductions("NP", ["DT", "NN"]) == []
    loose = Grammar(rules, min_children=1)
    assert loose.reductions("NP", ["DT", "NN"]) == [("NN",)]
    assert "min_children=1" in repr(loose)
    assert loose != Grammar(rules)
    with pytest.raises(ParameterError, match="min_children must be an integer of at least 1"):
        Grammar(rules, min_children=0)


def test_min_children_is_saved(tmp_path):
    grammar = Grammar([("NP", ("DT", "NN"), 1)], min_children=1)
    sw.save(grammar, tmp_path / "g.sap")
    assert sw.load(tmp_path / "g.sap") == grammar


@pytest.mark.slow
def test_large_elements_take_the_long_way_and_give_the_same():
    # More pairs of nodes than the direct way takes on.
    wide_one = Tree("s", [Tree("a", [Tree("b", [str(k % 7)])]) for k in range(3000)])
    wide_two = Tree("s", [Tree("a", [Tree("b", [str(k % 5)])]) for k in range(2900)])
    many = [Tree("a", [str(k)]) for k in range(2500)]
    for kernel in (SubsetTree(), SemanticSubsetTree(WORDS), PartialTree(max_subsequence=3)):
        for a, b in ((wide_one, wide_two), (tuple(many), tuple(many[1:]))):
            X, Y = TreeArray([a]), TreeArray([b])
            np.testing.assert_allclose(kernel.pairwise(X, Y), by_gram(kernel, X, Y), rtol=1e-12)


@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree(), SmoothedPartialTree(WORDS), GrammarDriven()], ids=repr)
def test_real_trees_on_any_number_of_threads(treebank, kernel):
    X, Y = treebank[:300], treebank[300:600]
    kernel = kernel.bind(treebank[:200])
    with sw.options(threads=1):
        one = kernel.normalized().pairwise(X, Y)
    with sw.options(threads=2):
        two = kernel.normalized().pairwise(X, Y)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one[:40], by_gram(kernel.normalized(), X[:40], Y[:40]), rtol=1e-9)


def test_joined_halves_are_the_same_as_two_arrays():
    X, Y = ["(a b)", "(a (b c))"], ["(a c)", "(a (b c))"]
    from sapwood.kernels.data import join

    kernel = SubsetTree().normalized()
    np.testing.assert_array_equal(kernel.pairwise(join(X, Y)), kernel.pairwise(X, Y))


def test_views_and_flat_features():
    A = sw.Examples(tree=["(a b)", "(a c)"], flat=np.array([[1.0, 2.0], [3.0, 4.0]]))
    B = sw.Examples(tree=["(a b)", "(a b)"], flat=np.array([[1.0, 0.0], [0.0, 1.0]]))
    kernel = SubsetTree().on("tree") + Polynomial(degree=2).on("flat")
    np.testing.assert_allclose(kernel.pairwise(A, B), np.diagonal(kernel(A, B)))
    matrix = sparse.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(Linear().pairwise(matrix, matrix), [5.0, 25.0])
    dictionaries = [{"a": 1.0}, {"b": 2.0}]
    np.testing.assert_allclose(Linear().pairwise(dictionaries, [{"a": 3.0}, {"a": 1.0}]), [3.0, 0.0])


def test_kernels_that_only_have_a_gram_matrix_work_too():
    class Counting(Kernel):
        def _gram(self, X, Y):
            Y = X if Y is None else Y
            return np.array([[a.size() * b.size() for b in Y] for a in X], dtype=np.float64)

        def _diag(self, X):
            return np.array([tree.size() ** 2 for tree in X], dtype=np.float64)

    X = TreeArray([f"(a {'b ' * k})" for k in range(1, 40)])
    np.testing.assert_array_equal(Counting().pairwise(X, X), Counting().diag(X))


def test_bad_pairs_are_refused():
    kernel = SubsetTree()
    with pytest.raises(DataError, match="X has 2 elements and Y has 1"):
        kernel.pairwise(["(a b)", "(a c)"], ["(a b)"])
    with pytest.raises(DataError, match="no two halves"):
        kernel.pairwise(["(a b)", "(a c)", "(a d)"])
    with pytest.raises(DataError, match="wrap a single tree"):
        kernel.pairwise("(a b)", ["(a b)"])
    with pytest.raises(DataError, match="same kind"):
        kernel.pairwise(["(a b)"], sw.Examples(tree=["(a b)"]))
    with pytest.raises(DataError, match="views"):
        kernel.on("x").pairwise(sw.Examples(x=["(a b)"]), sw.Examples(y=["(a b)"]))
    with pytest.raises(DataError, match="features"):
        Linear().pairwise(np.ones((1, 2)), np.ones((1, 3)))
    assert kernel.pairwise("(a b)", "(a b)").shape == (1,)
    assert kernel.pairwise(TreeArray([]), TreeArray([])).shape == (0,)


# Kernels between pairs.


def cross(kernel, a, b, c, d):
    return kernel(a, c) * kernel(b, d) + kernel(a, d) * kernel(b, c)


@pytest.mark.slow
@given(
    st.lists(st.tuples(trees(4), trees(4)), min_size=1, max_size=3),
    st.lists(st.tuples(trees(4), trees(4)), min_size=1, max_size=3),
)
def test_cross_pairs_by_their_definition(rows, columns):
    X, Y = (
        sw.Examples(first=TreeArray([a for a, _ in side]), second=TreeArray([b for _, b in side]))
        for side in (rows, columns)
    )
    kernel = SubsetTree(decay=0.5)
    expected = [[cross(kernel, a, b, c, d) for c, d in columns] for a, b in rows]
    np.testing.assert_allclose(CrossPair(kernel)(X, Y), expected, rtol=1e-12)
    K = CrossPair(kernel)(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diagonal(K), CrossPair(kernel).diag(X), rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] >= -1e-9 * max(1.0, np.abs(K).max())
    np.testing.assert_allclose(CrossPair(kernel).pairwise(X, X), np.diagonal(K), rtol=1e-12)


def test_cross_pairs_do_not_care_about_order_within_a_pair():
    a, b = ["(a (b c))", "(a b)"], ["(a (b d))", "(c d)"]
    one, other = sw.Examples(first=a, second=b), sw.Examples(first=b, second=a)
    kernel = CrossPair(SubsetTree().normalized())
    np.testing.assert_allclose(kernel(one), kernel(other), rtol=1e-14)
    np.testing.assert_allclose(kernel(one), kernel(one, other), rtol=1e-14)


def test_cross_pairs_in_a_support_vector_machine(tmp_path):
    garden = sw.corpora.nursery.generate(size=240)
    pairs = garden.pairs
    X = sw.Examples(first=garden.trees[[p.first for p in pairs]], second=garden.trees[[p.second for p in pairs]])
    y = np.array([p.same for p in pairs])
    kernel = CrossPair(SubsetTree(decay=0.3).normalized())
    model = KernelSVC(kernel=kernel.normalized(), C=10.0).fit(X[:60], y[:60])
    sw.save(model, tmp_path / "m.sap")
    np.testing.assert_array_equal(sw.load(tmp_path / "m.sap").decision_function(X), model.decision_function(X))
    gram = kernel.normalized()(X[60:], model.support_examples_)
    np.testing.assert_allclose(model.decision_function(X[60:]), (gram @ model.dual_coef_ + model.intercept_)[:, 0])


def test_cross_pairs_read_back_and_check_their_parameters():
    kernel = CrossPair(SubsetTree(decay=0.3).normalized(), first="question1", second="question2")
    assert parse_kernel(repr(kernel)) == kernel
    assert CrossPair(GrammarDriven()).bind(sw.Examples(first=["(S (A a) (B b))"], second=["(S (A a))"])).kernel.grammar
    with pytest.raises(ParameterError, match="must be a kernel"):
        CrossPair("rbf")
    with pytest.raises(ParameterError, match="two different views"):
        CrossPair(SubsetTree(), first="a", second="a")
    with pytest.raises(DataError, match="needs Examples"):
        CrossPair(SubsetTree())(["(a b)"])


def test_a_similarity_that_learns_is_bound_to_both_sides():
    X = sw.Examples(first=["(S (A dog) (B pet))"] * 3, second=["(S (A cat) (B pet))"] * 3)
    kernel = CrossPair(SemanticSubsetTree(Folded(Latent(dimensions=1)))).bind(X)
    assert np.isfinite(kernel(X)).all()

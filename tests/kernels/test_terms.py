"""Kernels as sums of terms, products of factors, and what classes declare of their values."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood.errors import DataError
from sapwood.kernels import CrossPair, GrammarDriven, Kernel, Linear, PartialTree, Polynomial, SubsetTree, Subtree
from sapwood.kernels.normalization import Scales
from sapwood.learn import KernelRanker, KernelSVC
from sapwood.words import Table

TREES = [
    "(S (NP (N dogs)) (VP (V run)))",
    "(S (NP (D the) (N dog)) (VP (V ran)))",
    "(S (VP (V run) (NP (N dogs))))",
    "(NP (D the) (N cat))",
    "(S (NP (N cats)) (VP (V sleep)))",
]
E = sw.Examples(
    tree=TREES, other=TREES[::-1], flat=np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0], [2.0, 2.0], [1.0, 0.5]])
)


class Letters(Kernel):
    """A kernel of one's own, with nothing but a Gram matrix: the number of letters in words, multiplied."""

    def __init__(self, power=1.0):
        self.power = power

    def _gram(self, X, Y):
        rows, columns = ([sum(map(len, tree.leaves())) ** self.power for tree in Z] for Z in (X, X if Y is None else Y))
        return np.outer(rows, columns).astype(float)


ON_TREES = [
    SubsetTree(),
    2 * SubsetTree().normalized() + 0.5 * PartialTree() + 3.0,
    (SubsetTree() + 0.5 * Letters()).normalized(),
    (0.1 * (SubsetTree() + 1.0).normalized()).normalized() + Subtree(),
    (SubsetTree().normalized() + PartialTree()).normalized() * Subtree() + Letters() ** 2,
    2 * SubsetTree().normalized().normalized(),
]
ON_VIEWS = [
    0.6 * SubsetTree().normalized().on("tree") + 0.4 * Polynomial(2).on("flat").normalized(),
    ((SubsetTree() + Letters()).normalized().on("tree") + Linear().on("flat")).normalized() + 2,
    ((SubsetTree() + Letters()).on("tree") * Linear().on("flat")).normalized() + PartialTree().on("other"),
    (2 * CrossPair(SubsetTree(), "tree", "other")).normalized() + CrossPair(Letters(), "tree", "other"),
    (3 * (SubsetTree().on("tree") + Subtree().on("other"))).normalized() ** 3,
]


def value_of(terms, X):
    """Add terms up as their documentation says."""
    total = np.zeros((X.shape[0], X.shape[0]))
    for term in terms:
        scale = np.ones(X.shape[0])
        for norm in term.norms:
            scale /= np.sqrt(norm.kernel.diag(X if norm.view is None else X[norm.view]))
        total += term.weight * term.kernel(term.pick(X)) * np.outer(scale, scale)
    return total


@pytest.mark.parametrize("kernel", ON_TREES + ON_VIEWS, ids=repr)
def test_terms_add_up_to_the_kernel(kernel):
    X = E if kernel in ON_VIEWS else E["tree"]
    np.testing.assert_allclose(value_of(kernel.terms(), X), kernel(X), rtol=1e-12)
    for term in kernel.terms():
        assert len(term.kernel.terms()) == 1
        assert term.kernel.terms()[0].kernel is term.kernel
        expected = [np.sqrt(norm.kernel.diag(X if norm.view is None else X[norm.view])) for norm in term.norms]
        np.testing.assert_allclose(Scales(X).of(term.norms), 1 / np.prod([np.ones(5), *expected], axis=0), rtol=1e-12)


@pytest.mark.parametrize("kernel", ON_TREES + ON_VIEWS, ids=repr)
def test_summands_and_factors_are_the_kernel(kernel):
    X = E if kernel in ON_VIEWS else E["tree"]
    np.testing.assert_allclose(sum(weight * one(X) for weight, one in kernel.summands()), kernel(X), rtol=1e-12)
    np.testing.assert_allclose(np.prod([one(X) for one in kernel.factors()], axis=0), kernel(X), rtol=1e-12)


def test_what_terms_look_like():
    tree, flat = (2 * SubsetTree().on("tree").normalized() + Linear().on("flat")).terms()
    assert (tree.weight, tree.kernel, tree.view, tree.self_normalized) == (2.0, SubsetTree(), "tree", True)
    assert (flat.weight, flat.kernel, flat.view, flat.norms) == (1.0, Linear(), "flat", ())
    # A factor below a norm cancels out, but not within a sum.
    (only,) = (0.5 * SubsetTree()).normalized().terms()
    assert (only.weight, only.self_normalized) == (1.0, True)
    assert [term.self_normalized for term in (0.5 * SubsetTree() + Subtree()).normalized().terms()] == [False, False]
    assert [repr(one) for one in (SubsetTree() * (Subtree() ** 2)).factors()] == [
        "SubsetTree(decay=0.4)",
        "Subtree(decay=0.4)",
        "Subtree(decay=0.4)",
    ]


def test_views():
    assert SubsetTree().views() == set()
    kernel = (SubsetTree().on("a") + Linear().on("b")).normalized() * CrossPair(Subtree(), "c", "d")
    assert kernel.views() == {"a", "b", "c", "d"}
    # A view has no views of its own.
    (term,) = SubsetTree().on("tree").on("flat").terms()
    with pytest.raises(DataError, match="the kernel is on the view 'tree', so it needs Examples"):
        term.kernel(E)
    with pytest.raises(DataError, match="the kernel is on the view 'tree', so it needs Examples, not TreeArray"):
        KernelSVC(SubsetTree().on("tree"), solver="native").fit(TREES, [0, 1, 0, 1, 1])


def test_declarations_hold_for_the_class_that_makes_them():
    class Same(SubsetTree):
        pass

    class Stated(SubsetTree):
        never_negative = True

    class Numbers(Linear):
        pass

    assert SubsetTree().never_negative
    assert SubsetTree().compares_words_by_equality
    assert not Same().never_negative
    assert not Same().compares_words_by_equality
    assert Stated().never_negative
    assert not Stated().compares_words_by_equality
    assert not Letters().never_negative
    assert Linear()._dot_form() is not None
    assert Numbers()._dot_form() is None


def test_words_by_equality_in_combinations():
    exact, similar = GrammarDriven(), GrammarDriven(lexical=Table({("dog", "cat"): 0.5}))
    assert exact.compares_words_by_equality
    assert exact.never_negative
    assert not similar.compares_words_by_equality
    assert not similar.never_negative
    for kernel, expected in ((exact, True), (similar, False), (Letters(), False)):
        for make in (lambda k: 2 * k + 1, lambda k: k.normalized() * SubsetTree(), lambda k: (SubsetTree() + k) ** 2):
            assert make(kernel).compares_words_by_equality is expected


def test_diagonals_come_from_the_gram_matrix():
    X = sw.TreeArray([f"(a {'b' * (k % 9 + 1)})" for k in range(40)])
    np.testing.assert_array_equal(Letters().diag(X), np.diagonal(Letters()(X)))
    assert len(Letters().diag([])) == 0


@pytest.mark.parametrize("solver", ["sklearn", "native"])
def test_a_kernel_of_ones_own_in_a_machine(solver):
    y = ["a", "b", "a", "b", "b"]
    kernel = (0.1 * Letters().normalized() + SubsetTree()).on("tree") + Linear().on("flat")
    model = KernelSVC(kernel, solver=solver, tol=1e-6).fit(E, y)
    K = kernel(E, E[model.support_])
    np.testing.assert_allclose(model.decision_function(E), K @ model.dual_coef_[:, 0] + model.intercept_, atol=1e-9)
    explained = model.explain(E[1:2], top=3)
    np.testing.assert_allclose(
        explained.value, model.decision_function(E[1:2])[0] * (1 if explained.label == "b" else -1)
    )
    assert [other.kernel for other in explained.others] == ["Letters(power=1.0)", "Linear()"]
    assert all(fragment.kernel == "SubsetTree(decay=0.4)" for fragment in explained.fragments)
    ranker = KernelRanker(kernel, epochs=1).fit(E, [0, 1, 1, 0, 1], [0, 0, 1, 1, 1])
    assert np.isfinite(ranker.decision_function(E)).all()


def test_fragments_know_whether_children_may_be_left_out():
    kernel = SubsetTree() + PartialTree()
    found = kernel.explain(TREES[0], TREES[1], top=50).fragments
    assert {(one.kernel.partition("(")[0], one.gapped) for one in found} == {
        ("SubsetTree", False),
        ("PartialTree", True),
    }

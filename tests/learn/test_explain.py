"""Explanations of decisions: contributions add up, heaviest fragments are those of enumeration, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import sapwood as sw
from oracles.fragments import any_trees, decays, fragments, internal_trees, partial_fragments, size, small_trees, weight
from sapwood.errors import DataError, ParameterError, TooLargeError
from sapwood.kernels import (
    GrammarDriven,
    Linear,
    PartialTree,
    Polynomial,
    SemanticSubsetTree,
    SmoothedPartialTree,
    SubsetTree,
    Subtree,
)
from sapwood.learn import KernelSVC, KernelSVR
from sapwood.words import Table

TREES = [
    f"(S {subject} {verb} (. {end}))"
    for subject in ("(NP (PRP he))", "(NP (DT the) (NN dog))", "(NP (DT a) (JJ big) (NN cat))", "(NP (NNP Kim))")
    for verb in (
        "(VP (VBD slept))",
        "(VP (VBD saw) (NP (NNP Lee)))",
        "(VP (VBD gave) (NP (NNP Lee)) (PP (TO to) (NP he)))",
    )
    for end in (".", "!")
]
X = sw.TreeArray(TREES)
LABELS = np.array(["none", "none", "one", "one", "two", "two"] * 4)
# Some labels are wrong, so that many trees become support vectors.
NOISY = np.where(np.random.default_rng(0).random(len(LABELS)) < 0.2, "one", LABELS)

LINEAR = [
    Subtree(decay=0.4),
    SubsetTree(decay=0.4).normalized(),
    SubsetTree(decay=0.9, bag_of_words=True, max_depth=3),
    PartialTree().normalized(),
    PartialTree(leaves=False, max_subsequence=2, terminal_factor=1.0),
    0.3 * SubsetTree(decay=0.2) + 2.0 * PartialTree(depth_decay=0.7).normalized(),
    (Subtree() + 0.5 * SubsetTree().normalized()).normalized(),
]


def check_sum(explanation, expected):
    """Contributions are the score minus the bias, to 1e-9 of what is added up."""
    parts = [value for tree in explanation.trees for value in tree.contributions.tolist()]
    others = [other.value for other in explanation.others]
    scale = max(abs(expected), sum(map(abs, parts)) + sum(map(abs, others)))
    assert abs(sum(parts) + sum(others) + explanation.bias - expected) <= 1e-9 * scale
    assert abs(explanation.value - expected) <= 1e-9 * scale


@pytest.fixture(scope="module", params=LINEAR, ids=repr)
def machine(request):
    return KernelSVC(kernel=request.param, C=2.0).fit(X, NOISY)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(tree=st.one_of(st.sampled_from(TREES).map(sw.Tree.fromstring), internal_trees), label=st.sampled_from(range(3)))
def test_contributions_add_up(machine, tree, label):
    name = machine.classes_[label]
    explanation = machine.explain(tree, label=name, top=4)
    assert explanation.label == name
    assert len(explanation.contributions) == tree.size()
    assert explanation.others == ()
    assert explanation.share == 1.0
    check_sum(explanation, machine.decision_function([tree])[0, label])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:1 of 1 elements share nothing")
@settings(max_examples=40, deadline=None)
@given(
    st.lists(internal_trees, min_size=4, max_size=6, unique=True),
    any_trees,
    st.sampled_from(LINEAR),
    st.integers(0, 100),
)
def test_contributions_add_up_on_random_trees(trees, tree, kernel, seed):
    # Weights are drawn, not trained: the solver may take very long on kernel values as large as these.
    machine = KernelSVR(kernel=kernel)
    machine.kernel_ = kernel
    coefficients = np.random.default_rng(seed).normal(size=(len(trees), 1))
    machine._keep(sw.TreeArray(trees), np.arange(len(trees)), coefficients, np.ones(1))
    check_sum(machine.explain(tree), machine.predict([tree])[0])


def test_the_predicted_class_is_explained_by_default():
    machine = KernelSVC().fit(X, LABELS)
    for tree, label in zip(X, machine.predict(X), strict=True):
        explanation = machine.explain(tree)
        assert explanation.label == label
        check_sum(explanation, machine.decision_function([tree]).max())


def test_two_classes_argue_for_either():
    keep = LABELS != "two"
    machine = KernelSVC().fit(X[keep], LABELS[keep])
    margin = machine.decision_function(X[:1])[0]
    check_sum(machine.explain(X[0], label="one"), margin)
    check_sum(machine.explain(X[0], label="none"), -margin)
    assert machine.explain(X[0]).value > 0
    weights = [fragment.weight for fragment in machine.fragments("one", top=8)]
    assert [-fragment.weight for fragment in machine.fragments("none", top=8)] == weights
    assert machine.fragments(top=8).label == "one"


def test_one_against_one_sums_the_margins():
    machine = KernelSVC(multi_class="ovo").fit(X, NOISY)
    outputs = machine._outputs(X[:1])[0]  # none/one, none/two, one/two
    check_sum(machine.explain(X[0], label="one"), outputs[2] - outputs[0])
    check_sum(machine.explain(X[0], label="none"), outputs[0] + outputs[1])


def twin(support, coefficients, tree, decay, max_depth, bag_of_words):
    """Weights of all fragments: in the model, and in the score of one tree."""
    model = {}
    for element, coefficient in zip(support, coefficients, strict=True):
        for fragment, count in fragments(element, max_depth=max_depth, bag_of_words=bag_of_words).items():
            model[fragment] = model.get(fragment, 0.0) + coefficient * count * weight(fragment, decay) ** 0.5
    held = fragments(tree, max_depth=max_depth, bag_of_words=bag_of_words)
    return model, {f: model[f] * held[f] * weight(f, decay) ** 0.5 for f in held if f in model}


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    st.lists(internal_trees, min_size=1, max_size=4),
    any_trees,
    decays,
    st.sampled_from([None, 1, 2]),
    st.booleans(),
    st.integers(1, 6),
    st.integers(0, 50),
)
def test_heaviest_fragments_are_those_of_enumeration(support, tree, decay, max_depth, bag_of_words, top, seed):
    kernel = SubsetTree(decay=decay, max_depth=max_depth, bag_of_words=bag_of_words)
    coefficients = np.random.default_rng(seed).normal(size=len(support))
    attribution = kernel._attribution(sw.TreeArray(support), coefficients[:, None])
    model, decision = twin(support, coefficients, tree, decay, max_depth, bag_of_words)
    for element, expected in ((None, model), (sw.TreeArray([tree]), decision)):
        found = attribution.heaviest(np.ones(1), top, element)
        assert found.exact
        # Sums of weights that cancel leave rounding behind, which is no fragment.
        largest = sorted((abs(value) for value in expected.values() if abs(value) > 1e-12), reverse=True)[:top]
        weights = [abs(value) for value in found.weights.tolist() if abs(value) > 1e-12]
        assert weights == pytest.approx(largest, rel=1e-9)
        for fragment, value in zip(found.fragments, found.weights.tolist(), strict=True):
            assert expected[fragment] == pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(small_trees, min_size=1, max_size=3),
    small_trees,
    # With decay 1 nothing can be ruled out early, and even small trees have millions of fragments.
    st.sampled_from([0.1, 0.4, 0.7]),
    st.sampled_from([0.1, 0.4, 0.7]),
    st.integers(1, 6),
    st.integers(0, 50),
)
def test_heaviest_partial_fragments_are_those_of_enumeration(support, tree, decay, depth_decay, top, seed):
    coefficients = np.random.default_rng(seed).normal(size=len(support))
    kernel = PartialTree(decay=decay, depth_decay=depth_decay)
    attribution = kernel._attribution(sw.TreeArray(support), coefficients[:, None])
    model = {}
    for element, coefficient in zip(support, coefficients, strict=True):
        for fragment, value in partial_fragments(element, decay=decay, depth_decay=depth_decay).items():
            model[fragment] = model.get(fragment, 0.0) + coefficient * value
    held = partial_fragments(tree, decay=decay, depth_decay=depth_decay)
    decision = {f: model[f] * held[f] for f in held if f in model}
    for element, expected in ((None, model), (sw.TreeArray([tree]), decision)):
        found = attribution.heaviest(np.ones(1), top, element)
        assert found.exact
        largest = sorted((abs(value) for value in expected.values() if abs(value) > 1e-12), reverse=True)[:top]
        weights = [abs(value) for value in found.weights.tolist() if abs(value) > 1e-12]
        assert weights == pytest.approx(largest, rel=1e-9)
        for fragment, value in zip(found.fragments, found.weights.tolist(), strict=True):
            assert expected[fragment] == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_fragments_of_the_model_are_its_weights():
    """The score of a tree is the dot product of its fragments with the weights of the model."""
    machine = KernelSVC(kernel=SubsetTree(decay=0.5), C=1.0).fit(X[:6], LABELS[:6])
    for label in machine.classes_:
        found = machine.fragments(label, top=100_000)
        assert found.exact
        weights = {fragment.tree: fragment.weight for fragment in found}
        column = list(machine.classes_).index(label)
        for tree in list(X[:4]):
            held = fragments(tree)
            score = sum(weights.get(f, 0.0) * n * 0.5 ** (size(f) / 2) for f, n in held.items())
            expected = machine.decision_function([tree])[0, column] - machine.intercept_[column]
            assert score == pytest.approx(expected, rel=1e-9)


def test_other_parts_are_told_by_support_examples():
    E = sw.Examples(tree=X, flat=[{"length": len(tree.leaves())} for tree in X])
    kernel = SubsetTree().normalized().on("tree") + 0.1 * Polynomial(degree=2).on("flat") + SubsetTree().on("tree") ** 2
    machine = KernelSVC(kernel=kernel).fit(E, NOISY)
    for row in (0, 7):
        example = E[row : row + 1]
        explanation = machine.explain(example, label="two")
        check_sum(explanation, machine.decision_function(example)[0, 2])
        assert 0 < explanation.share < 1
        assert [other.kernel for other in explanation.others] == [
            "Polynomial(degree=2)",
            "SubsetTree(decay=0.4).on('tree') ** 2",
        ]
        for other in explanation.others:
            assert all(position in machine.support_ for position, _ in other.support)
        assert "Nodes account for" in str(explanation)
    assert explanation.trees[0].view == "tree"
    nothing = KernelSVC(kernel=Linear().on("flat")).fit(E, NOISY)
    assert nothing.explain(E[0:1]).trees == ()
    with pytest.raises(DataError, match="cannot be listed"):
        nothing.fragments("one")


def listed(fragments):
    return [(str(fragment), fragment.weight) for fragment in fragments]


@pytest.mark.parametrize(
    "kernel",
    [
        SemanticSubsetTree(Table({("dog", "cat"): 0.5})),
        SmoothedPartialTree(Table({("dog", "cat"): 0.5})),
        GrammarDriven(lexical=Table({("dog", "cat"): 0.5})),
        GrammarDriven(lexical="ignore", mutation_scope="root"),
        PartialTree(terminal_factor=2.0),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_kernels_with_words_or_a_grammar_have_contributions_and_fragments(kernel, tmp_path):
    machine = KernelSVC(kernel=kernel.normalized()).fit(X, NOISY)
    for tree in (X[0], X[10]):
        explanation = machine.explain(tree, label="one")
        check_sum(explanation, machine.decision_function([tree])[0, 1])
        assert len(explanation.contributions) == tree.size()
        assert explanation.others == ()
    everything = machine.explain(X[0], label="one", top=1_000_000)
    assert everything.exact
    total = sum(fragment.weight for fragment in everything.fragments)
    assert total == pytest.approx(everything.contributions.sum(), rel=1e-9)
    few = machine.explain(X[0], label="one", top=3)
    assert listed(few.fragments) == listed(everything.fragments[:3])
    assert str(few.fragments[0]) in str(few)
    found = machine.fragments("one", top=5)
    assert found.exact
    assert len(found) == 5
    assert str(found[0].tree) in str(found)
    sw.save(machine, tmp_path / "model.sap")
    loaded = sw.load(tmp_path / "model.sap")
    assert listed(loaded.fragments("one", top=5)) == listed(found)
    assert listed(loaded.explain(X[0], label="one", top=3).fragments) == listed(few.fragments)


def test_two_views_of_trees():
    E = sw.Examples(whole=X, part=[tree.children[1] for tree in X])
    kernel = (SubsetTree().normalized().on("whole") + SubsetTree().on("part")).normalized()
    machine = KernelSVC(kernel=kernel).fit(E, NOISY)
    explanation = machine.explain(E[2:3], label="one")
    check_sum(explanation, machine.decision_function(E[2:3])[0, 1])
    assert [tree.view for tree in explanation.trees] == ["whole", "part"]
    assert {fragment.view for fragment in explanation.fragments} == {"whole", "part"}
    with pytest.raises(DataError, match="2 explained trees"):
        _ = explanation.contributions


def test_documents():
    documents = sw.TreeArray([[X[i], X[(i + 5) % len(X)]] for i in range(len(X))])
    machine = KernelSVC().fit(documents, NOISY)
    explanation = machine.explain((X[0], X[5]), label="two")
    check_sum(explanation, machine.decision_function(documents[:1])[0, 2])
    assert [tree.tree for tree in explanation.trees] == [X[0], X[5]]


def test_every_node_has_its_own_number():
    tree = sw.Tree.fromstring("(S (NP (NN dog)) (NP (NN dog)) (VP (VBD slept)))")
    contributions = KernelSVC().fit(X, NOISY).explain(tree, label="none").contributions
    order = [node.label for node in tree.preorder()]
    assert contributions[order.index("NP")] == contributions[order.index("NP") + 3]
    assert contributions[order.index("dog")] == 0


def test_pickles_and_files_explain_alike(tmp_path):
    machine = KernelSVC().fit(X, NOISY)
    expected = machine.explain(X[3]).contributions
    sw.save(machine, tmp_path / "m.sap")
    for copy in (sw.load(tmp_path / "m.sap"), pickle.loads(pickle.dumps(machine))):
        np.testing.assert_array_equal(copy.explain(X[3]).contributions, expected)
    machine.fit(X, LABELS)
    check_sum(machine.explain(X[3]), machine.decision_function(X[3:4]).max())


def test_bad_input():
    with pytest.raises(NotFittedError):
        KernelSVC().explain(X[0])
    with pytest.raises(NotFittedError):
        KernelSVC().fragments("one")
    machine = KernelSVC().fit(X, NOISY)
    with pytest.raises(ParameterError, match="there is no class 'three'; the classes are"):
        machine.explain(X[0], label="three")
    with pytest.raises(ParameterError, match="there is no class"):
        machine.fragments("three")
    with pytest.raises(ParameterError, match="say which class"):
        machine.fragments()
    with pytest.raises(DataError, match="expected one example, got 24"):
        machine.explain(X)
    with pytest.raises(ParameterError, match="top must be"):
        machine.explain(X[0], top=-1)


def test_a_leaf_and_a_stranger():
    machine = KernelSVC(kernel=SubsetTree()).fit(X, NOISY)
    for tree in ("leaf", "(unheard (of it))"):
        explanation = machine.explain(tree, label="one")
        assert not explanation.contributions.any()
        assert explanation.fragments == ()
        assert explanation.value == machine.intercept_[1]
        assert "score of one" in str(explanation)
        assert "<svg" in explanation._repr_html_()
    normal = KernelSVC().fit(X, NOISY)
    with pytest.warns(UserWarning, match="share nothing even with themselves"):
        assert normal.explain("leaf", label="one").value == normal.intercept_[1]


@pytest.mark.slow
def test_deep_and_enormous_trees(stopwatch):
    deep = sw.Tree("NP", ["x"])
    for _ in range(100_000):
        deep = sw.Tree("NP", [deep])
    machine = KernelSVC(kernel=SubsetTree()).fit(X, NOISY)
    with stopwatch(at_most=20):
        explanation = machine.explain(deep, label="one")
    assert len(explanation.contributions) == 100_002
    check_sum(explanation, machine.decision_function([deep])[0, 1])
    assert len(explanation.to_text(max_lines=20)) < 5000
    assert "too large to draw" in explanation._repr_html_()
    many = sw.Tree("A", ["a"])
    for _ in range(60):
        many = sw.Tree("A", [many, many])
    with pytest.raises(TooLargeError, match="lists each of them"):
        machine.explain(many, label="one")


def test_shown():
    machine = KernelSVC().fit(X, NOISY)
    explanation = machine.explain(X[4], label="two")
    text = str(explanation)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "PP" in text
    assert "heaviest fragments" in text
    assert repr(explanation).startswith("Explanation(label='two', value=")
    html = explanation._repr_html_()
    assert html.count("<svg") >= 1
    assert "<table>" in html
    listed = machine.fragments("two", top=5)
    assert len(listed) == 5
    assert listed[0].weight == max(abs(fragment.weight) for fragment in listed)
    assert all(len(line) <= 80 for line in str(listed).splitlines())
    assert "heaviest fragments of two" in listed._repr_html_()


def test_the_sum_is_written_out_however_long():
    labels = np.where(LABELS == "none", "abbreviation:expression", LABELS)
    examples = sw.Examples(t=X, f=np.arange(len(X) * 2.0).reshape(-1, 2) / 7)
    kernel = SubsetTree().normalized().on("t") + Polynomial(degree=2, constant=0.123456).on("f")
    explanation = KernelSVC(kernel).fit(examples, labels).explain(examples[:1])
    for width in (40, 80, 200):
        text = explanation.to_text(width=width)
        assert max(map(len, text.split("\n"))) <= width
        first = " ".join(text.split("\n\n")[0].split())
        others = sum(other.value for other in explanation.others)
        assert first == (
            f"score of {explanation.label} {explanation.value:.6g} = {explanation.bias:.6g} (bias) + "
            f"{explanation.trees[0].total():.6g} (nodes) + {others:.6g} (other parts)"
        )
        assert f"from {explanation.others[0].kernel}, by feature:" in " ".join(text.split())


def test_markup_is_escaped():
    wild = sw.Tree("S", [sw.Tree("<b>&\"'", ["</svg><script>x</script>"]), sw.Tree("N", ["y"])])
    machine = KernelSVC(kernel=SubsetTree()).fit([wild, "(S (N y))"], ["<i>", "b"])
    html = machine.explain(wild)._repr_html_() + machine.fragments("<i>")._repr_html_()
    for tag in ("<script", "</svg><script", "<b>", "<i>"):
        assert tag not in html
    assert "&lt;script&gt;" in html

"""SemanticSubsetTree: agreed values, enumeration of fragments, reductions, and the API of a kernel."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import sapwood as sw
from oracles.semantic import semantic_by_fragments, semantic_by_pairs
from paths import SHARED
from sapwood import Tree, TreeArray
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import Linear, SemanticSubsetTree, SmoothedPartialTree, SubsetTree, parse_kernel
from sapwood.learn import KernelSVC
from sapwood.words import Latent, SimilarityWarning, Table, Taxonomy, Vectors, WordNet, WordSimilarity
from treebank import sample_trees

PHRASES = frozenset({"S", "NP"})
WORDS = ["u", "v", "w", "x"]


def sample(count: int) -> list[str]:
    return sample_trees()[:count].to_strings()


@pytest.fixture(scope="module")
def real_subtrees() -> TreeArray:
    """250 distinct real subtrees of 4 to 30 nodes."""
    found: dict[Tree, None] = {}
    for text in sample(200):
        for node in Tree.fromstring(text).preorder():
            if not node.is_leaf and 4 <= node.size() <= 30:
                found[node] = None
    trees = list(found)
    return TreeArray(trees[:: max(1, len(trees) // 250)][:250])


def wordnet(**options: Any) -> WordNet:
    source = WordNet(**options)
    try:
        source("dog", "cat")
    except DataError as error:
        pytest.skip(str(error))
    return source


def smallest(kernel: Any, X: Any) -> float:
    K = kernel(X)
    assert np.array_equal(K, K.T)
    scale = np.sqrt(np.diagonal(K))
    assert (scale > 0).all()
    return float(np.linalg.eigvalsh(K / np.outer(scale, scale))[0])


# Random trees: words under tags A and B; phrases that may be cut off; a tag over two leaves; A as a leaf too.
def phrase_trees() -> st.SearchStrategy[Tree]:
    word = st.sampled_from(WORDS).map(Tree)
    preterminal = st.builds(lambda tag, leaf: Tree(tag, [leaf]), st.sampled_from("AB"), word)
    odd = st.sampled_from([Tree("NP"), Tree("S"), Tree("A"), Tree("A", ["u", "v"]), Tree("NP", ["u"])])
    start = st.one_of(preterminal, preterminal, odd)
    return st.recursive(
        start,
        lambda child: st.builds(Tree, st.sampled_from(["S", "NP", "C"]), st.lists(child, min_size=1, max_size=3)),
        max_leaves=6,
    )


vectors = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=3, max_size=3), min_size=4, max_size=4)
decays = st.sampled_from([0.1, 0.4, 1.0])
leaf_weights = st.sampled_from([0.0, 0.5, 1.0, 3.0])


@pytest.mark.slow
@given(phrase_trees(), phrase_trees(), vectors, decays, leaf_weights)
@settings(max_examples=150, deadline=None)
def test_recursion_is_enumeration_of_fragments(
    a: Tree, b: Tree, points: list[list[float]], decay: float, alpha: float
) -> None:
    source = Vectors(WORDS, points, measure="dot")
    kernel = SemanticSubsetTree(source, decay=decay, leaf_weight=alpha, phrasal_labels=("S", "NP"))
    fragments = semantic_by_fragments(a, b, source, decay, alpha, PHRASES)
    assert semantic_by_pairs(a, b, source, decay, alpha, PHRASES) == pytest.approx(fragments, rel=1e-12, abs=1e-12)
    assert kernel(a, b) == pytest.approx(fragments, rel=1e-12, abs=1e-12)
    assert kernel.diag([a])[0] == pytest.approx(kernel(a, a), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@given(st.lists(phrase_trees(), min_size=2, max_size=6), vectors, st.data())
@settings(max_examples=60, deadline=None)
def test_gram_rows_columns_bags_and_models_agree(trees: list[Tree], points: list[list[float]], data: Any) -> None:
    source = Vectors(WORDS, points, measure="dot")
    kernel = SemanticSubsetTree(source, decay=0.5, leaf_weight=2.0, phrasal_labels=("S", "NP"))
    cut = data.draw(st.integers(1, len(trees) - 1))
    X, Y = TreeArray(trees[:cut]), TreeArray(trees[cut:])
    expected = np.array([[semantic_by_pairs(a, b, source, 0.5, 2.0, PHRASES) for b in trees] for a in trees])
    np.testing.assert_allclose(kernel(trees), expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(kernel(X, Y), expected[:cut, cut:], rtol=1e-12, atol=1e-11)
    bags = TreeArray([trees[:cut], trees[cut:]])
    np.testing.assert_allclose(kernel(bags)[0, 1], expected[:cut, cut:].sum(), rtol=1e-12, atol=1e-10)
    weights = np.arange(2.0 * (len(trees) - cut)).reshape(-1, 2) - 1.5
    np.testing.assert_allclose(kernel.expansion(Y, weights)(X), expected[:cut, cut:] @ weights, rtol=1e-11, atol=1e-10)


def test_agreed_values() -> None:
    path = SHARED / "vectors" / "semantic_kernel.json"
    if not path.exists():
        pytest.skip(f"the reference values are not on this machine ({path})")
    cases = json.loads(path.read_text())["vectors"]
    assert len(cases) >= 5
    for case in cases:
        table = Table({(a, b): float(value) for a, b, value in case["similarity"]})
        params = case["params"]
        kernel = SemanticSubsetTree(table, decay=float(params["lambda"]), leaf_weight=float(params["alpha"]))
        a, b = case["tree1"], case["tree2"]
        values = {"K12": kernel(a, b), "K11": kernel(a, a), "K22": kernel(b, b)}
        for name, value in values.items():
            assert value == pytest.approx(float(case["values"][name]), rel=1e-10, abs=1e-10), (case["id"], name)
        np.testing.assert_allclose(kernel.diag([a, b]), [values["K11"], values["K22"]], rtol=1e-12)


def test_identity_is_the_subset_tree_kernel() -> None:
    X = TreeArray(sample(300))
    for decay in (0.2, 1.0):
        mine, plain = SemanticSubsetTree(Table({}), decay=decay), SubsetTree(decay=decay)
        np.testing.assert_allclose(mine(X), plain(X), rtol=1e-12)
        np.testing.assert_allclose(mine.diag(X), plain.diag(X), rtol=1e-12)
        np.testing.assert_allclose(mine(X[:40], X[200:]), plain(X[:40], X[200:]), rtol=1e-12)


def test_dense_similarities_on_real_trees_agree_with_the_recursion() -> None:
    trees = sample(14)
    X = TreeArray(trees)
    words = sorted({word for tree in X for word in tree.leaves()})
    rng = np.random.default_rng(3)
    source = Vectors(words, rng.standard_normal((len(words), 4)), measure="cosine")
    phrases = frozenset(
        label for tree in X for node in tree.preorder() if len(node.children) > 1 for label in [node.label]
    )
    kernel = SemanticSubsetTree(source, decay=0.4, leaf_weight=1.5, phrasal_labels=tuple(phrases))
    K = kernel(X)
    matrix = dict(zip(words, source.matrix(words).toarray(), strict=True))
    column = {word: k for k, word in enumerate(words)}
    # The kernel ignores function tags when it asks whether a label is phrasal.
    bare = frozenset(label.split("-")[0].split("=")[0] if not label.startswith("-") else label for label in phrases)
    every = frozenset(
        node.label
        for tree in X
        for node in tree.preorder()
        if (node.label if node.label.startswith("-") else node.label.split("-")[0].split("=")[0]) in bare
    )
    for i, j in [(0, 1), (2, 9), (5, 5), (13, 4)]:
        slow = semantic_by_pairs(X[i], X[j], lambda v, w: matrix[v][column[w]], 0.4, 1.5, every)
        assert K[i, j] == pytest.approx(slow, rel=1e-11)


@pytest.mark.slow
def test_more_similarities_than_are_kept_in_memory() -> None:
    """The dense similarities of 6,000 words to each other pass the limit up to which they are kept for all rows."""
    words = [f"w{k}" for k in range(6000)]
    points = np.random.default_rng(5).standard_normal((6000, 2))
    kernel = SemanticSubsetTree(Vectors(words, points, measure="dot"), decay=0.5, leaf_weight=2.0)
    trees = [Tree("C", [Tree("NN", [word])]) for word in words]
    found = kernel(TreeArray(trees), TreeArray([trees]))
    totals = points @ points.sum(axis=0)
    # Each pair of pre-terminals shares σ, and each pair of their parents 0.5 (1 + σ).
    np.testing.assert_allclose(found[:, 0], 1.5 * totals + 0.5 * 6000, rtol=1e-9, atol=1e-6)


def test_leaf_weight() -> None:
    a, b = "(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))"
    table = Table({("dog", "cat"): 0.5})
    # Without words only the bare production is left.
    assert SemanticSubsetTree(table, decay=0.5, leaf_weight=0.0)(a, b) == 0.5
    expected = 0.5 * 2.0 + 0.5 * 1.0 + 0.5 * (1 + 0.5 * 2.0) * (1 + 0.5 * 1.0)
    assert SemanticSubsetTree(table, decay=0.5, leaf_weight=2.0)(a, b) == pytest.approx(expected)


def test_similarities_above_one_are_not_clipped() -> None:
    table = Table({("dog", "dog"): 4.0, ("dog", "cat"): 3.0, ("cat", "cat"): 4.0})
    assert SemanticSubsetTree(table, decay=1.0)("(NN dog)", "(NN cat)") == 3.0
    assert SemanticSubsetTree(table, decay=1.0).diag(["(NN dog)"])[0] == 4.0


def test_labels_must_match_and_unknown_words_match_themselves() -> None:
    kernel = SemanticSubsetTree(Table({("run", "race"): 0.9}), decay=1.0)
    assert kernel("(NN run)", "(VB race)") == 0.0
    assert kernel("(NN zyx)", "(NN zyx)") == 1.0
    assert kernel("(NN zyx)", "(NN zyw)") == 0.0


def test_frontier_labels_match_exactly() -> None:
    kernel = SemanticSubsetTree(Table({("dog", "cat"): 0.9}), decay=1.0)
    # NP is phrasal, so what stands under it is no word; function tags do not change that.
    assert kernel("(NP dog)", "(NP cat)") == 0.0
    assert kernel("(NP-SBJ dog)", "(NP-SBJ cat)") == 0.0
    assert kernel("(NP dog)", "(NP dog)") == 1.0
    assert kernel("(NN-PRED dog)", "(NN-PRED cat)") == pytest.approx(0.9)
    assert SemanticSubsetTree(Table({("dog", "cat"): 0.9}), decay=1.0, phrasal_labels=())(
        "(NP dog)", "(NP cat)"
    ) == pytest.approx(0.9)
    # A pre-terminal never matches a node of the same label with something else below.
    assert kernel("(NN dog)", "(NN (dog x))") == 0.0


def test_words_with_brackets_and_spaces() -> None:
    kernel = SemanticSubsetTree(Table({("(", "new york"): 0.5, ("a)b", "c d"): 0.25}), decay=1.0)
    assert kernel(Tree("NN", ["("]), Tree("NN", ["new york"])) == 0.5
    assert kernel(Tree("NN", ["a)b"]), Tree("NN", ["c d"])) == 0.25


SOURCES: dict[str, Any] = {
    "wordnet lin": lambda: wordnet(weights="lin"),
    "wordnet full": lambda: wordnet(weights="full"),
    "wordnet path": lambda: wordnet(weights="path"),
    "wordnet wu-palmer": lambda: wordnet(weights="wu-palmer"),
    "wordnet resnik, all senses": lambda: wordnet(weights="resnik", senses="all"),
    "wordnet lin, all senses": lambda: wordnet(weights="lin", senses="all"),
    "taxonomy": lambda: Taxonomy([("company", "group"), ("share", "asset"), ("stock", "asset")], weights="path"),
    "sum": lambda: 0.5 * wordnet(weights="lin") + 0.5 * Table({("company", "firm"): 0.9}),
    "product": lambda: wordnet(weights="path") * Table({("company", "firm"): 0.9}),
    "vectors": lambda: Vectors(
        ["company", "year", "share", "said", "of"], np.random.default_rng(0).standard_normal((5, 3))
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_positive_semi_definite_on_real_subtrees(name: str, real_subtrees: TreeArray) -> None:
    source: WordSimilarity = SOURCES[name]()
    assert source.is_psd
    assert len(real_subtrees) >= 200
    assert smallest(SemanticSubsetTree(source, leaf_weight=2.0), real_subtrees) > -1e-9
    assert smallest(SmoothedPartialTree(source), real_subtrees) > -1e-9
    assert smallest(Linear(words=source), real_subtrees) > -1e-9


@pytest.mark.slow
def test_latent_semantics_learns_in_bind(real_subtrees: TreeArray) -> None:
    kernel = SemanticSubsetTree(Latent(dimensions=20))
    with pytest.raises(ParameterError, match="no documents"):
        kernel(real_subtrees)
    bound = kernel.bind(real_subtrees)
    assert smallest(bound, real_subtrees) > -1e-9
    assert kernel.similarity == Latent(dimensions=20)


def test_a_table_that_is_no_kernel_shows_in_the_gram_matrix() -> None:
    with pytest.warns(SimilarityWarning, match="smallest eigenvalue is -0.27"):
        table = Table({("a", "b"): 0.9, ("b", "c"): 0.9})
    assert not table.is_psd
    trees = ["(NN a)", "(NN b)", "(NN c)"]
    assert np.linalg.eigvalsh(SemanticSubsetTree(table)(trees))[0] < -0.1
    fixed = SemanticSubsetTree(table.repaired())
    assert np.linalg.eigvalsh(fixed(trees))[0] > -1e-12


@pytest.mark.slow
def test_threads_do_not_change_a_bit(real_subtrees: TreeArray) -> None:
    kernel = SemanticSubsetTree(wordnet(weights="lin")).normalized()
    with sw.options(threads=1):
        one = kernel(real_subtrees)
    for threads in (2, 5):
        with sw.options(threads=threads):
            assert np.array_equal(kernel(real_subtrees), one)


def test_a_model_file_brings_the_kernel_back(tmp_path: Path) -> None:
    kernel = 0.5 * SemanticSubsetTree(Table({("dog", "cat"): 0.5}), leaf_weight=2.0).normalized()
    sw.save(kernel, tmp_path / "k.sap")
    back = sw.load(tmp_path / "k.sap")
    assert back == kernel
    assert back("(NN dog)", "(NN cat)") == kernel("(NN dog)", "(NN cat)")


def test_repr_reads_back() -> None:
    kernels = [
        SemanticSubsetTree(Table({("dog", "cat"): 0.5}), decay=0.2, phrasal_labels=("NP",)),
        SemanticSubsetTree(WordNet(weights="path", senses="all"), leaf_weight=3.0).normalized(),
        SemanticSubsetTree(0.5 * Table({("a", "b"): 0.5}) + 0.5 * Latent(dimensions=7)),
        SemanticSubsetTree(Taxonomy([("dog", "animal")], {"dog": 2}, weights="lin")).on("path"),
    ]
    for kernel in kernels:
        assert parse_kernel(repr(kernel)) == kernel


def test_estimators_and_search() -> None:
    trees = [f"(NP (DT the) (NN {word}))" for word in ["dog", "cat", "cow", "car", "bus", "van"] * 4]
    labels = ["animal"] * 3 + ["vehicle"] * 3
    table = Table({("dog", "cat"): 0.9, ("dog", "cow"): 0.9, ("cat", "cow"): 0.9, ("car", "bus"): 0.9})
    search = GridSearchCV(
        KernelSVC(kernel=SemanticSubsetTree(table)),
        {"kernel__leaf_weight": [1.0, 2.0], "kernel__similarity": [table, Table({})]},
        cv=2,
    ).fit(TreeArray(trees), labels * 4)
    assert search.best_score_ == 1.0
    assert clone(SemanticSubsetTree(table)).similarity is table


def test_a_fitted_machine_survives_saving(tmp_path: Path) -> None:
    trees = TreeArray([f"(NP (NN {word}))" for word in ["dog", "cat", "car", "bus"] * 3])
    kernel = SemanticSubsetTree(Latent([["dog", "cat"], ["car", "bus"]], dimensions=2))
    machine = KernelSVC(kernel=kernel).fit(trees, ["a", "a", "v", "v"] * 3)
    sw.save(machine, tmp_path / "m.sap")
    unseen = ["(NP (NN cat))", "(NP (NN bus))", "(NP (NN tree))"]
    np.testing.assert_allclose(
        sw.load(tmp_path / "m.sap").decision_function(unseen), machine.decision_function(unseen), rtol=1e-12
    )


def test_bad_parameters() -> None:
    table = Table({})
    for wrong in ({"decay": 0.0}, {"decay": 1.5}, {"leaf_weight": -1.0}, {"leaf_weight": float("nan")}):
        with pytest.raises(ParameterError):
            SemanticSubsetTree(table, **wrong)
    with pytest.raises(ParameterError, match="phrasal_labels"):
        SemanticSubsetTree(table, phrasal_labels="NP")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="word similarity"):
        SemanticSubsetTree({("a", "b"): 0.5})  # type: ignore[arg-type]


def test_empty_arrays_and_single_leaves() -> None:
    kernel = SemanticSubsetTree(Table({("a", "b"): 0.5}))
    assert kernel(TreeArray([])).shape == (0, 0)
    assert kernel(TreeArray(["(NN a)"]), TreeArray([])).shape == (1, 0)
    assert kernel("a", "a") == 0.0


def test_deep_trees() -> None:
    def tree(word: str) -> Tree:
        node = Tree("NN", [word])
        for _ in range(3000):
            node = Tree("S", [node])
        return node

    kernel = SemanticSubsetTree(Table({("a", "b"): 0.5}), decay=0.5)
    value = kernel(tree("a"), tree("b"))
    assert np.isfinite(value)
    assert value > 0


@pytest.mark.slow
def test_interrupt_stops_within_a_second(interrupt: Callable[..., str]) -> None:
    code = """
    import numpy as np
    import sapwood as sw
    from sapwood.kernels import SemanticSubsetTree
    from sapwood.words import Vectors
    words = [f"w{k}" for k in range(3000)]
    source = Vectors(words, np.random.default_rng(0).standard_normal((3000, 50)))
    phrase = "(NP (DT the) (NN {}) (NN {}))".format
    trees = [
        "(S " + " ".join(phrase(words[(7 * i + 11 * k) % 3000], words[(13 * i + k) % 3000]) for i in range(24)) + ")"
        for k in range(3000)
    ]
    X = sw.TreeArray(trees)
    sw.options(threads=2)
    kernel = SemanticSubsetTree(source)
    print("ready", flush=True)
    try:
        kernel(X)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    else:
        print("finished", flush=True)
    """
    assert interrupt(code, after=1.0) == "stopped\n"

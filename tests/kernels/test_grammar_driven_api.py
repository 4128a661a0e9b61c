"""The grammar-driven kernel has the API of all kernels: stores, threads, bags, files, parameters, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sparse

import sapwood as sw
from kernels.grammar_samples import NOUN_RULES, SharedLetters, made_up_sentences, nouns
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import GrammarDriven, SubsetTree, parse_kernel
from sapwood.trees import Grammar, HeadTable, Tree


@pytest.fixture(scope="module")
def sentences():
    return made_up_sentences()


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


@pytest.mark.slow
def test_it_can_be_interrupted(interrupt):
    code = """
        from sapwood.kernels import GrammarDriven
        from sapwood.trees import Grammar

        depth = 30_000
        deep = "(NP (DT a) (JJ b) " * depth + "(NN c)" + ")" * depth
        kernel = GrammarDriven(Grammar([("NP", ["DT", "JJ", "NP"], 2), ("NP", ["DT", "NP"], 1)]), decay=0.1)
        print("ready", flush=True)
        try:
            kernel([deep])
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    assert interrupt(code) == "stopped\n"

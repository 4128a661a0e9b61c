"""Features of sentence pairs: against kernels and plain algorithms, scikit-learn's API, and bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.experiments.pairs import POST_DECAYS
from sapwood.kernels import GrammarDriven, Linear, PartialTree, SemanticSubsetTree, SubsetTree, Subtree
from sapwood.tasks.pairs import PairFeatures, relaxed_grammar, relaxed_kernel
from sapwood.tasks.pairs.features import DECAYS, GROUPS
from sapwood.tasks.pairs.lexical import LEXICAL_NAMES, Rarity, common_subsequence, edit_distance, lexical_features
from sapwood.tasks.pairs.reading import read_pair_trees
from sapwood.trees import map_leaves
from sapwood.words import Inflected, Table


@pytest.fixture(scope="module")
def garden():
    return nursery.generate(size=300)


@pytest.fixture(scope="module")
def pairs(garden):
    first, second = ([getattr(pair, side) for pair in garden.pairs] for side in ("first", "second"))
    return sw.Examples(first=garden.trees[first], second=garden.trees[second])


@pytest.fixture(scope="module")
def same(garden):
    return np.array([pair.same for pair in garden.pairs])


class TestKernelFeatures:
    def test_every_column_is_the_normalized_kernel_it_is_named_after(self, pairs):
        table = Table({("dog", "cat"): 0.5})
        features = PairFeatures(decays=(0.4,), coarse_decays=(0.4,), similarity=table).fit(pairs)
        values = dict(zip(features.get_feature_names_out(), features.transform(pairs).T, strict=True))
        X, Y = (map_leaves(pairs[view], str.lower) for view in ("first", "second"))
        expected = {
            "subtree__0.4": Subtree(decay=0.4),
            "subset__0.4": SubsetTree(decay=0.4),
            "subset_words__0.4": SubsetTree(decay=0.4, bag_of_words=True),
            "partial__0.4": PartialTree(decay=0.4),
            "semantic__words": Linear(words=table),
            "semantic__0.4": SemanticSubsetTree(table, decay=0.4),
            "grammar__0.4": GrammarDriven(features.grammar_, decay=0.4),
            "relaxed__0.4": relaxed_kernel(features.relaxed_grammar_, decay=0.4),
        }
        assert set(values) == set(expected) | {f"lexical__{name}" for name in LEXICAL_NAMES}
        for name, kernel in expected.items():
            np.testing.assert_allclose(values[name], np.diagonal(kernel.normalized()(X, Y)), rtol=1e-9, err_msg=name)

    def test_the_fourteen_of_the_post_are_there(self):
        names = set(PairFeatures().get_feature_names_out())
        assert {f"{group}__{decay}" for group in ("subtree", "subset") for decay in POST_DECAYS} <= names
        assert set(POST_DECAYS) < set(DECAYS)

    @pytest.mark.slow
    def test_the_order_within_a_pair_does_not_matter(self, pairs):
        turned = sw.Examples(first=pairs["second"], second=pairs["first"])
        features = PairFeatures().fit(pairs)
        np.testing.assert_allclose(features.transform(turned), features.transform(pairs), rtol=1e-9, atol=1e-12)

    @pytest.mark.slow
    def test_values_are_shares_and_1_for_twins(self, pairs):
        twins = sw.Examples(first=pairs["first"], second=pairs["first"])
        features = PairFeatures([group for group in GROUPS if group != "lexical"]).fit(pairs)
        np.testing.assert_allclose(features.transform(twins), 1.0, rtol=1e-9)
        values = features.transform(pairs)
        assert (values >= -1 - 1e-9).all()
        assert (values <= 1 + 1e-9).all()

    @pytest.mark.slow
    def test_a_pair_is_measured_alike_alone_and_among_others(self, pairs):
        features = PairFeatures().fit(pairs)
        whole = features.transform(pairs)
        np.testing.assert_allclose(features.transform(pairs[7:9]), whole[7:9], rtol=1e-12)

    @pytest.mark.slow
    def test_threads_do_not_matter(self, pairs):
        features = PairFeatures().fit(pairs)
        with sw.options(threads=1):
            one = features.transform(pairs)
        with sw.options(threads=2):
            np.testing.assert_array_equal(features.transform(pairs), one)

    def test_values_too_large_for_a_number_are_0_and_said_so(self):
        # A ternary tree of eight levels shares more than 1e308 fragments with itself.
        text = "(a b)"
        for _ in range(7):
            text = f"(a {text} {text} {text})"
        features = PairFeatures(("subset",), decays=(1.0,)).fit([(text, text)])
        with pytest.warns(UserWarning, match=r"subset__1.0 is too large for 1 of 2 pairs, pair 0") as told:
            values = features.transform([(text, text), ("(a b)", "(a b)")])
        assert told[0].filename == __file__
        assert values.ravel().tolist() == [0.0, 1.0]


class TestRelaxedGrammar:
    def test_articles_may_be_missing_anywhere_but_as_heads(self):
        grammar = relaxed_grammar(["(S (NP (DT the) (JJ best) (NN way)) (VP (VBZ is) (NP (DT that))))"])
        assert grammar.reductions("NP", ["DT", "JJ", "NN"]) == [("JJ", "NN")]
        assert ("NP", ["DT"]) in grammar
        assert grammar.reductions("S", ["NP", "VP"]) == []

    def test_it_brings_learners_english_nearer(self):
        right = "(SQ (VBZ does) (NP (DT the) (NN dog)) (VP (VB know) (NP (DT a) (NN trick))))"
        wrong = "(SQ (VBP do) (NP (NN dog)) (VP (VB know) (NP (NN trick))))"
        strict, loose = Grammar_of([right, wrong]), relaxed_grammar([right, wrong])
        values = [
            SubsetTree(decay=0.4).normalized()(right, wrong),
            GrammarDriven(strict, decay=0.4).normalized()(right, wrong),
            relaxed_kernel(loose, decay=0.4).normalized()(right, wrong),
        ]
        assert values[2] > 2 * max(values[:2])

    def test_it_stays_a_kernel(self, pairs):
        trees = pairs["first"][:60]
        K = relaxed_kernel(relaxed_grammar(trees)).normalized()(trees)
        assert np.linalg.eigvalsh(K)[0] > -1e-9

    def test_bad_labels_are_refused(self):
        for wrong in ("DT", (), (1,), ("",)):
            with pytest.raises(ParameterError, match="optional must list labels"):
                relaxed_grammar(["(S (A a) (B b))"], optional=wrong)

    def test_inflected_words(self, tmp_path):
        forms = Inflected(0.5)
        same = [("does", "do"), ("ways", "way"), ("boxes", "box"), ("cities", "city"), ("are", "Is"), ("an", "a")]
        assert [round(forms(*pair), 9) for pair in same] == [0.5] * 6
        other = [("class", "clas"), ("was", "is"), ("bus", "bu"), ("this", "thi"), ("went", "go")]
        assert [forms(*pair) for pair in other] == [0.0] * 5
        words = ["do", "does", "way", "ways", "x"]
        assert np.linalg.eigvalsh(forms.matrix(words).toarray())[0] > 0
        sw.save(forms, tmp_path / "f.sap")
        assert sw.load(tmp_path / "f.sap") == forms
        with pytest.raises(ParameterError, match="strength"):
            Inflected(1.5)


def Grammar_of(trees):  # noqa: N802
    return sw.trees.Grammar.from_trees(trees)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def longest_common(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


class TestLexicalFeatures:
    @given(st.text("abc", max_size=40), st.text("abcd", max_size=40))
    def test_distances_against_the_table_that_everybody_knows(self, a, b):
        assert edit_distance(a, b) == levenshtein(a, b)
        assert common_subsequence(a, b) == longest_common(a, b)

    def test_a_pair_by_hand(self):
        rarity = Rarity.learn([["how", "old", "is", "rome"], ["how", "big", "is", "rome"]])
        row = lexical_features([["How", "old", "is", "Rome"]], [["How", "big", "is", "Rome"]], rarity)[0]
        values = dict(zip(LEXICAL_NAMES, row.tolist(), strict=True))
        common, rare = 1.0, np.log(3 / 2) + 1
        assert values == pytest.approx(
            {
                "jaccard": 3 / 5,
                "containment": 3 / 4,
                "bigrams": 2 / 6,
                "trigrams": 0.0,
                "characters": values["characters"],
                "tfidf_cosine": 3 / (3 + rare**2),
                "idf_jaccard": 3 * common / (3 + 2 * rare),
                "rarest_unshared": rare,
                "edit_similarity": 3 / 4,
                "common_subsequence": 3 / 4,
                "common_prefix": 1 / 4,
                "common_suffix": 2 / 4,
                "length_difference": 0.0,
                "length_ratio": 1.0,
                "shorter_length": 4.0,
                "numbers": 1.0,
                "names": 1.0,
                "negation_difference": 0.0,
                "empty": 0.0,
            }
        )

    def test_numbers_names_and_negations(self):
        rarity = Rarity.learn([["x"]])
        row = lexical_features([["It", "is", "not", "2", "Rome"]], [["It", "is", "3", "Paris", "Rome"]], rarity)[0]
        values = dict(zip(LEXICAL_NAMES, row.tolist(), strict=True))
        assert (values["numbers"], values["names"], values["negation_difference"]) == (0.0, 0.5, 1.0)

    def test_rarity_is_learnt_from_training_pairs_alone(self):
        train, test = [("(S (A common))", "(S (A common))")], [("(S (A common))", "(S (A rare))")]
        features = PairFeatures(("lexical",)).fit(train)
        before = features.transform(train)
        features.transform(test)
        np.testing.assert_array_equal(features.transform(train), before)
        assert features.rarity_.counts == {"common": 2}


class TestManners:
    def test_clone_params_and_repr(self):
        features = PairFeatures(("lexical",), decays=(0.3,))
        copy = clone(features)
        assert repr(copy.get_params()) == repr(features.get_params())
        assert "lexical" in repr(copy)

    def test_unfitted_says_so(self, pairs, tmp_path):
        with pytest.raises(NotFittedError):
            PairFeatures().transform(pairs)
        with pytest.raises(NotFittedError):
            sw.save(PairFeatures(), tmp_path / "x.sap")

    def test_pandas_output_has_the_names(self, pairs):
        frame = PairFeatures(("subset",)).set_output(transform="pandas").fit_transform(pairs)
        assert frame.columns.tolist() == [f"subset__{decay}" for decay in DECAYS]
        assert len(frame) == len(pairs)

    @pytest.mark.slow
    def test_pipeline_search_and_cross_validation(self, pairs, same):
        pipeline = make_pipeline(PairFeatures(("lexical", "subset")), StandardScaler(), LogisticRegression())
        assert cross_val_score(pipeline, pairs, same, cv=3).shape == (3,)
        grid = {"pairfeatures__groups": [("lexical",), ("lexical", "partial")]}
        search = GridSearchCV(pipeline, grid, cv=2).fit(pairs, same)
        assert search.predict(pairs[:5]).shape == (5,)

    @pytest.mark.slow
    def test_every_kind_of_pair(self, pairs):
        features = PairFeatures(("lexical", "subset", "relaxed")).fit(pairs)
        expected = features.transform(pairs)
        trees = list(zip(pairs["first"], pairs["second"], strict=True))
        strings = list(zip(pairs["first"].to_strings(), pairs["second"].to_strings(), strict=True))
        matrix = np.empty((len(trees), 2), dtype=object)
        for row, pair in enumerate(trees):
            matrix[row, 0], matrix[row, 1] = pair
        nltk = [(a.to_nltk(), b.to_nltk()) for a, b in trees]
        bags = [([a], (b,)) for a, b in trees]
        for kind in (trees, strings, matrix, nltk, bags):
            np.testing.assert_allclose(features.transform(kind), expected, rtol=1e-12)

    def test_pickle_and_model_file(self, pairs, tmp_path):
        features = PairFeatures(similarity=Table({("dog", "cat"): 0.5})).fit(pairs)
        expected = features.transform(pairs)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(pairs), expected)
        sw.save(features, tmp_path / "f.sap")
        restored = sw.load(tmp_path / "f.sap")
        np.testing.assert_array_equal(restored.transform(pairs), expected)
        assert repr(restored.get_params()) == repr(clone(features).get_params())
        data = (tmp_path / "f.sap").read_bytes()
        (tmp_path / "f.sap").write_bytes(data.replace(b'\\"sentences\\": ', b'\\"sentences\\":-'))
        with pytest.raises(ModelFileError):
            sw.load(tmp_path / "f.sap")

    def test_the_default_similarity_is_learnt_and_stored(self, pairs, tmp_path):
        features = PairFeatures(("semantic",)).fit(pairs[:40])
        sw.save(features, tmp_path / "f.sap")
        np.testing.assert_allclose(
            sw.load(tmp_path / "f.sap").transform(pairs), features.transform(pairs), rtol=1e-9, atol=1e-12
        )


class TestBadInput:
    def test_empty_sentences_are_marked_and_0(self, pairs):
        features = PairFeatures().fit(pairs)
        names = features.get_feature_names_out().tolist()
        tree = "(S (NP (DT the) (NN dog)))"
        rows = features.transform([("", tree), (None, None), ((), []), (float("nan"), tree), (tree, tree)])
        assert np.isfinite(rows).all()
        assert rows[:, names.index("lexical__empty")].tolist() == [1, 1, 1, 1, 0]
        kernels = [k for k, name in enumerate(names) if not name.startswith("lexical")]
        assert not rows[:4, kernels].any()
        np.testing.assert_allclose(rows[4, kernels], 1.0)

    def test_punctuation_alone_is_no_word_but_has_a_tree(self):
        features = PairFeatures(("lexical", "subset")).fit([("(S (. ?))", "(S (. ?))")])
        row = features.transform([("(S (. ?))", "(S (. ?))")])[0]
        assert row[LEXICAL_NAMES.index("empty")] == 1.0
        assert row[-1] == pytest.approx(1.0)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ("(S (A a))", "expected pairs of trees, got a str"),
            (["(S (A a))"], "pair 0 is"),
            ([("(S (A a))",)], "expected two members"),
            ([("(A a)", "(A a)", "(A a)")], "expected two members"),
            ([("(A a)", "(S (A a)")], "text 1 looks like a tree but is broken: .*never closed"),
            ([("(A a)", 7)], "is a int"),
        ],
    )
    def test_what_is_no_pair_is_refused(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            read_pair_trees(wrong)

    def test_examples_need_two_views_of_trees(self):
        with pytest.raises(DataError, match="views 'first' and 'second'"):
            read_pair_trees(sw.Examples(left=["(A a)"]))
        with pytest.raises(DataError, match="holds no trees"):
            read_pair_trees(sw.Examples(first=["(A a)"], second=np.ones((1, 2))))
        with pytest.raises(DataError, match="same number of rows"):
            sw.Examples(first=["(A a)"], second=["(A a)", "(A b)"])

    @pytest.mark.parametrize(
        "params",
        [
            {"groups": ()},
            {"groups": "lexical"},
            {"groups": ("magic",)},
            {"decays": (0.0,)},
            {"decays": (0.4, 0.4)},
            {"coarse_decays": 0.4},
            {"similarity": "wordnet"},
        ],
    )
    def test_bad_parameters_are_refused(self, params, pairs):
        with pytest.raises(ParameterError):
            PairFeatures(**params).fit(pairs)

    def test_nothing_to_learn_from(self):
        with pytest.raises(DataError, match="no examples"):
            PairFeatures().fit([])
        with pytest.raises(DataError, match="no words"):
            PairFeatures(("semantic",)).fit([("", "")])
        assert PairFeatures(("lexical", "subset")).fit([("(A a)", "(A a)")]).transform([]).shape == (0, 27)

    @pytest.mark.slow
    def test_one_long_tree_and_deep_ones(self):
        deep = sw.Tree("w")
        for _ in range(20_000):
            deep = sw.Tree("a", [deep])
        features = PairFeatures(("subtree", "subset", "partial"), decays=(0.4,), coarse_decays=(0.4,))
        values = features.fit([(deep, deep)]).transform([(deep, "(a w)")])
        assert np.isfinite(values).all()

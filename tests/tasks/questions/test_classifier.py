"""The question classifier: an estimator like any other, on text, trees and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.corpora.questions import Question
from sapwood.errors import DataError, FormatError, ModelFileError, ParameterError
from sapwood.kernels import Linear, PartialTree, parse_kernel
from sapwood.learn import KernelSVC
from sapwood.parse import FlatParser, PCFGParser, tokenize
from sapwood.parse.flat import flat_tree
from sapwood.tasks.questions import QuestionClassifier, plain_kernel, question_views, semantic_kernel
from sapwood.tasks.questions.reading import read_question_trees
from sapwood.words import Table

TEXTS = ["Who ran ?", "Who wrote the book ?", "Where is the river ?", "Where did he live ?", "Who is he ?", "Where ?"]
LABELS = ["HUM", "HUM", "LOC", "LOC", "HUM", "LOC"]


@pytest.fixture(scope="module")
def garden(grown):
    return sw.TreeArray([one.tree for one in grown]), np.array([one.label[0] for one in grown])


@pytest.mark.slow
def test_is_an_svm_on_the_views(garden):
    X, y = garden
    train, test = np.arange(0, len(X), 10), np.arange(5, len(X), 10)
    kernel = plain_kernel()
    classifier = QuestionClassifier(kernel, C=3.0).fit(X[train], y[train])
    machine = KernelSVC(kernel, C=3.0).fit(question_views(X[train]), y[train])
    margins = machine.decision_function(question_views(X[test]))
    np.testing.assert_allclose(classifier.decision_function(X[test]), margins, rtol=1e-9, atol=1e-9)
    assert classifier.score(X[test], y[test]) > 0.9


def test_a_similarity_of_ones_own_reaches_rare_words():
    trees = [f"(SBARQ (WHNP (WDT Which) (NN {noun})) (SQ (VP (VBD fell))))" for noun in ("town", "city", "king", "man")]
    kernel = semantic_kernel(Table({("town", "village"): 0.9, ("king", "queen"): 0.9}))
    classifier = QuestionClassifier(kernel).fit(trees, ["LOC", "LOC", "HUM", "HUM"])
    asked = [trees[0].replace("town", noun) for noun in ("village", "queen")]
    assert classifier.predict(asked).tolist() == ["LOC", "HUM"]


@pytest.mark.slow
def test_explanations_add_up(garden):
    X, y = garden[0][:200], garden[1][:200]
    classifier = QuestionClassifier(plain_kernel()).fit(X, y)
    explanation = classifier.explain(X[7])
    margins = classifier.decision_function(X[7:8])[0]
    assert explanation.value == pytest.approx(margins.max())
    assert {tree.view for tree in explanation.trees} == {"focus", "lexical"}


def test_text_is_parsed_by_a_callable_or_by_an_object():
    class Parser:
        def parse(self, words):
            return None if "not" in words else sw.Tree("S", [sw.Tree("NN", [word]) for word in words])

    parser = Parser()
    texts = ["a dog's bone?", "not this"]
    reading = read_question_trees(texts, parser)
    assert str(reading.trees[0]) == "(S (NN a) (NN dog) (NN 's) (NN bone) (NN ?))"
    assert reading.unparsed.tolist() == [False, True]
    called = read_question_trees(texts, parser.parse)
    assert [str(tree) for tree in called.trees] == [str(reading.trees[0]), "(X (RB not) (DT this))"]


@pytest.mark.parametrize("fault", [ValueError, KeyError, IndexError, ZeroDivisionError, RuntimeError, RecursionError])
def test_a_parser_that_fails_for_all_questions_is_an_error_and_for_some_a_warning(fault):
    def parser(words):
        if "Who" in words or failing:
            raise fault("no tree today")
        return flat_tree(words)

    failing = True
    with pytest.raises(DataError, match=r"no tree for any of .*questions.*question 0.*no tree today"):
        QuestionClassifier(plain_kernel(), parser=parser).fit(TEXTS, LABELS)
    failing = False
    with pytest.warns(UserWarning, match="no tree for 3 of 6 questions"):
        classifier = QuestionClassifier(plain_kernel(), parser=parser).fit(TEXTS, LABELS)
    assert classifier.unparsed_.tolist() == ["Who" in text for text in TEXTS]
    with pytest.warns(UserWarning, match="no tree for 1 of 1 questions"):
        assert classifier.predict(["Who fell ?"]).tolist() == ["HUM"]


def test_text_without_a_parser_is_told_of():
    with pytest.warns(UserWarning, match="questions are text, and there is no parser"):
        classifier = QuestionClassifier(plain_kernel()).fit(TEXTS, LABELS)
    assert classifier.unparsed_.all()
    with pytest.warns(UserWarning, match="1 of 1 questions are text"):
        assert classifier.predict(["Who fell ?"]).tolist() == ["HUM"]


def test_empty_questions_are_refused_in_training_and_flagged_in_prediction():
    with pytest.raises(DataError, match="question 1 is empty"):
        QuestionClassifier(plain_kernel(), parser=FlatParser()).fit(["Who ?", "  ", "Where ?"], ["HUM", "LOC", "LOC"])
    classifier = QuestionClassifier(plain_kernel(), parser=FlatParser()).fit(TEXTS, LABELS)
    asked = ["", "Who ran ?", " \n"]
    assert classifier.unparsed(asked).tolist() == [True, False, True]
    assert classifier.predict(asked)[1] == "HUM"
    assert classifier.predict(asked)[0] == classifier.predict(asked)[2]


def test_one_class_only_is_refused():
    with pytest.raises(DataError, match="only the class 'HUM'"):
        QuestionClassifier(plain_kernel(), parser=FlatParser()).fit(TEXTS, ["HUM"] * len(TEXTS))


def test_labels_unseen_in_training_are_errors_but_do_not_stop_scoring():
    classifier = QuestionClassifier(plain_kernel(), parser=FlatParser()).fit(TEXTS, LABELS)
    assert classifier.score(["Who ran ?", "How many ?"], ["HUM", "NUM"]) == 0.5


@pytest.mark.parametrize("wrong", [3, None, ["a", 3], b"bytes", float("nan")])
def test_what_is_no_question_is_named(wrong):
    with pytest.raises(DataError, match="question 1 is"):
        read_question_trees(["Who ?", wrong])


@pytest.mark.parametrize("wrong", ["Who ?", sw.Tree("NN", ["dog"]), 7, Question("HUM", "ind", ("Who", "?"))])
def test_one_question_alone_is_refused(wrong):
    with pytest.raises(DataError, match="wrap it in a list"):
        read_question_trees(wrong)


def test_odd_text_is_classified_all_the_same():
    classifier = QuestionClassifier(plain_kernel(), parser=FlatParser()).fit(TEXTS, LABELS)
    odd = ["(", ")(", "((Who)) ran?", "\x00\x01", "¿Quién?", "谁？", "?" * 1000, "who " * 500, "::", "a_b", "(who ran"]
    assert len(classifier.predict(odd)) == len(odd)
    assert classifier.unparsed(odd).tolist() == [text == "\x00\x01" for text in odd]


def test_a_file_of_mixed_encodings_says_where(tmp_path):
    path = tmp_path / "mixed.txt"
    path.write_bytes("LOC:city Where is Köln ?\n".encode() + "LOC:city Where is Münster ?\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"mixed\.txt:2:20"):
        list(corpora.questions.read(path))
    assert list(corpora.questions.read(path, encoding="latin-1"))[1].words[2] == "Münster"


def test_questions_of_the_corpora_stand_for_their_automatic_trees():
    tree, gold = sw.Tree.fromstring("(S (WP Who))"), sw.Tree.fromstring("(SBARQ (WHNP (WP Who)))")
    reading = read_question_trees([Question("HUM", "ind", ("Who",), tree, gold), Question("HUM", "ind", ("Who",))])
    assert reading.trees == [tree, flat_tree(["Who"])]
    assert reading.unparsed.tolist() == [False, True]


def test_views_that_questions_lack_are_named():
    with pytest.raises(ParameterError, match="view 'lct', which questions do not have; they have focus"):
        QuestionClassifier(parse_kernel("SubsetTree().on('lct')"), parser=FlatParser()).fit(TEXTS, LABELS)
    views = sw.Examples(lct=[flat_tree(tokenize(text)) for text in TEXTS])
    classifier = QuestionClassifier(parse_kernel("SubsetTree().on('lct')")).fit(views, LABELS)
    assert len(classifier.predict(views)) == len(TEXTS)


@pytest.mark.parametrize(
    ("parser", "message"), [(3, "parser must be a parser"), ("benepar", "benepar: no such file"), (PCFGParser, "class")]
)
def test_what_cannot_parse_is_refused(parser, message):
    with pytest.raises((ParameterError, ModelFileError), match=message):
        QuestionClassifier(plain_kernel(), parser=parser).fit(TEXTS, LABELS)


def test_without_wordnet_it_uses_words_as_strings(monkeypatch):
    monkeypatch.setattr("sapwood.words.wordnet_files._candidates", lambda: [])
    with pytest.warns(UserWarning, match="compared as strings only"):
        classifier = QuestionClassifier(parser=FlatParser()).fit(TEXTS, LABELS)
    assert classifier.svm_.kernel_ == plain_kernel()


def test_models_are_kept_whole(tmp_path):
    classifier = QuestionClassifier(plain_kernel(), C=2.0, parser=FlatParser()).fit(TEXTS, LABELS)
    sw.save(classifier, tmp_path / "q.sap")
    restored = sw.load(tmp_path / "q.sap")
    assert isinstance(restored.parser, FlatParser)
    assert restored.unparsed_.tolist() == classifier.unparsed_.tolist()
    np.testing.assert_array_equal(restored.decision_function(TEXTS), classifier.decision_function(TEXTS))
    data = (tmp_path / "q.sap").read_bytes()
    (tmp_path / "cut.sap").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFileError):
        sw.load(tmp_path / "cut.sap")


class TestCompiledBags:
    """Prediction with bags of words sums weights up per feature; the Gram matrix is its slow twin."""

    ROWS = ({"a": 1.0, "b": 2.0}, {"b": 1.0}, {}, {"c": 3.0, "kind": "x"})
    OTHERS = ({"b": 1.0, "new": 5.0}, {"kind": "x"}, {"c": 1.0, "kind": "y"}, {})

    @pytest.mark.parametrize("kernel", [Linear(), Linear(words=Table({("a", "b"): 0.5}))])
    def test_dictionaries(self, kernel):
        rows = [{k: v for k, v in row.items() if k != "kind"} for row in self.ROWS]
        others = [{k: v for k, v in row.items() if k != "kind"} for row in self.OTHERS]
        weights = np.random.default_rng(0).normal(size=(len(rows), 3))
        np.testing.assert_allclose(kernel.expansion(rows, weights)(others), kernel(others, rows) @ weights, atol=1e-12)

    def test_text_values_and_matrices(self):
        weights = np.random.default_rng(0).normal(size=(4, 2))
        expected = Linear()(self.OTHERS, self.ROWS) @ weights
        np.testing.assert_allclose(Linear().expansion(self.ROWS, weights)(self.OTHERS), expected, atol=1e-12)
        A, B = np.random.default_rng(1).normal(size=(4, 5)), np.random.default_rng(2).normal(size=(3, 5))
        np.testing.assert_allclose(Linear().expansion(A, weights)(B), (B @ A.T) @ weights, atol=1e-12)
        with pytest.raises(DataError, match="features"):
            Linear().expansion(A, weights)(B[:, :3])
        with pytest.raises(DataError, match="dictionaries"):
            Linear().expansion(self.ROWS, weights)(B)


def test_partial_trees_without_views_see_focus_trees():
    kernel = PartialTree().normalized()
    plain = QuestionClassifier(kernel, parser=FlatParser()).fit(TEXTS, LABELS).decision_function(TEXTS)
    on_focus = QuestionClassifier(kernel.on("focus"), parser=FlatParser()).fit(TEXTS, LABELS).decision_function(TEXTS)
    np.testing.assert_allclose(plain, on_focus, rtol=1e-12)

"""What is taken as examples and as ``parser=``, and what is said of everything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import sapwood as sw
import specimens
from sapwood.errors import DataError, ParameterError
from sapwood.learn import KernelSVC
from sapwood.parse import BaseParser, FlatParser, PCFGParser, as_parser, read_examples
from sapwood.parse.flat import flat_tree
from sapwood.parse.lexicon import Lexicon
from sapwood.tasks.attachment import AttachmentRanker
from sapwood.tasks.questions import QuestionClassifier, plain_kernel
from sapwood.tasks.questions.reading import read_question_trees
from sapwood.tasks.roles import RoleLabeler
from sapwood.trees import RoleSentence, Tree

pandas = pytest.importorskip("pandas")

READERS = [lambda X: read_examples(X, what="question"), read_question_trees, FlatParser().transform]


@pytest.mark.parametrize("read", READERS, ids=["examples", "questions", "transform"])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pandas.DataFrame({"text": ["Who ran?"]}), "got a table; pass one of its columns"),
        (np.array("Who ran?"), "got one ndarray; wrap it in a list"),
        (b"Who ran?", "got one bytes"),
        ("Who ran?", "got one str"),
        ({"text": "Who ran?"}, "got a dict; make a list"),
        ({"Who ran?"}, "got a set; make a list"),
        (["Why?", b"Who ran?"], "1 is a bytes.* Decode bytes first"),
        (["Why?", ["Who ran?"]], "1 is a list of text, 'Who ran\\?', where words are expected"),
        (np.array([["Who ran?"], ["Who slept?"]]), "0 is a list of text"),
        (["Why?", "Why?", ["Who", ""]], "word 1 of (question|text) 2 is empty"),
        (["Why?", "Why?", ["Who", None]], "word 1 of (question|text) 2 is None"),
        ([["Who", "a\0b"]], "word 1 of (question|text) 0, .* NUL"),
        ([[["Who", "ran"], ["He", "ran"]]], "0 is a list of list objects"),
        ([3], "0 is a int; expected text"),
    ],
)
def test_what_is_refused(read, X, message):
    with pytest.raises(DataError, match=message):
        read(X)


@pytest.mark.parametrize(
    "X",
    [
        pandas.Series(["Who ran?"], index=[7]),
        np.array(["Who ran?"], dtype=object),
        (one for one in ["Who ran?"]),
        ("Who ran?",),
        [["Who", "ran", "?"]],
        [("Who", "ran", "?")],
        [np.array(["Who", "ran", "?"])],
    ],
    ids=["Series", "array", "generator", "tuple", "words", "tuple of words", "array of words"],
)
def test_what_is_taken(X):
    (example,) = read_examples(X, FlatParser()).examples
    assert [str(one.tree) for one in example] == ["(X (WP Who) (NN ran) (. ?))"]


def test_words_with_white_space_among_others():
    ((sentence,),) = read_examples([["New York", "slept"]]).examples
    assert sentence.words == ("New York", "slept")


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA, pandas.NaT])
def test_missing_questions_are_named(missing):
    with pytest.raises(DataError, match="question 1 is"):
        read_question_trees(["Why?", missing])


def _not_short(words: list[str]) -> Tree | None:
    return None if len(words) < 4 else flat_tree(words)


def test_a_text_of_which_one_sentence_has_no_tree_is_not_lost():
    text = "It ran. The dog chased the cat."
    reading = read_examples([text], _not_short)
    with pytest.warns(UserWarning, match="no tree for 1 of 1 examples, which are used as flat trees.*'It ran .'"):
        reading.report(training=True)
    with pytest.warns(UserWarning, match="no tree for 1 of 1"):
        AttachmentRanker(parser=specimens_parser(skip="It")).fit([text + " The cat saw the dog with the hat."])
    with pytest.raises(DataError, match="no tree for any of the 1 examples"):
        read_examples(["It ran. It slept."], _not_short).report(training=True)


def specimens_parser(skip: str) -> Any:
    """A parser that has no tree for sentences with this word."""
    parser = specimens.specimen("PCFGParser")
    return lambda words: None if skip in words else parser.parse(words)


def test_predicting_warns_where_training_raises():
    parser = as_parser(_not_short)
    with pytest.raises(DataError, match="no tree for any of the 2 texts"):
        make_pipeline(parser, KernelSVC()).fit(["It ran.", "It slept."], [0, 1])
    with pytest.warns(UserWarning, match="no tree for 1 of 1 texts"):
        assert len(parser.transform(["It ran."])) == 1


def test_role_labelers_tell_of_what_they_leave_out():
    tree = Tree.fromstring("(S (NP (NN Rain)) (VP (VBD fell)))")
    sentences = [RoleSentence(("Rain", "fell"), (), tree), RoleSentence(("It", "fell"))]
    with (
        pytest.warns(UserWarning, match="1 of 2 sentences have no tree, and there is no parser: they are left out"),
        pytest.raises(DataError, match="nothing to learn"),
    ):
        RoleLabeler().fit(sentences)
    with (
        pytest.warns(UserWarning, match="no tree for 1 of 3 sentences, which are left out"),
        pytest.raises(DataError, match="nothing to learn"),
    ):
        RoleLabeler(parser=_not_short).fit([*sentences, RoleSentence(tuple("abcd"))])
    with pytest.raises(DataError, match="nothing to learn"):
        RoleLabeler(parser=_not_short).fit([RoleSentence(())])


@pytest.mark.parametrize("text", [None, ["Who", "ran"], b"Who ran?", float("nan")])
def test_texts_must_be_text(text):
    hint = {list: "; pass texts one at a time", bytes: "; decode bytes first"}.get(type(text), "")
    with pytest.raises(DataError, match=rf"text must be a str, got {type(text).__name__}{hint}\."):
        specimens.specimen("RoleLabeler").label_text(text)


class Short(BaseParser):
    def _parse_words(self, sentences: Any) -> Any:
        return [(flat_tree(sentences[0]), "parser")]


class Bare(BaseParser):
    def _parse_words(self, sentences: Any) -> Any:
        return [3 for _ in sentences]


class Full(BaseParser):
    def _parse_words(self, sentences: Any) -> Any:
        raise MemoryError


def test_faulty_parsers():
    with pytest.raises(ParameterError, match=r"Short\._parse_words gave 1 answers for 2 sentences"):
        Short().transform(["Who ran?", "Why?"])
    with pytest.raises(DataError, match="TypeError"):
        Bare().parse(["Why"])
    with pytest.raises(MemoryError):
        Full().transform(["Why?"])
    with pytest.raises(NotImplementedError, match="BaseParser does not say how"):
        BaseParser().transform(["Why?"])
    with pytest.raises(NotFittedError, match="train it with fit"):
        make_pipeline(PCFGParser(), KernelSVC()).fit(["Why?", "Who?"], [0, 1])
    with pytest.raises(ParameterError, match="empty path"):
        as_parser("")


def test_a_parser_from_a_path_is_nobody_elses(tmp_path: Path):
    path = tmp_path / "parser.sap"
    sw.save(specimens.specimen("PCFGParser"), path)
    as_parser(path).set_params(beam=0.5)
    assert as_parser(path).beam == specimens.specimen("PCFGParser").beam
    # A file of the same size in its place, perhaps within one tick of the clock.
    for beam in (5.0, 6.0, 7.0, 8.0):
        sw.save(as_parser(path).set_params(beam=beam), path)
        assert as_parser(path).beam == beam


def test_frozen_parsers(tmp_path: Path):
    parser = specimens.specimen("PCFGParser")
    assert as_parser(FrozenEstimator(parser)) is parser
    texts = ["Who saw the dog?", "The dog barked."]
    model = QuestionClassifier(plain_kernel(), parser=FrozenEstimator(parser)).fit(texts, ["a", "b"])
    sw.save(model, tmp_path / "model.sap")
    assert sw.load(tmp_path / "model.sap").predict(texts).tolist() == model.predict(texts).tolist()


def test_a_grammar_is_not_used_with_other_parameters(tmp_path: Path):
    parser = as_parser(FrozenEstimator(specimens.specimen("PCFGParser"))).__sklearn_clone__().set_params(vertical=1)
    for use in (
        lambda: parser.parse(["Rain"]),
        lambda: parser.log_probability([["Rain"]]),
        lambda: parser.chart_bytes([["Rain"]]),
        lambda: sw.save(parser, tmp_path / "parser.sap"),
    ):
        with pytest.raises(ParameterError, match="changed after training"):
            use()


def test_the_lexicon_keeps_few_words(monkeypatch):
    monkeypatch.setattr("sapwood.parse.lexicon._CACHED", 100)
    lexicon = Lexicon().fit([[("rain", "NN"), ("fell", "VBD"), ("on", "IN"), ("dogs", "NNS")]])
    expected = [lexicon._tags_of(f"w{number}", False) for number in range(300)]
    assert [lexicon.tags(f"w{number}", False) for number in range(300)] == expected
    assert 0 < sum(map(len, lexicon._cache.values())) <= 100

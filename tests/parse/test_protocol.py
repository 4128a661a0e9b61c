"""What all parsers have in common, checked with each of them; those of others are stand-ins (``fakes``)."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import sapwood as sw
import specimens
from parse import fakes
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC
from sapwood.parse import (
    BaseParser,
    BeneparParser,
    BllipParser,
    CoreNLPParser,
    FlatParser,
    Parser,
    StanzaParser,
    as_parser,
)
from sapwood.parse.parameter import FunctionParser
from sapwood.tasks.questions import QuestionClassifier

SENTENCES = [["The", "dog", "-LRB-", "my", "friend", "-RRB-", "barks", "."], ["Rain", "stops"], ["Stop", "!"]]
TEXT = "The dog (a “puppy”) barks at me. It can't sleep [yet]!\n\nWhy?"
TEXTS = ["Who saw the dog?", "The dog barked.", "Why did it bark? Say it.", "It barked at me."]
LABELS = ["question", "statement", "question", "statement"]
NAMES = [
    "PCFGParser", "FlatParser", "FunctionParser", "BllipParser", "BeneparParser", "StanzaParser", "CoreNLPParser",
]  # fmt: skip


@pytest.fixture(params=NAMES)
def parser(request: pytest.FixtureRequest, tmp_path: Path, stand_ins: None) -> Iterator[Any]:
    name = request.param
    if name == "BeneparParser" and not fakes.HAS_SPACY:
        pytest.skip("spaCy is not installed")
    if name == "CoreNLPParser":
        with fakes.corenlp() as server:
            yield CoreNLPParser(server.url)
    else:
        yield {
            "PCFGParser": lambda: specimens.specimen("PCFGParser"),
            "FlatParser": FlatParser,
            "FunctionParser": lambda: FunctionParser(fakes.nouns),
            "BllipParser": lambda: BllipParser(fakes.bllip_model(tmp_path / "bllip")),
            "BeneparParser": BeneparParser,
            "StanzaParser": StanzaParser,
        }[name]()


def test_it_is_a_parser(parser: Any) -> None:
    assert isinstance(parser, BaseParser)
    assert isinstance(parser, Parser)
    assert as_parser(parser) is parser


def test_words(parser: Any) -> None:
    for words in SENTENCES:
        tree = parser.parse(words)
        assert isinstance(tree, sw.Tree)
        assert list(tree.leaves()) == words
    with pytest.raises(DataError, match="got a str"):
        parser.parse("Rain stops")
    for wrong in ([], [""], ["a\0b"], [None]):
        with pytest.raises(DataError, match="sentence 0"):
            parser.parse(wrong)


def test_batches(parser: Any) -> None:
    # More than are parsed together at a time.
    many = SENTENCES * 100
    trees = parser.parse_batch(iter(many))
    assert trees.leaves() == many
    assert trees.to_strings() == [str(parser.parse(words)) for words in SENTENCES] * 100
    assert len(parser.parse_batch([])) == 0


def test_text_with_places(parser: Any) -> None:
    found = parser.parse_text(TEXT)
    assert len(found) == 3
    for sentence in found:
        assert sentence.tree.leaves() == sentence.words
        assert sentence.how != "flat", sentence.problem
        assert sentence.offsets == tuple((word.begin, word.end) for word in sentence.words)
    shown = ["".join(TEXT[begin:end] for begin, end in sentence.offsets) for sentence in found]
    assert shown == ["Thedog(a“puppy”)barksatme.", "Itcan'tsleep[yet]!", "Why?"]


@pytest.mark.slow
def test_odd_words(parser: Any) -> None:
    odd = [
        ["(", ")", "[", "]", "{", "}"],
        ["f(x)", "a b", "\t", " ", "\xa0", "\u2028"],
        ["``", "''", '"', "“", "`", "’", "…", "—"],
        ["é", "日本語", "😀", "\u200b", "\ufeff", "\x01", "İ"],
        ["%41", "+", "&", "#", "\\", "\\/", "|", "*", "-NONE-", "<s>", "x" * 5000],
        ["word"] * 400,
    ]
    found = list(parser.parse_sentences(odd))
    assert [list(sentence.words) for sentence in found] == odd
    assert [list(sentence.tree.leaves()) for sentence in found] == odd
    assert [sentence.how for sentence in found[:-1] if sentence.how == "flat"] == []
    # The longest may be too long, which has to be said.
    assert found[-1].how != "flat" or "long" in found[-1].problem or "398" in found[-1].problem


def test_in_a_pipeline(parser: Any) -> None:
    trees = parser.transform(TEXTS)
    assert isinstance(trees, sw.TreeArray)
    # One of the texts has two sentences, so that every element is a bag.
    assert [len(each) for each in trees] == [1, 1, 2, 1]
    svc = KernelSVC(SubsetTree().normalized())
    pipeline = make_pipeline(parser, svc).fit(TEXTS, LABELS)
    expected = clone(svc).fit(trees, LABELS).decision_function(trees)
    np.testing.assert_array_equal(pipeline.decision_function(TEXTS), expected)
    np.testing.assert_array_equal(clone(pipeline).fit(TEXTS, LABELS).predict(TEXTS), pipeline.predict(TEXTS))


def test_copies(parser: Any) -> None:
    expected = parser.parse_batch(SENTENCES).to_strings()
    for made in (clone(parser), copy.copy(parser), copy.deepcopy(parser), pickle.loads(pickle.dumps(parser))):
        assert type(made) is type(parser)
        assert repr(made) == repr(parser)
        assert made.parse_batch(SENTENCES).to_strings() == expected
    assert parser.parse_batch(SENTENCES).to_strings() == expected


def test_other_processes(parser: Any) -> None:
    expected = [[str(parser.parse(words))] for words in SENTENCES]
    found = Parallel(n_jobs=2)(delayed(fakes.parse_elsewhere)(parser, [words]) for words in SENTENCES)
    assert found == expected


def test_files(parser: Any, tmp_path: Path) -> None:
    path = tmp_path / "parser.sap"
    if isinstance(parser, FunctionParser):
        with pytest.raises(ParameterError, match="cannot be saved"):
            sw.save(parser, path)
        return
    sw.save(parser, path)
    again = sw.load(path)
    assert type(again) is type(parser)
    assert {name: str(value) for name, value in again.get_params().items()} == {
        name: str(value) for name, value in parser.get_params().items()
    }
    expected = parser.parse_batch(SENTENCES).to_strings()
    assert again.parse_batch(SENTENCES).to_strings() == expected
    # The file is a parser wherever one is asked for.
    assert as_parser(path).parse_batch(SENTENCES).to_strings() == expected


def test_files_of_a_model_that_parses(parser: Any, tmp_path: Path) -> None:
    model = QuestionClassifier(SubsetTree().normalized(), parser=parser).fit(TEXTS, LABELS)
    path = tmp_path / "model.sap"
    if isinstance(parser, FunctionParser):
        with pytest.warns(UserWarning, match="saved without it"):
            sw.save(model, path)
        with pytest.raises(ParameterError, match="without its parser, nouns"):
            sw.load(path).predict(TEXTS)
        return
    sw.save(model, path)
    assert sw.load(path).predict(TEXTS).tolist() == model.predict(TEXTS).tolist()

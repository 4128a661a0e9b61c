"""Questions with words in context: views with vectors, and a classifier that keeps its encoder by name."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import sapwood as sw
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.kernels import SubsetTree
from sapwood.parse import FlatParser
from sapwood.tasks.questions import QuestionClassifier, contextual_kernel, question_views
from sapwood.words import Encoder, Table
from tiny_encoders import WIDTH, make_encoder

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
pytest.importorskip("tokenizers")

TREE = "(SBARQ (WHNP (WDT Which) (JJ big) (NNS cities)) (SQ (VP (VBD fell))))"
QUESTIONS = ["Who ran ?", "Who wrote it ?", "Where is it ?", "Where did he live ?"]
LABELS = ["HUM", "HUM", "LOC", "LOC"]

KERNEL = contextual_kernel(Table({}))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path / "data"))
    make_encoder(tmp_path / "data" / "tiny", "bert")
    return tmp_path / "data" / "tiny"


def test_words_on_top_of_a_focus_tree_have_the_vectors_they_have_below(folder: Path) -> None:
    encoder = Encoder(folder, pieces="mean", layers=[-2])
    views = question_views([TREE], ["focus", "tree", "vectors"], encoder=encoder)
    words = encoder.encode(["Which", "big", "cities", "fell"])
    # (TOP (QH (QW which) (QF city)) (QC big_city) (SBARQ ...
    np.testing.assert_array_equal(views["focus"].vectors, words[[0, 2, 2, 0, 1, 2, 3]])
    np.testing.assert_array_equal(views["tree"].vectors, words)
    np.testing.assert_allclose(views["vectors"], words.mean(axis=0)[None], rtol=1e-3)
    assert views["vectors"].shape == (1, WIDTH)
    with pytest.raises(ParameterError, match="needs an encoder"):
        question_views([TREE], ["vectors"])


def test_a_classifier_keeps_its_encoder_by_name(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = QuestionClassifier(KERNEL, encoder=str(folder), parser=FlatParser()).fit(QUESTIONS, LABELS)
    assert "Contextual" in repr(model.svm_.kernel_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no WordNet
        assert "Contextual" in repr(QuestionClassifier(encoder=str(folder))._default_kernel())
    expected = model.decision_function(QUESTIONS)
    assert model.predict(QUESTIONS).tolist() == LABELS
    sw.save(model, tmp_path / "model.sap")
    again = sw.load(tmp_path / "model.sap")
    np.testing.assert_array_equal(again.decision_function(QUESTIONS), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(QUESTIONS), expected)
    assert clone(model).encoder == str(folder)
    assert "who" in str(again.explain("Who ran ?"))
    # Another encoder, and none.
    make_encoder(tmp_path / "other", "distilbert")
    again.encoder = str(tmp_path / "other")
    with pytest.raises(ModelFileError, match="SHA-256"):
        again.predict(QUESTIONS)
    monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="tiny"):
        sw.load(tmp_path / "model.sap").predict(QUESTIONS)


def test_without_an_encoder_nothing_changes(folder: Path) -> None:
    kernel = SubsetTree(decay=0.2).normalized()
    plain = QuestionClassifier(kernel, parser=FlatParser()).fit(QUESTIONS, LABELS)
    both = QuestionClassifier(kernel, parser=FlatParser(), encoder=str(folder)).fit(QUESTIONS, LABELS)
    np.testing.assert_allclose(plain.decision_function(QUESTIONS), both.decision_function(QUESTIONS), atol=1e-2)
    with pytest.raises(DataError, match="these trees have none"):
        QuestionClassifier(sw.kernels.SemanticSubsetTree(sw.words.Contextual()), parser=FlatParser()).fit(
            QUESTIONS, LABELS
        )


def test_empty_questions_and_missing_folders(folder: Path) -> None:
    model = QuestionClassifier(KERNEL, encoder=str(folder), parser=FlatParser()).fit(QUESTIONS, LABELS)
    assert model.predict(["", "Who fell ?"]).shape == (2,)
    with pytest.raises(DataError, match="no-such-encoder"):
        QuestionClassifier(encoder="no-such-encoder", parser=FlatParser()).fit(QUESTIONS, LABELS)

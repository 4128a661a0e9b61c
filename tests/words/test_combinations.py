"""Sums, products, other forms of words, equality, files: what holds for every similarity."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.words import Folded, Latent, Table, Tagged, Taxonomy, Vectors, WordSimilarity

WORDS = ["u", "v", "w", "x", "y"]
points = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=2, max_size=2), min_size=3, max_size=3)
TABLE = Table({("u", "v"): 0.5, ("w", "w"): 3.0})


def every_similarity() -> list[WordSimilarity]:
    vectors = Vectors(["u", "w", "y"], [[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]])
    taxonomy = Taxonomy([("u", "v"), ("w", "v")], {"u": 1, "w": 3}, senses={"z": ["u", "w"]}, weights="path")
    latent = Latent([["u", "v"], ["v", "w", "(x"]], dimensions=2, random_state=3)
    return [
        TABLE,
        vectors,
        taxonomy,
        latent,
        TABLE + vectors,
        TABLE * taxonomy,
        0.5 * latent,
        Folded(TABLE),
        Tagged(TABLE, separator="/", prefix="#"),
        0.25 * (TABLE + taxonomy) * Folded(vectors),
    ]


@pytest.mark.slow
@given(points, points, st.floats(0, 3))
@settings(max_examples=40, deadline=None)
def test_the_algebra_is_that_of_the_matrices(a: list[list[float]], b: list[list[float]], weight: float) -> None:
    first, second = Vectors(["u", "v", "w"], a, measure="dot"), Vectors(["v", "w", "x"], b, measure="dot")
    A, B = first.matrix(WORDS).toarray(), second.matrix(WORDS).toarray()
    np.testing.assert_allclose((first + second).matrix(WORDS).toarray(), A + B, atol=1e-12)
    np.testing.assert_allclose((first * second).matrix(WORDS).toarray(), A * B, atol=1e-12)
    np.testing.assert_allclose((weight * first).matrix(WORDS).toarray(), weight * A, atol=1e-12)
    np.testing.assert_allclose((first * TABLE).matrix(WORDS).toarray(), A * TABLE.matrix(WORDS).toarray(), atol=1e-12)
    assert (first * second + weight * first).is_psd


def test_a_part_that_is_not_psd_shows() -> None:
    with pytest.warns(UserWarning, match="positive semi-definite"):
        bad = Table({("a", "b"): 2.0})
    assert not (TABLE + bad).is_psd
    assert not (TABLE * bad).is_psd
    assert not (2 * bad).is_psd
    assert not Folded(bad).is_psd
    assert not Tagged(bad).is_psd


@pytest.mark.parametrize("similarity", every_similarity(), ids=repr)
def test_what_every_similarity_does(similarity: WordSimilarity, tmp_path: Path) -> None:
    vocabulary = [*WORDS, "z", "Z", "(", ")", "two words", "u/n", "#u/n", "#v/n", "né"]
    values = similarity.matrix(vocabulary)
    dense = values.toarray()
    assert dense.dtype == np.float64
    np.testing.assert_allclose(dense, dense.T, atol=1e-14)
    assert similarity.is_psd
    assert np.linalg.eigvalsh(dense)[0] > -1e-10
    # Any block of the matrix is what the two vocabularies alone give; repeated words are no matter.
    some, others = vocabulary[3:9], vocabulary[:4] * 2
    rows, columns = [vocabulary.index(w) for w in some], [vocabulary.index(w) for w in others]
    np.testing.assert_allclose(similarity.matrix(some, others).toarray(), dense[np.ix_(rows, columns)], atol=1e-14)
    covered = similarity.covers(vocabulary)
    np.testing.assert_array_equal(dense[~covered], np.eye(len(vocabulary))[~covered])
    assert similarity.matrix([]).shape == (0, 0)
    assert similarity.matrix(["u"], []).shape == (1, 0)
    assert similarity.against([]).left(["u"]).shape[0] == 1
    assert copy.deepcopy(similarity) is similarity
    assert pickle.loads(pickle.dumps(similarity)) == similarity
    sw.save(similarity, tmp_path / "s.sap")
    back = sw.load(tmp_path / "s.sap")
    assert back == similarity
    np.testing.assert_array_equal(back.matrix(vocabulary).toarray(), dense)


def test_forms() -> None:
    folded = Folded(TABLE)
    assert folded("U", "v") == 0.5
    assert folded("Unknown", "unKNOWN") == 1.0
    tagged = Tagged(TABLE, separator="::", prefix="LEX##")
    assert tagged("LEX##u::n", "LEX##v::n") == 0.5
    assert tagged("LEX##u::n", "LEX##v::v") == 0.0
    assert tagged("LEX##q::n", "LEX##q::n") == 1.0
    assert tagged("u::n", "v::n") == 0.0
    assert tagged("POS##NN", "POS##NN") == 1.0
    assert tagged.covers(["LEX##u::n", "u", "LEX##::n", "LEX##q::n"]).tolist() == [True, False, False, True]


def test_equality_is_by_value() -> None:
    assert Table({("a", "b"): 0.5}) == Table({("a", "b"): 0.5})
    assert Table({("a", "b"): 0.5}) != Table({("a", "b"): 0.25})
    assert Vectors(["a"], [[1.0]]) != Vectors(["a"], [[2.0]])
    assert Folded(TABLE) != TABLE
    assert TABLE != "table"


def test_words_are_checked_at_the_door() -> None:
    with pytest.raises(DataError, match="single word"):
        TABLE.matrix("dog")
    with pytest.raises(DataError, match="word 1 is 3"):
        TABLE.matrix(["a", 3])  # type: ignore[list-item]
    with pytest.raises(DataError, match="not empty"):
        TABLE("", "a")
    for weight in (-1.0, float("nan"), "half"):
        with pytest.raises(ParameterError, match="weight"):
            weight * TABLE  # type: ignore[operator]
    with pytest.raises(TypeError):
        TABLE + 1  # type: ignore[operator]


def test_damaged_files(tmp_path: Path) -> None:
    sw.save(TABLE, tmp_path / "s.sap")
    data = (tmp_path / "s.sap").read_bytes()
    (tmp_path / "s.sap").write_bytes(data.replace(b'\\"kind\\": \\"Table\\"', b'\\"kind\\": \\"Tible\\"'))
    with pytest.raises(ModelFileError, match="damaged"):
        sw.load(tmp_path / "s.sap")

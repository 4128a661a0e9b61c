"""Tables, taxonomies, latent semantics and vectors: values worked out by hand, definiteness, bad input."""

from __future__ import annotations

import gzip
import lzma
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paths import SHARED
from sapwood.errors import DataError, ParameterError
from sapwood.words import Latent, SimilarityWarning, Table, Taxonomy, Vectors, repair

ANIMALS = [
    ("dog", "mammal"),
    ("cat", "mammal"),
    ("mammal", "animal"),
    ("trout", "animal"),
    ("dog", "pet"),
    ("pet", "animal"),
]


# Tables.


def test_table_entries_hold_both_ways_and_defaults_fill_the_rest() -> None:
    table = Table({("nation", "country"): 0.9, ("city", "city"): 2.0})
    words = ["nation", "country", "city", "dog"]
    expected = [[1, 0.9, 0, 0], [0.9, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(table.matrix(words).toarray(), expected)
    np.testing.assert_array_equal(table.matrix(["dog", "cat"], ["cat", "nation"]).toarray(), [[0, 0], [1, 0]])


def test_table_accepts_the_same_entry_twice_and_refuses_another() -> None:
    assert Table({("a", "b"): 0.5, ("b", "a"): 0.5})("a", "b") == 0.5
    with pytest.raises(ParameterError, match=r"two similarities, 0\.5 and 0\.6"):
        Table({("a", "b"): 0.5, ("b", "a"): 0.6})


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "much", None, True])
def test_table_refuses_values_that_are_no_similarities(value: Any) -> None:
    with pytest.raises(ParameterError, match="finite number of at least 0"):
        Table({("a", "b"): value})


@pytest.mark.parametrize("key", ["ab", ("a",), ("a", "b", "c"), ("a", ""), ("a", 1)])
def test_table_refuses_keys_that_are_no_pairs(key: Any) -> None:
    with pytest.raises(ParameterError, match="no pair of words"):
        Table({key: 0.5})


def test_table_that_is_not_psd_says_so_with_its_eigenvalue() -> None:
    with pytest.warns(SimilarityWarning, match=r"smallest eigenvalue is -0\.2728"):
        table = Table({("a", "b"): 0.9, ("b", "c"): 0.9, ("x", "y"): 0.5})
    assert not table.is_psd
    assert Table({("a", "b"): 0.7, ("b", "c"): 0.7}).is_psd


def test_a_word_may_be_unlike_itself() -> None:
    table = Table({("a", "a"): 0.0})
    assert table.is_psd
    assert table("a", "a") == 0.0


def test_large_tables_are_checked_too() -> None:
    words = [f"w{k}" for k in range(2500)]
    chain = {(words[k], words[k + 1]): 0.9 for k in range(2499)}
    with pytest.warns(SimilarityWarning, match=r"smallest eigenvalue is -0\.[78]"):
        Table(chain)
    Table(dict.fromkeys(chain, 0.5))


@pytest.mark.parametrize("method", ["clip", "shift"])
def test_repair(method: str) -> None:
    with pytest.warns(SimilarityWarning):
        table = Table({("a", "b"): 0.9, ("b", "c"): 0.9})
    fixed = table.repaired(method=method)
    words = ["a", "b", "c", "unknown"]
    before, after = table.matrix(words).toarray(), fixed.matrix(words).toarray()
    assert np.linalg.eigvalsh(after)[0] > -1e-12
    assert fixed.is_psd
    assert after[3, 3] == 1.0
    if method == "shift":
        np.testing.assert_allclose(after - np.diag(np.diagonal(after)), before - np.eye(4), atol=1e-12)
    else:
        # Of all positive semi-definite matrices this is the nearest: what was removed has only negative eigenvalues.
        assert np.linalg.eigvalsh(after[:3, :3] - before[:3, :3])[0] > -1e-12
        assert np.abs(after - before).max() < 0.15


def test_repair_refuses_what_it_cannot_repair() -> None:
    with pytest.raises(DataError, match="symmetric"):
        repair(["a", "b"], [[1, 0], [1, 1]])
    with pytest.raises(DataError, match="NaN"):
        repair(["a"], [[float("nan")]])
    with pytest.raises(DataError, match="shape"):
        repair(["a"], np.eye(2))
    with pytest.raises(ParameterError, match="clip"):
        repair(["a"], np.eye(1), method="ignore")


def test_paraphrase_files(tmp_path: Path) -> None:
    file = tmp_path / "pairs"
    file.write_text("big\tlarge\nlarge\tbig\nsame\tsame\ncar\tauto\t0.3\n", encoding="utf-8")
    table = Table.from_ppdb(file, similarity=0.8)
    assert table("large", "big") == 0.8
    assert table("car", "auto") == 0.8
    assert table.entries == {("big", "large"): 0.8, ("auto", "car"): 0.8}
    assert Table.from_ppdb(file, words=["big", "large"]).entries == {("big", "large"): 0.9}
    file.write_text("big large\n")
    with pytest.raises(DataError, match="pairs:1:1: expected two words separated by a tab"):
        Table.from_ppdb(file)
    with pytest.raises(DataError, match="missing: no such file"):
        Table.from_ppdb(tmp_path / "missing")


@pytest.mark.slow
def test_the_paraphrases_that_nltk_distributes(tmp_path: Path) -> None:
    archive = SHARED / "data" / "nltk-zips" / "mwa_ppdb.zip"
    if not archive.exists():
        pytest.skip(f"NLTK's paraphrases are not on this machine ({archive})")
    with zipfile.ZipFile(archive) as files:
        name = next(name for name in files.namelist() if name.endswith("uniquepairs"))
        files.extract(name, tmp_path)
    table = Table.from_ppdb(tmp_path / name, similarity=0.4, words=["purchase", "buy", "acquire", "nation", "country"])
    assert table("country", "nation") == 0.4
    assert table("purchase", "nation") == 0.0


# Taxonomies.


def test_superconcept_weights_by_hand() -> None:
    # dog: dog, mammal, pet, animal; cat: cat, mammal, animal.
    full = Taxonomy(ANIMALS, weights="full", normalized=False)
    assert full("dog", "cat") == 2.0
    assert full("dog", "dog") == 4.0
    path = Taxonomy(ANIMALS, weights="path", normalized=False)
    assert path("dog", "cat") == pytest.approx(1 / 2 * 1 / 2 + 1 / 3 * 1 / 3)
    # Depths: animal 0, mammal and pet 1, dog and cat 2.
    palmer = Taxonomy(ANIMALS, weights="wu-palmer", normalized=False)
    assert palmer("dog", "cat") == pytest.approx((2 * 1 / 3) ** 2)
    # Below: animal 6, mammal 3, pet 2, leaves 1, of 6 in all.
    information = {"mammal": math.log(2), "dog": math.log(6), "pet": math.log(3)}
    resnik = Taxonomy(ANIMALS, weights="resnik", normalized=False)
    assert resnik("dog", "cat") == pytest.approx(information["mammal"] ** 2)
    lin = Taxonomy(ANIMALS, weights="lin", normalized=False)
    share = 2 * information["mammal"] / (information["mammal"] + information["dog"])
    assert lin("dog", "cat") == pytest.approx(share**2)
    assert lin("animal", "animal") == 1.0


def test_counts_flow_upwards_once_along_every_way() -> None:
    counts = {"dog": 6, "cat": 2, "trout": 8}
    resnik = Taxonomy(ANIMALS, counts, weights="resnik", normalized=False)
    # mammal 8 of 16, pet 6 of 16, animal all.
    assert resnik("dog", "cat") == pytest.approx(math.log(2) ** 2)
    assert resnik("dog", "dog") == pytest.approx(math.log(16 / 6) ** 2 * 2 + math.log(2) ** 2)


def test_senses_of_words() -> None:
    senses = {"hound": ["dog"], "Tiger": ["cat", "trout"]}
    taxonomy = Taxonomy(ANIMALS, senses=senses)
    assert taxonomy("hound", "dog") == pytest.approx(1.0)
    cat, trout = np.array([1, 1, 1, 0]) / math.sqrt(3), np.array([0, 0, 1, 1]) / math.sqrt(2)
    tiger = cat + trout / 2
    assert taxonomy("Tiger", "cat") == pytest.approx(float(tiger @ cat) / float(np.linalg.norm(tiger)))
    assert Taxonomy(ANIMALS, senses=senses, normalized=False)("Tiger", "Tiger") == pytest.approx(float(tiger @ tiger))


def test_many_words_are_looked_up_as_few_are() -> None:
    edges = [(f"c{k}", f"c{k // 2}") for k in range(1, 700)]
    words = [f"c{k}" for k in range(0, 800, 2)]
    together = Taxonomy(edges, weights="path")
    # The second vocabulary has words of the first, words that are new, and words again.
    for vocabulary in (words, [f"c{k}" for k in range(0, 800, 3)] + words[:20]):
        few = Taxonomy(edges, weights="path")
        found, asked = together.matrix(words[:7], vocabulary), few.matrix(words[:7], vocabulary[:200])
        np.testing.assert_array_equal(found.toarray()[:, :200], asked.toarray())
        assert together.covers(vocabulary).tolist() == [few.covers([word])[0] for word in vocabulary]


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["full", "path", "wu-palmer", "lin", "resnik"])
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=25))
@settings(max_examples=25, deadline=None)
def test_superconcepts_are_psd_on_any_taxonomy(weights: str, pairs: list[tuple[int, int]]) -> None:
    edges = [(f"c{max(pair)}", f"c{min(pair)}") for pair in pairs if pair[0] != pair[1]]
    taxonomy = Taxonomy(edges, weights=weights)
    words = [f"c{k}" for k in range(12)]
    values = taxonomy.matrix(words).toarray()
    assert np.linalg.eigvalsh(values)[0] > -1e-12
    np.testing.assert_allclose(np.diagonal(values), 1.0)


@pytest.mark.parametrize("measure", ["path", "wu-palmer", "lin", "resnik"])
@pytest.mark.parametrize("method", ["clip", "shift"])
def test_pairwise_measures_are_repaired(measure: str, method: str) -> None:
    # Several parents each, so that best common superconcepts do not fit together.
    edges = [(f"leaf{k}", f"mid{j}") for k in range(8) for j in (k % 4, (k * 3 + 1) % 4, 4)]
    edges += [(f"mid{j}", f"top{j % 2}") for j in range(5)] + [("top0", "root"), ("top1", "root"), ("leaf3", "top1")]
    taxonomy = Taxonomy(edges)
    words = [f"leaf{k}" for k in range(8)] + [f"mid{j}" for j in range(5)] + ["nothing"]
    fixed = taxonomy.measured(words, measure=measure, repair=method)
    assert np.linalg.eigvalsh(fixed.matrix(words).toarray())[0] > -1e-10
    assert fixed("nothing", "nothing") == 1.0
    with pytest.raises(TypeError, match="repair"):
        taxonomy.measured(words, measure=measure)  # type: ignore[call-arg]


def test_taxonomies_refuse_what_is_none() -> None:
    with pytest.raises(DataError, match="cycle"):
        Taxonomy([("a", "b"), ("b", "c"), ("c", "a")])
    with pytest.raises(ParameterError, match="no edge"):
        Taxonomy([("a", "b", "c")])  # type: ignore[list-item]
    with pytest.raises(DataError, match="in no edge"):
        Taxonomy([("a", "b")], {"c": 1})
    with pytest.raises(DataError, match="in no edge"):
        Taxonomy([("a", "b")], senses={"word": ["c"]})
    with pytest.raises(ParameterError, match="-1"):
        Taxonomy([("a", "b")], {"a": -1})
    with pytest.raises(ParameterError, match="all counts are 0"):
        Taxonomy([("a", "b")], {"a": 0})
    with pytest.raises(ParameterError, match="weights must be one of"):
        Taxonomy([("a", "b")], weights="jiang")
    assert Taxonomy([])("a", "a") == 1.0


@pytest.mark.slow
def test_deep_taxonomies() -> None:
    taxonomy = Taxonomy([(f"c{k + 1}", f"c{k}") for k in range(2000)], weights="lin")
    assert 0 < taxonomy("c2000", "c1000") < 1


# Latent semantics.


def test_latent_vectors_are_the_left_singular_vectors() -> None:
    documents = ["a b a", "b c", "c c d", "a d", "b d"]
    latent = Latent(documents, dimensions=2, normalized=False)
    words = ["a", "b", "c", "d"]
    counts = np.array([[text.split().count(word) for text in documents] for word in words], dtype=float)
    left = np.linalg.svd(counts)[0][:, :2]
    np.testing.assert_allclose(latent.matrix(words).toarray(), left @ left.T, atol=1e-8)
    cosine = Latent(documents, dimensions=2).matrix(words).toarray()
    np.testing.assert_allclose(np.diagonal(cosine), 1.0)
    assert np.linalg.eigvalsh(cosine)[0] > -1e-12


def test_latent_semantics_learns_once_and_from_what_it_gets() -> None:
    learnt = Latent(dimensions=3).bind(lambda: [["a", "b"], ["a", "b"], ["c"]])
    assert learnt("a", "b") == pytest.approx(1.0)
    assert isinstance(learnt, Vectors)
    # More dimensions than documents are cut back.
    assert Latent(["a b"], dimensions=50)("a", "b") == pytest.approx(1.0)


def test_latent_semantics_refuses_nothing_to_learn_from() -> None:
    with pytest.raises(ParameterError, match="no documents"):
        Latent()("a", "b")
    with pytest.raises(DataError, match="no words"):
        Latent([])("a", "b")
    with pytest.raises(DataError, match="no words"):
        Latent(dimensions=2).bind(lambda: [[], []])
    with pytest.raises(ParameterError, match="dimensions"):
        Latent(dimensions=0)
    with pytest.raises(ParameterError, match=r"write \[text\]"):
        Latent("one text")


# Vectors.


def test_vectors_from_text(tmp_path: Path) -> None:
    glove = "dog 1 0\ncat 0.6 0.8\nnew york 0 2\n"
    for name, text in (
        ("glove.txt", glove),
        ("w2v.txt", "3 2\n" + glove),
        ("tabs.txt", glove.replace(" 1 0", "\t1\t0")),
    ):
        (tmp_path / name).write_text(text)
        vectors = Vectors.read(tmp_path / name)
        assert vectors.words == ("dog", "cat", "new york")
        assert vectors("dog", "cat") == pytest.approx(0.6)
        assert vectors("cat", "new york") == pytest.approx(0.8)
    with gzip.open(tmp_path / "v.txt.gz", "wt") as stream:
        stream.write(glove)
    (tmp_path / "v.XZ").write_bytes(lzma.compress(glove.encode()))
    for name in ("v.txt.gz", "v.XZ"):
        assert Vectors.read(tmp_path / name, words=["dog"]).words == ("dog",)
    (tmp_path / "bad.txt").write_text("dog 1 0\ncat 0.6\n")
    with pytest.raises(DataError, match=r"bad\.txt:2:1: expected a word and 2 numbers"):
        Vectors.read(tmp_path / "bad.txt")
    (tmp_path / "bad.txt").write_text("dog 1 0\ncat 0.6 x\n")
    with pytest.raises(DataError, match=r"bad\.txt:2:1: the vector of 'cat' cannot be read"):
        Vectors.read(tmp_path / "bad.txt")


def test_vectors_from_gensim() -> None:
    class KeyedVectors:
        index_to_key = ("dog", "cat")
        vectors = np.array([[1.0, 0.0], [3.0, 4.0]], dtype=np.float32)

    assert Vectors.from_gensim(KeyedVectors())("dog", "cat") == pytest.approx(0.6)
    assert Vectors.from_gensim(KeyedVectors(), words=["cat"], measure="dot")("cat", "cat") == 25.0
    with pytest.raises(ParameterError, match="KeyedVectors"):
        Vectors.from_gensim({})


def test_vectors_keep_negative_cosines_and_stay_psd() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(40)]
    vectors = Vectors(words, rng.standard_normal((40, 5)))
    values = vectors.matrix(words).toarray()
    assert values.min() < -0.5
    assert np.linalg.eigvalsh(values)[0] > -1e-12


def test_vectors_with_zeros_are_unknown() -> None:
    vectors = Vectors(["dog", "nil"], [[1.0, 0.0], [0.0, 0.0]])
    assert vectors("nil", "nil") == 1.0
    assert vectors("nil", "dog") == 0.0
    assert vectors.covers(["dog", "nil", "new"]).tolist() == [True, False, False]


def test_vectors_refuse_what_does_not_fit() -> None:
    with pytest.raises(DataError, match="one row for each of 2 words"):
        Vectors(["a", "b"], [[1.0]])
    with pytest.raises(DataError, match="'b' holds NaN"):
        Vectors(["a", "b"], [[1.0], [float("nan")]])
    with pytest.raises(DataError, match="two vectors"):
        Vectors(["a", "a"], [[1.0], [2.0]])
    with pytest.raises(ParameterError, match="measure"):
        Vectors(["a"], [[1.0]], measure="euclid")
    assert Vectors([], np.zeros((0, 3))).matrix(["a"]).toarray().tolist() == [[1.0]]

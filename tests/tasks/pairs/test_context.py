"""Pairs with words in context: measures against plain loops, and models that keep their encoder by name."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import tree_pairs
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.kernels import SemanticSubsetTree
from sapwood.tasks.pairs import PairClassifier, PairFeatures
from sapwood.tasks.pairs import features as features_module
from sapwood.tasks.pairs.context import CONTEXT_NAMES, context_features
from sapwood.tasks.pairs.features import CONTEXT_GROUPS, GROUPS
from sapwood.tasks.pairs.lexical import Rarity, words_of
from sapwood.words import Contextual, Encoder
from tiny_encoders import make_encoder

DOG = "(S (NP (DT the) (NN dog)) (VP (VBD ran)) (. .))"
DOGS = "(S (NP (DT the) (NNS dogs)) (VP (VBD ran)))"
RUN = "(S (NP (DT a) (NN dog)) (VP (VBG running)) (-LRB- -LRB-))"
OTHER = "(S (NP (DT a) (NN cat)) (VP (VBD slept)))"
PAIRS = [(DOG, DOGS), (DOG, RUN), (DOGS, RUN), (DOG, DOG), (DOG, OTHER), (OTHER, DOGS), (RUN, OTHER), (OTHER, OTHER)]
SAME = [1, 1, 1, 1, 0, 0, 0, 1]


def cosine(a, b):
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def mean(vectors, weights):
    return [sum(w * v[k] for w, v in zip(weights, vectors, strict=True)) for k in range(len(vectors[0]))]


def slow(first, second, rarity):
    """The measures of one pair, in loops."""
    sides = []
    for leaves, vectors in (first, second):
        kept = [k for k, leaf in enumerate(leaves) if words_of([leaf])]
        words = [leaves[k].lower() for k in kept]
        sides.append((words, [vectors[k] for k in kept], [rarity[word] for word in words], vectors))
    (words, vectors, weights, all_a), (others, their_vectors, their_weights, all_b) = sides
    best_a = [max(cosine(v, u) for u in their_vectors) for v in vectors]
    best_b = [max(cosine(v, u) for v in vectors) for u in their_vectors]
    partner_a = [max(range(len(others)), key=lambda j, v=v: cosine(v, their_vectors[j])) for v in vectors]
    partner_b = [max(range(len(words)), key=lambda i, u=u: cosine(vectors[i], u)) for u in their_vectors]
    by_rarity = [
        sum(w * c for w, c in zip(ws, best, strict=True)) / sum(ws)
        for ws, best in ((weights, best_a), (their_weights, best_b))
    ]
    only_a = [k for k, word in enumerate(words) if word not in others]
    only_b = [k for k, word in enumerate(others) if word not in words]
    unshared = 0.0 if only_a or only_b else 1.0
    if only_a and only_b:
        unshared = cosine(
            mean([vectors[k] for k in only_a], [weights[k] for k in only_a]),
            mean([their_vectors[k] for k in only_b], [their_weights[k] for k in only_b]),
        )
    shared = [
        cosine(vectors[i], their_vectors[j])
        for i in range(len(words))
        for j in range(len(others))
        if words[i] == others[j]
    ]
    both = list(zip(weights + their_weights, best_a + best_b, strict=True))
    mutual = sum(partner_b[j] == i for i, j in enumerate(partner_a))
    return {
        "mean": cosine(mean(all_a, [1.0] * len(all_a)), mean(all_b, [1.0] * len(all_b))),
        "rare_mean": cosine(mean(vectors, weights), mean(their_vectors, their_weights)),
        "unshared_mean": unshared,
        "aligned": (sum(best_a) / len(best_a) + sum(best_b) / len(best_b)) / 2,
        "rare_aligned": sum(by_rarity) / 2,
        "rare_less_aligned": min(by_rarity),
        "rarest_unaligned": max(w * (1 - c) for w, c in both),
        "unaligned": sum(w for w, c in both if c < 0.7) / sum(w for w, _ in both),
        "mutual": 2 * mutual / (len(words) + len(others)),
        "shared_words": sum(shared) / len(shared) if shared else 0.0,
    }


class TestMeasures:
    RARITY = Rarity.learn([["the", "dog", "ran"], ["the", "cat"], ["a", "dog"]])
    SENTENCES = (
        ["The", "dog", "ran", "."],
        ["the", "the", "zebra"],
        ["dog"],
        ["a", "cat", "-LRB-", "slept", "!"],
        ["ran", "the", "dog"],
    )

    @pytest.fixture
    def sentences(self):
        random = np.random.default_rng(3)
        # Vectors that have something in common, so that some cosines are on either side of every bound.
        return [(leaves, random.normal(size=(len(leaves), 6)) + 1.0) for leaves in self.SENTENCES]

    def test_against_loops(self, sentences):
        first, second = zip(*((a, b) for a in sentences for b in sentences), strict=True)
        values = context_features(first, second, self.RARITY)
        assert 0 < np.mean(values[:, CONTEXT_NAMES.index("unaligned")] > 0) < 1
        for row, a, b in zip(values, first, second, strict=True):
            expected = slow(a, b, self.RARITY)
            assert tuple(expected) == CONTEXT_NAMES
            assert dict(zip(CONTEXT_NAMES, row.tolist(), strict=True)) == pytest.approx(expected, rel=1e-12, abs=1e-12)

    def test_twins_and_sentences_without_words(self, sentences):
        values = context_features(sentences[:1], sentences[:1], self.RARITY)[0]
        expected = [0.0 if "unaligned" in name else 1.0 for name in CONTEXT_NAMES]
        np.testing.assert_allclose(values, expected, atol=1e-12)
        nothing = (["?", "-LRB-"], np.ones((2, 6))), ([], np.zeros((0, 6)))
        assert not context_features(nothing, sentences[:2], self.RARITY).any()

    def test_vectors_of_zeros_are_like_nothing(self):
        zeros = ["the", "dog"], np.zeros((2, 4))
        values = dict(zip(CONTEXT_NAMES, context_features([zeros], [zeros], self.RARITY)[0].tolist(), strict=True))
        assert (values["mean"], values["aligned"], values["unaligned"]) == (0.0, 0.0, 1.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for package in ("onnxruntime", "onnx", "tokenizers"):
        pytest.importorskip(package)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path / "data"))
    make_encoder(tmp_path / "data" / "tiny", "bert")
    return tmp_path / "data" / "tiny"


class TestFeatures:
    def test_columns_are_what_their_names_say(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(features_module, "_BLOCK", 3)  # pairs are taken some at a time
        features = PairFeatures(CONTEXT_GROUPS, coarse_decays=(0.4, 0.1), encoder=str(folder)).fit(PAIRS)
        values = features.transform(PAIRS)
        trees = "context_trees__0.4", "context_trees__0.1"
        assert features.get_feature_names_out().tolist() == [*(f"context__{name}" for name in CONTEXT_NAMES), *trees]
        encoder = Encoder(folder, layers=[-1], pieces="mean")
        sides = [sw.TreeArray([pair[side] for pair in PAIRS]) for side in (0, 1)]
        encoded = [list(zip(X.leaves(), encoder.encode_batch(X.leaves()), strict=True)) for X in sides]
        for row, (a, b) in enumerate(zip(*encoded, strict=True)):
            expected = slow((a[0], a[1].astype(float)), (b[0], b[1].astype(float)), features.rarity_)
            assert values[row, :-2].tolist() == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-9)
        X, Y = (side.with_vectors([vectors for _, vectors in one]) for side, one in zip(sides, encoded, strict=True))
        for column, decay in ((-2, 0.4), (-1, 0.1)):
            kernel = SemanticSubsetTree(Contextual(sharpness=8.0), decay=decay, leaf_weight=5.0).normalized()
            np.testing.assert_allclose(values[:, column], np.diagonal(kernel(X, Y)), rtol=1e-6)

    def test_the_order_within_a_pair_does_not_matter(self, folder: Path) -> None:
        features = PairFeatures(CONTEXT_GROUPS, encoder=str(folder)).fit(PAIRS)
        turned = features.transform([(b, a) for a, b in PAIRS])
        np.testing.assert_allclose(turned, features.transform(PAIRS), rtol=1e-9, atol=1e-12)

    def test_without_an_encoder_nothing_changes(self, folder: Path) -> None:
        plain, both = PairFeatures().fit(PAIRS), PairFeatures(encoder=str(folder)).fit(PAIRS)
        names = both.get_feature_names_out().tolist()
        assert [name for name in names if name.split("__")[0] in GROUPS] == plain.get_feature_names_out().tolist()
        assert len(names) == plain.n_features_out_ + len(CONTEXT_NAMES) + 3
        np.testing.assert_allclose(
            both.transform(PAIRS)[:, : plain.n_features_out_], plain.transform(PAIRS), rtol=1e-9, atol=1e-12
        )
        # An encoder that no group needs is not even opened.
        assert PairFeatures(("lexical",), encoder="no-such-encoder").fit(PAIRS).n_features_out_ == 19

    def test_sentences_without_words_and_texts_of_several(self, folder: Path) -> None:
        features = PairFeatures(CONTEXT_GROUPS, encoder=str(folder)).fit(PAIRS)
        values = features.transform([("", DOG), ("", ""), ([DOG, RUN], DOG), ([DOG, RUN], [DOG, RUN])])
        assert not values[:2].any()
        assert np.isfinite(values).all()
        assert values[3, 0] == pytest.approx(1.0)
        assert features.transform([]).shape == (0, features.n_features_out_)

    def test_bad_parameters(self, folder: Path) -> None:
        for group in CONTEXT_GROUPS:
            with pytest.raises(ParameterError, match=f"the group '{group}' needs an encoder"):
                PairFeatures((group,)).fit(PAIRS)
        with pytest.raises(DataError, match="no-such-encoder"):
            PairFeatures(encoder="no-such-encoder").fit(PAIRS)


class TestModels:
    @pytest.fixture
    def model(self, folder: Path) -> PairClassifier:
        return PairClassifier(PairFeatures(("lexical", *CONTEXT_GROUPS), encoder=str(folder))).fit(PAIRS, SAME)

    def test_explanations_name_context_and_add_up(self, model: PairClassifier) -> None:
        told = model.explain(PAIRS[1], top=20)
        assert any(name.startswith("context__") for name, _, _ in told.rows)
        assert told.base + told.remainder + sum(added for _, _, added in told.rows) == pytest.approx(told.decision)

    def test_a_model_keeps_its_encoder_by_name(
        self, model: PairClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expected = model.predict_proba(PAIRS)
        sw.save(model, tmp_path / "model.sap")
        again = sw.load(tmp_path / "model.sap")
        np.testing.assert_array_equal(again.predict_proba(PAIRS), expected)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(PAIRS), expected)
        assert again.features.encoder == again.features_.encoder == "tiny"
        # Trained again, it has context again.
        np.testing.assert_allclose(clone(again).fit(PAIRS, SAME).predict_proba(PAIRS), expected)
        # Another encoder, and none.
        make_encoder(tmp_path / "other", "distilbert")
        again.features_.set_params(encoder=str(tmp_path / "other"))
        with pytest.raises(ModelFileError, match="SHA-256"):
            again.predict(PAIRS)
        monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path / "nowhere"))
        with pytest.raises(DataError, match="tiny"):
            sw.load(tmp_path / "model.sap").predict(PAIRS)

    def test_all_groups_are_saved_as_such(self, folder: Path, tmp_path: Path) -> None:
        features = PairFeatures(encoder=Encoder(folder, layers=[1, 2], pieces="first")).fit(PAIRS)
        sw.save(features, tmp_path / "f.sap")
        again = sw.load(tmp_path / "f.sap")
        assert again.groups is None
        np.testing.assert_allclose(again.transform(PAIRS), features.transform(PAIRS), rtol=1e-9, atol=1e-12)
        assert clone(features).encoder is features.encoder

    def test_on_the_command_line(self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        X = sw.Examples(first=[a for a, _ in PAIRS], second=[b for _, b in PAIRS])
        data, model = str(tmp_path / "p.tsv"), str(tmp_path / "m.sap")
        tree_pairs.write(X, [str(label) for label in SAME], data)
        assert main(["train", "pairs", data, "-o", model, "--groups", "context", "--encoder", str(folder)]) == 0
        assert "8 pairs, 10 features" in capsys.readouterr().out
        assert main(["predict", model, data]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 8
        assert main(["train", "pairs", data, "-o", model, "--groups", "context"]) != 0
        assert "needs an encoder" in capsys.readouterr().err

"""Compact model files: every kind comes back and works, scores stay within the steps, and no sentence is kept."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import sapwood as sw
import specimens
from sapwood import files
from sapwood.contents import count_words, long_texts, texts
from sapwood.corpora import nursery
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.metrics import score_roles
from sapwood.tasks.frames import FrameLabeler, FrameParser, ParsedSentence
from sapwood.tasks.roles import RoleLabeler, linear
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.tasks.roles.training import labeled_candidates
from sapwood.words.senses import WordSenses

# Kinds whose weights are rounded; all others come back as they were.
ROUNDED = {"FrameIdentifier", "FrameLabeler", "FrameParser", "LogLinear", "RoleLabeler", "SpanParser"}
SENTENCES = nursery.generate(size=240).role_sentences()


def compact(value: Any, path: Path) -> Any:
    sw.save(value, path, compact=True)
    return sw.load(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", specimens.SPECIMENS)
def test_every_kind_comes_back_and_works(name: str, tmp_path: Path) -> None:
    value = specimens.specimen(name)
    again = compact(value, tmp_path / "x.sap")
    assert type(again) is type(value)
    found, expected = repr(specimens.use(again)), repr(specimens.use(value))
    if name.split(",")[0] not in ROUNDED:
        assert found == expected
    # Saving it again loses nothing more, and it can be saved as any other model.
    sw.save(again, tmp_path / "y.sap", compact=True)
    assert (tmp_path / "x.sap").read_bytes() == (tmp_path / "y.sap").read_bytes()
    sw.save(again, tmp_path / "z.sap")
    assert repr(specimens.use(sw.load(tmp_path / "z.sap"))) == found


@pytest.fixture(scope="module")
def labeler() -> RoleLabeler:
    return RoleLabeler(nouns=True).fit(SENTENCES[:200])


@pytest.fixture(scope="module")
def small(labeler: RoleLabeler, tmp_path_factory: pytest.TempPathFactory) -> tuple[RoleLabeler, Path]:
    path = tmp_path_factory.mktemp("compact") / "roles.sap"
    return compact(labeler, path), path


def test_margins_of_roles_move_by_half_a_step_per_feature(
    labeler: RoleLabeler, small: tuple[RoleLabeler, Path]
) -> None:
    rows, _ = labeled_candidates(SENTENCES[200:], nouns=True, pruning="narrow")
    for before, after in ((labeler.identifier_, small[0].identifier_), (labeler.classifier_, small[0].classifier_)):
        assert isinstance(before, LinearRoles)
        assert isinstance(after, LinearRoles)
        features = np.diff(before.encoder.transform(rows).indptr)
        bound = features[:, None] * np.abs(before.weights).max(axis=0) / (2 * linear._GRID.steps)
        moved = np.abs(after.margins(rows) - before.margins(rows))
        assert (moved <= bound + 1e-4).all()
        assert moved.max() > 0
        # What no longer counts is gone, and the rest has kept its names.
        assert after.encoder.width < before.encoder.width
        assert set(after.encoder.names()) < set(before.encoder.names())


def test_roles_are_the_same_and_explained(labeler: RoleLabeler, small: tuple[RoleLabeler, Path]) -> None:
    held = SENTENCES[200:]
    before, after = (score_roles(held, one.predict(held)).overall.f1 for one in (labeler, small[0]))
    assert abs(before - after) < 0.01
    explained = small[0].explain(specimens.TREES[1], 2, (0, 1))
    assert explained.margin == pytest.approx(explained.bias + sum(weight for _, weight in explained.features), abs=1e-5)
    assert os.path.getsize(small[1]) < 300_000


def test_scores_of_a_log_linear_model_move_by_half_a_step_per_feature(tmp_path: Path) -> None:
    model, sets = specimens.specimen("LogLinear"), specimens.candidate_sets()
    again = compact(model, tmp_path / "x.sap")
    step = np.abs(model.weights_).max() / 127
    # Every candidate has one feature, with a weight of its own and one with the key.
    assert np.abs(again.decision_function(sets) - model.decision_function(sets)).max() <= step + 1e-6
    assert np.abs(again.weights_ - model.weights_).max() <= step / 2 * (1 + 1e-5)


def test_weights_of_a_parser_move_by_half_a_step(tmp_path: Path) -> None:
    parser = specimens.untrained_span_parser()
    again = compact(parser, tmp_path / "x.sap")
    for name, weights in parser._network.weights.items():
        found = again._network.weights[name]
        if weights.ndim < 2 or not weights.size:
            np.testing.assert_array_equal(found, weights)
            continue
        steps, axis = (7, 1) if name in ("words", "pieces", "shapes") else (31, 0)
        assert (np.abs(found - weights) <= np.abs(weights).max(axis=axis, keepdims=True) / (2 * steps) * 1.00001).all()
    words = [["the", "dog", "barked"]]
    for before, after in zip(parser._scores(words), again._scores(words), strict=True):
        assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.95


class TestHeader:
    """Long lists stand beside the arrays, and the header says what a file holds all the same."""

    @pytest.fixture
    def path(self, small: tuple[RoleLabeler, Path]) -> Path:
        return small[1]

    def rewrite(self, path: Path, out: Path, change: Any) -> None:
        document, arrays = files.describe(path), load_file(path)
        change(document, arrays)
        del document["sha256"]
        document["sha256"] = files._digest(document, arrays)
        save_file(arrays, out, metadata={"sapwood": json.dumps(document)})

    def test_it_is_short(self, path: Path) -> None:
        document = files.describe(path)
        assert document["object"]["class"] == "RoleLabeler"
        assert ["object", "lexicon", "lemmas"] in [place for place, _ in document["folded"]]
        assert document["object"]["lexicon"]["lemmas"] is None
        assert len(json.dumps(document)) < 10_000

    def test_what_is_the_same_is_there_once(self, tmp_path: Path) -> None:
        # The identifier and the labeler know the same lexicon.
        sw.save(specimens.specimen("FrameParser"), tmp_path / "x.sap", compact=True)
        folded = {tuple(place): array for place, array in files.describe(tmp_path / "x.sap")["folded"]}
        names = [array for place, array in folded.items() if place[-2:] == ("lexicon", "frames")]
        assert len(names) == 2
        assert len(set(names)) == 1

    def test_the_model_is_as_it_was(self, tmp_path: Path) -> None:
        """What a class describes may be its own dictionary, which moving parts of it out must not change."""
        model = specimens.specimen("FrameIdentifier")
        units = dict(model.units_)
        sw.save(model, tmp_path / "x.sap", compact=True)
        assert model.units_ == units

    @pytest.mark.parametrize(
        "change",
        [
            lambda document, arrays: document.update(folded=5),
            lambda document, arrays: document.update(folded=[5]),
            lambda document, arrays: document["folded"].append([["object"], "a0"]),
            lambda document, arrays: document["folded"].append([[], "a0"]),
            lambda document, arrays: document["folded"].append(document["folded"][0]),
            lambda document, arrays: document["folded"].append([["object", "nowhere", "x"], document["folded"][0][1]]),
            lambda document, arrays: document["folded"][0].__setitem__(1, "a999"),
            lambda document, arrays: document["folded"][0].__setitem__(1, None),
            lambda document, arrays: document["folded"].pop(0),
            lambda document, arrays: document.update(packed=None),
            lambda document, arrays: document.update(packed=[]),
            lambda document, arrays: document["packed"].pop(document["folded"][0][1]),
            lambda document, arrays: document.pop("packed"),
        ],
    )
    def test_damage(self, change: Any, path: Path, tmp_path: Path) -> None:
        self.rewrite(path, tmp_path / "x.sap", change)
        with pytest.raises(ModelFileError, match=r"x\.sap: the file is damaged"):
            sw.load(tmp_path / "x.sap")

    def test_lists_that_grow_in_memory_are_not_made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        words = [f"word{number}" for number in range(1000)]
        sw.save(sw.words.Vectors(words, np.eye(1000, 2)), tmp_path / "x.sap", compact=True)
        monkeypatch.setattr(files, "_MOST_VALUES", 900)
        with pytest.raises(ModelFileError, match="more than 900 values"):
            sw.load(tmp_path / "x.sap")

    def test_half_a_surrogate_pair(self, tmp_path: Path) -> None:
        value = sw.Examples(words=[{f"w{n}": "dog", "x": "\ud800"} for n in range(300)])
        with pytest.raises(ParameterError, match="half of a surrogate pair"):
            sw.save(value, tmp_path / "x.sap", compact=True)


class TestText:
    """What a file tells about the sentences that a model learnt from."""

    def test_features_of_roles_hold_few_words(self, small: tuple[RoleLabeler, Path]) -> None:
        found = dict((text, place) for place, text in texts(small[1]))
        assert "give/VB" in found or "gave/VBD" in found  # words of the lexicon
        assert any("|" in text and place == "identifying.values" for text, place in found.items())
        assert long_texts(small[1]) == []

    def test_parsers_hold_single_words(self, tmp_path: Path) -> None:
        sw.save(specimens.untrained_span_parser(), tmp_path / "x.sap", compact=True)
        assert ("words", "the") in list(texts(tmp_path / "x.sap"))
        assert long_texts(tmp_path / "x.sap", 1) == []

    @pytest.mark.parametrize("squeezed", [True, False])
    def test_support_trees_are_found(self, squeezed: bool, tmp_path: Path) -> None:
        sw.save(specimens.specimen("KernelSVC"), tmp_path / "x.sap", compact=squeezed)
        found = [text for _, text in long_texts(tmp_path / "x.sap")]
        assert "a big cat gave Lee to Kim ." in found
        assert count_words(found[0]) == max(map(count_words, found))

    def test_words(self) -> None:
        assert [count_words(text) for text in ("", "NP^S!VP!VBD", "the|NP|dog", "It was\nlate", "go_over.v")] == [
            0, 0, 2, 3, 1
        ]  # fmt: skip


class TestSenses:
    """Frame labelers carry the supersenses that their features are made of."""

    @pytest.fixture
    def parser(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FrameParser:
        lexicon, data = specimens.frame_data()
        senses = specimens.specimen("WordSenses")
        trees = {tuple(one.words): one.tree for one in specimens.corpus().sentences}
        data = [
            replace(one, parse=replace(one.parse, supersenses=self.of(trees[one.parse.words], senses)))
            for one in data[:10]
        ]
        parser = FrameParser(labeler=FrameLabeler(bits=10, epochs=1)).fit(data, lexicon=lexicon)
        assert parser.labeler_.wordnet_
        parser.labeler_.senses_ = senses
        monkeypatch.setattr("sapwood.words.wordnet_files._candidates", list)
        with pytest.raises(DataError):
            WordSenses()
        return compact(parser, tmp_path / "x.sap")

    def of(self, tree: Any, senses: WordSenses) -> tuple[str, ...]:
        return ParsedSentence.from_tree(tree, senses=senses).supersenses

    def test_no_wordnet_is_needed(self, parser: FrameParser, recwarn: pytest.WarningsRecorder) -> None:
        found = parser.parse("(S (NP (DT the) (NNS oxen)) (VP (VBD slept) (PP (IN in) (NP (DT the) (NN park)))))")
        assert found.parse.supersenses == ("", "noun.animal", "verb.body", "", "", "noun.location")
        assert not recwarn.list

    def test_without_them_there_is_a_warning(self, parser: FrameParser) -> None:
        parser.labeler_.senses_ = None
        with pytest.warns(UserWarning, match=r"supersenses are left out.*apt-get install"):
            found = parser.parse(specimens.TREES[0])
        assert set(found.parse.supersenses) == {""}

"""Explanations of frames: parts that add up to the scores that decide, by names that say what is in the sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.errors import DataError, ParameterError
from sapwood.learn.explain import Explanation
from sapwood.tasks.frames import (
    FrameIdentifier,
    FrameInput,
    FrameLabeler,
    FrameParser,
    ParsedSentence,
    nursery_frames,
    write_records,
)
from sapwood.tasks.frames.identifier import _sets
from sapwood.tasks.frames.instances import candidate_sets, instances_of

LEXICON, DATA = nursery_frames(nursery.generate(size=300))
GAVE = "(S (NP (NNP Anna)) (VP (VBD gave) (NP (NNP Ben)) (NP (DT a) (NN book))))"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["extended", "semafor"])
def parser(request: Any) -> FrameParser:
    labeler = FrameLabeler(bits=18, templates=request.param, null_offset=-0.5, pieces=request.param == "extended")
    identifier = FrameIdentifier(bits=16, none_offset=0.25)
    return FrameParser(labeler=labeler, identifier=identifier).fit(DATA[:200], lexicon=LEXICON)


def test_features_of_every_candidate_add_up_to_its_score(parser: FrameParser) -> None:
    model, labeler = parser.labeler_.model_, parser.labeler_
    instances = instances_of(DATA[200:206], spans=labeler.spans, pieces=labeler.pieces)
    sets = candidate_sets(instances, LEXICON, templates=labeler.templates)
    assert len(sets) > 3
    for number, table in enumerate(sets.tables(model.decision_function(sets))):
        for decision, candidate in np.ndindex(*table.shape):
            added = model.contributions(sets, number, decision, candidate)
            assert len(added) == len(sets.features_of(number, candidate)[0])
            assert added.sum() == pytest.approx(table[decision, candidate], abs=1e-5)


def test_roles(parser: FrameParser) -> None:
    labeler, seen = parser.labeler_, 0
    for one in DATA[200:215]:
        for number, target in enumerate(labeler.predict([one])[0].frames):
            for filler in target.fillers:
                if sum(other.role == filler.role for other in target.fillers) > 1:
                    continue
                why = labeler.explain(one, number, filler.role)
                assert isinstance(why, Explanation)
                assert why.label == f"{target.frame}.{filler.role}"
                assert why.bias == 0.5
                assert why.bias + sum(weight for _, weight in why.features) == pytest.approx(why.value, abs=1e-4)
                # The margin is over the best of all other choices, and leaving the role unfilled is one of them.
                assert why.value >= filler.margin - 1e-9
                named = labeler.explain(one, number, filler.role, span=(filler.first, filler.last))
                assert named.features == why.features
                seen += 1
    assert seen > 10


def test_frames(parser: FrameParser) -> None:
    identifier, seen = parser.identifier_, 0
    for one in DATA[200:215]:
        for target in parser.predict([one.parse])[0].frames:
            why = parser.explain(one.parse, target.tokens[0])
            assert why.label == target.frame
            assert why.value > 0.0
            assert why.bias == -0.25
            each = identifier._possible(one.parse, target.tokens)
            sets = _sets([each])
            (table,) = next(sets.tables(identifier.model_.decision_function(sets)))
            expected = table[each.frames.index(target.frame)] - table[-1]
            assert sum(weight for _, weight in why.features) == pytest.approx(expected, abs=1e-4)
            assert each.unit in dict(why.features)
            seen += 1
    assert seen > 10


def test_names_say_what_is_in_the_sentence(parser: FrameParser) -> None:
    why = parser.explain(GAVE, 1, "Donor")
    names = [name for name, _ in why.features]
    assert not [name for name in names if "?" in name]
    assert "word, anna" in names
    assert "before target" in names
    assert "unfilled: target lemma, give" in names
    assert len(names) == len(set(names))
    assert "by feature:" in str(why)
    assert "log-linear model" in why.to_html()
    # Words that stand elsewhere are no features of this span.
    assert not [name for name in names if "book" in name]


def test_what_is_asked_for_by_name(parser: FrameParser) -> None:
    assert parser.explain(GAVE, 1, "Donor", span=(2, 2)).value < parser.explain(GAVE, 1, "Donor").value
    for wrong, message in (
        ({"target": 9}, "there is no word 9; the sentence has 5"),
        ({"target": 3}, "'a' is no lexical unit"),
        ({"target": 1, "frame": "Nothing"}, "does not evoke 'Nothing'; it evokes"),
        ({"target": 1, "role": "Nobody"}, "has no role 'Nobody'; its roles are"),
        ({"target": 1, "role": "Donor", "span": (0, 3)}, "words 0 to 3 are no candidate"),
    ):
        with pytest.raises(DataError, match=message):
            parser.explain(GAVE, **wrong)
    with pytest.raises(ParameterError, match="span= says what fills a role"):
        parser.explain(GAVE, 1, span=(0, 0))


def test_on_the_command_line(parser: FrameParser, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sw.save(parser, tmp_path / "frames.sap")
    sw.save(parser.labeler_, tmp_path / "labeler.sap")
    tree = sw.Tree.fromstring(GAVE)
    parse = ParsedSentence.from_tree(tree, senses=parser.labeler_.senses_)
    known = FrameInput(parse, tuple(parser.identifier_.predict([parse])[0]))
    write_records([(tree, known)], tmp_path / "few.jsonl")
    for model in ("frames.sap", "labeler.sap"):
        assert main(["explain", str(tmp_path / model), str(tmp_path / "few.jsonl"), "--count", "50"]) == 0
        shown = capsys.readouterr().out
        assert "gave: Donor is Anna\nscore of Giving.Donor " in shown
        assert ("gave: Giving\nscore of Giving " in shown) == (model == "frames.sap")
    page = tmp_path / "why.html"
    assert main(["explain", str(tmp_path / "frames.sap"), str(tmp_path / "few.jsonl"), "--html", str(page)]) == 0
    assert "log-linear model" in page.read_text()

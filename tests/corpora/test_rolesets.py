"""Rolesets: what PropBank says that roles mean."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import sapwood as sw
from sapwood.corpora import nursery, rolesets
from sapwood.errors import DataError
from sapwood.tasks.roles import RoleLabeler

_CHASE = (
    '{"id": "chase.01", "name": "follow, pursue", "roles": [{"n": "0", "descr": "follower"}, {"n": "M", "descr": "x"}]}'
)


def test_modifiers_are_left_out() -> None:
    (one,) = rolesets.read(io.StringIO(_CHASE + "\n\n"))
    assert (one.name, one.meaning, one.roles) == ("chase.01", "follow, pursue", {"A0": "follower"})


@pytest.mark.parametrize("text", ['{"id": "a.01"}', '{"id": 1, "name": "", "roles": []}', "[]"])
def test_other_lines_are_named(text: str) -> None:
    with pytest.raises(DataError, match="expected"):
        list(rolesets.read(io.StringIO(text)))


def test_the_table_of_propbank_is_read(data: Path) -> None:
    found = {one.name: one for one in rolesets.read(data / "propbank-frames/rolesets.jsonl.xz")}
    assert len(found) == 11_197  # one of 11,198 stands there twice
    assert found["chase.01"].roles["A1"] == "thing followed"


@pytest.mark.slow
def test_labelers_say_what_roles_mean_and_files_keep_it(tmp_path: Path) -> None:
    labeler = RoleLabeler().fit(nursery.generate(size=120).role_sentences())
    tree = "(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT the) (NN cat)) (NP (NN today))) (. .))"
    assert {one.meaning for one in labeler.label(tree).propositions[0].arguments} == {""}
    labeler.lexicon_.describe(rolesets.read(io.StringIO(_CHASE)))
    for compact in (False, True):
        sw.save(labeler, tmp_path / "roles.sap", compact=compact)
        (found,) = sw.load(tmp_path / "roles.sap").label(tree).propositions
        assert found.meaning == "follow, pursue"
        assert [one.meaning for one in found.arguments if one.role == "A0"] == ["follower"]
    adapted = RoleLabeler().fit(nursery.generate(size=40, seed=1).role_sentences(), start=labeler)
    assert adapted.label(tree).propositions[0].meaning == "follow, pursue"

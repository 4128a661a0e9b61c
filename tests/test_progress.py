"""Long work says how far it is: what is counted, of how many, and to the end."""

from __future__ import annotations

import pytest
import tqdm.auto

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import nursery, role_lines
from sapwood.settings import counted
from sapwood.tasks.questions import question_views
from sapwood.tasks.roles import RoleLabeler


@pytest.fixture
def bars(monkeypatch):
    """What bars were told: by name, how many there are and how many were done."""
    told = {}

    class Bar:
        def __init__(self, *, total, desc, unit, **others):
            self.n, self.name = 0, f"{desc},{unit}"
            told[self.name] = (total, 0)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def update(self, steps):
            self.n += steps
            told[self.name] = (told[self.name][0], self.n)

        def refresh(self):
            return True

        def clear(self):
            pass

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    return told


def test_items_are_counted_as_they_are_worked_on(bars):
    with sw.options(progress=True):
        for number, _ in enumerate(counted("abc", 3, "Spelling", "letters")):
            assert bars["Spelling, letters"] == (3, number)
    assert bars["Spelling, letters"] == (3, 3)
    bars.clear()
    assert list(counted("abc", 3, "Spelling", "letters")) == ["a", "b", "c"]
    assert bars == {}


def test_training_and_scoring_of_roles_say_how_far_they_are(bars, tmp_path):
    sentences = nursery.generate(size=120).role_sentences()
    with sw.options(progress=True):
        labeler = RoleLabeler().fit(sentences)
    for name in ("Finding candidates, sentences", "Describing candidates, candidates"):
        total, done = bars[name]
        assert total == done > 0, name
    sw.save(labeler, tmp_path / "roles.sap")
    role_lines.write(sentences, tmp_path / "roles.jsonl")
    bars.clear()
    assert main(["evaluate", str(tmp_path / "roles.sap"), str(tmp_path / "roles.jsonl")]) == 0
    assert bars == {}, "standard error is no terminal"


def test_views_of_questions_say_how_far_they_are(bars):
    trees = [one.tree for one in nursery.generate(size=120).sentences if one.label is not None]
    silent = question_views(trees, ["focus"])["focus"]
    with sw.options(progress=True):
        shown = question_views(trees, ["focus"])["focus"]
    assert bars["Views of questions, questions"] == (len(trees), len(trees))
    assert shown.equals(silent)

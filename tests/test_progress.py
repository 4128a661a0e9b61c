"""Long work says how far it is: what is counted, of how many, and to the end."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import tqdm.auto

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import nursery, role_lines
from sapwood.learn.candidates import CandidateSets
from sapwood.learn.loglinear import LogLinear
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
    with sw.options(progress=True):
        RoleLabeler().fit(sentences[:20], start=labeler)
    total, done = bars["Learning classes, classes"]
    assert total == done >= len(labeler.roles_)
    sw.save(labeler, tmp_path / "roles.sap")
    role_lines.write(sentences, tmp_path / "roles.jsonl")
    bars.clear()
    assert main(["evaluate", str(tmp_path / "roles.sap"), str(tmp_path / "roles.jsonl")]) == 0
    assert bars == {}, "standard error is no terminal"


@pytest.mark.parametrize(
    ("solver", "name"), [("adagrad", "Training, epoch 2 of 2, examples"), ("lbfgs", "Training, iterations")]
)
def test_log_linear_models_say_how_far_they_are(bars, solver, name):
    sets, right = CandidateSets.of([[[1], [2]], [[2], [1]]], keys=[[[5]], [[5]]]), [0, 1]
    silent = LogLinear(solver=solver, bits=8, epochs=2).fit(sets, right)
    assert bars == {}
    with sw.options(progress=True):
        shown = LogLinear(solver=solver, bits=8, epochs=2).fit(sets, right)
    total, done = bars[name]
    # A couple of examples are over before the native code would say so.
    assert (total == 2) if solver == "adagrad" else (total is None and done > 0)
    assert shown.weights_.tobytes() == silent.weights_.tobytes()


def test_stages_of_a_labeler_have_names(monkeypatch):
    told = []
    monkeypatch.setattr("sapwood.bars.stage", lambda what: told.append(what) or nullcontext())
    with sw.options(progress=True):
        RoleLabeler().fit(nursery.generate(size=60).role_sentences())
    assert told == [
        "Learning predicates and their senses",
        "Learning to find arguments",
        "Learning roles",
        "Turning scores into probabilities",
    ]


def test_views_of_questions_say_how_far_they_are(bars):
    trees = [one.tree for one in nursery.generate(size=120).sentences if one.label is not None]
    silent = question_views(trees, ["focus"])["focus"]
    with sw.options(progress=True):
        shown = question_views(trees, ["focus"])["focus"]
    assert bars["Views of questions, questions"] == (len(trees), len(trees))
    assert shown.equals(silent)

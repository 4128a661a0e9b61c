"""Everything that a model file can hold: shown in a panel, or with the reason why not."""

from __future__ import annotations

import pytest

import specimens
from sapwood import registry
from sapwood.explorer.analyzing import KINDS
from sapwood.explorer.answers import REASONS, answer, contents
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.files import save
from sapwood.tasks.pairs import PairClassifier
from sapwood.trees import Grammar, Tree

LIMITS = Limits()


def test_everything_that_can_be_stored_has_a_panel_or_a_reason():
    panels = (*(kind.model for kind in KINDS), Grammar, PairClassifier)
    for name in registry.HOMES:
        shown = any(name == one.__name__ or name.endswith("Parser") for one in panels)
        assert shown != (name in REASONS), name


@pytest.mark.parametrize(
    "name", ["VotedPerceptron", "RecursiveClassifier", "KernelSVR", "RecursiveRegressor", "Pipeline"]
)
def test_other_estimators_of_trees_are_shown_or_say_why_not(tmp_path, name):
    model = specimens.specimen(name)
    save(model, tmp_path / "model.sap")
    models = ModelFolder(tmp_path)
    (listed,) = contents(models, LIMITS)["models"]
    if name == "Pipeline":
        assert (listed["panel"], listed["does"]) == (None, REASONS["Pipeline"])
        return
    assert listed["panel"] == "analyze"
    tree = Tree.fromstring(specimens.TREES[1])
    status, found = answer(models, "analyze", {"text": str(tree), "model": "model"}, LIMITS)
    assert status == 200, found
    if "classes" in found:
        assert found["classes"][0]["label"] == str(model.predict([tree])[0])
    else:
        assert found["value"] == pytest.approx(float(model.predict([tree])[0]))

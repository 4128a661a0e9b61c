"""Going on from a trained labeler: what it knew is kept, and what is learnt is one linear model again."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.cli import main
from sapwood.corpora import nursery
from sapwood.errors import ParameterError
from sapwood.parse import PCFGParser
from sapwood.tasks.roles import RoleClassifier, RoleLabeler
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.feature_sets import describe
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.tasks.roles.training import labeled_candidates
from sapwood.trees import Proposition, RoleSentence

SENTENCES = nursery.generate(size=330).role_sentences()
GENERAL, OWN, TEST = SENTENCES[:220], SENTENCES[220:270], SENTENCES[270:]


def renamed(sentences: list[RoleSentence], names: dict[str, str]) -> list[RoleSentence]:
    """Return sentences of a domain in which roles are called otherwise."""

    def changed(one: Proposition) -> Proposition:
        arguments = tuple(replace(part, role=names.get(part.role, part.role)) for part in one.arguments)
        return replace(one, arguments=arguments)

    return [replace(one, propositions=tuple(map(changed, one.propositions))) for one in sentences]


@pytest.fixture(scope="module")
def general() -> RoleLabeler:
    return RoleLabeler().fit(GENERAL)


@pytest.mark.slow
def test_a_few_sentences_of_another_kind_are_enough(general):
    names = {"A1": "A2"}
    own, test = renamed(OWN, names), renamed(TEST, names)
    adapted = RoleLabeler().fit(own, start=general)
    assert adapted.score(test) > general.score(test) + 0.05
    # What was not seen again is kept: predicates, senses, and roles.
    assert general.lexicon_.senses.items() <= adapted.lexicon_.senses.items()
    assert set(general.roles_) <= set(adapted.roles_)


@pytest.mark.slow
def test_what_is_learnt_is_one_linear_model(general, tmp_path: Path):
    adapted = RoleLabeler().fit(OWN, start=general)
    rows, _ = labeled_candidates(TEST, nouns=False, pruning="narrow")
    stage = adapted.classifier_
    assert isinstance(stage, LinearRoles)
    assert stage.weights.shape == (stage.encoder.total, len(stage.classes))
    sw.save(adapted, tmp_path / "adapted.sap")
    loaded = sw.load(tmp_path / "adapted.sap")
    assert np.array_equal(loaded.classifier_.margins(rows), stage.margins(rows))
    assert loaded.predict(TEST[:5]) == adapted.predict(TEST[:5])
    # Training twice gives the same; the labeler that was gone on from is left as it was.
    again = RoleLabeler().fit(OWN, start=general)
    assert np.array_equal(again.classifier_.weights, stage.weights)


def test_the_margins_of_the_old_model_are_found_in_the_new_columns(general):
    """With the old columns first and new ones behind, old weights give old margins."""
    rows = labeled_candidates(OWN, nouns=False, pruning="narrow")[0]
    old = general.identifier_
    joined = old.encoder.joined([["unheard-of"] * len(describe(*rows[0], "linear"))] * 2)
    assert joined.total == old.encoder.total + len(old.encoder.values)
    weights = np.zeros((joined.total, 1), np.float32)
    weights[joined.places_of(old.encoder)] = old.weights
    assert np.allclose(joined.transform(rows) @ weights + old.bias, old.margins(rows), atol=1e-5)


def test_two_classes_and_many(general):
    """Domains with two roles keep all others; and a start with two roles goes on to more."""
    rows, labels = labeled_candidates(OWN, nouns=False, pruning="narrow")
    some = [at for at, label in enumerate(labels) if label in ("A0", "A1")]
    chosen, roles = [rows[at] for at in some], [labels[at] for at in some]
    values = [describe(*row, "linear") for row in chosen]
    many = general.classifier_
    two = LinearRoles(many.encoder, 0.05).fit(chosen, roles, values, many)
    assert two.classes == many.classes
    assert two.weights.shape[1] == len(two.classes)
    margins = two.margins(chosen)
    right = sum(two.classes[best] == role for best, role in zip(margins.argmax(axis=1), roles, strict=True))
    assert right > 0.95 * len(roles)
    # And from two to many.
    few = LinearRoles(Encoder("linear"), 0.05).fit(chosen, roles, values)
    assert few.weights.shape[1] == 1
    all_rows = [at for at, label in enumerate(labels) if label]
    chosen, roles = [rows[at] for at in all_rows], [labels[at] for at in all_rows]
    more = LinearRoles(Encoder("linear"), 0.05).fit(chosen, roles, [describe(*row, "linear") for row in chosen], few)
    assert more.classes == sorted(set(roles))
    right = sum(
        more.classes[best] == role for best, role in zip(more.margins(chosen).argmax(axis=1), roles, strict=True)
    )
    assert right > 0.9 * len(roles)


def test_with_nothing_new_nothing_changes(general):
    """Weights are drawn to those of the old model: where it is right with a margin, they stay."""
    rows, labels = labeled_candidates(GENERAL, nouns=False, pruning="narrow")
    old = general.identifier_
    sides = ["1" if label else "0" for label in labels]
    margins = old.margins(rows)[:, 0]
    sure = [at for at, side in enumerate(sides) if margins[at] * (1 if side == "1" else -1) > 1]
    values = [describe(*rows[at], "linear") for at in sure]
    new = LinearRoles(old.encoder, 0.03).fit([rows[at] for at in sure], [sides[at] for at in sure], values, old)
    assert np.allclose(new.margins(rows), old.margins(rows), atol=1e-4)


def test_what_cannot_be_gone_on_from(general):
    for start, said in (
        (PCFGParser(), "must be a RoleLabeler, got a PCFGParser"),
        (RoleLabeler(), "has learnt nothing"),
    ):
        with pytest.raises(ParameterError, match=said):
            RoleLabeler().fit(OWN, start=start)
    with pytest.raises(ParameterError, match="features is 'basic', but that of start is 'linear'"):
        RoleLabeler(features="basic").fit(OWN, start=general)
    with pytest.raises(ParameterError, match="exact kernels cannot be adapted"):
        RoleLabeler(classifier=RoleClassifier("plain")).fit(OWN, start=general)
    with pytest.raises(ParameterError, match="network over an encoder cannot be adapted"):
        RoleLabeler(encoder="minilm").fit(OWN, start=general)


@pytest.mark.slow
def test_command(general, tmp_path: Path, capsys):
    model, own, out = (str(tmp_path / name) for name in ("general.sap", "own.jsonl", "adapted.sap"))
    parser = PCFGParser().fit([one.tree for one in GENERAL[:60]])
    sw.save(copy(general).set_params(parser=parser), model)
    # Sentences of one's own need no trees: the parser of the model makes them.
    sentences = renamed(OWN, {"A1": "A2"})
    corpora.role_lines.write([replace(sentences[0], tree=None), *sentences[1:]], own)
    assert main(["train", "roles", own, "--start", model, "-o", out]) == 0
    assert f"with those of {model}" in capsys.readouterr().out
    adapted = sw.load(out)
    assert adapted.parser is not None
    assert general.lexicon_.senses.items() <= adapted.lexicon_.senses.items()
    assert main(["train", "roles", own, "--start", model, "--nouns", "-o", out]) == 2
    assert "leave --nouns out" in capsys.readouterr().err
    sw.save(PCFGParser().fit([one.tree for one in GENERAL[:5]]), model)
    assert main(["train", "roles", own, "--start", model, "-o", out]) == 2
    assert "holds a PCFGParser; --start takes a labeler of roles" in capsys.readouterr().err

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sapwood as sw
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.metrics import score_ranking
from sapwood.parse.incremental import ConnectionPaths, flatten_phrases
from sapwood.tasks.attachment import AttachmentRanker, choices, evaluate, frequency_utility

LOW = "(S (NP PRP) (VP VBD (NP NN (PP IN))))"
HIGH = "(S (NP PRP) (VP VBD (NP NN) (PP IN)))"
NOUNS = ["(S (NP NN) (VP VBD (NP NN)))", "(S (NP NN) (VP VBD NN))"]


def network(**more):
    return RecursiveRanker(units=5, epochs=10, learning_rate=0.05, random_state=0, **more)


@given(st.data())
def test_errors_are_those_of_the_ranking_losses(data):
    trees = [LOW, HIGH, *NOUNS]
    forests = ConnectionPaths.from_trees(trees).forests(trees)
    utility = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(forests.trees), max_size=len(forests.trees))))
    found = evaluate(forests, utility.astype(float))
    expected = score_ranking(forests.y, utility, groups=forests.groups)
    assert found.error == pytest.approx(expected.setwise[1])
    assert (found.wrong_pairs, found.pairs) == (expected.wrong_pairs, expected.pairs)
    nouns = forests.select(forests.feet == "NN")
    members = np.repeat(forests.feet == "NN", forests.sizes)
    assert found.of("noun") == pytest.approx(evaluate(nouns, utility[members].astype(float)).error)


def test_a_forest_without_the_right_tree_is_an_error():
    grammar = ConnectionPaths.from_trees([LOW, HIGH])
    forests = grammar.forests(["(S (NP PRP) (VP VBD (NP NN) (QP IN)))"], missing="keep")
    found = evaluate(forests, np.zeros(len(forests.trees)))
    assert (found.error, found.pairs, found.wrong_pairs) == (1.0, 0, 0)


def test_the_frequent_path_is_preferred_and_then_the_lowest_anchor():
    trees = [HIGH, HIGH, LOW]
    grammar = ConnectionPaths.from_trees(trees)
    forests = grammar.forests(trees)
    chosen = choices(forests, frequency_utility(forests, grammar.counts))
    assert (chosen == forests.gold).tolist() == [True, True, False]
    # The same path fits two anchors.
    twice = ConnectionPaths.from_trees(["(S (S D V) V)"] * 2, root="top")
    forests = twice.forests(["(S (S D V) V)"])
    chosen = choices(forests, frequency_utility(forests, twice.counts))
    assert forests.depth[forests.ends - forests.sizes + chosen].tolist() == [1, 1]


def test_training_learns_what_the_trees_prefer():
    model = AttachmentRanker(network()).fit([LOW] * 5 + [HIGH])
    assert model.score([LOW]) == 1.0
    assert model.evaluate([HIGH]).of("preposition") == 1.0
    assert np.isnan(model.evaluate([HIGH]).of("verb"))


def test_one_ranker_per_word_class():
    trees = [LOW] * 3 + [HIGH] + [NOUNS[0]] * 3 + [NOUNS[1]]
    model = AttachmentRanker(network(), specialize=True).fit(trees)
    assert set(model.rankers_) == {"noun", "preposition"}
    assert model.score([LOW, NOUNS[0]]) == 1.0
    forests = model.forests([LOW])
    # A class that training never met cannot be ranked, so nothing of it is right.
    del model.rankers_["preposition"]
    assert not model.decision_function(forests)[np.repeat(forests.feet == "IN", forests.sizes)].any()


def test_answers_do_not_depend_on_the_block():
    trees = [LOW, HIGH, *NOUNS, LOW]
    model = AttachmentRanker(network(), batch_size=1).fit(trees)
    one = model.evaluate(trees)
    assert model.set_params(batch_size=100).evaluate(trees) == one


def test_held_out_trees_stop_training_early():
    model = AttachmentRanker(network(patience=2)).fit([LOW] * 5 + [HIGH], validation=[LOW, LOW])
    assert model.rankers_["all"].validation_curve_[-1] == 0.0


def test_ways_up_and_down_can_be_recombined(tmp_path):
    trees = [LOW, HIGH, *["(S (NP PRP) (VP VBD) .)", "(S (NP NN) (VP VBZ) .)"] * 9]
    model = AttachmentRanker(network(), recombine=True).fit(trees)
    assert dict(model.paths_.items()) == dict(ConnectionPaths.from_trees(trees).recombined().items())
    assert len(model.paths_) > len(ConnectionPaths.from_trees(trees))
    sw.save(model, tmp_path / "model.sap")
    assert sw.load(tmp_path / "model.sap").recombine


def test_flat_phrases_are_those_of_trees_that_were_flattened_by_hand(tmp_path):
    nested = [
        "(S (NP (NP DT NN) (PP IN (NP (NP NN) (PP IN (NP NN))))) (VP VBD))",
        "(S (S (S NP VP) CC S) VP)",
        "(NP (NP NN))",
        "(S (NP (NP DT (NML (NML NN) NN) NN) (NP (NML NN))) (NML (NML VBD)))",
    ]
    flat = ["(S (NP DT NN (PP IN (NP NN (PP IN (NP NN))))) (VP VBD))", "(S NP VP CC S VP)", "(NP (NP NN))"]
    flat.append("(S (NP DT NN NN NN (NP NN)) VBD)")
    assert [str(tree) for tree in flatten_phrases(sw.TreeArray(nested))] == flat
    model = AttachmentRanker(network(), flatten=True).fit([*nested, LOW, HIGH])
    other = AttachmentRanker(network()).fit([*flat, LOW, HIGH])
    assert dict(model.paths_.items()) == dict(other.paths_.items())
    sw.save(model, tmp_path / "model.sap")
    for one in (model, sw.load(tmp_path / "model.sap")):
        assert one.evaluate(nested) == other.evaluate(flat)
        forests = one.forests(nested)
        assert np.array_equal(one.decision_function(forests), other.decision_function(other.forests(flat)))


@pytest.mark.parametrize("specialize", [False, True])
def test_models_are_stored(tmp_path, specialize):
    trees = [LOW] * 3 + [HIGH] + [NOUNS[0]] * 3 + [NOUNS[1]]
    model = AttachmentRanker(network(), specialize=specialize, reduction=1, classes={"in": ["IN"]}).fit(trees)
    sw.save(model, tmp_path / "model.sap")
    again = sw.load(tmp_path / "model.sap")
    forests = model.forests(trees)
    assert np.array_equal(again.decision_function(again.forests(trees)), model.decision_function(forests))
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert again.reduction == 1
    clone(again)


def test_a_model_without_rankers_is_refused(tmp_path):
    model = AttachmentRanker(network()).fit([LOW, HIGH])
    model.rankers_ = {"all": sw.TreeArray([LOW])}
    sw.save(model, tmp_path / "model.sap")
    with pytest.raises(ModelFileError, match="no rankers"):
        sw.load(tmp_path / "model.sap")


def test_bad_input_is_named():
    with pytest.raises(DataError, match="nothing to train on"):
        AttachmentRanker().fit([])
    with pytest.raises(DataError, match="more than one way"):
        AttachmentRanker().fit(["(S D N)"])
    with pytest.raises(NotFittedError):
        AttachmentRanker().score([LOW])
    model = AttachmentRanker(network()).fit([LOW, HIGH])
    with pytest.raises(DataError, match="expected Forests"):
        model.decision_function([LOW])
    with pytest.raises(ParameterError, match="batch_size must be an integer of at least 1"):
        model.set_params(batch_size=0).evaluate([LOW])
    forests = model.forests([LOW])
    with pytest.raises(DataError, match="2 trees but 1 utilities"):
        evaluate(forests, np.zeros(1))
    with pytest.raises(DataError, match="tree 1 is NaN"):
        evaluate(forests, np.array([0.0, np.nan]))


def test_paths_of_a_larger_treebank_can_be_given(tmp_path):
    paths = ConnectionPaths.from_trees([LOW, HIGH, *NOUNS])
    model = AttachmentRanker(network(), paths=paths).fit([LOW] * 3)
    # Its own trees know one way for the preposition only.
    assert len(model.forests([LOW])) > len(AttachmentRanker(network()).fit([LOW, *NOUNS]).forests([LOW]))
    assert dict(clone(model).paths.items()) == dict(paths.items())
    sw.save(model, tmp_path / "model.sap")
    assert dict(sw.load(tmp_path / "model.sap").paths.items()) == dict(paths.items())
    with pytest.raises(ParameterError, match="root='lowest', not 'top'"):
        AttachmentRanker(network(), paths=paths, root="top").fit([LOW])
    with pytest.raises(ParameterError, match="ConnectionPaths or None, got list"):
        AttachmentRanker(network(), paths=[LOW]).fit([LOW])


@pytest.mark.parametrize("ranker", [network(), KernelRanker(random_state=0)], ids=["network", "kernel"])
def test_trees_may_come_in_parts(ranker):
    trees = [LOW] * 6 + [HIGH] + [NOUNS[0]] * 6 + [NOUNS[1]]
    paths = ConnectionPaths.from_trees(trees)
    model = AttachmentRanker(ranker, specialize=True, paths=paths)
    for _ in range(5):
        model.partial_fit(trees[:7]).partial_fit(trees[7:])
    assert set(model.rankers_) == {"noun", "preposition"}
    assert model.score([LOW, NOUNS[0]]) == 1.0


@pytest.mark.parametrize("ranker", [network(), KernelRanker(random_state=0)], ids=["network", "kernel"])
def test_a_part_that_fails_changes_nothing(ranker):
    trees = [LOW] * 6 + [HIGH] + [NOUNS[0]] * 6 + [NOUNS[1]]
    model = AttachmentRanker(clone(ranker).set_params(loss="none"), specialize=True)
    with pytest.raises(ParameterError, match="loss must be"):
        model.partial_fit(trees)
    assert not hasattr(model, "paths_")
    model.set_params(ranker=ranker).partial_fit(trees)
    forests = model.forests(trees)
    before, rankers = model.decision_function(forests), dict(model.rankers_)
    # The nouns, which come first, are learnt before the prepositions fail.
    assert list(rankers) == ["noun", "preposition"]
    rankers["preposition"].set_params(loss="none")
    with pytest.raises(ParameterError, match="loss must be"):
        model.partial_fit(trees)
    assert model.rankers_ == rankers
    np.testing.assert_array_equal(model.decision_function(forests), before)
    rankers["preposition"].set_params(loss=ranker.loss)
    model.partial_fit(trees)
    assert not np.array_equal(model.decision_function(forests), before)


def test_rankers_of_several_classes_have_checkpoints_of_their_own(tmp_path):
    trees = [LOW] * 3 + [HIGH] + [NOUNS[0]] * 3 + [NOUNS[1]]
    whole = AttachmentRanker(network(), specialize=True).fit(trees)
    kept = AttachmentRanker(network(checkpoint=tmp_path / "state"), specialize=True).fit(trees)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state.noun", "state.preposition"]
    # All is done already, and found in the checkpoints.
    again = clone(kept).fit(trees)
    for model in (kept, again):
        for name, ranker in whole.rankers_.items():
            assert np.array_equal(model.rankers_[name].weights_, ranker.weights_)
    sw.save(kept, tmp_path / "model.sap")
    assert sw.load(tmp_path / "model.sap").ranker.checkpoint is None

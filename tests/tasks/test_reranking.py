from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ParameterError
from sapwood.learn import RecursiveRanker
from sapwood.metrics import parseval
from sapwood.tasks.reranking import RERANKING_RULES, ParseReranker, nbest_examples, score_parses


@pytest.fixture(scope="module")
def lists():
    return nursery.generate(size=200).forests()


@pytest.fixture(scope="module")
def model(lists):
    return ParseReranker(RecursiveRanker(units=10, epochs=3, random_state=0)).fit(lists[:120])


@pytest.mark.slow
def test_priors_are_differences_within_a_list(lists):
    examples, groups = nbest_examples(lists[:3])
    assert examples.shape[0] == sum(map(len, lists[:3])) == len(groups)
    for number in range(3):
        prior = examples["prior"][groups == number, 0]
        assert np.allclose(prior, lists[number].scores - lists[number].scores[0])


def test_scores_are_those_of_parseval(lists, model):
    found = model.evaluate(lists[120:])
    gold = [one.gold for one in lists[120:]]
    assert found.f1 == pytest.approx(parseval(gold, list(model.rerank(lists[120:])), rules=RERANKING_RULES).overall.f1)
    first = [one.parses[int(np.argmax(one.scores))] for one in lists[120:]]
    assert found.f1 - found.gain == pytest.approx(parseval(gold, first, rules=RERANKING_RULES).overall.f1)
    # The gold tree is among the parses of the nursery.
    assert found.oracle_f1 == 1.0
    assert found.gain > 0


def test_predictions_choose_the_highest_utility(lists, model):
    utilities = model.decision_function(lists[120:])
    assert [len(u) for u in utilities] == [len(one) for one in lists[120:]]
    assert model.predict(lists[120:]).tolist() == [int(np.argmax(u)) for u in utilities]
    assert model.decision_function([]) == []


def test_results_add_up(lists, model):
    parts = model.evaluate(lists[120:150]) + model.evaluate(lists[150:])
    assert parts.f1 == pytest.approx(model.evaluate(lists[120:]).f1)


def test_models_are_stored(lists, model, tmp_path):
    sw.save(model, tmp_path / "model.sap")
    again = sw.load(tmp_path / "model.sap")
    assert again.predict(lists[120:]).tolist() == model.predict(lists[120:]).tolist()
    assert again.rules == model.rules
    clone(again)


@pytest.mark.slow
def test_consensus_chooses_by_the_f1_to_be_expected(lists, model, tmp_path):
    agreed = ParseReranker(model.ranker, consensus=1.5).fit(lists[:120])
    assert agreed.spread_ == pytest.approx(np.mean([utility.std() for utility in model.decision_function(lists[:120])]))
    test = lists[120:150]
    expected = agreed.decision_function(test)
    for one, utility, value in zip(test, model.decision_function(test), expected, strict=True):
        chances = np.exp(1.5 * utility / agreed.spread_)
        chances /= chances.sum()
        slow = [
            sum(
                p * parseval([gold], [parse], rules=RERANKING_RULES).overall.f1
                for p, gold in zip(chances, one.parses, strict=True)
            )
            for parse in one.parses
        ]
        np.testing.assert_allclose(value, slow, atol=1e-8)
    assert agreed.predict(test).tolist() == [int(np.argmax(value)) for value in expected]
    # Those who are sure agree with themselves only.
    sure = ParseReranker(model.ranker, consensus=1e6).fit(lists[:120])
    assert sure.predict(test).tolist() == model.predict(test).tolist()
    sw.save(agreed, tmp_path / "model.sap")
    again = sw.load(tmp_path / "model.sap")
    assert again.consensus == 1.5
    assert [value.tolist() for value in again.decision_function(test)] == [value.tolist() for value in expected]
    for wrong in (0, -1.0, float("nan"), "much"):
        with pytest.raises(ParameterError, match="consensus must be a finite number of more than 0"):
            ParseReranker(model.ranker, consensus=wrong).fit(lists[:5])


def test_bad_lists_are_named(lists, model):
    with pytest.raises(DataError, match="no n-best lists"):
        ParseReranker().fit([])
    empty = replace(lists[0], parses=lists[0].parses[:0], scores=lists[0].scores[:0])
    with pytest.raises(DataError, match="n-best list 1 is empty"):
        model.predict([lists[0], empty])
    with pytest.raises(DataError, match="n-best list 0: the score of parse 2 is NaN"):
        model.predict([replace(lists[0], scores=np.where(np.arange(len(lists[0])) == 2, np.nan, lists[0].scores))])
    with pytest.raises(DataError, match="'nursery-0-0' has no gold tree"):
        score_parses(replace(lists[0], gold=None))
    for wrong, number in ((["(S (NN a))"], 0), ([lists[0], sw.Tree("S", ["a"])], 1)):
        with pytest.raises(ParameterError, match=rf"sentence {number} is no n-best list; pass NBest .* parser="):
            ParseReranker().fit(wrong)
        with pytest.raises(DataError, match=rf"element {number} is a \w+; expected an NBest"):
            nbest_examples(wrong)
    with pytest.raises(DataError, match="sentence 1 is a int"):
        ParseReranker().fit([lists[0], 3])
    with pytest.raises(DataError, match="got one str; wrap it in a list"):
        ParseReranker().fit("(S (NN a))")
    with pytest.raises(DataError, match="expected an NBest, the parses of a sentence, got a str"):
        score_parses("(S (NN a))")
    with pytest.raises(NotFittedError):
        ParseReranker().predict(lists[:1])

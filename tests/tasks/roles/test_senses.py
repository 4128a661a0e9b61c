"""Senses of predicates: chosen by what stands around them, kept in files, and left to one's own sentences."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.paths import DATA

import sapwood as sw
from sapwood.corpora import nursery, propbank_columns
from sapwood.tasks.roles import RoleLabeler
from sapwood.tasks.roles.senses import PredicateSenses
from sapwood.tasks.roles.views import Parse
from sapwood.trees import Argument, Proposition, RoleSentence, Tree

OWNED = "(S (NP (PRP {0})) (VP (VBP have) (NP (NN {1}))) (. .))"
HELPS = "(S (NP (PRP {0})) (VP (VBP have) (VP (VBN {1}))) (. .))"
TURNED = "(S (NP (PRP {0})) (VP (VBD turned) (PRT (RP {1})) (NP (NN light))) (. .))"
PEOPLE, THINGS, DONE = ("I", "you", "they", "we"), ("tea", "time", "rain", "luck"), ("gone", "slept", "left", "come")


def marked(text: str, lemma: str, roleset: str) -> RoleSentence:
    tree = Tree.fromstring(text)
    return RoleSentence(
        tree.leaves(), (Proposition(1, lemma, (Argument("A0", 0, 0), Argument("V", 1, 1)), roleset),), tree
    )


def sentences(people: tuple[str, ...] = PEOPLE) -> list[RoleSentence]:
    made = []
    for who in people:
        made += [marked(OWNED.format(who, what), "have", "have.03") for what in THINGS]
        made += [marked(HELPS.format(who, what), "have", "have.01") for what in DONE]
        made += [marked(TURNED.format(who, part), "turn", f"turn_{part}.01") for part in ("on", "off", "down")]
        made.append(marked(f"(S (NP (PRP {who})) (VP (VBP sing)) (. .))", "sing", "sing.01"))
    return made


def choose(senses: PredicateSenses, some: list[RoleSentence]) -> list[str]:
    return [
        sense
        for one in some
        for sense in senses.choose([Parse(one.tree).view(each.predicate, each.lemma) for each in one.propositions])
    ]


def test_what_stands_around_a_predicate_decides():
    senses = PredicateSenses.learn(sentences())
    assert sorted(senses.known) == ["have", "turn"]
    new = [marked(OWNED.format("she", "milk"), "have", ""), marked(HELPS.format("she", "swum"), "have", "")]
    new += [marked(TURNED.format("she", "off"), "turn", ""), marked("(S (NP (PRP I)) (VP (VBP sing)))", "sing", "")]
    assert choose(senses, new) == ["have.03", "have.01", "turn_off.01", ""]
    # The most frequent sense alone would be wrong of one half.
    assert [one.propositions[0].roleset for one in sentences()].count("have.01") == 16
    assert PredicateSenses.learn(one for one in sentences() if one.propositions[0].lemma == "sing") is None


def test_learning_is_the_same_with_any_number_of_threads():
    one, other = (PredicateSenses.learn(sentences(), seed=3) for _ in range(2))
    with sw.options(threads=3):
        third = PredicateSenses.learn(sentences(), seed=3)
    assert np.array_equal(one.model.weights_, other.model.weights_)
    assert np.array_equal(one.model.weights_, third.model.weights_)


def test_labelers_choose_and_keep_senses(tmp_path):
    labeler = RoleLabeler().fit([*sentences(), *nursery.generate(size=60).role_sentences()])
    trees = [OWNED.format("she", "milk"), HELPS.format("she", "swum")]
    for compact in (False, True):
        sw.save(labeler, tmp_path / "roles.sap", compact=compact)
        for one in (labeler, sw.load(tmp_path / "roles.sap")):
            found = [one.label(tree, [1]).propositions[0].roleset for tree in trees]
            assert found == ["have.03", "have.01"]
    labeler.senses_ = None
    # As before there were such choices, both have the sense that is the most frequent.
    assert len({labeler.label(tree, [1]).propositions[0].roleset for tree in trees}) == 1


def test_own_sentences_that_say_otherwise_are_right():
    general = [*sentences(), *nursery.generate(size=60).role_sentences()]
    labeler = RoleLabeler().fit(general)
    # Here one always turns, whatever follows.
    own = [marked(TURNED.format(who, part), "turn", "turn.77") for who in PEOPLE for part in ("on", "off")]
    adapted = RoleLabeler().fit([*own, *nursery.generate(size=20).role_sentences()], start=labeler)
    found = [
        adapted.label(tree, [1]).propositions[0].roleset
        for tree in (TURNED.format("she", "on"), OWNED.format("she", "x"))
    ]
    assert found == ["turn.77", "have.03"]
    agreeing = sentences(("she",))
    assert labeler.senses_.checked(agreeing).known == labeler.senses_.known


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "ewt-propbank").is_dir(), reason="the English Web Treebank is not there")
def test_senses_of_the_web_are_better_than_the_most_frequent():
    train, dev = (
        list(propbank_columns.read(str(DATA / "ewt-propbank" / f"{name}.conll.gz"))) for name in ("train", "dev")
    )
    train = train[::3]
    seen: dict[str, Counter[str]] = {}
    for one in train:
        for each in one.propositions:
            seen.setdefault(each.lemma, Counter())[each.roleset] += 1
    senses = PredicateSenses.learn(train)
    gold = [each for one in dev for each in one.propositions]
    most = [seen[each.lemma].most_common(1)[0][0] if each.lemma in seen else "" for each in gold]
    chosen = [new or old for new, old in zip(choose(senses, dev), most, strict=True)]
    right = [sum(a == b.roleset for a, b in zip(some, gold, strict=True)) / len(gold) for some in (most, chosen)]
    assert right[1] > right[0] + 0.1

"""Classification of given arguments: every named kernel learns, and fitted classifiers come back from files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ParameterError
from sapwood.kernels import parse_kernel
from sapwood.tasks.roles import ROLE_KERNELS, RoleArguments, RoleClassifier, role_kernel
from sapwood.trees import Argument, Proposition, RoleSentence, Tree


@pytest.fixture(scope="module")
def arguments() -> RoleArguments:
    return RoleArguments.from_sentences(nursery.generate(size=150).role_sentences())


@pytest.mark.slow
@pytest.mark.parametrize("name", ROLE_KERNELS)
def test_every_kernel_learns_the_nursery(name: str, arguments: RoleArguments) -> None:
    train, test = arguments[:250], arguments[250:]
    classifier = RoleClassifier(name).fit(train)
    majority = max(np.mean(test.labels == label) for label in set(train.labels))
    assert classifier.score(test) == classifier.score(test, test.labels) > majority + 0.2


def test_classifiers_come_back_from_files(arguments: RoleArguments, tmp_path) -> None:
    classifier = RoleClassifier("composite", C=1.0, svm_params={"tol": 1e-4}).fit(arguments[:150])
    sw.save(classifier, tmp_path / "roles.sap")
    again = sw.load(tmp_path / "roles.sap")
    assert again.get_params() == classifier.get_params() == clone(classifier).get_params()
    assert np.allclose(again.decision_function(arguments[150:]), classifier.decision_function(arguments[150:]))


def test_kernels_are_the_printed_mixtures(arguments: RoleArguments) -> None:
    examples = arguments[:40].examples(["siblings", "constituent", "flat"])
    plain = role_kernel("plain", theta=0.7)(examples)
    assert np.allclose(plain, parse_kernel(repr(role_kernel("plain", theta=0.7)))(examples))
    flat = role_kernel("flat")(examples)
    composite = role_kernel("composite plain", theta=0.7, gamma=0.25)(examples)
    assert np.allclose(composite, 0.25 * plain + 0.75 * flat)


def test_what_is_left_out_is_counted() -> None:
    tree = Tree.fromstring("(S (NP (NN tea)) (VP (VBD came) (ADVP (RB late)) (NP (NN today))) (NP (NN sale)))")
    first = (Argument("A1", 0, 0), Argument("AM-TMP", 2, 3), Argument("C-A1", 4, 4))
    sentence = RoleSentence(
        tree.leaves(), (Proposition(1, "come", first), Proposition(4, "sell", (Argument("A1", 0, 0),))), tree
    )
    arguments = RoleArguments.from_sentences([sentence])
    assert arguments.labels.tolist() == ["A1"]
    assert arguments.left_out == {"continuation": 1, "constituent": 1}
    assert len(RoleArguments.from_sentences([sentence], verbs_only=False)) == 2


def test_faults_are_named(arguments: RoleArguments) -> None:
    with pytest.raises(ParameterError, match="kernel must be one of 'truncated'"):
        RoleClassifier("tree").fit(arguments)
    with pytest.raises(DataError, match="expected RoleArguments, got list"):
        RoleClassifier("plain").fit(["(NP (NN dog))"], ["A0"])
    with pytest.raises(ParameterError, match="svm_params holds what KernelSVC does not take"):
        RoleClassifier("plain", svm_params={"colour": 1}).fit(arguments)
    with pytest.raises(DataError, match="there are no arguments"):
        RoleClassifier("plain").fit(arguments[:0])
    with pytest.raises(ParameterError, match=r"theta must be a number in \[0, 1\]"):
        role_kernel("plain", theta=2)
    with pytest.raises(DataError, match="no view 'tree'"):
        arguments.examples(["tree"])
    assert len(arguments.sample(7, random_state=1)) == 7

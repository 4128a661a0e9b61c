"""The default kernel of an estimator: in its place, searchable, and refused where it is none."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from sapwood.errors import ParameterError
from sapwood.kernels import LandmarkMap, PartialTree, SubsetTree
from sapwood.kernels.choice import check_kernel
from sapwood.learn import KernelRanker, KernelSVC, KernelSVR, VotedPerceptron
from sapwood.tasks.questions import QuestionClassifier

NORMALISED = [KernelSVC, KernelSVR, VotedPerceptron, LandmarkMap]


@pytest.mark.parametrize("kind", NORMALISED)
def test_parameters_of_the_default_kernel_can_be_set(kind):
    estimator = kind()
    assert estimator.kernel is None
    assert clone(estimator).set_params(kernel__kernel__decay=0.3).kernel == SubsetTree(0.3).normalized()
    # A kernel that comes along is the one meant.
    assert estimator.set_params(kernel=PartialTree(), kernel__decay=0.3).kernel == PartialTree(0.3)


def test_an_estimator_may_have_a_default_of_its_own():
    assert KernelRanker().set_params(kernel__decay=0.3).kernel == SubsetTree(0.3)


def test_a_value_that_is_refused_changes_nothing():
    estimator = KernelSVC()
    with pytest.raises(ParameterError, match="decay must be"):
        estimator.set_params(C=2.0, kernel__kernel__decay=5)
    assert estimator.kernel is None
    assert estimator.C == 1.0
    kernel = SubsetTree(0.3)
    with pytest.raises(ParameterError, match="decay must be"):
        estimator.set_params(kernel=kernel, kernel__decay=5)
    assert estimator.kernel is None
    assert kernel.decay == 0.3


def test_other_parameters_leave_the_default_alone():
    assert KernelSVC().set_params(C=2.0).kernel is None


@pytest.mark.parametrize("kind", [*NORMALISED, KernelRanker, QuestionClassifier])
def test_what_is_no_kernel_is_refused(kind):
    trees, extra = ["(a b)", "(a c)"], {"groups": [0, 0]} if kind is KernelRanker else {}
    with pytest.raises(
        ParameterError, match=r"kernel must be a kernel such as .* got 'SubsetTree'; .*write SubsetTree\(\)"
    ):
        kind(kernel="SubsetTree").fit(trees, [0, 1], **extra)


def test_a_kernel_is_returned():
    kernel = SubsetTree()
    assert check_kernel(kernel) is kernel


def test_parts_of_what_is_no_kernel():
    assert KernelSVC(SubsetTree()).set_params(kernel=None, kernel__kernel__decay=0.2).kernel == (
        SubsetTree(0.2).normalized()
    )
    with pytest.raises(ParameterError, match="kernel must be a kernel"):
        KernelSVC("SubsetTree").set_params(kernel__decay=0.2)
    assert KernelSVC("SubsetTree()").set_params(kernel__decay=0.2).kernel == SubsetTree(0.2)
    for wrong, hint in ((SubsetTree, r"write SubsetTree\(\.\.\.\)"), (3, "got 3"), (["a"], "got")):
        with pytest.raises(ParameterError, match=hint):
            check_kernel(wrong)

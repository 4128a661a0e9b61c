"""Kernels or features, and targets: learners with scikit-learn's manners."""

from sapwood.lazy import public_names
from sapwood.learn.additive import AdditiveLogistic
from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.groups import from_ranks
from sapwood.learn.loglinear import CandidateSets, LogLinear
from sapwood.learn.perceptron import VotedPerceptron
from sapwood.learn.ranking import KernelRanker
from sapwood.learn.recursive import RecursiveClassifier, RecursiveRanker, RecursiveRegressor
from sapwood.learn.svm import KernelSVC, KernelSVR

__all__ = [
    "AdditiveLogistic",
    "CandidateSets",
    "Explanation",
    "KernelRanker",
    "KernelSVC",
    "KernelSVR",
    "LogLinear",
    "ModelFragments",
    "RecursiveClassifier",
    "RecursiveRanker",
    "RecursiveRegressor",
    "VotedPerceptron",
    "from_ranks",
]

__dir__ = public_names(__name__)

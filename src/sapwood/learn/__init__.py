"""Learners with the interface of scikit-learn's estimators: on kernels, on trees, and on preferences."""

from sapwood.lazy import public_names
from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.groups import from_ranks
from sapwood.learn.perceptron import VotedPerceptron
from sapwood.learn.ranking import KernelRanker
from sapwood.learn.recursive import RecursiveClassifier, RecursiveRanker, RecursiveRegressor
from sapwood.learn.svm import KernelSVC, KernelSVR

__all__ = [
    "Explanation",
    "KernelRanker",
    "KernelSVC",
    "KernelSVR",
    "ModelFragments",
    "RecursiveClassifier",
    "RecursiveRanker",
    "RecursiveRegressor",
    "VotedPerceptron",
    "from_ranks",
]

__dir__ = public_names(__name__)

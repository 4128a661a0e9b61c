"""Learners with the interface of scikit-learn's estimators: on kernels, on trees, and on preferences."""

from sapwood.lazy import public_names
from sapwood.learn.choosing import choose_kernel
from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.gaussian_process import GPKernel
from sapwood.learn.groups import from_ranks
from sapwood.learn.perceptron import VotedPerceptron
from sapwood.learn.ranking import KernelRanker
from sapwood.learn.recursive import RecursiveClassifier, RecursiveRanker, RecursiveRegressor
from sapwood.learn.svm import KernelSVC
from sapwood.learn.svr import KernelSVR

__all__ = [
    "Explanation",
    "GPKernel",
    "KernelRanker",
    "KernelSVC",
    "KernelSVR",
    "ModelFragments",
    "RecursiveClassifier",
    "RecursiveRanker",
    "RecursiveRegressor",
    "VotedPerceptron",
    "choose_kernel",
    "from_ranks",
]

__dir__ = public_names(__name__)

"""Learners with the interface of scikit-learn's estimators: on kernels, on trees, and on preferences."""

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

if TYPE_CHECKING:
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

_HOMES = {
    "Explanation": "explain",
    "GPKernel": "gaussian_process",
    "KernelRanker": "ranking",
    "KernelSVC": "svm",
    "KernelSVR": "svr",
    "ModelFragments": "explain",
    "RecursiveClassifier": "recursive",
    "RecursiveRanker": "recursive",
    "RecursiveRegressor": "recursive",
    "VotedPerceptron": "perceptron",
    "choose_kernel": "choosing",
    "from_ranks": "groups",
}

# Each brings parts of scikit-learn that take longer to import than most models need for an answer.
__getattr__, __dir__ = lazy_names(__name__, _HOMES)

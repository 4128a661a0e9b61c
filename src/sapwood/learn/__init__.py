"""Kernels or features, and targets: learners with scikit-learn's manners."""

from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.loglinear import CandidateSets, LogLinear
from sapwood.learn.svm import KernelSVC, KernelSVR

__all__ = ["CandidateSets", "Explanation", "KernelSVC", "KernelSVR", "LogLinear", "ModelFragments"]

"""Kernels or features, and targets: learners with scikit-learn's manners."""

from sapwood.learn.additive import AdditiveLogistic
from sapwood.learn.explain import Explanation, ModelFragments
from sapwood.learn.svm import KernelSVC, KernelSVR

__all__ = ["AdditiveLogistic", "Explanation", "KernelSVC", "KernelSVR", "ModelFragments"]

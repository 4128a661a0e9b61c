"""Kernels or features, and targets: learners with scikit-learn's manners."""

from sapwood.learn.svm import KernelSVC, KernelSVR

__all__ = ["KernelSVC", "KernelSVR"]

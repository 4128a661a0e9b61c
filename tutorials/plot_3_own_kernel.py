"""
Write your own kernel
=====================

A kernel is a class with one method. We write one that compares the words of two trees and one that compares their
shapes, combine them with a tree kernel, and let cross-validation decide. It takes about half a minute.
"""

# %%
# One method
# ----------
# ``_gram(X, Y)`` returns the matrix of similarities between two arrays of trees, or within one where ``Y`` is None. A
# kernel must be symmetric and positive semi-definite; an inner product of feature vectors always is.
import numpy as np

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.kernels import Kernel, SubsetTree


class SharedWords(Kernel):
    """How many words two trees share."""

    def _gram(self, X, Y):
        left, right = ([set(tree.leaves()) for tree in side] for side in (X, X if Y is None else Y))
        return np.array([[float(len(one & other)) for other in right] for one in left])


# %%
# It is a kernel like any other: it can be normalized, added, weighted.
a = "(NP (DT the) (JJ old) (NN dog))"
b = "(NP (DT the) (NN dog))"
SharedWords()([a], [b]), SharedWords().normalized()([a], [b])

# %%
# Parameters
# ----------
# Parameters of ``__init__`` are found by grid search.


class SimilarShape(Kernel):
    """Compare trees by their heights and sizes: 1 where they agree, less the more they differ."""

    def __init__(self, width=5.0):
        self.width = width

    def _gram(self, X, Y):
        left, right = (
            np.array([[tree.height(), tree.size()] for tree in side], float) for side in (X, X if Y is None else Y)
        )
        distances = ((left[:, None] - right[None]) ** 2).sum(axis=2)
        return np.exp(-distances / (2 * self.width**2))


# %%
# Which one is worth having?
# --------------------------
from sklearn.model_selection import cross_val_score

from sapwood.draw import Bar, bar_chart
from sapwood.learn import KernelSVC

asked = [one for one in nursery.generate(size=300).sentences if one.label is not None]
X = sw.TreeArray([one.tree for one in asked])
y = np.array([one.label[0] for one in asked])
tree = SubsetTree(decay=0.2).normalized()
kernels = {
    "shape": SimilarShape(),
    "words": SharedWords().normalized(),
    "tree": tree,
    "tree + words": tree + SharedWords().normalized(),
}
bars = [Bar(name, 100 * cross_val_score(KernelSVC(k, C=10), X, y, cv=3).mean()) for name, k in kernels.items()]
bar_chart("Accuracy in three-fold cross-validation", bars, label="accuracy in %", decimals=1)

# %%
# Is it a kernel?
# ---------------
# The eigenvalues of a Gram matrix must not be negative, apart from rounding.
values = np.linalg.eigvalsh(SimilarShape()(X[:60], X[:60]))
bool(values.min() > -1e-9)

# %%
# What two trees have in common under a tree kernel can be drawn; a kernel of one's own counts as one number there.
(tree + SharedWords().normalized()).explain(X[0], X[1])

"""
Which trees are alike? A map of a corpus
========================================

A kernel gives distances between trees, and kernel PCA draws them as points: questions that ask for the same kind of
answer lie together, although the kernel does not see the answers.
"""

from sklearn.decomposition import KernelPCA

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.draw.charts import Point, scatter_chart
from sapwood.kernels import SubsetTree

asked = [one for one in nursery.generate(size=400).sentences if one.label is not None]
X = sw.TreeArray([one.tree for one in asked])

# %%
# Point at a dot to read its question.
places = KernelPCA(2, kernel="precomputed").fit_transform(SubsetTree(decay=0.3).normalized()(X, X))
points = [
    Point(float(x), float(y), one.label[0], " ".join(one.words)) for (x, y), one in zip(places, asked, strict=True)
]
scatter_chart("Questions in two dimensions", points, x_label="first component", y_label="second component")

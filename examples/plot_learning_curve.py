"""
How many trees are enough?
==========================

Learning curves of a tree kernel and of a bag of words on the same questions: trees need fewer examples.
"""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.draw import Series, line_chart
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC

asked = [one for one in nursery.generate(size=800).sentences if one.label is not None]
X, words = sw.TreeArray([one.tree for one in asked]), [" ".join(one.words) for one in asked]
y = np.array([one.label[0] for one in asked])

# %%
sizes = [15, 30, 60, 120, 200]
test = slice(200, None)
trees, flat = [], []
for size in sizes:
    trees.append(100 * KernelSVC(SubsetTree(0.2).normalized(), C=10).fit(X[:size], y[:size]).score(X[test], y[test]))
    bag = make_pipeline(CountVectorizer(), SVC(kernel="linear")).fit(words[:size], y[:size])
    flat.append(100 * bag.score(words[test], y[test]))
line_chart(
    "Accuracy by training size",
    [Series("tree kernel", sizes, trees), Series("bag of words", sizes, flat, dashed=True)],
    x_label="training questions",
    y_label="accuracy in %",
)

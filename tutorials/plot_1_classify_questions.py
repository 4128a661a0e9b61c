"""
Classify questions
==================

Which kind of answer does a question ask for: a person, a place, a number? We train a classifier on parse trees,
compare it with a bag of words, look at its errors, and ask why it decides as it does. It takes about a minute.

The questions come from the nursery, a synthetic toy corpus that Sapwood generates, so that this notebook needs no
download. For the real thing, ``sapwood data`` says where to get TREC's questions, and nothing else changes.
"""

# %%
# Data
# ----
# Every question has a tree and a label. A ``TreeArray`` holds many trees and shows the first few.
import numpy as np

import sapwood as sw
from sapwood.corpora import nursery

asked = [one for one in nursery.generate(size=800).sentences if one.label is not None]
X = sw.TreeArray([one.tree for one in asked])
y = np.array([one.label[0] for one in asked])
X

# %%
# A bag of words first
# --------------------
# The simplest classifier knows only which words a question has. It is scikit-learn's, on the leaves of the trees.
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

words = [" ".join(tree.leaves()) for tree in X]
train, test = slice(0, 100), slice(100, None)
bag = make_pipeline(CountVectorizer(), SVC(kernel="linear", C=1)).fit(words[train], y[train])
round(bag.score(words[test], y[test]), 3)

# %%
# Trees
# -----
# ``SubsetTree`` counts the fragments that two trees share; ``normalized()`` makes a tree as similar to itself as 1,
# however large it is. ``KernelSVC`` is a scikit-learn estimator.
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC

clf = KernelSVC(SubsetTree(decay=0.2).normalized(), C=10).fit(X[train], y[train])
round(clf.score(X[test], y[test]), 3)

# %%
# Learning curves
# ---------------
# How many questions does each need?
from sapwood.draw import Series, line_chart

sizes = [20, 40, 60, 100, 150]
tests = slice(150, None)
trees, flat = [], []
for size in sizes:
    trees.append(100 * KernelSVC(clf.kernel, C=10).fit(X[:size], y[:size]).score(X[tests], y[tests]))
    flat.append(100 * bag.fit(words[:size], y[:size]).score(words[tests], y[tests]))
line_chart(
    "Accuracy by the number of training questions",
    [Series("trees", sizes, trees), Series("bag of words", sizes, flat, dashed=True)],
    x_label="training questions",
    y_label="accuracy in %",
)

# %%
# Errors
# ------
# The first error on the test questions:
predicted = clf.predict(X[test])
wrong = np.flatnonzero(predicted != y[test])
if len(wrong):
    at = test.start + int(wrong[0])
    print(" ".join(X[at].leaves()), "| label", y[at], "| predicted", predicted[wrong[0]])

# %%
# Why?
# ----
# A decision is a sum over the nodes of the tree. Each node adds what the fragments below it weigh.
clf.explain("(SBARQ (WHNP (WP Who)) (SQ (VP (VBZ eats) (NP (DT the) (NN apple)))) (. ?))", top=5)

# %%
# What has the classifier learnt about persons (``HUM``) in general?
clf.fragments("HUM", top=8)

# %%
# Keep it
# -------
# A model file holds numbers and JSON, never a pickle.
sw.save(clf, "questions.sap")
bool((sw.load("questions.sap").predict(X[test]) == predicted).all())

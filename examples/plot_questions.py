"""
Classify questions, and ask why
===============================

A classifier on trees says which kind of answer a question asks for, and which nodes and fragments of its tree count
for it. The questions are from the nursery, a synthetic corpus that Sapwood generates from a grammar.
"""

# sphinx_gallery_thumbnail_number = 3

import numpy as np

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.draw import Bar, bar_chart
from sapwood.kernels import PartialTree, SubsetTree, Subtree
from sapwood.learn import KernelSVC

asked = [one for one in nursery.generate(size=800).sentences if one.label is not None]
X = sw.TreeArray([one.tree for one in asked])
y = np.array([one.label[0] for one in asked])
X

# %%
# The first hundred teach, the others test.
bars = []
for kernel in (Subtree(), SubsetTree(decay=0.2), PartialTree()):
    model = KernelSVC(kernel.normalized(), C=10).fit(X[:100], y[:100])
    bars.append(Bar(type(kernel).__name__, 100 * model.score(X[100:], y[100:])))
bar_chart("Accuracy by kernel", bars, label="accuracy in %", decimals=1)

# %%
# Why does the model think that this question asks for a person? Orange nodes speak for it, blue ones against it.
model = KernelSVC(SubsetTree(decay=0.2).normalized(), C=10).fit(X[:100], y[:100])
model.explain("(SBARQ (WHNP (WP Who)) (SQ (VP (VBZ eats) (NP (DT the) (NN apple)))) (. ?))", top=5)

# %%
# And what has it learnt about persons in general?
model.fragments("HUM", top=8)

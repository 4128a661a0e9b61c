"""
Which module is a function from?
================================

Source code as trees: functions of the standard library are read, compared and classified, and a decision is explained.
"""

# %%
# The functions of three modules, each parsed by Python itself. With tree-sitter, ``Tree.from_tree_sitter`` does the
# same for other languages.

import argparse
import ast
import collections
import statistics

import numpy as np
from sklearn.model_selection import cross_val_score

import sapwood as sw

trees, modules = [], []
for module in (argparse, collections, statistics):
    with open(module.__file__, encoding="utf-8") as file:
        for node in ast.walk(ast.parse(file.read())):
            if isinstance(node, ast.FunctionDef):
                trees.append(sw.Tree.from_ast(node))
                modules.append(module.__name__)
X, y = sw.TreeArray(trees), np.array(modules)
X

# %%
# Search by pattern: functions that raise something inside of an ``if``.

found = X.contains("If << Raise")
print(f"{found.sum()} of {len(X)} functions raise something under a condition")

# %%
# Compare: the two functions of different modules that share most, by a normalised subset-tree kernel.

kernel = sw.kernels.SubsetTree(decay=0.3).normalized()
K = kernel(X)
K[y[:, None] == y[None, :]] = 0
a, b = np.unravel_index(K.argmax(), K.shape)
for index in (a, b):
    name = X[index].find("name")[0].leaves()[0]
    print(f"{y[index]}.{name}: {X[index].size()} nodes, similarity {K[a, b]:.2f}")

# %%
# Classify: which module a function is from.

model = sw.learn.KernelSVC(kernel, C=10)
accuracy = cross_val_score(model, X, y, cv=3).mean()
frequent = np.unique(y, return_counts=True)[1].max() / len(y)
bars = [sw.draw.Bar("tree kernel", accuracy), sw.draw.Bar("always the most frequent module", frequent)]
sw.draw.bar_chart("Which module is a function from?", bars, label="accuracy")

# %%
# Explain: the fragments of code that decide about one function.

model.fit(X, y)
print(model.explain(X[:1]))

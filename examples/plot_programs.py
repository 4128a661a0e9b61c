"""
Which functions do the same? Trees of programs
==============================================

Python code is a tree too. The partial tree kernel finds the function most similar to a given one, whatever its
variables are called.
"""

# sphinx_gallery_thumbnail_number = 2

import re

import sapwood as sw
from sapwood.draw import Bar, bar_chart
from sapwood.kernels import PartialTree

functions = {
    "total": "def total(xs):\n    s = 0\n    for x in xs:\n        s += x\n    return s",
    "product": "def product(ys):\n    p = 1\n    for y in ys:\n        p *= y\n    return p",
    "longest": "def longest(words):\n    return max(words, key=len)",
    "count": "def count(xs, y):\n    n = 0\n    for x in xs:\n        if x == y:\n            n += 1\n    return n",
}


def tree_of(source):
    """Return the syntax tree without names."""
    return sw.Tree.from_ast(re.sub(r"\b(xs|ys|words|s|p|n|x|y)\b", "v", source))


X = sw.TreeArray([tree_of(source) for source in functions.values()])
X[2:3]

# %%
# How similar is ``total`` to the others?
values = PartialTree(decay=0.4).normalized()(X[:1], X)[0]
bar_chart(
    "Similarity to total", [Bar(name, float(v)) for name, v in zip(functions, values, strict=True)], label="kernel"
)

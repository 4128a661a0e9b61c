"""
May a fragment leave out what is optional?
==========================================

*a car* and *a red car* have no noun phrase in common for a kernel that keeps productions whole. The grammar-driven
tree kernel (GTK) learns from a treebank which children are optional, and may leave them out at a cost.
"""

# sphinx_gallery_thumbnail_number = 2

import sapwood as sw
from sapwood.draw import Bar, bar_chart
from sapwood.kernels import GrammarDriven, PartialTree, SubsetTree
from sapwood.trees import Grammar

one, other = "(NP (DT a) (JJ red) (NN car))", "(NP (DT a) (NN car))"
trees = [
    sw.Tree.fromstring(text) for text in (one, other, "(NP (DT the) (JJ old) (NN house))", "(NP (DT the) (NN man))")
]
grammar = Grammar.from_trees(trees)

# %%
kernels = {"SubsetTree": SubsetTree(), "GrammarDriven": GrammarDriven(grammar), "PartialTree": PartialTree()}
bars = [Bar(name, float(kernel.normalized()([one], [other])[0, 0])) for name, kernel in kernels.items()]
bar_chart("Similarity of 'a red car' and 'a car'", bars, label="normalized kernel")

# %%
# What the two have in common, with what was left out.
GrammarDriven(grammar).normalized().explain(one, other)

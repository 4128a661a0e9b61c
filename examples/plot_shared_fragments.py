"""
What two trees share
====================

A tree kernel counts the fragments that two trees have in common. Here they are, and what they weigh.
"""

# sphinx_gallery_thumbnail_number = 2

import sapwood as sw
from sapwood.draw import Series, line_chart
from sapwood.kernels import PartialTree, SubsetTree, Subtree

first = sw.Tree.fromstring("(S (NP (DT The) (NN dog)) (VP (VBD chased) (NP (DT a) (NN cat))))")
second = sw.Tree.fromstring("(S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (DT a) (JJ small) (NN cat))))")
sw.TreeArray([first, second])

# %%
# The value of the kernel is the sum of what shared fragments weigh.
kernel = SubsetTree(decay=0.4).normalized()
kernel.explain(first, second, top=6)

# %%
# How alike the two are depends on the kind of fragments, and on how much larger ones count. The adjective breaks a
# production, which ``SubsetTree`` minds and ``PartialTree`` does not.
decays = [0.05 * step for step in range(1, 21)]
series = [
    Series(name, decays, [make(decay=decay).normalized()(first, second) for decay in decays])
    for name, make in (("Subtree", Subtree), ("SubsetTree", SubsetTree), ("PartialTree", PartialTree))
]
line_chart("Similarity by decay", series, x_label="decay λ", y_label="normalised kernel")

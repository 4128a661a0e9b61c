"""
How does the decay change what counts?
======================================

The decay λ (lambda) is what each level of a fragment costs. Near 0 only single productions count, near 1 whole trees
do.
"""

import numpy as np

from sapwood.draw import Series, line_chart
from sapwood.kernels import PartialTree, SubsetTree, Subtree

one = "(S (NP (DT The) (NN baker)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ long) (NN letter))))"
other = "(S (NP (DT The) (NN captain)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ red) (NN rose))))"

# %%
# The similarity of two sentences under three kernels, by decay.
decays = np.linspace(0.05, 1, 20)
series = [
    Series(kind.__name__, decays.tolist(), [float(kind(decay=d).normalized()([one], [other])[0, 0]) for d in decays])
    for kind in (Subtree, SubsetTree, PartialTree)
]
line_chart("Similarity by decay", series, x_label="decay λ", y_label="normalized kernel")

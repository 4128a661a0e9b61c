"""
How do similar words count in a tree kernel?
============================================

A plain tree kernel takes *dog* and *puppy* for different words. A semantic kernel is told how similar words are, and
says which words stood for which.
"""

from sapwood.kernels import SemanticSubsetTree, SubsetTree
from sapwood.words import Table

table = Table({("dog", "puppy"): 0.7, ("cat", "kitten"): 0.6, ("chased", "followed"): 0.5})
one = "(S (NP (DT the) (NN dog)) (VP (VBD chased) (NP (DT a) (NN cat))))"
other = "(S (NP (DT the) (NN puppy)) (VP (VBD followed) (NP (DT a) (NN kitten))))"

# %%
# The same two sentences without and with similar words.
for kernel in (SubsetTree(), SemanticSubsetTree(table)):
    print(f"{kernel.normalized()([one], [other])[0, 0]:.3f}  {type(kernel).__name__}")

# %%
# Lines join the words that stand for each other; thick ones weigh most.
SemanticSubsetTree(table).explain(one, other).svg()

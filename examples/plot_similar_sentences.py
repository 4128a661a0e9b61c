"""
Sentences built alike
=====================

Which sentences of a collection are built like a given one? An index of trees finds them, exactly.
"""

# sphinx_gallery_thumbnail_number = 2

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.search import TreeIndex

trees = sw.TreeArray(sentence.tree for sentence in nursery.generate(size=2000).role_sentences())
index = TreeIndex(trees)
query = trees[7]
trees[7:8]

# %%
# The nearest trees, of which the first is the query itself, and what is certain of all others.
found = index.nearest(query, 5)
for number, similarity in found:
    print(f"{similarity:.2f}  {' '.join(index[number].leaves())}")
print(found.certificate())

# %%
# Why the second one is near: the fragments that both share, with weights that add up.
index.explain(query, int(found.numbers[1]), top=5)

# %%
# Sentences that are there more than once, or nearly so.
for group in index.pairs(0.95).groups()[:3]:
    print(len(group), " ".join(index[group.representative].leaves()))

"""
Choose among parses
===================

A parser proposes several trees for each sentence. Learn from such lists which tree is right.
"""

# sphinx_gallery_thumbnail_number = 2

from sapwood.corpora import nursery
from sapwood.draw import Bar, bar_chart
from sapwood.kernels import Linear, SubsetTree
from sapwood.learn import KernelRanker, RecursiveRanker
from sapwood.tasks.reranking import ParseReranker

lists = nursery.generate(size=300).forests(limit=8)
lists[0].parses[:2]

# %%
# A kernel on the trees plus the parser's own score, and a recursive network, learn from 200 lists.
kernel = SubsetTree(decay=0.3).on("tree") + Linear().on("prior")
bars = []
for name, ranker in (
    ("kernel", KernelRanker(kernel, loss="top", epochs=3, random_state=0)),
    ("network", RecursiveRanker(epochs=3, random_state=0)),
):
    scores = ParseReranker(ranker).fit(lists[:200]).evaluate(lists[200:])
    bars.append(Bar(name, 100 * scores.f1))
bars = [Bar("parser's first choice", 100 * scores.first_f1), *bars]
bar_chart("Bracket F1", bars, label="F1 in %", start=90)

"""
How sure is the parser?
=======================

A chart holds all parses of a sentence. Each node of the best one has a probability: how often it stands in a parse.
What is not sure is faint.
"""

from sapwood.corpora import nursery
from sapwood.parse import PCFGParser

parser = PCFGParser().fit(nursery.generate(size=200).trees)
chart = parser.chart(["Anna", "saw", "the", "child", "with", "the", "old", "scarf", "."])

# %%
# Does Anna have the scarf, or the child? The parser takes the child, and is not sure of that noun phrase.
chart.svg()

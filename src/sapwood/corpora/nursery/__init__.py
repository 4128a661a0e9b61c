"""The nursery: a small synthetic corpus, made by a grammar, for trying things out where there is no treebank.

It is not a benchmark. Its English is made from a few hundred words and twenty constructions, so that examples and tests
have something to work on: gold trees, question types, paraphrase pairs, alternative parses, roles, a taxonomy. Scores
on it say that code works; they say nothing about language.

>>> from sapwood.corpora import nursery
>>> nursery.generate()
Nursery(3,000 sentences, 1,500 of them questions; 1,000 pairs; seed 0)
"""

from sapwood.corpora.nursery.corpus import Nursery
from sapwood.corpora.nursery.generator import generate
from sapwood.lazy import public_names

__all__ = ["Nursery", "generate"]

__dir__ = public_names(__name__)

"""The nursery: a small corpus grown from a grammar, for trying things out where there is no treebank.

It is a garden, not a benchmark. Its English is made from a few hundred words and twenty constructions, so that
examples and tests have something to work on: gold trees, question types, paraphrase pairs, alternative parses, a
taxonomy. Scores on it say that code works; they say nothing about language.

>>> from sapwood.corpora import nursery
>>> garden = nursery.grow()
>>> garden
Nursery(3,000 sentences, 1,500 of them questions; 1,000 pairs; seed 0)
"""

from sapwood.corpora.nursery.garden import Nursery, NurseryPair, NurserySentence, grow
from sapwood.corpora.nursery.lexicon import Lexicon, lexicon
from sapwood.lazy import public_names

__all__ = ["Lexicon", "Nursery", "NurseryPair", "NurserySentence", "grow", "lexicon"]

__dir__ = public_names(__name__)

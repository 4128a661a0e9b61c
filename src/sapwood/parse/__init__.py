"""From text to trees: splitting text, a parser that learns from treebanks, wrappers of others, and incremental trees.

``base`` says what every parser does, ``parameter`` what may be passed as ``parser=``, ``reading`` how examples of any
kind become trees. Stands on ``trees`` alone; reading the output of other parsers from files belongs in ``corpora``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

# Loaded when first used: the parser needs scikit-learn, the tokenizer nothing.
_HOMES = {
    "BaseParser": "base",
    "BeneparParser": "external.benepar",
    "BllipParser": "external.bllip",
    "Constituent": "chart",
    "CoreNLPParser": "external.corenlp",
    "FlatParser": "parameter",
    "PCFGParser": "pcfg",
    "ParseChart": "chart",
    "Parser": "base",
    "Reading": "reading",
    "Sentence": "base",
    "SpanParser": "spans.parser",
    "StanzaParser": "external.stanza",
    "Token": "tokenizing",
    "as_parser": "parameter",
    "jackknife": "jackknifing",
    "read_examples": "reading",
    "silver_trees": "silver",
    "split_sentences": "sentences",
    "tokenize": "tokenizing",
}

__all__ = [
    "BaseParser",
    "BeneparParser",
    "BllipParser",
    "Constituent",
    "CoreNLPParser",
    "FlatParser",
    "PCFGParser",
    "ParseChart",
    "Parser",
    "Reading",
    "Sentence",
    "SpanParser",
    "StanzaParser",
    "Token",
    "as_parser",
    "jackknife",
    "read_examples",
    "silver_trees",
    "split_sentences",
    "tokenize",
]

if TYPE_CHECKING:
    from sapwood.parse.base import BaseParser, Parser, Sentence
    from sapwood.parse.chart import Constituent, ParseChart
    from sapwood.parse.external.benepar import BeneparParser
    from sapwood.parse.external.bllip import BllipParser
    from sapwood.parse.external.corenlp import CoreNLPParser
    from sapwood.parse.external.stanza import StanzaParser
    from sapwood.parse.jackknifing import jackknife
    from sapwood.parse.parameter import FlatParser, as_parser
    from sapwood.parse.pcfg import PCFGParser
    from sapwood.parse.reading import Reading, read_examples
    from sapwood.parse.sentences import split_sentences
    from sapwood.parse.silver import silver_trees
    from sapwood.parse.spans.parser import SpanParser
    from sapwood.parse.tokenizing import Token, tokenize

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

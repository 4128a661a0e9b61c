"""From words to trees: tokenising, parsing with probabilities and n-best lists, and incremental trees.

Stands on ``trees`` alone. Reading the output of other parsers from files belongs in ``corpora``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

# Loaded when first used: the parser needs scikit-learn, the tokenizer nothing.
_HOMES = {
    "SPLITS": "annotation",
    "PCFGParser": "pcfg",
    "Parsed": "pcfg",
    "Token": "tokenizing",
    "from_benepar": "adapters",
    "from_bllip": "adapters",
    "from_corenlp": "adapters",
    "from_stanza": "adapters",
    "jackknife": "jackknifing",
    "parse_texts": "texts",
    "split_sentences": "tokenizing",
    "tokenize": "tokenizing",
}

__all__ = [
    "SPLITS",
    "PCFGParser",
    "Parsed",
    "Token",
    "from_benepar",
    "from_bllip",
    "from_corenlp",
    "from_stanza",
    "jackknife",
    "parse_texts",
    "split_sentences",
    "tokenize",
]

if TYPE_CHECKING:
    from sapwood.parse.adapters import from_benepar, from_bllip, from_corenlp, from_stanza
    from sapwood.parse.annotation import SPLITS
    from sapwood.parse.jackknifing import jackknife
    from sapwood.parse.pcfg import Parsed, PCFGParser
    from sapwood.parse.texts import parse_texts
    from sapwood.parse.tokenizing import Token, split_sentences, tokenize

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

"""Where data comes from: one module per format, and the built-in nursery.

Every module has a function ``read`` and, for formats that people exchange, ``write``. ``read`` yields records one by
one and holds little at a time, so that ``list(read(path))`` is everything at once; where a format is one whole, such as
labeled trees or a FrameNet release, it returns that. Penn brackets are read by ``sapwood.read_trees``.

All readers take the same first argument and raise the same errors:

source : path, pattern, open file, or a list of these
    ``.gz``, ``.xz`` and ``.bz2`` files are decompressed, and a path may lead through an archive:
    ``"treebank.zip/treebank/combined/wsj_*.mrg"``.
encoding : str
    Encoding of the files, UTF-8 unless it is given.
FormatError, BracketError
    Where a file breaks the rules of its format, with file, line and column; nothing is passed over in silence.

All writers take what ``read`` gives and a path. The file appears whole or not at all, compressed if its name ends in
``.gz``, ``.xz`` or ``.bz2``; ``DataError`` says what the format cannot hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

# Formats are loaded when they are first used, so that asking for one does not pay for all.
_HOMES = {
    "allennlp": None,
    "brown": None,
    "conll05": None,
    "conll09": None,
    "conllu": None,
    "corenlp": None,
    "find_nltk": ".nltk_data",
    "framenet": None,
    "kelp": None,
    "labeled": None,
    "nbest": None,
    "nursery": None,
    "pairs": None,
    "parsed_texts": None,
    "propbank": None,
    "propbank_columns": None,
    "questions": None,
    "role_lines": None,
    "rolesets": None,
    "text_pairs": None,
    "tree_pairs": None,
}

__all__ = [
    "allennlp",
    "brown",
    "conll05",
    "conll09",
    "conllu",
    "corenlp",
    "find_nltk",
    "framenet",
    "kelp",
    "labeled",
    "nbest",
    "nursery",
    "pairs",
    "parsed_texts",
    "propbank",
    "propbank_columns",
    "questions",
    "role_lines",
    "rolesets",
    "text_pairs",
    "tree_pairs",
]

if TYPE_CHECKING:
    from sapwood.corpora import (
        allennlp,
        brown,
        conll05,
        conll09,
        conllu,
        corenlp,
        framenet,
        kelp,
        labeled,
        nbest,
        nursery,
        pairs,
        parsed_texts,
        propbank,
        propbank_columns,
        questions,
        role_lines,
        rolesets,
        text_pairs,
        tree_pairs,
    )
    from sapwood.nltk_data import find_nltk

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

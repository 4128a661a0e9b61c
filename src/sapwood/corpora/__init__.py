"""Where data comes from: one reader per format, and the built-in nursery.

Every ``iter_*`` function is lazy and holds little at a time; the ``read_*`` function beside it reads everything. All of
them take paths, patterns, open files, compressed files and members of archives, and raise ``FormatError`` or
``BracketError`` with file, line and column. Penn brackets are read by ``sapwood.read_trees``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.lazy import lazy_names

# Readers are loaded when they are first used, so that asking for one does not pay for all.
_HOMES = {
    "CoreNLPSentence": "corenlp",
    "DependencySentence": "conllu",
    "FormatError": ".sources",
    "KelpExample": "kelp",
    "NBest": "nbest",
    "PropInstance": "propbank",
    "Question": "questions",
    "Row": "conllu",
    "SentencePair": "pairs",
    "find_nltk": ".nltk_data",
    "framenet": None,
    "iter_brown": "brown",
    "iter_conll05": "conll05",
    "iter_conll09": "conll09",
    "iter_conllu": "conllu",
    "iter_corenlp": "corenlp",
    "iter_corenlp_json": "corenlp",
    "iter_joined": "skeletons",
    "iter_kelp": "kelp",
    "iter_msr": "pairs",
    "iter_nbest": "nbest",
    "iter_prop_instances": "propbank",
    "iter_props": "props",
    "iter_questions": "questions",
    "iter_quora": "pairs",
    "iter_role_lines": "role_lines",
    "iter_shared_task": "conll05",
    "iter_skeletons": "skeletons",
    "kelp_labels": "shapes",
    "lexical_centred": "shapes",
    "nursery": None,
    "plain_labels": "shapes",
    "read_conllu": "conllu",
    "read_corenlp": "corenlp",
    "read_kelp": "kelp",
    "read_labelled": "labelled",
    "read_msr": "pairs",
    "read_nbest": "nbest",
    "read_parsed_texts": "tree_pairs",
    "read_prop_instances": "propbank",
    "read_props": "props",
    "read_questions": "questions",
    "read_quora": "pairs",
    "read_text_pairs": "pairs",
    "read_tree_pairs": "tree_pairs",
    "relation_centred": "shapes",
    "surface_proposition": "propbank",
    "words_only": "shapes",
    "write_conll09": "conll09",
    "write_conllu": "conllu",
    "write_corenlp": "corenlp",
    "write_joined": "skeletons",
    "write_kelp": "kelp",
    "write_msr": "pairs",
    "write_nbest": "nbest",
    "write_parsed_texts": "tree_pairs",
    "write_prop_instances": "propbank",
    "write_props": "props",
    "write_questions": "questions",
    "write_quora": "pairs",
    "write_role_lines": "role_lines",
    "write_skeletons": "skeletons",
    "write_tree_pairs": "tree_pairs",
}

__all__ = [
    "CoreNLPSentence",
    "DependencySentence",
    "FormatError",
    "KelpExample",
    "NBest",
    "PropInstance",
    "Question",
    "Row",
    "SentencePair",
    "find_nltk",
    "framenet",
    "iter_brown",
    "iter_conll05",
    "iter_conll09",
    "iter_conllu",
    "iter_corenlp",
    "iter_corenlp_json",
    "iter_joined",
    "iter_kelp",
    "iter_msr",
    "iter_nbest",
    "iter_prop_instances",
    "iter_props",
    "iter_questions",
    "iter_quora",
    "iter_role_lines",
    "iter_shared_task",
    "iter_skeletons",
    "kelp_labels",
    "lexical_centred",
    "nursery",
    "plain_labels",
    "read_conllu",
    "read_corenlp",
    "read_kelp",
    "read_labelled",
    "read_msr",
    "read_nbest",
    "read_parsed_texts",
    "read_prop_instances",
    "read_props",
    "read_questions",
    "read_quora",
    "read_text_pairs",
    "read_tree_pairs",
    "relation_centred",
    "surface_proposition",
    "words_only",
    "write_conll09",
    "write_conllu",
    "write_corenlp",
    "write_joined",
    "write_kelp",
    "write_msr",
    "write_nbest",
    "write_parsed_texts",
    "write_prop_instances",
    "write_props",
    "write_questions",
    "write_quora",
    "write_role_lines",
    "write_skeletons",
    "write_tree_pairs",
]

if TYPE_CHECKING:
    from sapwood.corpora import framenet, nursery
    from sapwood.corpora.brown import iter_brown
    from sapwood.corpora.conll05 import iter_conll05, iter_shared_task
    from sapwood.corpora.conll09 import iter_conll09, write_conll09
    from sapwood.corpora.conllu import DependencySentence, Row, iter_conllu, read_conllu, write_conllu
    from sapwood.corpora.corenlp import CoreNLPSentence, iter_corenlp, iter_corenlp_json, read_corenlp, write_corenlp
    from sapwood.corpora.kelp import KelpExample, iter_kelp, read_kelp, write_kelp
    from sapwood.corpora.labelled import read_labelled
    from sapwood.corpora.nbest import NBest, iter_nbest, read_nbest, write_nbest
    from sapwood.corpora.pairs import (
        SentencePair,
        iter_msr,
        iter_quora,
        read_msr,
        read_quora,
        read_text_pairs,
        write_msr,
        write_quora,
    )
    from sapwood.corpora.propbank import (
        PropInstance,
        iter_prop_instances,
        read_prop_instances,
        surface_proposition,
        write_prop_instances,
    )
    from sapwood.corpora.props import iter_props, read_props, write_props
    from sapwood.corpora.questions import Question, iter_questions, read_questions, write_questions
    from sapwood.corpora.role_lines import iter_role_lines, write_role_lines
    from sapwood.corpora.shapes import kelp_labels, lexical_centred, plain_labels, relation_centred, words_only
    from sapwood.corpora.skeletons import iter_joined, iter_skeletons, write_joined, write_skeletons
    from sapwood.corpora.tree_pairs import read_parsed_texts, read_tree_pairs, write_parsed_texts, write_tree_pairs
    from sapwood.nltk_data import find_nltk
    from sapwood.sources import FormatError

__getattr__, __dir__ = lazy_names(__name__, _HOMES)

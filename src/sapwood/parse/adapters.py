"""What other parsers leave in memory, turned into trees and lists. None of them is imported; their objects are enough.

Files that they write are read by ``sapwood.corpora``: ``read_corenlp``, ``iter_corenlp_json`` and ``read_nbest``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sapwood.errors import DataError
from sapwood.trees.array import TreeArray
from sapwood.trees.nbest import NBest
from sapwood.trees.tree import Tree

__all__ = ["from_benepar", "from_bllip", "from_corenlp", "from_stanza"]

_UNPARSED = "SENTENCE_SKIPPED_OR_UNPARSABLE"


def from_stanza(document: Any) -> list[Tree]:
    """Return the trees of a Stanza document, one per sentence.

    Parameters
    ----------
    document : stanza.Document
        Of a pipeline with the processor ``constituency``.

    Raises
    ------
    DataError
        If a sentence has no tree.
    """
    trees = []
    for index, sentence in enumerate(_sentences(document, "sentences", "a stanza.Document")):
        tree = getattr(sentence, "constituency", None)
        if tree is None:
            raise DataError(
                f"sentence {index} of the Stanza document has no tree; run "
                "stanza.Pipeline(processors='tokenize,pos,constituency')."
            )
        trees.append(_copied(tree))
    return trees


def from_benepar(document: Any) -> list[Tree]:
    """Return the trees of a spaCy document that benepar has parsed, one per sentence.

    Parameters
    ----------
    document : spacy.tokens.Doc
        Of a pipeline with the component ``benepar``.
    """
    trees = []
    for index, sentence in enumerate(_sentences(document, "sents", "a spaCy Doc")):
        try:
            text = sentence._.parse_string
        except AttributeError:
            raise DataError(
                f"sentence {index} of the spaCy document has no parse_string; add the component with "
                "nlp.add_pipe('benepar', config={'model': 'benepar_en3'})."
            ) from None
        trees.append(Tree.fromstring(text))
    return trees


def from_corenlp(document: Any) -> list[Tree | None]:
    """Return the trees of CoreNLP's JSON, as its server sends it; None for sentences that it left unparsed.

    Parameters
    ----------
    document : dict
        With the list ``sentences``, each with its ``parse``.

    Examples
    --------
    >>> print(from_corenlp({"sentences": [{"index": 0, "parse": "(ROOT\\n  (NP (NN rain)))"}]})[0])
    (ROOT (NP (NN rain)))
    """
    sentences = document.get("sentences") if isinstance(document, dict) else None
    if not isinstance(sentences, list):
        raise DataError("expected CoreNLP's JSON as a dict with the list 'sentences'; ask for outputFormat json.")
    trees: list[Tree | None] = []
    for index, sentence in enumerate(sentences):
        text = sentence.get("parse") if isinstance(sentence, dict) else None
        if not isinstance(text, str):
            raise DataError(f"sentence {index} of CoreNLP's JSON has no 'parse'; run it with the annotator parse.")
        trees.append(None if text == _UNPARSED else Tree.fromstring(text))
    return trees


def from_bllip(parses: Any) -> NBest:
    """Return the n-best list of the BLLIP (Charniak) parser for one sentence.

    Parameters
    ----------
    parses : bllipparser.NBestList or iterable of ScoredParse
        What ``RerankingParser.parse`` returns; scores are the parser's own log-probabilities.
    """
    if isinstance(parses, str) or not isinstance(parses, Iterable):
        raise DataError(f"expected the list that RerankingParser.parse returns, got {type(parses).__name__}.")
    found = list(parses)
    if not found:
        raise DataError("BLLIP found no parse for the sentence; there is nothing to convert.")
    for index, one in enumerate(found):
        if not hasattr(one, "ptb_parse") or not hasattr(one, "parser_score"):
            raise DataError(f"parse {index} is a {type(one).__name__} without ptb_parse and parser_score.")
    trees = TreeArray([str(one.ptb_parse) for one in found])
    return NBest(trees, np.array([float(one.parser_score) for one in found]))


def _sentences(document: Any, name: str, expected: str) -> Iterable[Any]:
    sentences = getattr(document, name, None)
    if not isinstance(sentences, Iterable):
        raise DataError(f"expected {expected} with .{name}, got {type(document).__name__}.")
    return sentences


def _copied(root: Any) -> Tree:
    """Copy anything with ``label`` and ``children``."""
    built: list[Tree] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        children = tuple(node.children)
        if not ready and children:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(children))
            continue
        below = built[len(built) - len(children) :]
        del built[len(built) - len(children) :]
        built.append(Tree(str(node.label), below))
    return built[0]

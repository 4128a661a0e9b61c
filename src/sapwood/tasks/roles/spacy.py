"""Roles in a spaCy pipeline: ``nlp.add_pipe("sapwood_roles")``, or with ``config={"model": "roles.sap"}``.

The component reads the parse of each sentence from ``sent._.parse_string``, where benepar and others put it, or parses
with the labeler's own parser. It writes ``doc._.srl``, a list with one dictionary per predicate, and span groups named
``srl-0``, ``srl-1`` and so on, which displaCy draws. spaCy is needed to use this module, not to import it.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from sapwood.errors import DataError, ParameterError
from sapwood.parse.sentences import split_sentences
from sapwood.parse.tokenizing import tokenize
from sapwood.penn import BRACKETS
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.trees.propositions import RoleSentence
from sapwood.trees.tree import Tree

__all__ = ["RoleComponent", "make_component"]


class RoleComponent:
    """A step of a spaCy pipeline that labels roles.

    Parameters
    ----------
    labeler : RoleLabeler
        A fitted labeler.
    """

    def __init__(self, labeler: RoleLabeler) -> None:
        self.labeler = labeler
        _extend()

    def __call__(self, doc: Any) -> Any:
        """Label every sentence of a document."""
        from spacy.tokens import Span

        records: list[dict[str, Any]] = []
        spelled = {(word.begin, word.end): str(word) for word in tokenize(doc.text)}
        for sent in _sentences(doc):
            tokens = [token for token in sent if not token.is_space]
            if tokens:
                # The labeler and its parser have learnt brackets and quotes as the Penn Treebank spells them.
                places = [(token.idx, token.idx + len(token.text)) for token in tokens]
                words = [
                    spelled.get(place, BRACKETS.get(token.text, token.text))
                    for place, token in zip(places, tokens, strict=True)
                ]
                records += _records(self._labeled(sent, words), [token.i for token in tokens])
        doc._.srl = records
        for number, record in enumerate(records):
            doc.spans[f"srl-{number}"] = [
                Span(doc, argument["start"], argument["end"], label=argument["role"])
                for argument in record["arguments"]
            ]
        return doc

    def _labeled(self, sent: Any, words: list[str]) -> RoleSentence:
        text = sent._.parse_string if sent.has_extension("parse_string") else None
        if not text:
            return self.labeler.label(words)
        tree = Tree.fromstring(text)
        if len(tree.leaves()) != len(words):
            raise DataError(f"parse_string has {len(tree.leaves())} leaves for {len(words)} tokens: {sent.text!r}.")
        return self.labeler.label(tree)


def _sentences(doc: Any) -> list[Any]:
    """Return the sentences of the pipeline, or where it has found none, those of Sapwood's own splitter."""
    if doc.has_annotation("SENT_START"):
        return list(doc.sents)
    starts = [sentence[0].begin for sentence in split_sentences(doc.text)]
    first = [token.i for token in doc if token.idx in set(starts)] or [0]
    return [doc[begin:end] for begin, end in zip([0, *first[1:]], [*first[1:], len(doc)], strict=True)]


def _records(sentence: RoleSentence, places: list[int]) -> list[dict[str, Any]]:
    return [
        {
            "predicate": places[one.predicate],
            "lemma": one.lemma,
            "roleset": one.roleset,
            "guessed": one.guessed,
            "arguments": [
                {"role": a.role, "start": places[a.first], "end": places[a.last] + 1, "score": a.score}
                for a in one.arguments
            ],
        }
        for one in sentence.propositions
    ]


def _extend() -> None:
    from spacy.tokens import Doc

    if not Doc.has_extension("srl"):
        Doc.set_extension("srl", default=None)


def make_component(nlp: Any, name: str, model: str) -> RoleComponent:
    """Make the component from a model file or a name, by default that of the English package; spaCy calls this."""
    from sapwood.files import load

    labeler = load(model)
    if not isinstance(labeler, RoleLabeler):
        raise ParameterError(f"{model}: holds a {type(labeler).__name__}, not a RoleLabeler.")
    return RoleComponent(labeler)


# Loading the entry point is what tells spaCy about the component.
if importlib.util.find_spec("spacy") is not None:
    from spacy.language import Language

    if not Language.has_factory("sapwood_roles"):
        Language.factory("sapwood_roles", default_config={"model": "en/roles"}, func=make_component)

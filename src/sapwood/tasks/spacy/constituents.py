"""The parser in a pipeline: trees over sentences, and constituents as spans.

The attributes of spans have the names that benepar has made usual, so that what reads its trees reads these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sapwood.parse.base import BaseParser, Sentence
from sapwood.tasks.spacy.component import Component, Stretch
from sapwood.trees.positions import Positions
from sapwood.trees.tree import Tree

__all__ = ["GROUP", "ParserComponent"]

# The span group of all constituents.
GROUP = "constituents"
# Where documents keep their trees: one row per sentence, its tokens and its tree in brackets, which DocBin can store.
_KEPT = "sapwood_parse"


class ParserComponent(Component):
    """Parses sentences into constituents: ``nlp.add_pipe("sapwood_parser")``.

    ``doc._.trees`` has a ``Tree`` per sentence, None where the parser finds none, and ``doc.spans["constituents"]`` all
    constituents. Spans, such as sentences, have ``_.parse_string``, ``_.tree``, ``_.labels``, ``_.constituents``,
    ``_.parent`` and ``_.children``; of a span that is no constituent these are None or empty.
    """

    kind = BaseParser
    default_name = "sapwood_parser"

    def _wanted(self) -> str:
        return "parser"

    def _answer(self, found: list[Stretch]) -> list[Sentence]:
        return list(self.model.parse_sentences([one.words for one in found]))

    def _annotate(self, doc: Any, found: list[Stretch], answers: list[Sentence]) -> None:
        from spacy.tokens import Span

        doc.user_data[_KEPT] = [
            [list(one.places), "" if answer.how == "flat" else str(answer.tree)]
            for one, answer in zip(found, answers, strict=True)
        ]
        doc.spans[GROUP] = [
            Span(doc, places[at.first[node]], places[at.last[node]] + 1, label=at.labels[node])
            for places, at in _parses(doc)
            for node in range(len(at))
            if _is_phrase(at, node)
        ]

    def _extend(self) -> None:
        from spacy.tokens import Doc, Span

        if not Doc.has_extension("trees"):
            Doc.set_extension("trees", getter=_trees)
        for name, getter in _GETTERS.items():
            own = Span.get_extension(name)[2] if Span.has_extension(name) else None
            if not isinstance(own, _Getter):
                Span.set_extension(name, getter=_Getter(getter, own), force=True)


class _Getter:
    """An attribute of spans, in documents that another program has parsed as that program has it."""

    def __init__(self, own: Callable[[Any], Any], other: Callable[[Any], Any] | None) -> None:
        self.own, self.other = own, other

    def __call__(self, span: Any) -> Any:
        if _KEPT not in span.doc.user_data and self.other is not None:
            return self.other(span)
        return self.own(span)


def _parses(doc: Any) -> Iterator[tuple[list[int], Positions]]:
    for places, text in doc.user_data.get(_KEPT, ()):
        if text:
            yield list(places), Positions(Tree.fromstring(text))


def _trees(doc: Any) -> list[Tree | None] | None:
    kept = doc.user_data.get(_KEPT)
    return None if kept is None else [Tree.fromstring(text) if text else None for _, text in kept]


def _is_phrase(at: Positions, node: int) -> bool:
    return bool(at.children[node]) and not at.is_tag(node)


def _nodes(span: Any) -> tuple[list[int], Positions, list[int]] | None:
    """Find the nodes over exactly the words of a span, top down, with the tree and the tokens of its sentence."""
    inside = [token.i for token in span if not token.text.isspace()]
    if not inside:
        return None
    for places, text in span.doc.user_data.get(_KEPT, ()):
        if text and places[0] <= inside[0] and inside[-1] <= places[-1]:
            at = Positions(Tree.fromstring(text))
            return list(places), at, at.spanning(places.index(inside[0]), places.index(inside[-1]))
    return None


def _tree(span: Any) -> Tree | None:
    found = _nodes(span)
    return found[1].nodes[found[2][0]] if found and found[2] else None


def _parse_string(span: Any) -> str | None:
    tree = _tree(span)
    return None if tree is None else str(tree)


def _labels(span: Any) -> tuple[str, ...]:
    found = _nodes(span)
    return tuple(found[1].labels[node] for node in found[2] if _is_phrase(found[1], node)) if found else ()


def _spans(span: Any, places: list[int], at: Positions, nodes: list[int]) -> list[Any]:
    bounds = dict.fromkeys((places[at.first[node]], places[at.last[node]] + 1) for node in nodes)
    return [span.doc[begin:end] for begin, end in bounds]


def _constituents(span: Any) -> list[Any]:
    """List the spans of a constituent and of all below it, single words included, each once."""
    found = _nodes(span)
    if not found or not found[2]:
        return []
    places, at, nodes = found
    first, last = at.first[nodes[0]], at.last[nodes[0]]
    # In pre-order, what is below a node follows it.
    inner = [node for node in range(nodes[0], len(at)) if first <= at.first[node] <= at.last[node] <= last]
    return _spans(span, places, at, [node for node in inner if at.children[node]])


def _parent(span: Any) -> Any:
    found = _nodes(span)
    if not found or not found[2]:
        return None
    places, at, nodes = found
    above = at.parent[nodes[0]]
    return None if above < 0 else _spans(span, places, at, [above])[0]


def _children(span: Any) -> list[Any]:
    found = _nodes(span)
    if not found or not found[2]:
        return []
    places, at, nodes = found
    return _spans(span, places, at, [node for node in at.children[nodes[-1]] if at.children[node]])


_GETTERS: dict[str, Callable[[Any], Any]] = {
    "parse_string": _parse_string,
    "tree": _tree,
    "labels": _labels,
    "constituents": _constituents,
    "parent": _parent,
    "children": _children,
}

"""Labelled spans within the line of the sentence: in brackets, and as displaCy takes them.

The counterpart of ``spans``, which draws them under the sentence; layers and what is wrong with them are its business.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sapwood.draw.spans import LabeledSpan, SpanLayer, check_layers, spread
from sapwood.errors import ParameterError

__all__ = ["displacy_spans", "span_brackets"]


def span_brackets(words: Sequence[str], layers: Sequence[SpanLayer]) -> str:
    """Write each layer on one line, or more where its spans overlap: spans in brackets, marked words in stars.

    Examples
    --------
    >>> layer = SpanLayer("Giving", [LabeledSpan("Donor", 0, 0), LabeledSpan("Recipient", 2, 3)], marked=[1])
    >>> print(span_brackets(["Kim", "gave", "the", "dog", "bones"], [layer]))
    Giving: [Donor Kim] *gave* [Recipient the dog] bones
    """
    check_layers(words, layers)
    if not layers:
        return " ".join(words)
    lines = []
    for layer in layers:
        for lane in spread(layer):
            pieces = []
            for span, texts in _cut(words, lane, layer.marked):
                inner = " ".join(f"*{text}*" if marked else text for text, marked in texts)
                pieces.append(f"[{span.label} {inner}]" if span else inner)
            lines.append(f"{layer.title}: {' '.join(pieces)}")
    return "\n".join(lines)


def displacy_spans(words: Sequence[str], layers: Sequence[SpanLayer], *, style: str = "span") -> list[dict[str, Any]]:
    """Return one dictionary per layer, for ``displacy.render(..., style=style, manual=True)``.

    Parameters
    ----------
    words : sequence of str
        The sentence.
    layers : sequence of SpanLayer
        What to draw.
    style : {"span", "ent"}
        Spans by tokens, or by characters.

    Examples
    --------
    >>> layer = SpanLayer("bark", [LabeledSpan("A0", 0, 0), LabeledSpan("V", 1, 1)])
    >>> displacy_spans(["Dogs", "bark"], [layer], style="ent")[0]["ents"]
    [{'start': 0, 'end': 4, 'label': 'A0'}, {'start': 5, 'end': 9, 'label': 'V'}]
    """
    if style not in ("span", "ent"):
        raise ParameterError(f'style must be "span" or "ent", got {style!r}.')
    check_layers(words, layers)
    begins, at = [], 0
    for word in words:
        begins.append(at)
        at += len(word) + 1
    text = " ".join(words)
    drawn: list[dict[str, Any]] = []
    for layer in layers:
        if style == "ent":
            found = [
                {"start": begins[one.first], "end": begins[one.last] + len(words[one.last]), "label": one.label}
                for one in layer.spans
            ]
            drawn.append({"text": text, "ents": found, "title": layer.title})
        else:
            spans = [{"start_token": one.first, "end_token": one.last + 1, "label": one.label} for one in layer.spans]
            drawn.append({"text": text, "tokens": list(words), "spans": spans, "title": layer.title})
    return drawn


def _cut(
    words: Sequence[str], lane: Sequence[LabeledSpan], marked: Sequence[int]
) -> list[tuple[LabeledSpan | None, list[tuple[str, bool]]]]:
    """Cut the words into stretches with a span over them or none, and these into texts that are marked or not."""
    bounds: list[tuple[LabeledSpan | None, int, int]] = []
    at = 0
    for span in lane:
        bounds += [(None, at, span.first), (span, span.first, span.last + 1)]
        at = span.last + 1
    bounds.append((None, at, len(words)))
    inside = set(marked)
    pieces = []
    for covering, begin, end in bounds:
        runs = groupby(range(begin, end), key=inside.__contains__)
        texts = [(" ".join(words[word] for word in run), is_marked) for is_marked, run in runs]
        if texts:
            pieces.append((covering, texts))
    return pieces

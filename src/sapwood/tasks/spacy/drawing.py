"""What displaCy draws of constituents, roles and frames, in the colors that these have everywhere else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sapwood.checks import check_choice
from sapwood.errors import DataError
from sapwood.palette import COLOURS, GREY, paint
from sapwood.tasks.spacy.component import stretches
from sapwood.tasks.spacy.constituents import GROUP

__all__ = ["displacy_options"]

_STYLES = {"constituents": "sapwood_parser", "roles": "sapwood_roles", "frames": "sapwood_frames"}


def displacy_options(doc: Any, style: str = "roles") -> dict[str, Any]:
    """Return the arguments with which ``spacy.displacy.render`` or ``serve`` draws a document.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        A document that the pipeline has annotated.
    style : {"constituents", "roles", "frames"}
        What to draw: all constituents of each sentence over it, or one line per predicate or frame.

    Examples
    --------
    ``displacy.render(**displacy_options(doc, "frames"))``
    """
    check_choice(style, "style", tuple(_STYLES))
    layers = _layers(doc, style)
    if layers is None:
        raise DataError(f"the document has no {style}; add the component {_STYLES[style]} to the pipeline.")
    drawn, labels = [], set()
    sentences = [one.span for one in stretches(doc)]
    for title, spans in layers:
        spans = sorted(spans, key=lambda span: (span.start, -span.end))
        home = next((one for one in sentences if spans and one.start <= spans[0].start < one.end), doc[:])
        labels |= {span.label_ for span in spans}
        drawn.append(
            {
                "text": home.text,
                "tokens": [token.text for token in home],
                "spans": [
                    {"start_token": span.start - home.start, "end_token": span.end - home.start, "label": span.label_}
                    for span in spans
                ],
                "title": title,
            }
        )
    return {"docs": drawn, "style": "span", "manual": True, "options": {"colors": _colors(labels)}}


def _layers(doc: Any, style: str) -> list[tuple[str | None, list[Any]]] | None:
    """List what is drawn one below the other: a title, and spans of one sentence."""
    if style == "constituents":
        if GROUP not in doc.spans:
            return None
        spans = list(doc.spans[GROUP])
        return [
            (None, [span for span in spans if one.span.start <= span.start < one.span.end]) for one in stretches(doc)
        ]
    name, key, title = ("srl", "srl", "roleset") if style == "roles" else ("frames", "frame", "frame")
    records = getattr(doc._, name) if doc.has_extension(name) else None
    if records is None:
        return None
    return [(one[title], list(doc.spans[f"{key}-{number}"])) for number, one in enumerate(records)]


def _colors(labels: Iterable[str]) -> dict[str, str]:
    """Give each label the color that it has in other pictures, on light paper, which displaCy's are made for."""
    numbers = {label: GREY if label in ("V", "C-V") else paint(label) for label in sorted(labels)}
    return {label: COLOURS[str(number)][0] for label, number in numbers.items()}

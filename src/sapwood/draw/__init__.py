"""Trees and spans as pictures and as text for the terminal. Knows trees and words, and nothing else."""

from sapwood.draw.html import fragment_table, page, panel
from sapwood.draw.inline import displacy_spans, span_brackets, span_html
from sapwood.draw.places import fragment_places
from sapwood.draw.spans import LabelledSpan, SpanLayer, span_svg, span_text
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.draw.text import outline, weighted_outline

__all__ = [
    "LabelledSpan",
    "SpanLayer",
    "displacy_spans",
    "fragment_nodes",
    "fragment_places",
    "fragment_table",
    "outline",
    "page",
    "panel",
    "span_brackets",
    "span_html",
    "span_svg",
    "span_text",
    "weighted_outline",
    "weighted_svg",
]

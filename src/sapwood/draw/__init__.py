"""Trees, spans and charts as pictures and as text for the terminal. Knows trees, words and numbers, nothing else."""

from sapwood.draw.charts import Bar, Point, Series, bar_chart, line_chart, scatter_chart
from sapwood.draw.html import fragment_table, page, panel
from sapwood.draw.inline import displacy_spans, span_brackets, span_html
from sapwood.draw.palette import palette_css
from sapwood.draw.picture import Picture
from sapwood.draw.places import fragment_places
from sapwood.draw.spans import LabelledSpan, SpanLayer, span_svg, span_text
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.draw.text import outline, weighted_outline
from sapwood.lazy import public_names

__all__ = [
    "Bar",
    "LabelledSpan",
    "Picture",
    "Point",
    "Series",
    "SpanLayer",
    "bar_chart",
    "displacy_spans",
    "fragment_nodes",
    "fragment_places",
    "fragment_table",
    "line_chart",
    "outline",
    "page",
    "palette_css",
    "panel",
    "scatter_chart",
    "span_brackets",
    "span_html",
    "span_svg",
    "span_text",
    "weighted_outline",
    "weighted_svg",
]

__dir__ = public_names(__name__)

"""Trees, spans and charts as pictures and as text for the terminal. Knows trees, words and numbers, nothing else."""

from sapwood.draw.charts import Bar, Series, bar_chart, line_chart
from sapwood.draw.linked import linked_svg
from sapwood.draw.roles import role_layers, roles_html, roles_text
from sapwood.draw.spans import LabeledSpan, SpanLayer, span_svg, span_text
from sapwood.draw.text import outline
from sapwood.lazy import public_names

__all__ = [
    "Bar",
    "LabeledSpan",
    "Series",
    "SpanLayer",
    "bar_chart",
    "line_chart",
    "linked_svg",
    "outline",
    "role_layers",
    "roles_html",
    "roles_text",
    "span_svg",
    "span_text",
]

__dir__ = public_names(__name__)

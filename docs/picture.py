"""Draws ``picture.svg``, the picture of the README, with Sapwood itself: python docs/picture.py

Two sentences, what their trees share under a kernel, and the frame that one of them evokes.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import numpy as np

import sapwood as sw
from sapwood.draw import LabeledSpan, SpanLayer, span_svg
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.kernels import SubsetTree

FIRST = "(S (NP (DT The) (NN baker)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ long) (NN letter))))"
SECOND = "(S (NP (DT The) (NN captain)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ red) (NN rose))))"
LAYER = SpanLayer(
    "Sending",
    [LabeledSpan("Sender", 0, 1), LabeledSpan("Recipient", 3, 3), LabeledSpan("Theme", 4, 6)],
    marked=[2],
)
WIDTH, HEIGHT = 860, 352


def picture() -> str:
    """Return the picture as SVG, on a light card so that it shows on any page."""
    kernel = SubsetTree(decay=0.4).normalized()
    first, second = sw.Tree.fromstring(FIRST), sw.Tree.fromstring(SECOND)
    found = kernel.explain(first, second, top=500)
    pieces = []
    for x, tree in ((30, first), (450, second)):
        weights = np.zeros(tree.size())
        for fragment in found.fragments:
            weights[fragment_nodes(tree, fragment.tree)] += fragment.weight
        drawn = weighted_svg(tree, weights.tolist(), marked=np.flatnonzero(weights).tolist())
        pieces.append(drawn.replace("<svg ", f'<svg x="{x}" y="56" ', 1))
    spans = span_svg(first.leaves(), [LAYER])
    pieces.append(spans.replace("<svg ", '<svg x="215" y="282" color="#1c2526" ', 1))
    heading = f"What two trees share: {kernel!r} = {found.value:.3f}"
    text = "".join(pieces)
    # Identifiers of svgling's style say nothing here, and titles inside would be read aloud twice.
    text = re.sub(r"<title>.*?</title>|<defs />", "", text)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img"><title>{escape(heading)}</title>'
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10" fill="#ffffff" stroke="#d5dcd9"/>'
        f'<text x="{WIDTH / 2}" y="34" text-anchor="middle" font-family="system-ui,sans-serif" font-size="16" '
        f'fill="#2f6b3c">{escape(heading)}</text><g color="#1c2526">{text}</g></svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("picture.svg").write_text(picture(), encoding="utf-8")

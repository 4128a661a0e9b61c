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
from sapwood.draw.picture import Picture
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.kernels import SubsetTree
from sapwood.palette import FONT, colour

FIRST = "(S (NP (DT The) (NN baker)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ long) (NN letter))))"
SECOND = "(S (NP (DT The) (NN captain)) (VP (VBD sent) (NP (NNP Anna)) (NP (DT a) (JJ red) (NN rose))))"
LAYER = SpanLayer(
    "Sending",
    [LabeledSpan("Sender", 0, 1), LabeledSpan("Recipient", 3, 3), LabeledSpan("Theme", 4, 6)],
    marked=[2],
)
WIDTH, HEIGHT = 880, 400


def picture() -> str:
    """Return the picture as SVG, on a card that is light or dark as the reader prefers."""
    kernel = SubsetTree(decay=0.4).normalized()
    first, second = sw.Tree.fromstring(FIRST), sw.Tree.fromstring(SECOND)
    found = kernel.explain(first, second, top=500)
    pieces = []
    for x, tree in ((30, first), (455, second)):
        weights = np.zeros(tree.size())
        for fragment in found.fragments:
            weights[fragment_nodes(tree, fragment.tree)] += fragment.weight
        pieces.append(weighted_svg(tree, weights.tolist()).replace("<svg ", f'<svg x="{x}" y="56" ', 1))
    pieces.append(span_svg(first.leaves(), [LAYER]).replace("<svg ", '<svg x="205" y="318" ', 1))
    heading = f"What two trees share: {kernel!r} = {found.value:.3f}"
    # Titles inside would be read aloud twice; inner pictures have their own size.
    text = re.sub(r"<title>.*?</title>", "", "".join(pieces))
    text = re.sub(r' style="max-width:[^"]*"', "", text)
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" fill="currentColor"><title>{escape(heading)}</title>'
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10" '
        f'style="fill:{colour("card")};stroke:{colour("line")}"/>'
        f'<text x="{WIDTH / 2}" y="34" text-anchor="middle" font-family="{FONT}" font-size="16" '
        f'style="fill:{colour("accent")}">{escape(heading)}</text>{text}</svg>\n'
    ).standalone()


if __name__ == "__main__":
    Path(__file__).with_name("picture.svg").write_text(picture(), encoding="utf-8")

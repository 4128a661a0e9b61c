"""Real sentences: what the English models find in them."""

from __future__ import annotations

from collections.abc import Iterator

import sapwood as sw
from sapwood.corpora.nursery import Nursery
from sapwood.draw import outline, span_svg
from sapwood.draw.listing import span_list
from sapwood.draw.roles import role_layers, roles_html
from sapwood.experiments.figures import Figure, Part
from sapwood.packages import find_package
from sapwood.trees.notebook import tree_svg

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Read English"
ABOUT = (
    "Text to constituents, semantic roles and frames, by models that were trained on web text, biomedical articles and "
    "the annotated texts of FrameNet. The sections after it train small models on a synthetic corpus instead."
)

_TEXT = (
    "The committee gave the young researcher a grant because her proposal impressed everyone. "
    "Last night, the police arrested two men who had stolen a car in Bristol. "
    "The decision to close the library was criticized by parents."
)


def run(corpus: Nursery) -> Iterator[Part]:
    """Label a few sentences, with pictures; says what to install where there are no models."""
    if find_package("en") is None:
        yield Figure("The English models are not installed", "", "In a checkout of Sapwood: pip install ./models/en")
        return
    labeled = sw.load("en/roles").label_text(_TEXT)
    tree = labeled[0].tree
    yield Figure("Constituents", tree_svg(tree), outline(tree), wide=True)
    yield Figure(
        "Who did what to whom, and what the roles mean",
        "".join(map(roles_html, labeled)),
        "\n\n".join(span_list(one.words, role_layers(one)) for one in labeled),
        wide=True,
    )
    found = sw.load("en/frames").parse_text(_TEXT)
    yield Figure(
        "Frames, and what fills their roles",
        "".join(span_svg(one.parse.words, one.layers()) for one in found),
        "\n\n".join(span_list(one.parse.words, one.layers()) for one in found),
        wide=True,
    )

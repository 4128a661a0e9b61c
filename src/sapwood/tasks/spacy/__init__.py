"""Steps of spaCy pipelines, ``sapwood_parser``, ``sapwood_roles`` and ``sapwood_frames``, and how displaCy draws them.

One module per kind of answer: ``constituents`` writes trees, ``labels`` roles and frames, ``drawing`` makes what
displaCy takes; ``component`` has what the steps share. spaCy is needed to use this package, not to import it.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from sapwood.lazy import public_names
from sapwood.tasks.spacy.component import Component
from sapwood.tasks.spacy.constituents import ParserComponent
from sapwood.tasks.spacy.drawing import displacy_options
from sapwood.tasks.spacy.labels import FrameComponent, RoleComponent

__all__ = ["FrameComponent", "ParserComponent", "RoleComponent", "displacy_options"]

__dir__ = public_names(__name__)


def make_parser(nlp: Any, name: str, model: str) -> Component:
    """Make ``sapwood_parser``; spaCy calls this."""
    return ParserComponent(model, name=name)


def make_roles(nlp: Any, name: str, model: str) -> Component:
    """Make ``sapwood_roles``; spaCy calls this."""
    return RoleComponent(model, name=name)


def make_frames(nlp: Any, name: str, model: str) -> Component:
    """Make ``sapwood_frames``; spaCy calls this."""
    return FrameComponent(model, name=name)


# Loading an entry point is what tells spaCy about the components.
if importlib.util.find_spec("spacy") is not None:
    from spacy.language import Language

    for _name, _model, _make, _assigns in (
        ("sapwood_parser", "en/parser", make_parser, ["doc._.trees", "doc.spans", "span._.parse_string"]),
        ("sapwood_roles", "en/roles", make_roles, ["doc._.srl", "doc.spans"]),
        ("sapwood_frames", "en/frames", make_frames, ["doc._.frames", "doc.spans"]),
    ):
        if not Language.has_factory(_name):
            Language.factory(_name, default_config={"model": _model}, func=_make, assigns=_assigns)

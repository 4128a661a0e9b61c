"""A lexicon as JSON data, for model files: frames, roles, constraints, lexical units and inheritance."""

from __future__ import annotations

from typing import Any

from sapwood.corpora.framenet.lexicon import Frame, FrameElement, FrameRelation, LexicalUnit, Lexicon
from sapwood.layouts import Field

__all__ = ["LEXICON", "read_lexicon", "write_lexicon"]


def write_lexicon(lexicon: Lexicon) -> dict[str, Any]:
    """Give a lexicon as JSON data."""
    return {
        "frames": [
            [
                frame.name,
                [[each.name, each.core_type, each.excludes, each.requires] for each in frame.elements],
                frame.core_sets,
                [unit.name for unit in frame.lexical_units],
            ]
            for frame in lexicon.frames.values()
        ],
        # Only inheritance is ever asked for again.
        "relations": [
            [each.child, each.parent, each.elements] for each in lexicon.relations if each.kind == "Inheritance"
        ],
    }


def read_lexicon(data: dict[str, Any]) -> Lexicon:
    """Rebuild a lexicon.

    >>> lexicon = Lexicon.of([Frame("Giving", (FrameElement("Donor", excludes=("Giver",)), FrameElement("Giver")))])
    >>> read_lexicon(write_lexicon(lexicon)) == lexicon
    True
    """
    frames = [
        Frame(
            str(name),
            tuple(FrameElement(str(a), str(b), tuple(map(str, c)), tuple(map(str, d))) for a, b, c, d in elements),
            tuple(tuple(map(str, group)) for group in core_sets),
            tuple(LexicalUnit(str(unit)) for unit in units),
        )
        for name, elements, core_sets, units in data["frames"]
    ]
    relations = [
        FrameRelation("Inheritance", str(child), str(parent), tuple((str(a), str(b)) for a, b in pairs))
        for child, parent, pairs in data["relations"]
    ]
    return Lexicon.of(frames, relations)


LEXICON = Field(lambda lexicon, writer: write_lexicon(lexicon), lambda data, reader: read_lexicon(data))

"""What models of frames find: targets with their frames, and the spans that fill the roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sapwood.draw.spans import LabeledSpan, SpanLayer, span_svg
from sapwood.notebook import HtmlTable
from sapwood.tasks.frames.sentences import ParsedSentence

__all__ = ["FrameSentence", "LabeledTarget", "RoleFiller"]


@dataclass(frozen=True)
class RoleFiller(HtmlTable):
    """A predicted argument.

    Attributes
    ----------
    role : str
        Which role it fills.
    first, last : int
        Its first and last token, counted from 0.
    start, end : int
        Its first and last character.
    margin : float
        By how much its score exceeds that of the best other choice for this role, leaving it unfilled included;
        negative where a constraint has forced a second choice.
    """

    role: str
    first: int
    last: int
    start: int
    end: int
    margin: float


@dataclass(frozen=True)
class LabeledTarget(HtmlTable):
    """A target with its frame and predicted arguments.

    Attributes
    ----------
    frame : str
        The frame.
    tokens : tuple of int
        The tokens that evoke it.
    fillers : tuple of RoleFiller
        In the order of the sentence, each with ``role``, ``first`` and ``last`` token, ``start`` and ``end`` character,
        and ``margin``: by how much its score exceeds that of the best other choice for the role.
    status : str
        How sure decoding is of them, as in ``sapwood.decode``.
    """

    frame: str
    tokens: tuple[int, ...]
    fillers: tuple[RoleFiller, ...]
    status: str = "optimal"

    def layer(self) -> SpanLayer:
        """Return what ``sapwood.draw.span_text`` and ``span_svg`` draw under the sentence."""
        spans = [LabeledSpan(filler.role, filler.first, filler.last) for filler in self.fillers]
        return SpanLayer(self.frame, spans, self.tokens)


@dataclass(frozen=True)
class FrameSentence(HtmlTable):
    """A sentence with the frames found in it.

    Attributes
    ----------
    parse : ParsedSentence
        Its words, with their places in the text, and what the parser found about them.
    frames : tuple of LabeledTarget
        In the order of the targets.
    name : str
        Where the sentence comes from.
    how : str
        How its tree was made, as in ``sapwood.parse.Sentence``.
    """

    parse: ParsedSentence
    frames: tuple[LabeledTarget, ...]
    name: str = ""
    how: str = "given"

    def layers(self) -> list[SpanLayer]:
        """Return what ``sapwood.draw.span_text`` and ``span_svg`` draw under the sentence."""
        return [target.layer() for target in self.frames]

    def _repr_html_(self) -> str:
        return span_svg(self.parse.words, self.layers())

    def to_json(self, *, margins: bool = False) -> dict[str, Any]:
        """Return the sentence as JSON data, positions by tokens and by characters."""
        frames = []
        for target in self.frames:
            roles = []
            for filler in target.fillers:
                role: dict[str, Any] = {
                    "role": filler.role,
                    "text": " ".join(self.parse.words[filler.first : filler.last + 1]),
                    "tokens": [filler.first, filler.last],
                    "characters": [filler.start, filler.end],
                }
                if margins:
                    role["margin"] = round(filler.margin, 4)
                roles.append(role)
            found = {"frame": target.frame, "target": list(target.tokens), "roles": roles, "status": target.status}
            frames.append(found)
        named = {"name": self.name} if self.name else {}
        return {**named, "tokens": list(self.parse.words), "frames": frames}

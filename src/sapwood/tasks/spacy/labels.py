"""Roles and frames in a pipeline: dictionaries in ``doc._`` and labeled spans in ``doc.spans``."""

from __future__ import annotations

import re
from typing import Any

from sapwood.tasks.frames.parser import FrameParser
from sapwood.tasks.frames.results import FrameSentence
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.tasks.spacy.component import Component, Stretch
from sapwood.trees.propositions import RoleSentence

__all__ = ["FrameComponent", "RoleComponent"]


class RoleComponent(Component):
    """Labels semantic roles: ``nlp.add_pipe("sapwood_roles")``.

    ``doc._.srl`` has one dictionary per predicate, and the span groups ``srl-0``, ``srl-1`` and so on hold the
    arguments of each. Trees are those of an earlier step (``span._.parse_string``), else those of the labeler's own
    parser.
    """

    kind = RoleLabeler
    default_name = "sapwood_roles"

    def _answer(self, found: list[Stretch]) -> list[RoleSentence]:
        return self.model.predict(self._parsed(found, self.model.parser)) if found else []

    def _annotate(self, doc: Any, found: list[Stretch], answers: list[RoleSentence]) -> None:
        doc._.srl = [
            {
                "predicate": one.places[each.predicate],
                "lemma": each.lemma,
                "roleset": each.roleset,
                "guessed": each.guessed,
                "arguments": [
                    {"role": a.role, "start": one.places[a.first], "end": one.places[a.last] + 1, "score": a.score}
                    for a in each.arguments
                ],
            }
            for one, answer in zip(found, answers, strict=True)
            for each in answer.propositions
        ]
        _group(doc, "srl", [[(a["start"], a["end"], a["role"]) for a in one["arguments"]] for one in doc._.srl])

    def _extend(self) -> None:
        _declare("srl")


class FrameComponent(Component):
    """Finds frames and their arguments: ``nlp.add_pipe("sapwood_frames")``.

    ``doc._.frames`` has one dictionary per frame, and the span groups ``frame-0``, ``frame-1`` and so on hold what
    evokes each, under the name of the frame, and what fills its roles.
    """

    kind = FrameParser
    default_name = "sapwood_frames"

    def _answer(self, found: list[Stretch]) -> list[FrameSentence]:
        return self.model.predict(self._parsed(found, self.model.parser)) if found else []

    def _annotate(self, doc: Any, found: list[Stretch], answers: list[FrameSentence]) -> None:
        doc._.frames = [
            {
                "frame": each.frame,
                "target": [one.places[token] for token in each.tokens],
                "roles": [
                    {
                        "role": filler.role,
                        "start": one.places[filler.first],
                        "end": one.places[filler.last] + 1,
                        "margin": filler.margin,
                    }
                    for filler in each.fillers
                ],
            }
            for one, answer in zip(found, answers, strict=True)
            for each in answer.frames
        ]
        _group(
            doc,
            "frame",
            [
                [
                    (one["target"][0], one["target"][-1] + 1, one["frame"]),
                    *((role["start"], role["end"], role["role"]) for role in one["roles"]),
                ]
                for one in doc._.frames
            ],
        )

    def _extend(self) -> None:
        _declare("frames")


def _declare(name: str) -> None:
    from spacy.tokens import Doc

    if not Doc.has_extension(name):
        Doc.set_extension(name, default=None)


def _group(doc: Any, name: str, groups: list[list[tuple[int, int, str]]]) -> None:
    """Keep labeled spans in groups that are called by a name and a number, in the place of earlier ones."""
    from spacy.tokens import Span

    for key in [key for key in doc.spans if re.fullmatch(rf"{name}-\d+", key)]:
        del doc.spans[key]
    for number, spans in enumerate(groups):
        doc.spans[f"{name}-{number}"] = [Span(doc, begin, end, label=label) for begin, end, label in spans]

"""How many fillers of FrameNet are among the candidates, with and without those in several pieces."""

from __future__ import annotations

from collections import Counter

from sapwood.experiments.tables import Table
from sapwood.tasks.frames import FrameCorpus, FrameInput
from sapwood.tasks.frames.evaluation import gold_coverage
from sapwood.tasks.frames.spans import SPAN_SETS

__all__ = ["coverage"]


def coverage(corpus: FrameCorpus) -> Table:
    """Count the fillers that candidates reach, and the roles whose fillers are not in the sentence."""
    rows: list[tuple[str | int | float, ...]] = []
    notes = []
    for name, data in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test)):
        for spans in SPAN_SETS:
            plain, more = (gold_coverage(data, spans=spans, pieces=pieces) for pieces in (False, True))
            rows.append(
                (
                    name,
                    spans,
                    plain["roles"],
                    plain["repeated"],
                    100 * plain["covered"] / max(plain["roles"], 1),
                    100 * more["covered"] / max(more["roles"], 1),
                    100 * more["covered repeated"] / max(more["repeated"], 1),
                    plain["candidates"] / max(plain["targets"], 1),
                    more["candidates"] / max(more["targets"], 1),
                )
            )
        notes.append(_outside(name, data))
    return Table(
        "coverage",
        "Filled roles whose filler is among the candidates, unannotated targets left out: spans alone, and with pieces",
        (
            "texts",
            "spans",
            "roles",
            "in pieces",
            "covered, %",
            "with pieces, %",
            "of those in pieces, %",
            "candidates",
            "with pieces",
        ),
        rows,
        {
            "covered, %": 1,
            "with pieces, %": 1,
            "of those in pieces, %": 1,
            "candidates": 1,
            "with pieces": 1,
        },
        notes,
    )


def _outside(name: str, data: list[FrameInput]) -> str:
    """Say how many roles are understood though nothing in the sentence fills them, and how many fillers lie outside."""
    targets = [(one, target) for one in data for target in one.targets if target.annotated]
    kinds = Counter(kind for _, target in targets for _, kind in target.null)
    outside = sum(
        not 0 <= filler.start <= filler.end <= one.parse.offsets[-1][1]
        for one, target in targets
        for filler in target.fillers
    )
    fillers = sum(len(target.fillers) for _, target in targets)
    listed = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
    return (
        f"{name}: {outside:,} of {fillers:,} spans lie outside the sentence of their target; "
        f"{sum(kinds.values()):,} roles are not expressed in it ({listed or 'none'})."
    )

"""How good predicted arguments are, what gold annotation does with the constraints, and how much can be found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from sapwood.corpora.framenet import Lexicon
from sapwood.errors import DataError
from sapwood.metrics import Counts, FrameAnalysis, score_frames
from sapwood.tasks.frames.instances import FrameInput, fillers_by_role, instances_of
from sapwood.tasks.frames.results import FrameSentence

__all__ = ["core_of", "evaluate_arguments", "gold_coverage", "gold_violations"]


def evaluate_arguments(
    data: Sequence[FrameInput],
    predicted: Sequence[FrameSentence],
    lexicon: Lexicon,
    *,
    unannotated: bool = True,
) -> Counts:
    """Score the arguments of targets whose frames were given.

    Parameters
    ----------
    data : sequence of FrameInput
        Sentences with gold fillers.
    predicted : sequence of FrameSentence
        What a model has found in them, in the same order.
    lexicon : Lexicon
        Says which roles are core.
    unannotated : bool
        Whether targets whose roles nobody has marked count; everything predicted there is then wrong.
    """
    if len(data) != len(predicted):
        raise DataError(f"there are predictions for {len(predicted)} sentences, and {len(data)} sentences.")
    gold: dict[Hashable, FrameAnalysis] = {}
    guess: dict[Hashable, FrameAnalysis] = {}
    for number, (one, labeled) in enumerate(zip(data, predicted, strict=True)):
        if len(one.targets) != len(labeled.frames):
            raise DataError(f"{one.name or number}: {len(labeled.frames)} predictions for {len(one.targets)} targets.")
        for place, (target, answer) in enumerate(zip(one.targets, labeled.frames, strict=True)):
            if target.annotated or unannotated:
                fillers = [(filler.role, filler.start, filler.end) for filler in target.fillers]
                gold[number, place] = FrameAnalysis(target.frame, fillers)
                found = [(filler.role, filler.start, filler.end) for filler in answer.fillers]
                guess[number, place] = FrameAnalysis(answer.frame, found)
    return score_frames(gold, guess, core_of(lexicon))


def core_of(lexicon: Lexicon) -> Callable[[str, str], bool]:
    """Return a function that tells whether a role of a frame is core; roles that the lexicon lacks are not."""
    core = {
        (frame.name, element.name) for frame in lexicon.frames.values() for element in frame.elements if element.is_core
    }
    return lambda frame, role: (frame, role) in core


def gold_violations(data: Sequence[FrameInput], lexicon: Lexicon) -> dict[str, float]:
    """Count how often gold annotation breaks the constraints, and the share of roles that are filled more than once.

    Returns
    -------
    dict
        ``overlap``, ``excludes`` and ``requires`` count pairs of roles; ``repeated`` is a share.
    """
    counts: Counter[str] = Counter()
    roles = repeated = 0
    for one in data:
        for target in one.targets:
            if not target.annotated:
                continue
            frame = lexicon[target.frame]
            pieces = Counter(filler.role for filler in target.fillers)
            roles += len(pieces)
            repeated += sum(count > 1 for count in pieces.values())
            overt = {frame.index[role] for role in pieces if role in frame.index}
            counts["excludes"] += sum(a in overt and b in overt for a, b in frame.excludes)
            counts["requires"] += sum((a in overt) != (b in overt) for a, b in frame.requires)
            spans = sorted((filler.start, filler.end) for filler in target.fillers)
            counts["overlap"] += sum(
                spans[j][0] <= spans[i][1] for i in range(len(spans)) for j in range(i + 1, len(spans))
            )
    found = {kind: float(counts[kind]) for kind in ("overlap", "requires", "excludes")}
    return found | {"repeated": repeated / roles if roles else 0.0}


def gold_coverage(data: Sequence[FrameInput], *, spans: str = "extended", pieces: bool = False) -> Counter[str]:
    """Count how many filled roles of annotated targets have their filler among the candidates.

    Parameters
    ----------
    data : sequence of FrameInput
        Sentences with gold fillers.
    spans, pieces
        The candidates, as in ``FrameLabeler``.

    Returns
    -------
    Counter
        ``targets`` and their ``candidates``; ``roles`` that are filled, and those ``covered``; ``repeated`` roles,
        which several spans fill, and those ``covered repeated``, whose spans are one candidate together.
    """
    annotated = [replace(one, targets=tuple(each for each in one.targets if each.annotated)) for one in data]
    targets = ((one.parse, target) for one in annotated for target in one.targets)
    counts: Counter[str] = Counter()
    for (parse, target), instance in zip(targets, instances_of(annotated, spans=spans, pieces=pieces), strict=True):
        counts["targets"] += 1
        counts["candidates"] += len(instance.candidates)
        given = Counter(role for role, _, _ in {(one.role, one.start, one.end) for one in target.fillers})
        for role, fillers in fillers_by_role(parse, target).items():
            # Of several spans the first entry is all of them, if they can be one candidate.
            covered = bool(fillers) and len(fillers[0]) == given[role] and fillers[0] in instance.candidates
            counts["roles"] += 1
            counts["covered"] += covered
            counts["repeated"] += given[role] > 1
            counts["covered repeated"] += covered and given[role] > 1
    return counts

"""From annotated sentences to candidate sets and back: what the learner is given, and what its choices mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.framenet.fulltext import FrameTarget
from sapwood.corpora.framenet.lexicon import Lexicon
from sapwood.errors import DataError
from sapwood.learn.candidates import CandidateSets
from sapwood.notebook import HtmlTable
from sapwood.settings import progress_bar
from sapwood.tasks.frames.hashing import code
from sapwood.tasks.frames.rows import Rows, TargetInstance
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.tasks.frames.spans import candidate_spans
from sapwood.tasks.frames.templates import FRAME, GROUPS, ROLE, collect
from sapwood.tasks.inputs import check_annotated

__all__ = [
    "FrameInput",
    "candidate_sets",
    "check_training",
    "instances_of",
    "learnable",
    "right_choices",
    "target_tokens",
]

_AT_ONCE = 200


@dataclass(frozen=True)
class FrameInput(HtmlTable):
    """A parsed sentence and the targets in it whose arguments are wanted (or known).

    Attributes
    ----------
    parse : ParsedSentence
        The sentence.
    targets : tuple of FrameTarget
        Its targets with their frames, and their fillers where these are known.
    name : str
        Where the sentence comes from, for messages.
    find : bool
        Whether its targets are not given but to be found, by a ``FrameParser``.
    """

    parse: ParsedSentence
    targets: tuple[FrameTarget, ...] = ()
    name: str = ""
    find: bool = False


def check_training(X: Iterable[FrameInput], lexicon: Lexicon) -> list[FrameInput]:
    """Return what a model of frames is to learn from, or raise naming what is no annotated sentence."""
    if not isinstance(lexicon, Lexicon):
        raise DataError(
            f"lexicon must be a Lexicon, got {type(lexicon).__name__}; load_framenet and nursery_frames give one."
        )
    hint = "a parsed sentence with targets, as load_framenet, nursery_frames and iter_records give them"
    return check_annotated(X, FrameInput, hint)


def target_tokens(data: FrameInput, target: FrameTarget) -> tuple[int, ...]:
    """Return the tokens of a target; the nearest one if the tokens leave its characters out, as a few do.

    Raises
    ------
    DataError
        If the target lies outside the sentence.
    """
    offsets = data.parse.offsets
    last = offsets[-1][1] if offsets else -1
    tokens: set[int] = set()
    for start, end in target.spans:
        if not 0 <= start <= end or start > last:
            raise DataError(
                f"{data.name or 'sentence'}: the target of {target.frame!r} from character {start} to {end} lies "
                f"outside the sentence, whose last token ends at {last}."
            )
        touching = data.parse.tokens_touching(start, end)
        tokens.update(touching or [min(range(len(offsets)), key=lambda token: abs(offsets[token][0] - start))])
    if not tokens:
        raise DataError(f"{data.name or 'sentence'}: the target of {target.frame!r} has no position.")
    return tuple(sorted(tokens))


def instances_of(data: Iterable[FrameInput], *, spans: str = "extended", gold: bool = False) -> list[TargetInstance]:
    """List what there is to decide, target by target.

    Parameters
    ----------
    data : iterable of FrameInput
        Sentences with targets.
    spans : str
        The heuristic for candidate spans.
    gold : bool
        Whether the spans of known fillers are added, as in training.
    """
    found = []
    for one in data:
        for target in one.targets:
            tokens = target_tokens(one, target)
            candidates = candidate_spans(one.parse, tokens, spans)
            if gold:
                known = [one.parse.tokens_in(filler.start, filler.end) for filler in target.fillers]
                candidates += sorted({span for span in known if span is not None} - set(candidates))
            found.append(TargetInstance(one.parse, tokens, target.frame, tuple(candidates)))
    return found


def candidate_sets(
    instances: Sequence[TargetInstance], lexicon: Lexicon, *, templates: str = "extended", inherit: bool = True
) -> CandidateSets:
    """Make the features of all candidates, and the keys of all roles.

    Parameters
    ----------
    instances : sequence of TargetInstance
        What there is to decide.
    lexicon : Lexicon
        Has the roles of every frame.
    templates : str
        Which templates.
    inherit : bool
        Whether roles share weights with roles of the same core type, and with those that they inherit from.
    """
    if not instances:
        empty = np.zeros(0, np.uint64)
        nothing = np.zeros(0, np.uint32)
        return CandidateSets(
            nothing, empty.reshape(0, GROUPS), empty, empty, empty, nothing, nothing, (1 << GROUPS) - 1
        )
    parts = []
    with progress_bar(len(instances), "features") as progress:
        for start in range(0, len(instances), _AT_ONCE):
            block = instances[start : start + _AT_ONCE]
            rows = Rows(block)
            features, ends = collect(rows, templates)
            keys = [_role_keys(lexicon, instance.frame, inherit) for instance in block]
            decisions = [each for part in keys for each in part]
            parts.append(
                CandidateSets(
                    features,
                    ends,
                    rows.ends.astype(np.uint64),
                    np.cumsum([len(part) for part in keys]).astype(np.uint64),
                    np.cumsum([len(each) for each in decisions]).astype(np.uint64),
                    np.array([key for each in decisions for key, _ in each], np.uint32),
                    np.array([mask for each in decisions for _, mask in each], np.uint32),
                    (1 << GROUPS) - 1,
                )
            )
            if progress is not None:
                progress(start + len(block))
    return CandidateSets.joined(parts)


def _role_keys(lexicon: Lexicon, frame: str, inherit: bool) -> list[list[tuple[int, int]]]:
    """Return for every role of a frame its keys, each with the levels of features that it is paired with."""
    both, most = 1 << ROLE | 1 << FRAME, 1 << FRAME
    made = []
    for role in lexicon[frame].elements:
        found = [(f"role {role.name}", both), (f"frame {frame} role {role.name}", most)]
        if inherit:
            found.append((f"core {role.core_type}", both))
            above = lexicon.ancestors.get((frame, role.name), ())
            found += [(f"frame {parent} role {name}", most) for parent, name in above[:4]]
        made.append([(_key(text), mask) for text, mask in found])
    return made


@lru_cache(maxsize=1 << 16)
def _key(text: str) -> int:
    # Never 0, which is the key of weights that all roles share.
    return (code(text) >> 32) | 1


def right_choices(
    data: Iterable[FrameInput], instances: Sequence[TargetInstance], lexicon: Lexicon
) -> NDArray[np.int64]:
    """Return for every role the number of the candidate that fills it: of several fillers the first, null if none.

    Fillers that do not fall on token boundaries count as null.
    """
    found: list[int] = []
    targets = ((one, target) for one in data for target in one.targets)
    for (one, target), instance in zip(targets, instances, strict=True):
        frame = lexicon[target.frame]
        numbers = {span: number for number, span in enumerate(instance.spans)}
        chosen = [len(instance.spans)] * len(frame.elements)
        for filler in reversed(target.fillers):
            span, role = one.parse.tokens_in(filler.start, filler.end), frame.index.get(filler.role)
            if role is not None and span in numbers:
                chosen[role] = numbers[span]
        found += chosen
    return np.array(found, np.int64)


def learnable(data: Iterable[FrameInput], lexicon: Lexicon) -> list[FrameInput]:
    """Keep the targets that can be learnt from: annotated ones whose frame the lexicon has."""

    def kept(one: FrameInput) -> tuple[FrameTarget, ...]:
        return tuple(target for target in one.targets if target.annotated and target.frame in lexicon)

    return [replace(one, targets=kept(one)) for one in data]

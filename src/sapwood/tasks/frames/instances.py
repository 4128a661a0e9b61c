"""From annotated sentences to candidate sets and back: what the learner is given, and what its choices mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora.framenet.fulltext import FrameTarget
from sapwood.corpora.framenet.lexicon import Lexicon
from sapwood.errors import DataError
from sapwood.learn.candidates import CandidateSets
from sapwood.notebook import HtmlTable
from sapwood.settings import progress_bar
from sapwood.tasks.frames.hashing import code
from sapwood.tasks.frames.pieces import Pieces, candidate_pieces
from sapwood.tasks.frames.rows import Rows, TargetInstance
from sapwood.tasks.frames.sentences import ParsedSentence
from sapwood.tasks.frames.spans import Span, candidate_spans
from sapwood.tasks.frames.templates import FRAME, GROUPS, ROLE, collect
from sapwood.tasks.inputs import check_annotated

__all__ = [
    "FrameInput",
    "candidate_sets",
    "check_training",
    "fillers_by_role",
    "instances_of",
    "learnable",
    "right_choices",
    "role_keys",
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

    def after(self, sentences: Sequence[ParsedSentence]) -> FrameInput:
        """Return the same with sentences before it, so that its roles may be filled there, too.

        Its parse then holds all of them (see ``ParsedSentence.joined``), and its targets and fillers count their
        characters from the beginning of the first. A filler in the text before the sentence is given by positions
        below 0: -1 is the space right before the sentence.

        Examples
        --------
        >>> from sapwood import Tree
        >>> from sapwood.corpora.framenet.fulltext import Filler
        >>> trees = [Tree.fromstring("(S (NP (NN Rain)) (VP (VBD fell)))"), Tree.fromstring("(S (VP (VBD Stopped)))")]
        >>> rain, stopped = map(ParsedSentence.from_tree, trees)
        >>> target = FrameTarget("Process_end", ((0, 6),), (Filler("Process", -10, -7),))
        >>> both = FrameInput(stopped, (target,)).after([rain])
        >>> both.parse.words, both.targets[0].spans, both.targets[0].fillers
        (('Rain', 'fell', 'Stopped'), ((10, 16),), (Filler(role='Process', start=0, end=3),))
        """
        if self.find:
            raise DataError(f"{self.name or 'sentence'}: its targets are not given; find them before adding context.")
        parse = ParsedSentence.joined([*sentences, self.parse])
        by = parse.offsets[-len(self.parse)][0] - self.parse.offsets[0][0] if len(self.parse) else 0
        moved = (
            replace(
                target,
                spans=tuple((start + by, end + by) for start, end in target.spans),
                fillers=tuple(replace(one, start=one.start + by, end=one.end + by) for one in target.fillers),
            )
            for target in self.targets
        )
        return replace(self, parse=parse, targets=tuple(moved))


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


def instances_of(
    data: Iterable[FrameInput], *, spans: str = "extended", pieces: bool = False, gold: bool = False
) -> list[TargetInstance]:
    """List what there is to decide, target by target.

    Parameters
    ----------
    data : iterable of FrameInput
        Sentences with targets.
    spans : str
        The heuristic for candidate spans.
    pieces : bool
        Whether there are candidates in several pieces.
    gold : bool
        Whether known fillers are added, as in training.
    """
    found = []
    for one in data:
        for target in one.targets:
            tokens = target_tokens(one, target)
            candidates: list[Pieces] = [(span,) for span in candidate_spans(one.parse, tokens, spans)]
            if pieces:
                candidates += candidate_pieces(one.parse, tokens)
            if gold:
                known = {each for fillers in fillers_by_role(one.parse, target).values() for each in fillers}
                candidates += sorted({each for each in known if pieces or len(each) == 1} - set(candidates))
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
    with progress_bar(len(instances), "Describing targets", "targets") as progress:
        for start in range(0, len(instances), _AT_ONCE):
            block = instances[start : start + _AT_ONCE]
            rows = Rows(block)
            features, ends = collect(rows, templates)
            keys = [role_keys(lexicon, instance.frame, inherit) for instance in block]
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


def role_keys(lexicon: Lexicon, frame: str, inherit: bool) -> list[list[tuple[int, int]]]:
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
    """Return for every role the number of the candidate that fills it, null if none.

    A filler in several pieces counts as its first piece where it is not itself a candidate, and fillers that do not
    fall on token boundaries count as null.
    """
    found: list[int] = []
    targets = ((one, target) for one in data for target in one.targets)
    for (one, target), instance in zip(targets, instances, strict=True):
        frame = lexicon[target.frame]
        numbers = {pieces: number for number, pieces in enumerate(instance.candidates)}
        chosen = [len(instance.candidates)] * len(frame.elements)
        for name, fillers in fillers_by_role(one.parse, target).items():
            role = frame.index.get(name)
            if role is not None:
                chosen[role] = next((numbers[each] for each in fillers if each in numbers), chosen[role])
        found += chosen
    return np.array(found, np.int64)


def fillers_by_role(parse: ParsedSentence, target: FrameTarget) -> dict[str, list[Pieces]]:
    """Return what fills each role: all its spans as one candidate, if there are several, and then each by itself.

    Spans that do not fall on token boundaries are left out, and so is a whole with such a piece.
    """
    spans: dict[str, list[Span | None]] = {}
    for filler in target.fillers:
        spans.setdefault(filler.role, []).append(parse.tokens_in(filler.start, filler.end))
    found: dict[str, list[Pieces]] = {}
    for role, each in spans.items():
        placed = [span for span in each if span is not None]
        whole = tuple(sorted(set(placed)))
        apart = all(one[1] < other[0] for one, other in pairwise(whole))
        joined = [whole] if len(placed) == len(each) and len(whole) > 1 and apart else []
        found[role] = [*joined, *((span,) for span in placed)]
    return found


def learnable(data: Iterable[FrameInput], lexicon: Lexicon) -> list[FrameInput]:
    """Keep the targets that can be learnt from: annotated ones whose frame the lexicon has."""

    def kept(one: FrameInput) -> tuple[FrameTarget, ...]:
        return tuple(target for target in one.targets if target.annotated and target.frame in lexicon)

    return [replace(one, targets=kept(one)) for one in data]

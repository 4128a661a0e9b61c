"""Which phrases fill the roles of a frame: local choices, and the best choice that the lexicon allows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sapwood.corpora.nursery import Nursery
from sapwood.decode import RoleProblem, decode_roles_batch
from sapwood.draw import span_svg, span_text
from sapwood.experiments.convergence import convergence, with_conflicts
from sapwood.experiments.figures import Figure, Part, side_by_side
from sapwood.experiments.measuring import Stopwatch
from sapwood.experiments.tables import Table
from sapwood.tasks.frames import (
    FrameIdentifier,
    FrameInput,
    FrameLabeler,
    FrameSentence,
    evaluate_arguments,
    nursery_frames,
)

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Frame-semantic parsing"
ABOUT = (
    "Which phrases fill the roles of a frame? Scores alone pick spans that overlap or break what the lexicon says; "
    "exact decoding finds the best choice that is allowed, and proves it."
)


def run(corpus: Nursery) -> Iterator[Part]:
    """Train on a few sentences, decode the others in three ways, and find frames from nothing."""
    lexicon, data = nursery_frames(corpus)
    groups = np.array([sentence.group for sentence in corpus.sentences])
    # A tenth is enough to learn from: with more, the model makes no mistake that constraints could mend.
    train = [data[number] for number in np.flatnonzero(groups % 10 == 0)]
    test = [data[number] for number in np.flatnonzero(groups % 10 == 1)]
    with Stopwatch() as training:
        labeler = FrameLabeler(bits=18, alpha=0.3, epochs=6).fit(train, lexicon=lexicon)
    labelled = labeler.predict(test)
    longest = max(labelled, key=lambda one: len(one.frames[0].fillers))
    words, layers = longest.parse.words, longest.layers()
    yield Figure(
        "A frame and the phrases that fill its roles",
        span_svg(words, layers),
        span_text(words, layers, width=64),
        wide=True,
    )
    scored = labeler.score_candidates(test)
    problems = scored.problems(lexicon)
    rows: list[tuple[str | int | float, ...]] = []
    decoded: dict[str, list[FrameSentence]] = {}
    for name, method in (("each role by itself", "local"), ("no overlaps (beam)", "beam"), ("best allowed", "exact")):
        with Stopwatch() as decoding:
            results = decode_roles_batch(problems, method=method)
        answers = decoded[method] = labeler.to_sentences(scored, results)
        scores = evaluate_arguments(test, answers, lexicon)
        broken = [sum(result.violations[kind] for result in results) for kind in ("overlap", "requires", "excludes")]
        rows.append((name, scores.precision, scores.recall, scores.f1, *broken, 1000 * decoding.wall))
    yield Table(
        "frames",
        f"Trained on {len(train)} sentences in {training.wall:.1f} s, tested on {len(test)}; broken constraints",
        ("decoding", "P", "R", "F1", "overlap", "requires", "excludes", "ms"),
        rows,
        {"P": 3, "R": 3, "F1": 3, "ms": 1},
    )
    found = FrameIdentifier(bits=16).fit(train, lexicon=lexicon).predict([one.parse for one in test])
    right = sum(
        [target.frame for target in one.targets] == [target.frame for target in targets]
        for one, targets in zip(test, found, strict=True)
    )
    yield f"Frames found without help: right in {right} of {len(test)} sentences"
    yield _before_and_after(test, decoded["local"], decoded["exact"])
    yield _convergence(problems)


def _before_and_after(test: list[FrameInput], local: list[FrameSentence], exact: list[FrameSentence]) -> Figure:
    """Draw the sentences whose spans decoding changes most."""
    changed = sorted(
        (number for number in range(len(test)) if local[number] != exact[number]),
        key=lambda number: -len(set(local[number].frames[0].fillers) ^ set(exact[number].frames[0].fillers)),
    )
    sides = {"each role by itself": local, "best allowed": exact}
    pairs = [
        side_by_side(*((title, span_svg(test[at].parse.words, answer[at].layers())) for title, answer in sides.items()))
        for at in changed[:3]
    ]
    return Figure(
        "Frames before and after exact decoding",
        "".join(pairs) or "<p>Decoding changes nothing here.</p>",
        notes=("Before, spans overlap or stand twice; after, the best assignment that the lexicon allows.",),
        wide=True,
    )


def _convergence(problems: list[RoleProblem]) -> Figure:
    hard = with_conflicts(problems, most=30)
    return Figure(
        f"How AD3 converges, beside the subgradient method: mean of {len(hard)} problems",
        convergence(hard, "sentences with conflicts").chart,
        notes=("Dual: the upper bound. Primal, dashed: what the consensus is worth; it may break constraints.",),
    )

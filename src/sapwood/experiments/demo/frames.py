"""Which phrases fill the roles of a frame: local choices, and the best choice that the lexicon allows."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from sapwood.corpora.nursery import Nursery
from sapwood.decode import decode_roles_batch
from sapwood.draw import span_text
from sapwood.experiments.tables import Table
from sapwood.tasks.frames import FrameIdentifier, FrameLabeler, evaluate_arguments, nursery_frames

__all__ = ["TITLE", "run"]

TITLE = "Label frames"


def run(garden: Nursery) -> Iterator[Table | str]:
    """Train on a few sentences, decode the others in three ways, and find frames from nothing."""
    lexicon, data = nursery_frames(garden)
    groups = np.array([sentence.group for sentence in garden.sentences])
    # A tenth is enough to learn from: with more, the model makes no mistake that constraints could mend.
    train = [data[number] for number in np.flatnonzero(groups % 10 == 0)]
    test = [data[number] for number in np.flatnonzero(groups % 10 == 1)]
    start = time.perf_counter()
    labeler = FrameLabeler(bits=18, l2=0.3, epochs=6).fit(train, lexicon=lexicon)
    trained = time.perf_counter() - start
    labelled = labeler.predict(test)
    longest = max(range(len(test)), key=lambda number: len(labelled[number][0].fillers))
    yield span_text(test[longest].parse.words, [labelled[longest][0].layer()], width=90)
    scored = labeler.score(test)
    problems = scored.problems(lexicon)
    rows: list[tuple[str | int | float, ...]] = []
    for name, method in (("each role by itself", "local"), ("no overlaps (beam)", "beam"), ("best allowed", "exact")):
        start = time.perf_counter()
        results = decode_roles_batch(problems, method=method)
        seconds = time.perf_counter() - start
        stream = iter(labeler.labelled(scored, results))
        answers = [[next(stream) for _ in one.targets] for one in test]
        scores = evaluate_arguments(test, answers, lexicon)
        broken = [sum(result.violations[kind] for result in results) for kind in ("overlap", "requires", "excludes")]
        rows.append((name, scores.precision, scores.recall, scores.f1, *broken, 1000 * seconds))
    yield Table(
        "frames",
        f"Trained on {len(train)} sentences in {trained:.1f} s, tested on {len(test)}; broken constraints by kind",
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

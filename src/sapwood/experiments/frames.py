"""Arguments of frames under constraints: the table of Das, Martins and Smith (2012) on FrameNet 1.5.

Settings are chosen on the dev texts; the models of the tables are then trained on train and dev texts together, which
are the paper's training texts, and tested on its 23 test texts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.base import clone

from sapwood.decode import RoleProblem, SpanResult, decode_roles_batch
from sapwood.errors import DataError
from sapwood.experiments.convergence import convergence, with_conflicts
from sapwood.experiments.frame_context import context_encoder, in_context, newer_release
from sapwood.experiments.frame_coverage import coverage
from sapwood.experiments.measuring import Stopwatch, peak_memory
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Table
from sapwood.files import load, save
from sapwood.learn.candidates import CandidateSets
from sapwood.metrics import Counts, FrameAnalysis, mcnemar, score_frames
from sapwood.settings import threads
from sapwood.tasks.frames import FrameCorpus, FrameIdentifier, FrameInput, FrameLabeler, FrameSentence, load_framenet
from sapwood.tasks.frames.evaluation import core_of, evaluate_arguments, gold_violations
from sapwood.tasks.frames.instances import candidate_sets, instances_of, learnable, right_choices
from sapwood.tasks.frames.labeler import ScoredTargets
from sapwood.tasks.frames.rows import TargetInstance
from sapwood.words.senses import find_senses

__all__ = ["MODELS", "analyses", "run"]

# What the table "tuning" found on the dev texts, so that the other tables can be made without it.
MODELS = {
    "faithful": FrameLabeler(
        spans="dependency", templates="semafor", inherit=False, alpha=0.7, epochs=6, bits=25, null_offset=-0.6
    ),
    "best": FrameLabeler(alpha=3.0, epochs=5, bits=25, null_offset=-0.9),
    "pieces": FrameLabeler(pieces=True, alpha=3.0, epochs=5, bits=25, null_offset=-1.2),
}
# Found there, too: thresholds for the best F1. The paper's model looks for the likeliest assignment alone.
THRESHOLDS = {"best": 0.3, "pieces": 0.25}
_TITLES = {
    "faithful": "SEMAFOR's spans and features",
    "best": "Extended spans and features",
    "pieces": "Extended spans and features, with candidates in several pieces",
}
_PENALTIES = (0.7, 3.0)
_OFFSETS = (-1.5, -1.2, -0.9, -0.6, -0.3, 0.0)
_TRIED_THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4)
# Name in the table, method, width of the beam.
_STRATEGIES = (
    ("local", "local", 1),
    ("beam 2", "beam", 2),
    ("beam 100", "beam", 100),
    ("beam 10,000", "beam", 10_000),
    ("HiGHS, relaxation", "lp", 1),
    ("HiGHS, exact", "ilp", 1),
    ("AD3, relaxation", "ad3", 1),
    ("AD3, exact", "ad3-exact", 1),
    ("Sapwood, exact", "exact", 1),
)
_RUNS = 5


_Held = tuple[list[TargetInstance], CandidateSets]
_Line = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class _Tested:
    """A trained model and the scores that it gives the test texts."""

    labeler: FrameLabeler
    scored: ScoredTargets
    problems: list[RoleProblem]
    notes: list[str]


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables."""
    corpus = _corpus(setting)
    models = {name: clone(model).set_params(random_state=setting.seed) for name, model in MODELS.items()}
    thresholds = THRESHOLDS
    if setting.wants("tuning"):
        table, models, thresholds = _tuning(corpus, models)
        yield table
    if setting.wants("gold"):
        yield _gold(corpus)
    if setting.wants("coverage"):
        yield coverage(corpus)

    @cache
    def tested(name: str) -> _Tested:
        return _test(setting, corpus, name, models[name])

    for name in models:
        if setting.wants(name):
            yield _strategies(corpus, name, tested(name), thresholds.get(name))
    if setting.wants("context-tuning", "context"):
        yield from in_context(setting, corpus, models["pieces"], lambda: tested("pieces").labeler)
    if setting.wants("context-1.7") and (made := newer_release(setting, models["pieces"])) is not None:
        yield made
    if setting.wants("convergence"):
        yield convergence(with_conflicts(tested("faithful").problems))
    if setting.wants("penalty"):
        yield _penalty(corpus, tested("faithful").labeler)
    if setting.wants("identification"):
        yield _identification(corpus, tested("best").labeler, setting)


def _corpus(setting: Setting) -> FrameCorpus:
    release, parses = setting.path("framenet"), setting.path("framenet-parses")
    splits = Path(parses).with_name("splits.json")
    if not splits.is_file():
        raise DataError(f'{splits}: no such file; expected JSON with the names of the texts under "test" and "dev".')
    setting.read["framenet-splits"] = str(splits)
    return load_framenet(release, parses, splits, senses=find_senses())


def _tuning(
    corpus: FrameCorpus, models: dict[str, FrameLabeler]
) -> tuple[Table, dict[str, FrameLabeler], dict[str, float]]:
    """Choose λ, the number of epochs, the offset of null and the threshold on the dev texts."""
    rows: list[tuple[str, float, int, float, float, float, float, float, float]] = []
    chosen: dict[str, FrameLabeler] = {}
    thresholds: dict[str, float] = {}
    for name, model in models.items():
        train = learnable(corpus.train, corpus.lexicon)
        instances = instances_of(train, spans=model.spans, pieces=model.pieces, gold=True)
        sets = candidate_sets(instances, corpus.lexicon, templates=model.templates, inherit=model.inherit)
        right = right_choices(train, instances, corpus.lexicon)
        held = instances_of(corpus.dev, spans=model.spans, pieces=model.pieces)
        held_sets = candidate_sets(held, corpus.lexicon, templates=model.templates, inherit=model.inherit)
        best = -1.0
        for alpha in _PENALTIES:
            labeler = clone(model).set_params(alpha=alpha)
            lines: list[_Line] = []

            def measure(one: FrameLabeler, lines: list[_Line] = lines, held: _Held = (held, held_sets)) -> None:
                lines.append(_best_settings(corpus, one, held))

            labeler.fit_sets(sets, right, lexicon=corpus.lexicon, wordnet=corpus.wordnet, after_epoch=measure)
            for epoch, (f1, precision, recall, offset, with_threshold, threshold) in enumerate(lines, 1):
                values = 100 * precision, 100 * recall, 100 * f1
                rows.append((name, alpha, epoch, offset, *values, threshold, 100 * with_threshold))
                if f1 > best:
                    best, thresholds[name] = f1, threshold
                    chosen[name] = clone(model).set_params(alpha=alpha, epochs=epoch, null_offset=offset)
    picked = "; ".join(
        f"{name}: λ {one.alpha:g}, {one.epochs} epochs, offset {one.null_offset:+g}, threshold {thresholds[name]:g}"
        for name, one in chosen.items()
    )
    table = Table(
        "tuning",
        "Tuning on the dev texts (exact decoding, unannotated targets left out); the best offset of each row, "
        "and the best threshold",
        ("model", "λ", "epochs", "null offset", "P", "R", "F1", "threshold", "F1 with it"),
        rows,
        {"λ": 1, "null offset": 1},
        [f"Chosen: {picked}."],
    )
    del thresholds["faithful"]
    return table, chosen, thresholds


def _best_settings(corpus: FrameCorpus, labeler: FrameLabeler, held: _Held) -> _Line:
    """Return F1, precision, recall and offset of the best offset of null on held-out targets; F1 and best threshold."""
    instances, sets = held
    scored = ScoredTargets(corpus.dev, instances, list(sets.tables(labeler.model_.decision_function(sets))))

    def tried(null_offset: float = 0.0, threshold: float | None = None) -> Counts:
        results = decode_roles_batch(scored.problems(corpus.lexicon, null_offset, threshold))
        predicted = labeler.to_sentences(scored, results)
        return evaluate_arguments(corpus.dev, predicted, corpus.lexicon, unannotated=False)

    offsets = ((tried(offset), offset) for offset in _OFFSETS)
    likeliest = max((one.f1, one.precision, one.recall, offset) for one, offset in offsets)
    return *likeliest, *max((tried(threshold=value).f1, value) for value in _TRIED_THRESHOLDS)


def _gold(corpus: FrameCorpus) -> Table:
    """Count what the annotators did with the constraints."""
    rows: list[tuple[str | int | float, ...]] = []
    for name, data in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test)):
        found = gold_violations(data, corpus.lexicon)
        targets = [target for one in data for target in one.targets]
        rows.append(
            (
                name,
                len(targets) + corpus.missing[name],
                sum(not target.annotated for target in targets),
                int(found["overlap"]),
                int(found["requires"]),
                int(found["excludes"]),
                100 * found["repeated"],
            )
        )
    return Table(
        "gold",
        "The gold annotation itself: broken constraints, and roles filled more than once",
        ("texts", "targets", "unannotated", "overlap", "requires", "excludes", "repeated, %"),
        rows,
        {"repeated, %": 1},
        [
            "In sentences without a parse (left out of training, a flat tree elsewhere): "
            + ", ".join(f"{corpus.unparsed.get(part, 0)} of {part}" for part in corpus.missing)
            + ".",
            f"Left out, also because their frame is not in the lexicon: {sum(corpus.missing.values())}.",
        ],
    )


def _test(setting: Setting, corpus: FrameCorpus, name: str, labeler: FrameLabeler) -> _Tested:
    """Train on train and dev texts (or take the model from the cache), and score the test texts."""
    notes = []
    path = setting.cached(
        f"frames-{name}-alpha-{labeler.alpha:g}-epochs-{labeler.epochs}-seed-{labeler.random_state}.sap"
    )
    if path is not None and path.is_file():
        trained: FrameLabeler = load(path)
        trained.null_offset = labeler.null_offset
        notes.append("The model comes from the cache.")
    else:
        with Stopwatch() as spent:
            trained = clone(labeler).fit([*corpus.train, *corpus.dev], lexicon=corpus.lexicon)
        notes.append(
            f"Training: {spent.wall:.0f} s, {spent.cpu:.0f} s of CPU, {threads()} threads, at most "
            f"{peak_memory() / 1000:.1f} GB."
        )
        if path is not None:
            save(trained, path)
    with Stopwatch() as spent:
        scored = trained.score_candidates(corpus.test)
        problems = scored.problems(corpus.lexicon, trained.null_offset)
        decode_roles_batch(problems)
    notes.append(
        f"Features, scores and exact decoding of the test texts: {spent.wall:.1f} s, {spent.cpu:.1f} s of CPU."
    )
    return _Tested(trained, scored, problems, notes)


def _strategies(corpus: FrameCorpus, name: str, one: _Tested, threshold: float | None) -> Table:
    """Decode the test texts with every strategy, and by the last one also for the best F1, if there is a threshold."""
    rows: list[tuple[str | int | float, ...]] = []
    tight = {}
    strategies = [(*strategy, one.problems) for strategy in _STRATEGIES]
    if threshold is not None:
        problems = one.scored.problems(corpus.lexicon, threshold=threshold)
        strategies.append((f"{_STRATEGIES[-1][0]}, best F1", *_STRATEGIES[-1][1:], problems))
    for title, method, beam, problems in strategies:
        seconds = []
        results = list[SpanResult]()
        # HiGHS takes so long that one run is enough.
        for _ in range(1 if method in ("lp", "ilp") else _RUNS):
            with Stopwatch() as spent:
                results = decode_roles_batch(problems, method=method, beam=beam, threads=1)
            seconds.append(spent.cpu)
        if method in ("lp", "ad3"):
            tight[title] = 100 * float(np.mean([result.status == "optimal" for result in results]))
        labelled = one.labeler.to_sentences(one.scored, results)
        scores = [evaluate_arguments(corpus.test, labelled, corpus.lexicon, unannotated=kept) for kept in (False, True)]
        broken = [sum(result.violations[kind] for result in results) for kind in ("overlap", "requires", "excludes")]
        rows.append(
            (
                title,
                *(100 * value for each in scores for value in (each.precision, each.recall, each.f1)),
                *broken,
                f"{np.mean(seconds):.3f}" + (f" ± {np.std(seconds):.3f}" if len(seconds) > 1 else ""),
            )
        )
        if title == _STRATEGIES[-1][0]:
            proven = 100 * float(np.mean([result.status == "optimal" for result in results]))
            repeated, right = _roles_in_pieces(corpus.test, labelled)
    targets = len(one.problems) + corpus.missing["test"]
    labeler = one.labeler
    return Table(
        name,
        f"{_TITLES[name]}, {targets:,} test targets: unannotated targets left out (P R F1), and kept (P' R' F1')",
        ("strategy", "P", "R", "F1", "P'", "R'", "F1'", "overlap", "requires", "excludes", "CPU seconds"),
        rows,
        notes=[
            f"λ {labeler.alpha:g}, {labeler.epochs} epochs, offset of null {labeler.null_offset:+g}"
            f"{'' if threshold is None else f' or threshold {threshold:g}'}, seed "
            f"{labeler.random_state}; WordNet {'used' if labeler.wordnet_ else 'missing'}.",
            "Relaxation tight: " + ", ".join(f"{title} {share:.1f} %" for title, share in tight.items()) + ".",
            f"Seconds: mean ± sd of {_RUNS} runs, one thread, decoding alone; HiGHS: one run, with the making of its "
            "programs.",
            *one.notes,
            f"Sapwood, exact: {proven:.1f} % proven best; {repeated} roles in several pieces, {right} of them right.",
        ],
    )


def _roles_in_pieces(data: Sequence[FrameInput], found: Sequence[FrameSentence]) -> tuple[int, int]:
    """Count the roles of annotated targets that are filled by several pieces, and those that are right."""
    predicted = right = 0
    for one, labeled in zip(data, found, strict=True):
        for target, answer in zip(one.targets, labeled.frames, strict=True):
            for role in {filler.role for filler in answer.fillers} if target.annotated else ():
                spans = {(filler.start, filler.end) for filler in answer.fillers if filler.role == role}
                gold = {(filler.start, filler.end) for filler in target.fillers if filler.role == role}
                predicted += len(spans) > 1
                right += len(spans) > 1 and spans == gold
    return predicted, right


def _penalty(corpus: FrameCorpus, labeler: FrameLabeler) -> Table:
    """Compare penalties of AD3 on dev problems."""
    scored = labeler.score_candidates(corpus.dev)
    graphs = [one.to_factor_graph()[0] for one in with_conflicts(scored.problems(corpus.lexicon, labeler.null_offset))]
    rows = []
    for penalty in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0) if graphs else ():
        solved = [graph.solve(exact=False, penalty=penalty) for graph in graphs]
        rows.append(
            (
                f"{penalty:g}",
                float(np.mean([one.iterations for one in solved])),
                float(np.mean([one.projections for one in solved])),
                100 * float(np.mean([one.status == "optimal" for one in solved])),
            )
        )
    return Table(
        "penalty",
        f"AD3's penalty at the start, on {len(graphs)} dev problems with conflicts",
        ("ρ", "iterations", "factors solved", "tight, %"),
        rows,
        {"iterations": 1, "factors solved": 0, "tight, %": 1},
        ["ρ is in units of the mean absolute score and is adapted on the way; Sapwood starts with 1."],
    )


def _identification(corpus: FrameCorpus, labeler: FrameLabeler, setting: Setting) -> Table:
    """Find frames too: with the targets given, and from nothing, without an encoder and with one."""
    encoder = context_encoder(setting)
    gold = analyses(corpus.test, None)
    rows: list[tuple[str | float, ...]] = []
    notes = []
    found_right: list[list[bool]] = []
    for title, used in (("", None), *([(", in context", encoder)] if encoder is not None else [])):
        identifier = FrameIdentifier(encoder=used, random_state=setting.seed)
        identifier.fit([*corpus.train, *corpus.dev], lexicon=corpus.lexicon)
        given, hits = [], list[bool]()
        for one, names in zip(corpus.test, identifier.choose(corpus.test), strict=True):
            pairs = list(zip(one.targets, names, strict=True))
            given.append(replace(one, targets=tuple(replace(target, frame=name) for target, name in pairs if name)))
            hits += [target.frame == name for target, name in pairs]
        found_right.append(hits)
        found = identifier.predict([one.parse for one in corpus.test])
        free = [replace(one, targets=tuple(targets)) for one, targets in zip(corpus.test, found, strict=True)]
        for what, data in (("targets given", given), ("from parses alone", free)):
            guess = analyses(data, labeler.predict(data))
            sides = [({key: FrameAnalysis(one.frame) for key, one in side.items()}, side) for side in (gold, guess)]
            scores = [
                score_frames(a, b, core_of(corpus.lexicon), frame_points=1.0) for a, b in zip(*sides, strict=True)
            ]
            values = [value for each in scores for value in (each.precision, each.recall, each.f1)]
            rows.append((f"{what}{title}", *(100 * value for value in values)))
        right, total = sum(hits), len(hits)
        notes.append(
            f"With the targets given{title}, {right:,} of {total:,} frames are right ({100 * right / total:.2f} %)."
        )
    if len(found_right) > 1:
        notes.append(f"The difference between those two: p = {mcnemar(*found_right).p_value:.2g} by McNemar's test.")
    return Table(
        "identification",
        "Frames found by lexical-unit lookup and a log-linear choice, then arguments: test texts, all targets",
        ("setting", "frame P", "frame R", "frame F1", "all P", "all R", "all F1"),
        rows,
        notes=[
            *notes,
            "In context: the log-linear choice and a network over MiniLM, half and half. Arguments are labeled without "
            "context in all rows.",
            "Exact matches only; a frame counts 1, a core role 1, another role 0.5.",
        ],
    )


def analyses(data: Sequence[FrameInput], labelled: Sequence[FrameSentence] | None) -> dict[Hashable, FrameAnalysis]:
    """Return gold frames and fillers, or those that a model has found for the same targets, by sentence and target."""
    found: dict[Hashable, FrameAnalysis] = {}
    for number, one in enumerate(data):
        for place, target in enumerate(one.targets):
            fillers = target.fillers if labelled is None else labelled[number].frames[place].fillers
            arguments = [(filler.role, filler.start, filler.end) for filler in fillers]
            found[number, target.spans] = FrameAnalysis(target.frame, arguments)
    return found

"""Semantic roles: the tables of "A Grammar-driven Convolution Tree Kernel for Semantic Role Classification" again.

Three corpora: the English Web Treebank (words, gold trees), CoNLL-2005 (parses, no words of the Wall Street Journal)
and PropBank over NLTK's Penn sample. Arguments are given and only their roles are asked for, except in ``end-to-end``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.corpora import iter_joined, iter_shared_task, read_prop_instances, read_treebank, surface_proposition
from sapwood.corpora.sources import file_names
from sapwood.errors import DataError, TooLargeError
from sapwood.experiments.places import place_if_any
from sapwood.experiments.tables import Cell, Setting, Table
from sapwood.learn import KernelSVC
from sapwood.metrics import chi_squared, mcnemar, score_labels, score_roles
from sapwood.tasks.roles.arguments import RoleArguments
from sapwood.tasks.roles.classifier import (
    FLAT_KERNEL,
    ROLE_KERNELS,
    RoleClassifier,
    hybrid_parts,
    role_kernel,
    views_of,
)
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.features import describe
from sapwood.tasks.roles.grams import DistinctGram, OneVersusRest, mixed
from sapwood.tasks.roles.labeler import RoleLabeler
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.tasks.roles.pruning import coverage
from sapwood.trees import Examples, Grammar, RoleSentence, Tree
from sapwood.trees.positions import Positions

__all__ = ["run"]

_TREES = ("truncated", "plain", "nodes", "substructures", "both", "verb tags", "paf", "partial")
_TRAIN, _TEST = 20_000, 6_000
_TUNED = 10_000
_SIZES = (5_000, 10_000, 20_000, 45_000, 100_000, 1_000_000)


def run(setting: Setting) -> Iterator[Table]:
    """Make the tables that are wanted."""
    corpora = {name: load for name, load in _CORPORA.items() if place_if_any(setting, name)}
    if not corpora:
        raise DataError("none of the corpora ewt-propbank, conll05 and propbank-wsj is there; see sapwood data.")
    for name in corpora:
        if setting.wants("coverage"):
            yield _coverage(setting, name)
        if setting.wants("kernels"):
            yield from _kernels(setting, name)
        if setting.wants("end-to-end"):
            yield from _end_to_end(setting, name)
    for name in [name for name in corpora if name == "ewt-propbank"]:
        if setting.wants("features"):
            yield from _features(setting, name)
        if setting.wants("linear"):
            yield _linear(setting, name)
    if setting.wants("cost"):
        name = "conll05" if "conll05" in corpora else next(iter(corpora))
        yield _cost(setting, name)


# --- corpora


def _web(place: str) -> dict[str, list[RoleSentence]]:
    folder = Path(place).parent
    parts = {}
    for part in ("train", "dev", "test"):
        names = file_names(folder / f"{part}.conll*")
        if not names:
            raise DataError(f"{folder}: there is no {part}.conll.gz; see sapwood data.")
        parts[part] = [_verbs(sentence) for sentence in iter_joined(names[0])]
    return parts


def _verbs(sentence: RoleSentence) -> RoleSentence:
    """Keep the propositions of verbs."""
    assert sentence.tree is not None
    at = Positions(sentence.tree)
    kept = tuple(one for one in sentence.propositions if at.labels[at.tag(one.predicate)].startswith("VB"))
    return replace(sentence, propositions=kept)


def _task(place: str) -> dict[str, list[RoleSentence]]:
    parts = {"train": "train", "dev": "devel", "test": "test.wsj"}
    return {name: list(iter_shared_task(place, part)) for name, part in parts.items()}


def _wall_street(place: str, treebank: str) -> dict[str, list[RoleSentence]]:
    by_file: dict[str, list[Any]] = {}
    for instance in read_prop_instances(place):
        by_file.setdefault(instance.file, []).append(instance)
    sentences = []
    for path in file_names(treebank):
        instances = by_file.get(Path(path).name, [])
        if not instances:
            continue
        traced = [tree for tree in read_treebank(path) if isinstance(tree, Tree)]
        clean = list(read_treebank(path, drop_traces=True, drop_function_tags=True))
        for number, (whole, bare) in enumerate(zip(traced, clean, strict=True)):
            assert isinstance(bare, Tree)
            found = [surface_proposition(one, whole) for one in instances if one.sentence == number]
            by_word = tuple(sorted(found, key=lambda one: one.predicate))
            sentences.append(_verbs(RoleSentence(bare.leaves(), by_word, bare, f"{Path(path).name}:{number}")))
    # Files stand in the order of the newspaper; the last ones are other articles, which is what a test needs.
    cut, end = int(0.7 * len(sentences)), int(0.8 * len(sentences))
    return {"train": sentences[:cut], "dev": sentences[cut:end], "test": sentences[end:]}


_CORPORA: dict[str, str] = {
    "ewt-propbank": "English Web Treebank",
    "conll05": "CoNLL-2005, no words",
    "propbank-wsj": "PropBank, Penn sample",
}


@lru_cache(maxsize=1)
def _sentences(setting: Setting, name: str) -> dict[str, list[RoleSentence]]:
    place = place_if_any(setting, name)
    assert place is not None
    if name == "ewt-propbank":
        return _web(place)
    if name == "conll05":
        return _task(place)
    treebank = place_if_any(setting, "penn-sample")
    if treebank is None:
        raise DataError("propbank-wsj needs the Penn Treebank sample of NLTK; see sapwood data.")
    return _wall_street(place, treebank)


def _arguments(setting: Setting, name: str, part: str, about: int) -> RoleArguments:
    """Take every k-th sentence, so that there are about so many arguments, then draw."""
    sentences = _sentences(setting, name)[part]
    total = sum(len(one.roles) for sentence in sentences for one in sentence.propositions)
    step = max(1, total // (about + about // 8))
    return RoleArguments.from_sentences(sentences[setting.seed % step :: step]).sample(about, setting.seed)


# --- tables


def _coverage(setting: Setting, name: str) -> Table:
    rows = []
    for part, sentences in _sentences(setting, name).items():
        counts = coverage(islice(sentences, 10_000))
        total = max(1, counts["arguments"])
        rows.append(
            (
                part,
                counts["predicates"],
                counts["arguments"],
                100 * counts["constituents"] / total,
                100 * counts["survive pruning"] / total,
                counts["candidates"] / max(1, counts["predicates"]),
            )
        )
    columns = ("part", "predicates", "arguments", "constituents %", "survive pruning %", "candidates per predicate")
    notes = ["At most 10,000 sentences of a part. An argument that is no constituent is left out (rule: constituent)."]
    return Table(f"coverage {name}", f"Arguments and constituents, {_CORPORA[name]}", columns, rows, notes=notes)


def _kernels(setting: Setting, name: str) -> Iterator[Table]:
    """Table 2, its rivals, and the roles one by one."""
    train = _arguments(setting, name, "train", _TRAIN)
    test = _arguments(setting, name, "test", _TEST)
    # The rules are those of all training parses; which arguments were drawn should not matter for what is grammatical.
    grammar = Grammar.from_trees([sentence.tree for sentence in _sentences(setting, name)["train"] if sentence.tree])
    views = {view: (train.examples([view])[view], test.examples([view])[view]) for view in _VIEWS}
    right: dict[str, NDArray[np.bool_]] = {}
    guesses: dict[str, NDArray[Any]] = {}
    rows: list[tuple[Cell, ...]] = []
    names = [*_TREES, "flat", "composite"] if name != "conll05" else list(_TREES)
    for kernel in names:
        start = time.process_time()
        known, asked = (Examples(**{view: views[view][side] for view in views_of(kernel)}) for side in (0, 1))
        machine = KernelSVC(role_kernel(kernel, grammar), C=_price(kernel)).fit(known, train.labels)
        guesses[kernel] = machine.predict(asked)
        right[kernel] = guesses[kernel] == test.labels
        rows.append(_row(kernel, right, time.process_time() - start))
    yield Table(
        f"kernels {name}",
        f"Accuracy on {len(test):,} given arguments, trained on {len(train):,}: {_CORPORA[name]}",
        ("kernel", "accuracy", "error − plain %", "p", "χ²", "error − truncated %", "p ", "CPU s"),
        rows,
        {"p": 4, "p ": 4, "χ²": 2, "CPU s": 1},
        notes=[
            "error − plain: how much of the error of 'plain' goes away; p: McNemar against it; χ²: of the two counts "
            "of right and wrong, as the paper tests.",
            *(f"{kernel}: {what}" for kernel, what in ROLE_KERNELS.items() if kernel in names),
        ],
    )
    best = max(right, key=lambda kernel: float(right[kernel].mean()))
    scores = score_labels(test.labels.tolist(), guesses[best].tolist())
    plain = score_labels(test.labels.tolist(), guesses["plain"].tolist())
    by_count = sorted(scores.classes, key=lambda role: -scores.classes[role].gold)
    yield Table(
        f"roles {name}",
        f"F1 per role, {_CORPORA[name]}",
        ("role", "arguments", "plain", best),
        [(r, scores.classes[r].gold, 100 * _f1(plain, r), 100 * scores.classes[r].f1) for r in by_count[:25]],
    )


_VIEWS = ("path", "siblings", "constituent", "paf", "flat")


def _price(kernel: str) -> float:
    """The paper's price of errors for trees; flat features, which say more about each argument, bear a higher one."""
    return 10.0 if kernel == "flat" or kernel.startswith("composite") else 2.4


def _row(kernel: str, right: dict[str, NDArray[np.bool_]], seconds: float) -> tuple[Cell, ...]:
    cells: list[Cell] = [kernel, 100 * float(right[kernel].mean())]
    for base in ("plain", "truncated"):
        if base not in right or base == kernel:
            cells += [None, None, None] if base == "plain" else [None, None]
            continue
        before, after = 1 - float(right[base].mean()), 1 - float(right[kernel].mean())
        cells += [100 * (before - after) / before, mcnemar(right[base], right[kernel]).p_value]
        if base == "plain":
            table = [[int(one.sum()), int((~one).sum())] for one in (right[base], right[kernel])]
            cells.append(chi_squared(table).statistic)
    return (*cells, seconds)


def _f1(scores: Any, role: str) -> float:
    return float(scores.classes[role].f1) if role in scores.classes else 0.0


def _features(setting: Setting, name: str) -> Iterator[Table]:
    """Flat features and the composite, with a small and the full set, mixture and price tuned on development data."""
    train, dev, test = (_arguments(setting, name, part, _TUNED) for part in ("train", "dev", "test"))
    grammar = Grammar.from_trees(train.trees())
    rows: list[tuple[Cell, ...]] = []
    for kind in ("basic", "full"):
        chosen: dict[str, float] = {}
        for target, other in (("dev", dev), ("test", test)):
            flat = DistinctGram(
                FLAT_KERNEL,
                train.examples(["flat"], features=kind)["flat"],
                other.examples(["flat"], features=kind)["flat"],
            )
            trees = [
                (
                    weight,
                    DistinctGram(one, train.examples([view])[view], other.examples([view])[view], cache=setting.cache),
                )
                for weight, one, view in hybrid_parts("both", grammar)
            ]

            def accuracy(gamma: float, C: float) -> NDArray[np.bool_]:
                parts = [(gamma * weight, part) for weight, part in trees] if gamma else []  # noqa: B023
                square, wide = mixed([*parts, (1 - gamma, flat)])  # noqa: B023
                return np.asarray(OneVersusRest(C).fit(square, train.labels).predict(wide) == other.labels)  # noqa: B023

            if target == "dev":
                # One thing at a time, the price first, as the paper tunes.
                chosen["C"] = max((2.4, 5.0, 10.0), key=lambda C: accuracy(0.0, C).mean())
                chosen["gamma"] = max((0.1, 0.2, 0.3), key=lambda g: accuracy(g, chosen["C"]).mean())
                continue
            alone, both = accuracy(0.0, chosen["C"]), accuracy(chosen["gamma"], chosen["C"])
            p = mcnemar(alone, both).p_value
            rows.append((f"{kind}, flat", 100 * float(alone.mean()), None, chosen["C"], None))
            rows.append((f"{kind}, composite", 100 * float(both.mean()), chosen["gamma"], chosen["C"], p))
    yield Table(
        "features",
        f"Flat features and the composite on {len(test):,} arguments, trained on {len(train):,}: {_CORPORA[name]}",
        ("features", "accuracy", "γ", "C", "p"),
        rows,
        {"p": 4, "C": 1},
        notes=["γ and C chosen on development data; p: McNemar, composite against flat."],
    )
    yield from _whole(setting, name)


def _whole(setting: Setting, name: str) -> Iterator[Table]:
    """All training data, by the exact kernels, as far as memory goes."""
    parts = _sentences(setting, name)
    train, test = (RoleArguments.from_sentences(parts[part]) for part in ("train", "test"))
    rows: list[tuple[Cell, ...]] = []
    for kernel, gamma in (("flat", 0.1), ("composite", 0.1)):
        start = time.perf_counter()
        try:
            accuracy = float(RoleClassifier(kernel, gamma=gamma, C=_price(kernel)).fit(train).score(test, test.labels))
        except TooLargeError:
            rows.append((kernel, None, None))
            continue
        rows.append((kernel, 100 * accuracy, time.perf_counter() - start))
    title = f"All {len(train):,} training arguments, {len(test):,} test arguments: {_CORPORA[name]}"
    yield Table("whole", title, ("kernel", "accuracy", "seconds"), rows, notes=["–: the Gram does not fit in memory."])


def _linear(setting: Setting, name: str) -> Table:
    """The linear-time variants beside the exact kernels, on the same arguments."""
    parts = _sentences(setting, name)
    rows: list[tuple[Cell, ...]] = []
    whole = {part: RoleArguments.from_sentences(parts[part]) for part in ("train", "test")}
    test = whole["test"]
    for size in (_TRAIN, len(whole["train"])):
        train = whole["train"].sample(size, setting.seed)
        for label, features, fragments in (
            ("flat", "full", None),
            ("flat and conjunctions", "linear", None),
            ("flat, conjunctions and fragments", "linear", {"path+siblings": 4.0, "constituent": 4.0}),
        ):
            start = time.process_time()
            encoder = Encoder(features, fragments=fragments, max_fragments=20_000)
            values = [describe(*one, features) for one in train.candidates]
            model = LinearRoles().fit(
                encoder.fit(train.candidates, values).transform(train.candidates, values), train.labels.tolist()
            )
            trained = time.process_time() - start
            start = time.process_time()
            margins = model.margins(encoder.transform(test.candidates))
            speed = len(test) / (time.process_time() - start)
            accuracy = float(np.mean(np.array(model.classes)[margins.argmax(axis=1)] == test.labels))
            rows.append((label, len(train), 100 * accuracy, trained, round(speed)))
    return Table(
        "linear",
        f"Linear-time classification of {len(test):,} given arguments: {_CORPORA[name]}",
        ("features", "trained on", "accuracy", "training CPU s", "arguments per CPU s"),
        rows,
        {"training CPU s": 1},
    )


def _end_to_end(setting: Setting, name: str) -> Iterator[Table]:
    """From trees to propositions, as CoNLL-2005 scores them."""
    parts = _sentences(setting, name)
    # Without words there is less to learn, and every third sentence of CoNLL-2005 teaches it.
    train = parts["train"][::3] if name == "conll05" else parts["train"]
    start = time.process_time()
    labeler = RoleLabeler(random_state=setting.seed).fit(train, calibration=parts["dev"])
    trained = time.process_time() - start
    test = parts["test"]
    rows: list[tuple[Cell, ...]] = []
    settings: list[tuple[str, Callable[[], Sequence[RoleSentence]]]] = [
        ("predicates given", lambda: list(labeler.label_sentences(test))),
        ("predicates found", lambda: list(labeler.label_sentences(test, given_predicates=False))),
        ("no rules for AM-MOD and AM-NEG", lambda: list(_with(labeler, rules=False).label_sentences(test))),
    ]
    for label, predict in settings:
        start = time.process_time()
        made = predict()
        speed = len(test) / (time.process_time() - start)
        scores = score_roles(test, made)
        overall, spans = scores.overall, scores.unlabelled
        figures = [100 * value for value in (overall.precision, overall.recall, overall.f1, spans.f1)]
        rows.append((label, *figures, 100 * scores.label_accuracy, round(speed)))
        if label == "predicates given":
            shown = scores
    yield Table(
        f"end-to-end {name}",
        f"From {'parses' if name == 'conll05' else 'gold trees'} to propositions, {len(test):,} sentences: "
        f"{_CORPORA[name]}",
        ("setting", "P", "R", "F1", "F1 of spans", "label accuracy", "sentences per CPU s"),
        rows,
        notes=[f"Verbs; trained on {len(train):,} sentences in {trained:.0f} CPU seconds; srl-eval's counting."],
    )
    yield Table(
        f"end-to-end roles {name}",
        f"F1 per role, predicates given: {_CORPORA[name]}",
        ("role", "gold", "P", "R", "F1"),
        [
            (role, score.gold, 100 * score.precision, 100 * score.recall, 100 * score.f1)
            for role, score in sorted(shown.roles.items(), key=lambda item: -item[1].gold)
            if role != "V" and score.gold >= 5
        ],
    )


def _with(labeler: RoleLabeler, **params: Any) -> RoleLabeler:
    """Return the same fitted labeller with other parameters for labelling."""
    other = RoleLabeler(**labeler.get_params(deep=False))
    other.__dict__.update(labeler.__dict__)
    other.set_params(**params)
    return other


def _cost(setting: Setting, name: str) -> Table:
    """Table 4: seconds of training by the number of arguments, both kernels in one run."""
    whole = RoleArguments.from_sentences(_sentences(setting, name)["train"])
    rows: list[tuple[Cell, ...]] = []
    for size in _SIZES:
        train = whole.sample(size, setting.seed)
        cells: list[Cell] = [len(train)]
        for kernel in ("truncated", "both"):
            start = time.perf_counter()
            try:
                RoleClassifier(kernel).fit(train)
                cells.append(time.perf_counter() - start)
            except TooLargeError:
                cells.append(None)
        for column in (1, 2):
            before = rows[-1][column] if rows else None
            now = cells[column]
            both = isinstance(before, float) and isinstance(now, float) and rows[-1][0] != cells[0]
            cells.append(float(np.log(now / before) / np.log(cells[0] / rows[-1][0])) if both else None)  # type: ignore[operator]
        rows.append(tuple(cells))
        if len(train) < size:
            break
    return Table(
        "cost",
        f"Seconds of training by the number of arguments: {_CORPORA[name]}",
        ("arguments", "truncated s", "grammar-driven s", "exponent", "exponent "),
        rows,
        {"truncated s": 1, "grammar-driven s": 1},
        notes=["–: does not fit in memory. The exponent compares a row with the one before it."],
    )

"""Do syntax, meaning and a relaxed grammar add to shared words in telling which sentences mean the same?

After the blog post "Syntactic Tree Kernels" (2017), which put ST and SST values of question pairs beside other features
and asked for partial trees, word similarities and a grammar lenient with learners of English. Trees are read from the
cache, one file ``trees-quora*.tsv`` and ``trees-msr*.tsv`` (or several, also compressed) with a line ``text<TAB>trees``
per text, as ``sapwood.corpora.write_parsed_texts`` writes them with the output of any parser. Where the cache holds a
parser, ``parser.sap``, it parses the texts that have no trees, and these are kept in one more such file.
"""

from __future__ import annotations

import glob
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import settings
from sapwood.corpora import SentencePair, read_msr, read_parsed_texts, read_quora, write_parsed_texts
from sapwood.errors import DataError
from sapwood.experiments.places import place_of
from sapwood.experiments.tables import Cell, Setting, Table
from sapwood.files import load
from sapwood.kernels import CrossPair, Linear, SubsetTree
from sapwood.learn import AdditiveLogistic, KernelSVC
from sapwood.parse import PCFGParser, read_examples
from sapwood.tasks.pairs.features import GROUPS, PairFeatures
from sapwood.trees import Examples, Tree, TreeArray
from sapwood.words import Folded, WordNet
from sapwood.words.base import WordSimilarity

__all__ = ["run"]

# The decays of the blog post; it lists 0.2 twice.
POST_DECAYS = (1.0, 0.8, 0.5, 0.2, 0.1, 0.05)
_CORPORA = {"quora": ("quora", read_quora), "msr": ("msr-paraphrase", read_msr)}
_SYNTAX = ("subtree", "subset", "subset_words", "partial")
# Each step adds to what its name stands after; "the post" is its 14 features, 12 of them different.
_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("shared words", ("lexical",)),
    ("+ the post's ST and SST", ("lexical", "post")),
    ("+ syntax", ("lexical", *_SYNTAX)),
    ("+ syntax + meaning", ("lexical", *_SYNTAX, "semantic")),
    ("+ syntax + meaning + grammar", ("lexical", *_SYNTAX, "semantic", "grammar")),
    ("+ syntax + meaning + relaxed", ("lexical", *_SYNTAX, "semantic", "relaxed")),
    ("everything", GROUPS),
    ("syntax alone", _SYNTAX),
    ("the post's alone", ("post",)),
)
_STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_SAMPLES = 1000
_MOST_KERNEL_PAIRS = 1000


@dataclass(frozen=True)
class _Corpus:
    """A corpus with trees: pairs for training and for testing, and how many there were without trees."""

    name: str
    train: Examples
    test: Examples
    train_same: NDArray[np.bool_]
    test_same: NDArray[np.bool_]
    notes: tuple[str, ...]


def run(setting: Setting) -> Iterator[Table]:
    """Yield the tables of both corpora, and what the features cost."""
    similarity, meaning = _similarity()
    costs: list[tuple[Cell, ...]] = []
    for name in _CORPORA:
        if not any(setting.wants(table) for table in (name, f"{name}-kernels", "timing")):
            continue
        corpus = _load(name, setting)
        features = PairFeatures(similarity=similarity)
        train, test = _measure(features, corpus)
        notes = (*corpus.notes, meaning, f"Seed {setting.seed}; {settings.threads()} threads.")
        if setting.wants(name):
            yield _ablation(corpus, features, train, test, notes, setting.seed)
        if setting.wants(f"{name}-kernels"):
            yield _kernels(corpus, train, test, notes, setting.seed)
        if setting.wants("timing"):
            costs += _timing(corpus, similarity)
    if setting.wants("timing"):
        yield Table(
            "timing",
            "Features from trees in memory, one thread: seconds of processor time for 10,000 pairs",
            ("corpus", "group", "columns", "CPU s", "wall s"),
            costs,
            notes=(
                "Fitting (rare words, grammars) and parsing are not part of it. What groups share, such as putting "
                "words in lower case, is done once for all of them.",
            ),
        )


def _similarity() -> tuple[WordSimilarity | None, str]:
    """Return WordNet where it is installed; otherwise meaning is learnt from the training pairs."""
    wordnet = Folded(WordNet())
    try:
        wordnet("dog", "cat")
    except DataError:
        return None, "Meaning: latent semantics of the training pairs; WordNet was not found."
    return wordnet, "Meaning: WordNet, Lin weights, first senses."


def _load(name: str, setting: Setting) -> _Corpus:
    corpus, read = _CORPORA[name]
    parts: dict[str, list[SentencePair]] = {}
    files = sorted(glob.glob(place_of(setting, corpus)))
    for path in files:
        part = next((part for part in ("train", "test") if part in os.path.basename(path)), "all")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # faulty rows are counted by "sapwood data"
            parts.setdefault(part, []).extend(read(path, faulty="skip"))
    if "train" not in parts or "test" not in parts:
        every = [pair for part in parts.values() for pair in part]
        order = np.random.default_rng(setting.seed).permutation(len(every))
        cut = len(every) * 4 // 5
        parts = {"train": [every[k] for k in order[:cut]], "test": [every[k] for k in order[cut:]]}
    trees, parsed = _trees(name, setting, parts)
    examples, same, notes = {}, {}, list(parsed)
    for part in ("train", "test"):
        known = [pair for pair in parts[part] if _key(pair.first) in trees and _key(pair.second) in trees]
        if not known or len({pair.same for pair in known}) < 2:
            raise DataError(f"too few pairs of {name} ({part}) have trees in {setting.cache}; parse more of its texts.")
        examples[part] = Examples(
            first=TreeArray([trees[_key(pair.first)] for pair in known]),
            second=TreeArray([trees[_key(pair.second)] for pair in known]),
        )
        same[part] = np.array([pair.same for pair in known])
        share = f"{len(known):,} of {len(parts[part]):,} {part} pairs have trees"
        notes.append(f"{share}, {int(same[part].sum()):,} of these mean the same.")
    return _Corpus(name, examples["train"], examples["test"], same["train"], same["test"], tuple(notes))


def _key(text: str) -> str:
    return " ".join(text.split())


def _trees(
    name: str, setting: Setting, parts: dict[str, list[SentencePair]]
) -> tuple[dict[str, tuple[Tree, ...]], list[str]]:
    """Read the trees of the cache, parse what has none if a parser is there, and say what is to be noted about that."""
    files = [] if setting.cache is None else sorted(setting.cache.glob(f"trees-{name}*.tsv*"))
    model = None if setting.cache is None else setting.cache / "parser.sap"
    if model is None or (not files and not model.is_file()):
        raise DataError(
            f"this experiment needs trees: put parser.sap, a model of sapwood train parser, or a file trees-{name}.tsv "
            "with a line text<TAB>trees for every text into the folder named by --cache; "
            "sapwood.corpora.write_parsed_texts makes such a file of any parser's output."
        )
    if files:
        setting.read[f"trees-{name}"] = os.fspath(model.with_name(f"trees-{name}*.tsv*"))
    trees = read_parsed_texts([os.fspath(file) for file in files]) if files else {}
    missing = {_key(text) for pairs in parts.values() for pair in pairs for text in (pair.first, pair.second)} - set(
        trees
    )
    if not missing or not model.is_file():
        return trees, []
    setting.read["parser"] = os.fspath(model)
    parser = load(model)
    if not isinstance(parser, PCFGParser):
        raise DataError(f"{model}: holds a {type(parser).__name__}, not a parser; train one with sapwood train parser.")
    processor = time.process_time()
    texts = sorted(missing)
    reading = read_examples(texts, parser, what="text")
    processor = time.process_time() - processor
    found = {text: tuple(one.tree for one in each) for text, each in zip(texts, reading.examples, strict=True)}
    write_parsed_texts(found, model.with_name(f"trees-{name}-parsed-{len(files)}.tsv"))
    count = sum(map(len, found.values()))
    note = (
        f"Parsed {len(missing):,} texts, {1000 * processor / max(1, count):.1f} ms of processor time per sentence; "
        f"{int(reading.unparsed.sum()):,} have no whole parse."
    )
    return {**trees, **found}, [note]


def _measure(features: PairFeatures, corpus: _Corpus) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute all features once; every step of the ablation is a choice of columns."""
    features.fit(corpus.train)
    return features.transform(corpus.train), features.transform(corpus.test)


def _columns(features: PairFeatures, groups: tuple[str, ...]) -> NDArray[np.intp]:
    post = {f"{group}__{decay}" for group in ("subtree", "subset") for decay in POST_DECAYS} if "post" in groups else ()
    names = features.get_feature_names_out().tolist()
    return np.array([k for k, name in enumerate(names) if name.split("__")[0] in groups or name in post])


def _ablation(
    corpus: _Corpus,
    features: PairFeatures,
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    notes: tuple[str, ...],
    seed: int,
) -> Table:
    from sklearn.ensemble import HistGradientBoostingClassifier

    resamples = _resamples(len(test), seed)
    rows: list[tuple[Cell, ...]] = []
    baseline: NDArray[np.float64] | None = None
    for name, groups in _STEPS:
        chosen = _columns(features, groups)
        start = time.perf_counter()
        strength = _choose(train[:, chosen], corpus.train_same, seed)
        model = AdditiveLogistic(C=strength).fit(train[:, chosen], corpus.train_same)
        seconds = time.perf_counter() - start
        probability = model.predict_proba(test[:, chosen])[:, 1]
        boosted = HistGradientBoostingClassifier(
            learning_rate=0.05,
            max_leaf_nodes=15,
            min_samples_leaf=30,
            l2_regularization=1.0,
            random_state=seed,
            early_stopping=True,
        ).fit(train[:, chosen], corpus.train_same)
        losses = _losses(corpus.test_same, probability)
        baseline = losses if baseline is None else baseline
        gain = (baseline - losses)[resamples].mean(axis=1)
        area = [_area(corpus.test_same[k], probability[k]) for k in resamples]
        f1 = [_f1(corpus.test_same[k], probability[k] > 0.5) for k in resamples]
        rows.append(
            (
                name,
                len(chosen),
                float(losses.mean()),
                "–" if losses is baseline else f"{(baseline - losses).mean():+.3f} {_interval(gain, '+')}",
                f"{_area(corpus.test_same, probability):.3f} {_interval(area)}",
                f"{_f1(corpus.test_same, probability > 0.5):.3f} {_interval(f1)}",
                float(np.mean((probability > 0.5) == corpus.test_same)),
                float(_losses(corpus.test_same, boosted.predict_proba(test[:, chosen])[:, 1]).mean()),
                strength,
                seconds,
            )
        )
    return Table(
        corpus.name,
        f"{corpus.name}: {len(train):,} training and {len(test):,} test pairs",
        ("features", "columns", "log-loss", "gain over words", "AUC", "F1", "accuracy", "boosted", "C", "train s"),
        rows,
        {"log-loss": 3, "accuracy": 3, "boosted": 3, "C": 3},
        (
            *notes,
            "Additive logistic model, C by 5-fold cross-validation on the training part; boosted: log-loss of gradient "
            "boosting on the same columns; gain over words: by how much log-loss is less. Intervals: 95 %, from "
            f"{_SAMPLES:,} resamples of the test pairs.",
        ),
    )


def _choose(values: NDArray[np.float64], same: NDArray[np.bool_], seed: int) -> float:
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    scores = [
        cross_val_score(AdditiveLogistic(C=strength), values, same, cv=folds, scoring="neg_log_loss").mean()
        for strength in _STRENGTHS
    ]
    return _STRENGTHS[int(np.argmax(scores))]


def _kernels(
    corpus: _Corpus, train: NDArray[np.float64], test: NDArray[np.float64], notes: tuple[str, ...], seed: int
) -> Table:
    """Compare a kernel between pairs with one on their features, alone and together."""
    centre, spread = train.mean(axis=0), train.std(axis=0)
    scale = np.where(spread > 1e-9, spread, np.inf) * np.sqrt(train.shape[1])
    count = min(len(train), _MOST_KERNEL_PAIRS)
    sides = [
        Examples(first=pairs["first"], second=pairs["second"], flat=(values - centre) / scale)
        for pairs, values in ((corpus.train[:count], train[:count]), (corpus.test, test))
    ]
    across = CrossPair(SubsetTree(decay=0.4).normalized()).normalized()
    within = Linear().on("flat")
    resamples = _resamples(len(test), seed)
    rows: list[tuple[Cell, ...]] = []
    for name, kernel in (
        ("between pairs: SST across", across),
        ("within pairs: all features", within),
        ("both", across + within),
    ):
        start = time.perf_counter()
        model = KernelSVC(kernel=kernel, C=1.0, class_weight="balanced").fit(sides[0], corpus.train_same[:count])
        seconds = time.perf_counter() - start
        margins = model.decision_function(sides[1])
        area = [_area(corpus.test_same[k], margins[k]) for k in resamples]
        f1 = [_f1(corpus.test_same[k], margins[k] > 0) for k in resamples]
        rows.append(
            (
                name,
                f"{_area(corpus.test_same, margins):.3f} {_interval(area)}",
                f"{_f1(corpus.test_same, margins > 0):.3f} {_interval(f1)}",
                float(np.mean((margins > 0) == corpus.test_same)),
                len(model.support_),
                seconds,
            )
        )
    return Table(
        f"{corpus.name}-kernels",
        f"{corpus.name}: support vector machines trained on {count:,} pairs",
        ("kernel", "AUC", "F1", "accuracy", "support", "train s"),
        rows,
        {"accuracy": 3},
        notes,
    )


def _timing(corpus: _Corpus, similarity: WordSimilarity | None) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    count = len(corpus.test)
    with settings.options(threads=1):
        for name, groups in (*((group, (group,)) for group in GROUPS), ("all", GROUPS)):
            features = PairFeatures(groups, similarity=similarity).fit(corpus.train)
            features.transform(corpus.test[:2])  # what is read once per process, such as WordNet, is read here
            wall, processor = time.perf_counter(), time.process_time()
            features.transform(corpus.test)
            processor, wall = time.process_time() - processor, time.perf_counter() - wall
            rows.append((corpus.name, name, features.n_features_out_, processor * 1e4 / count, wall * 1e4 / count))
    return rows


def _resamples(count: int, seed: int) -> NDArray[np.intp]:
    return np.random.default_rng(seed).integers(count, size=(_SAMPLES, count))


def _losses(same: NDArray[np.bool_], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    right = np.clip(np.where(same, probability, 1.0 - probability), 1e-15, None)
    return np.asarray(-np.log(right))


def _area(same: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the share of pairs of unlike items that are in the right order, by ranks."""
    from scipy.stats import rankdata

    positive = int(same.sum())
    negative = len(same) - positive
    if not positive or not negative:
        return float("nan")
    return float((rankdata(scores)[same].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _f1(same: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    found = int(np.sum(same & predicted))
    total = int(same.sum()) + int(predicted.sum())
    return 2 * found / total if total else 0.0


def _interval(values: Any, sign: str = "") -> str:
    low, high = np.nanquantile(np.asarray(values), (0.025, 0.975))
    return f"[{low:{sign}.3f}, {high:{sign}.3f}]"

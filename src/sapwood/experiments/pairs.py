"""Do syntax, meaning and context add to shared words in telling which sentences mean the same?

After the blog post "Syntactic Tree Kernels" (2017), which put ST and SST values of question pairs beside other features
and asked for partial trees, word similarities and a grammar lenient with learners of English. Trees are read from the
cache, one file ``trees-quora*.tsv`` and ``trees-msr*.tsv`` (or several, also compressed) with a line ``text<TAB>trees``
per text, as ``sapwood.corpora.parsed_texts.write`` writes them with the output of any parser. Where the cache holds a
parser, ``parser.sap``, it parses the texts that have no trees, and these are kept in one more such file. Where MiniLM
is found, words are compared in context, too: by their vectors, and inside of trees.
"""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from sapwood import corpora, settings
from sapwood.corpora.pairs import SentencePair
from sapwood.errors import DataError
from sapwood.experiments.measuring import Stopwatch, interval
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.kernels import CrossPair, Kernel, Linear, SubsetTree
from sapwood.learn import KernelSVC
from sapwood.learn.additive import AdditiveLogistic, penalty_path
from sapwood.parse import read_examples
from sapwood.tasks.pairs.features import CONTEXT_GROUPS, GROUPS, PairFeatures
from sapwood.trees import Examples, Tree, TreeArray
from sapwood.words import Encoder, Folded, WordNet
from sapwood.words.base import WordSimilarity

__all__ = ["run"]

# The decays of the blog post; it lists 0.2 twice.
POST_DECAYS = (1.0, 0.8, 0.5, 0.2, 0.1, 0.05)
_CORPORA = {"quora": "quora", "msr": "msr-paraphrase"}
_SYNTAX = ("subtree", "subset", "subset_words", "partial")
_WORDS, _CONTEXT = "shared words", "words + context"
# Each step adds to what its name stands after; "the post" is its 14 features, 12 of them different.
_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (_WORDS, ("lexical",)),
    ("+ the post's ST and SST", ("lexical", "post")),
    ("+ syntax", ("lexical", *_SYNTAX)),
    ("+ syntax + meaning", ("lexical", *_SYNTAX, "semantic")),
    ("+ syntax + meaning + grammar", ("lexical", *_SYNTAX, "semantic", "grammar")),
    ("+ syntax + meaning + relaxed", ("lexical", *_SYNTAX, "semantic", "relaxed")),
    ("everything but context", GROUPS),
    ("syntax alone", _SYNTAX),
    ("the post's alone", ("post",)),
)
# The steps with an encoder; what trees add is told from what vectors do.
_STEPS_IN_CONTEXT: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("context alone", ("context",)),
    (_CONTEXT, ("lexical", "context")),
    ("words + trees in context", ("lexical", "context_trees")),
    ("words + context + trees in context", ("lexical", "context", "context_trees")),
    ("words + context + syntax", ("lexical", "context", *_SYNTAX)),
    ("everything", (*GROUPS, *CONTEXT_GROUPS)),
)
_STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_SAMPLES = 1000
_MOST_KERNEL_PAIRS = 1000
_UNITS, _EPOCHS = 32, 200

Values = NDArray[np.float64]
Truth = NDArray[np.bool_]


@dataclass(frozen=True)
class _Part:
    """Pairs for training or for testing: their trees, their features, and whether they mean the same."""

    pairs: Examples
    values: Values
    same: Truth


@dataclass(frozen=True)
class _Corpus:
    name: str
    train: _Part
    test: _Part
    columns: list[str]
    notes: tuple[str, ...]


def run(setting: Setting) -> Iterator[Table]:
    """Yield the tables of both corpora, and what the features cost."""
    similarity, meaning = _similarity()
    encoder, context = _encoder()
    features = PairFeatures(similarity=similarity, encoder=encoder)
    costs: list[tuple[Cell, ...]] = []
    for name in _CORPORA:
        if not setting.wants(name, f"{name}-kernels", "timing"):
            continue
        corpus = _load(name, setting, features, (meaning, context))
        if setting.wants(name):
            yield _ablation(corpus, setting.seed)
        if setting.wants(f"{name}-kernels"):
            yield _kernels(corpus, setting.seed)
        if setting.wants("timing"):
            costs += _timing(corpus, features)
    if setting.wants("timing"):
        yield Table(
            "timing",
            "Features from trees in memory, one thread: seconds of processor time for 10,000 pairs",
            ("corpus", "group", "columns", "CPU s", "wall s"),
            costs,
            notes=(
                "Fitting (rare words, grammars) and parsing are not part of it. What groups share, such as putting "
                "words in lower case, is done once for all of them; both groups in context take in the encoder.",
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


def _encoder() -> tuple[Encoder | None, str]:
    """Return the encoder where it is installed, with the settings that PairFeatures has for its name."""
    try:
        encoder = PairFeatures(encoder="minilm")._context()
    except DataError:
        return None, "Context: MiniLM was not found."
    assert encoder is not None
    return encoder, f"Context: MiniLM, layer {', '.join(map(str, encoder.layers))}, frozen, {encoder.precision}."


def _load(name: str, setting: Setting, features: PairFeatures, about: tuple[str, ...]) -> _Corpus:
    """Read a corpus and the trees of its texts, and compute all features; steps of the ablation choose columns."""
    corpus = _CORPORA[name]
    parts: dict[str, list[SentencePair]] = {}
    for path in sorted(glob.glob(setting.path(corpus))):
        part = next((part for part in ("train", "test") if part in os.path.basename(path)), "all")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # faulty rows are counted by "sapwood data"
            parts.setdefault(part, []).extend(corpora.pairs.read(path, faulty="skip"))
    if "train" not in parts or "test" not in parts:
        every = [pair for part in parts.values() for pair in part]
        order = np.random.default_rng(setting.seed).permutation(len(every))
        cut = len(every) * 4 // 5
        parts = {"train": [every[k] for k in order[:cut]], "test": [every[k] for k in order[cut:]]}
    trees, notes = _trees(name, setting, parts)
    done = {}
    for part in ("train", "test"):
        known = [pair for pair in parts[part] if _key(pair.first) in trees and _key(pair.second) in trees]
        same = np.array([pair.same for pair in known])
        if not known or same.all() or not same.any():
            raise DataError(f"too few pairs of {name} ({part}) have trees in {setting.cache}; parse more of its texts.")
        first, second = (
            TreeArray([trees[_key(getattr(pair, side))] for pair in known]) for side in ("first", "second")
        )
        pairs = Examples(first=first, second=second)
        if part == "train":
            features.fit(pairs)
        done[part] = _Part(pairs, features.transform(pairs), same)
        share = f"{len(known):,} of {len(parts[part]):,} {part} pairs have trees"
        notes.append(f"{share}, {int(same.sum()):,} of these mean the same.")
    notes += [*about, f"Seed {setting.seed}; {settings.threads()} threads."]
    return _Corpus(name, done["train"], done["test"], features.get_feature_names_out().tolist(), tuple(notes))


def _key(text: str) -> str:
    return " ".join(text.split())


def _trees(
    name: str, setting: Setting, parts: dict[str, list[SentencePair]]
) -> tuple[dict[str, tuple[Tree, ...]], list[str]]:
    """Read the trees of the cache, parse what has none if a parser is there, and say what is to be noted about that."""
    model = setting.cached("parser.sap")
    files = [] if model is None else sorted(model.parent.glob(f"trees-{name}*.tsv*"))
    if model is None or (not files and not model.is_file()):
        raise DataError(
            f"this experiment needs trees: put parser.sap, a model of sapwood train parser, or a file trees-{name}.tsv "
            "with a line text<TAB>trees for every text into the folder named by --cache; "
            "sapwood.corpora.parsed_texts.write makes such a file of any parser's output."
        )
    if files:
        setting.read[f"trees-{name}"] = os.fspath(model.with_name(f"trees-{name}*.tsv*"))
    trees = corpora.parsed_texts.read([os.fspath(file) for file in files]) if files else {}
    texts = {_key(text) for pairs in parts.values() for pair in pairs for text in (pair.first, pair.second)}
    missing = sorted(texts - set(trees))
    if not missing or not model.is_file():
        return trees, []
    setting.read["parser"] = os.fspath(model)
    with Stopwatch() as spent:
        reading = read_examples(missing, model, what="text")
    found = {text: tuple(one.tree for one in each) for text, each in zip(missing, reading.examples, strict=True)}
    corpora.parsed_texts.write(found, model.with_name(f"trees-{name}-parsed-{len(files)}.tsv"))
    count = sum(map(len, found.values()))
    note = (
        f"Parsed {len(missing):,} texts, {1000 * spent.cpu / max(1, count):.1f} ms of processor time per sentence; "
        f"{int(reading.unparsed.sum()):,} have no whole parse."
    )
    return {**trees, **found}, [note]


def _columns(corpus: _Corpus, groups: tuple[str, ...]) -> NDArray[np.intp]:
    post = {f"{group}__{decay}" for group in ("subtree", "subset") for decay in POST_DECAYS} if "post" in groups else ()
    return np.array([k for k, name in enumerate(corpus.columns) if name.split("__")[0] in groups or name in post])


def _ablation(corpus: _Corpus, seed: int) -> Table:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import log_loss

    train, test = corpus.train, corpus.test
    resamples = _resamples(len(test.same), seed)
    rows: list[tuple[Cell, ...]] = []
    known_losses: dict[str, Values] = {}
    in_context = any(name.startswith("context__") for name in corpus.columns)
    for name, groups in (*_STEPS, *(_STEPS_IN_CONTEXT if in_context else ())):
        chosen = _columns(corpus, groups)
        known, asked = train.values[:, chosen], test.values[:, chosen]
        with Stopwatch() as spent:
            strength = _strength(known, train.same, seed)
            model = AdditiveLogistic(C=strength).fit(known, train.same)
        probability = model.predict_proba(asked)[:, 1]
        boosted = HistGradientBoostingClassifier(
            learning_rate=0.05,
            max_leaf_nodes=15,
            min_samples_leaf=30,
            l2_regularization=1.0,
            random_state=seed,
            early_stopping=True,
        ).fit(known, train.same)
        losses = -np.log(np.clip(np.where(test.same, probability, 1.0 - probability), 1e-15, None))
        rows.append(
            (
                name,
                len(chosen),
                float(losses.mean()),
                *(_gain(known_losses.get(base), losses, resamples) for base in (_WORDS, _CONTEXT)),
                *_scores(test.same, probability, 0.5, seed),
                float(log_loss(test.same, boosted.predict_proba(asked))),
                strength,
                spent.wall,
            )
        )
        known_losses[name] = losses
    gains = tuple(f"gain over {base.removeprefix('shared ')}" for base in (_WORDS, _CONTEXT))
    return Table(
        corpus.name,
        f"{corpus.name}: {len(train.same):,} training and {len(test.same):,} test pairs",
        ("features", "columns", "log-loss", *gains, "AUC", "F1", "accuracy", "boosted", "C", "train s"),
        rows,
        {"log-loss": 3, "accuracy": 3, "boosted": 3, "C": 3},
        (
            *corpus.notes,
            "Additive logistic model, C by 5-fold cross-validation on the training part; boosted: log-loss of gradient "
            "boosting on the same columns; gain over words, and over words + context: by how much log-loss is less. "
            f"Intervals: 95 %, from {_SAMPLES:,} resamples of the test pairs.",
        ),
    )


def _strength(values: Values, same: Truth, seed: int) -> float:
    """Choose C by the log-loss of 5-fold cross-validation: the first value after which it only gets worse."""
    from sklearn.metrics import log_loss

    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(values, same))
    paths = [penalty_path(values[learnt], same[learnt], _STRENGTHS) for learnt, _ in folds]
    best, chosen = np.inf, _STRENGTHS[0]
    for strength in _STRENGTHS:
        probabilities = [next(path).predict_proba(values[held]) for path, (_, held) in zip(paths, folds, strict=True)]
        loss = np.mean([log_loss(same[held], one) for one, (_, held) in zip(probabilities, folds, strict=True)])
        if loss > best:
            break
        best, chosen = loss, strength
    return chosen


def _gain(base: Values | None, losses: Values, resamples: NDArray[np.intp]) -> str:
    """Write by how much a loss is less than another one, with the interval of its resamples."""
    if base is None:
        return "–"
    gains = base - losses
    return f"{gains.mean():+.3f} {interval(gains[resamples].mean(axis=1), '+.3f')}"


def _kernels(corpus: _Corpus, seed: int) -> Table:
    """Compare a kernel between pairs with one on their features, alone and together."""
    count = min(len(corpus.train.same), _MOST_KERNEL_PAIRS)
    scaler = StandardScaler().fit(corpus.train.values)
    known, asked = (
        Examples(
            first=part.pairs["first"],
            second=part.pairs["second"],
            flat=scaler.transform(part.values) / np.sqrt(part.values.shape[1]),
        )
        for part in (corpus.train, corpus.test)
    )
    across = CrossPair(SubsetTree(decay=0.4).normalized()).normalized()
    within = Linear().on("flat")
    rows: list[tuple[Cell, ...]] = []
    for name, kernel in (
        ("between pairs: SST across", across),
        ("within pairs: all features", within),
        ("both", across + within),
    ):
        with Stopwatch() as spent:
            model = KernelSVC(kernel=kernel, C=1.0, class_weight="balanced").fit(
                known[:count], corpus.train.same[:count]
            )
        scores = _scores(corpus.test.same, model.decision_function(asked), 0.0, seed)
        rows.append((name, *scores, len(model.support_), spent.wall))
    notes = list(corpus.notes)
    if find_spec("torch") is not None:
        with Stopwatch() as spent:
            values = _network(across, known[:count], corpus.train.same[:count], asked, seed)
        rows.append(("network on both", *_scores(corpus.test.same, values, 0.0, seed), count, spent.wall))
        notes.append(
            f"Network: kernel values with the training pairs go through {_UNITS} trained sums, beside them the "
            f"features, into {_UNITS} units and one output; the epoch is chosen on every fifth training pair."
        )
    return Table(
        f"{corpus.name}-kernels",
        f"{corpus.name}: support vector machines trained on {count:,} pairs",
        ("kernel", "AUC", "F1", "accuracy", "support", "train s"),
        rows,
        {"accuracy": 3},
        notes,
    )


def _network(kernel: Kernel, known: Examples, same: Truth, asked: Examples, seed: int) -> Values:
    """Train a small network on kernel values and features, and return its outputs for other pairs."""
    import torch

    from sapwood.torch import KernelLayer

    torch.manual_seed(seed)
    held_out = np.arange(len(same)) % 5 == 0
    sums = KernelLayer(kernel, known[np.flatnonzero(~held_out)], _UNITS, dtype=torch.float32)
    torch.nn.init.normal_(sums.weight, std=0.1)
    top = torch.nn.Sequential(
        torch.nn.Dropout(0.3), torch.nn.LazyLinear(_UNITS), torch.nn.ReLU(), torch.nn.Linear(_UNITS, 1)
    )
    inputs = [(sums.rows(one), torch.from_numpy(np.asarray(one["flat"])).float()) for one in (known, asked)]
    target = torch.from_numpy(same.astype(np.float32))
    learnt, checked = torch.from_numpy(~held_out), torch.from_numpy(held_out)
    # Both kinds of answers count the same, as for the support vector machines.
    weight = torch.where(target > 0, 0.5 / target.mean(), 0.5 / (1 - target.mean()))

    def outputs(at: int) -> Any:
        rows, flat = inputs[at]
        return top(torch.cat([torch.tanh(sums(rows)), flat], dim=1))[:, 0]

    def loss(part: Any) -> Any:
        losses = torch.nn.functional.binary_cross_entropy_with_logits(outputs(0), target, weight, reduction="none")
        return losses[part].mean()

    outputs(0)  # makes the layer whose width was not known
    optimizer = torch.optim.AdamW([*sums.parameters(), *top.parameters()], lr=0.005, weight_decay=0.01)
    best, chosen = np.inf, np.zeros(len(asked))
    for _ in range(_EPOCHS):
        top.train()
        step = loss(learnt)
        optimizer.zero_grad()
        step.backward()
        optimizer.step()
        top.eval()
        with torch.no_grad():
            error = float(loss(checked))
            if error < best:
                best, chosen = error, outputs(1).double().numpy()
    return chosen


def _timing(corpus: _Corpus, every: PairFeatures) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    pairs = corpus.test.pairs
    in_context = () if every.encoder is None else CONTEXT_GROUPS
    steps: dict[str, tuple[str, ...]] = {group: (group,) for group in (*GROUPS, *in_context)}
    steps |= {"all but context": GROUPS, "all": (*GROUPS, *in_context)}
    with settings.options(threads=1):
        for name, groups in steps.items():
            features = clone(every).set_params(groups=groups).fit(corpus.train.pairs)
            features.transform(pairs[:2])  # what is read once per process, such as WordNet, is read here
            with Stopwatch() as spent:
                features.transform(pairs)
            seconds = (1e4 * spent.cpu / len(pairs), 1e4 * spent.wall / len(pairs))
            rows.append((corpus.name, name, features.n_features_out_, *seconds))
    return rows


def _resamples(count: int, seed: int) -> NDArray[np.intp]:
    return np.random.default_rng(seed).integers(count, size=(_SAMPLES, count))


def _scores(same: Truth, scores: Values, threshold: float, seed: int) -> tuple[str, str, float]:
    """Return AUC and F1, each with the interval of its resamples, and accuracy."""
    from sklearn.metrics import f1_score, roc_auc_score

    predicted = scores > threshold
    resamples = _resamples(len(same), seed)
    found = (same & predicted)[resamples].sum(axis=1)
    f1 = 2 * found / np.maximum(1, same[resamples].sum(axis=1) + predicted[resamples].sum(axis=1))
    return (
        f"{roc_auc_score(same, scores):.3f} {interval(_areas(same, scores, resamples))}",
        f"{f1_score(same, predicted):.3f} {interval(f1)}",
        float(np.mean(predicted == same)),
    )


def _areas(same: Truth, scores: Values, resamples: NDArray[np.intp]) -> Values:
    """Return the AUC of every resample; scores are put in order once for all of them."""
    order = np.argsort(scores, kind="stable")
    begins = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)  # of equal scores
    counts = np.array([np.bincount(chosen, minlength=len(same)) for chosen in resamples], dtype=np.float64)[:, order]
    positive, negative = (np.add.reduceat(counts * side[order], begins, axis=1) for side in (same, ~same))
    # A pair that means the same wins against all others below it, and half against its equals.
    wins = positive * (negative.cumsum(axis=1) - negative / 2)
    return np.asarray(wins.sum(axis=1) / (positive.sum(axis=1) * negative.sum(axis=1)))

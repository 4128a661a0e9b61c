"""One small specimen of everything that can be fitted or stored, and something to do with each.

Three users: ``conformance`` fits every estimator in many ways, tests of model files store and load everything, and
fuzzers damage the files. A class that can be fitted or stored and has no specimen here fails ``test_conformance.py`` or
``test_files_rules.py``. A name may have a variant after a comma: "KernelSVC, a grammar".
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

import sapwood as sw

__all__ = ["ESTIMATORS", "LABELS", "SPECIMENS", "TREES", "Specimen", "corpus", "explain", "specimen", "use"]

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBD barked)))",
    "(S (NP (DT a) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))))",
    "(S (NP (PRP it)) (VP (VBD slept) (PP (IN in) (NP (DT the) (NN park)))))",
    "(S (NP (NNP Kim)) (VP (VBD gave) (NP (DT the) (NN dog)) (NP (DT a) (NN bone))))",
]
LABELS = ["short", "long", "long", "short"]
_SUBJECTS = ("(NP (PRP he))", "(NP (DT the) (NN dog))", "(NP (DT a) (JJ big) (NN cat))", "(NP (NNP Kim))")
_VERBS = {
    "none": "(VP (VBD slept))",
    "one": "(VP (VBD saw) (NP (NNP Lee)))",
    "two": "(VP (VBD gave) (NP (NNP Lee)) (PP (TO to) (NP (NNP Kim))))",
}


# --- data


@cache
def trees() -> sw.TreeArray:
    """Twelve sentences; the label of each is the number of its objects (``labels``)."""
    return sw.TreeArray([f"(S {subject} {verb} (. .))" for subject in _SUBJECTS for verb in _VERBS.values()])


@cache
def labels() -> np.ndarray:
    return np.array(list(_VERBS) * len(_SUBJECTS))


def two_labels() -> np.ndarray:
    return np.where(labels() == "none", "none", "some")


def numbers() -> np.ndarray:
    """Something to predict that no two sentences share."""
    return np.arange(12) % 3 + np.arange(12) / 10


@cache
def corpus() -> Any:
    """A few dozen sentences of the nursery."""
    from sapwood.corpora import nursery

    return nursery.generate(size=60)


@cache
def role_sentences() -> Any:
    return corpus().role_sentences()


@cache
def role_arguments(count: int) -> Any:
    from sapwood.tasks.roles import RoleArguments

    return RoleArguments.from_sentences(role_sentences()[:count], keep=lambda role: role in ("A0", "A1", "AM-LOC"))


@cache
def frame_data() -> Any:
    """A lexicon, and sentences with their frames."""
    from sapwood.tasks.frames import nursery_frames

    return nursery_frames(corpus())


@cache
def tree_pairs(count: int) -> tuple[sw.Examples, np.ndarray]:
    pairs = corpus().pairs[:count]
    sides = {side: corpus().trees[[getattr(one, side) for one in pairs]] for side in ("first", "second")}
    return sw.Examples(**sides), np.array([one.same for one in pairs])


@cache
def questions() -> tuple[sw.TreeArray, np.ndarray]:
    asked = [one for one in corpus().sentences if one.label is not None][:18]
    return sw.TreeArray([one.tree for one in asked]), np.array([one.label[0] == "HUM" for one in asked])


@cache
def forests() -> Any:
    return [corpus().forest(number) for number in range(5)]


@cache
def attachments() -> sw.TreeArray:
    from sapwood.parse.incremental import attachment_trees

    return attachment_trees(sw.TreeArray([one.tree for one in corpus().sentences[:6]]))


@cache
def table() -> tuple[np.ndarray, np.ndarray]:
    """Numbers with two classes that a curve tells apart."""
    X = np.random.default_rng(0).normal(size=(24, 3))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] > 0.5, "in", "out")


@cache
def candidate_sets() -> Any:
    from sapwood.learn.candidates import CandidateSets

    return CandidateSets(
        features=np.array([1, 2, 3, 4, 5, 6], np.uint32),
        ends=np.array([[1], [2], [3], [4], [5], [6]], np.uint64),
        row_ends=np.array([3, 6], np.uint64),
        role_ends=np.array([1, 2], np.uint64),
        key_ends=np.array([1, 2], np.uint64),
        keys=np.array([7, 9], np.uint32),
        masks=np.array([1, 1], np.uint32),
    )


_folders: list[tempfile.TemporaryDirectory[str]] = []  # they last as long as the process


@cache
def shards() -> Any:
    from sapwood.kernels import HashedFragmentMap
    from sapwood.scale import in_parts, map_to_shards

    _folders.append(tempfile.TemporaryDirectory())
    parts = in_parts(trees().to_strings(), labels().tolist(), size=4)
    return map_to_shards(HashedFragmentMap(n_features=64), parts, _folders[-1].name)


def nouns(words: list[str]) -> sw.Tree:
    """A parser that is a function: every word is a noun."""
    return sw.Tree("TOP", [sw.Tree("NN", [word]) for word in words])


def similarity() -> Any:
    from sapwood.words import Folded, Table

    return Folded(Table({("dog", "cat"): 0.5}))


def pair_features() -> Any:
    from sapwood.tasks.pairs import PairFeatures

    return PairFeatures(("lexical", "subset", "semantic"), coarse_decays=(0.4,), similarity=similarity())


# --- estimators


def answers(model: Any, X: Any) -> Any:
    """What a fitted estimator says of some examples, in as much detail as it can."""
    for method in ("decision_function", "transform", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    raise AssertionError(f"nothing to ask a {type(model).__name__}")


@dataclass(frozen=True)
class Specimen:
    """An estimator, what to fit it on and what to ask it.

    ``data`` gives X and y, where y is None if X holds the answers; ``fit_with`` are further arguments of ``fit``;
    ``asked`` are the examples of which ``ask`` wants answers, those of training if there are none. ``search`` has a
    parameter with two values. External parsers hold names alone and are never asked: that takes other programs.
    """

    make: Callable[[], Any]
    data: Callable[[], tuple[Any, Any]] = lambda: (trees(), labels())
    fit_with: Callable[[], dict[str, Any]] = dict
    asked: Callable[[], Any] | None = lambda: sw.TreeArray(TREES)
    ask: Callable[[Any, Any], Any] = answers
    search: Mapping[str, list[Any]] = field(default_factory=dict)
    stored: bool = True
    external: bool = False

    def fit(self, model: Any) -> Any:
        X, y = self.data()
        return model.fit(X, *([] if y is None else [y]), **self.fit_with())

    def fitted(self) -> Any:
        return self.make() if self.external else self.fit(self.make())

    def examples(self) -> Any:
        return self.data()[0] if self.asked is None else self.asked()


def _of(package: str, name: str, *arguments: Any, **parameters: Any) -> Callable[[], Any]:
    """Import only when called, so that a list of names costs nothing."""

    def make() -> Any:
        from importlib import import_module

        made = (value() if callable(value) and not isinstance(value, type) else value for value in arguments)
        named = {key: value() if callable(value) else value for key, value in parameters.items()}
        return getattr(import_module(f"sapwood.{package}"), name)(*made, **named)

    return make


def _kernel(text: str) -> Callable[[], Any]:
    return lambda: sw.kernels.parse_kernel(text)


SPANS = {
    "hidden_size": 8, "span_size": 8, "word_size": 4, "piece_size": 4, "dense_size": 4, "layers": 1, "batch_size": 4,
    "epochs": 1,
}  # fmt: skip


def untrained_span_parser() -> Any:
    """A span parser whose weights are random numbers, for machines without PyTorch."""
    from sapwood.parse import SpanParser
    from sapwood.parse.spans.features import WordFeatures
    from sapwood.parse.spans.labels import SpanVocabulary
    from sapwood.parse.spans.network import Network

    random = np.random.default_rng(0)
    shapes = {
        "words": (2, 4), "pieces": (50, 4), "shapes": (2, 16), "dense": (0, 0), "dense_bias": (0,),
        "first": (24,), "last": (24,), "lstm_input_0": (24, 32), "lstm_recurrent_0": (8, 32), "lstm_bias_0": (32,),
        "lstm_input_1": (24, 32), "lstm_recurrent_1": (8, 32), "lstm_bias_1": (32,),
        "span_hidden": (16, 8), "span_scale": (8,), "span_shift": (8,), "span_output": (8, 3), "span_bias": (3,),
        "tag_hidden": (16, 8), "tag_hidden_bias": (8,), "tag_scale": (8,), "tag_shift": (8,), "tag_output": (8, 2),
        "tag_bias": (2,),
    }  # fmt: skip
    weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    parser = SpanParser(**SPANS)
    vocabulary = SpanVocabulary((("S",), ("S", "VP"), ("NP",)), ("NN", "VB"), "TOP")
    parser._set(Network(WordFeatures({"the": 1}, {"a": 1}, 50), weights), vocabulary, None)
    return parser


def averaged_span_parser() -> Any:
    """An average of two of them."""
    from sapwood.parse import SpanParser

    one = untrained_span_parser()
    return SpanParser.average([one, one])


_SST = _kernel("SubsetTree(0.4).normalized()")
_RECURSIVE = {"units": 3, "epochs": 2, "random_state": 0}
_GROUPS = np.arange(12) // 3


def _ranked() -> tuple[Any, Any]:
    return trees(), np.arange(12) % 3


def _attachment_answers(model: Any, X: Any) -> list[np.ndarray]:
    """Utilities of all alternatives, sentence by sentence."""
    together = model.decision_function(model.forests(X))
    sizes = [len(model.forests(X[at : at + 1]).trees) for at in range(len(X))]
    return np.split(together, np.cumsum(sizes))[: len(X)]


def _attachment_questions() -> Any:
    from sapwood.parse.incremental import attachment_trees

    return attachment_trees(sw.TreeArray(TREES))


def _frames_of(count: int) -> Callable[[], tuple[Any, None]]:
    return lambda: (frame_data()[1][:count], None)


def _lexicon() -> dict[str, Any]:
    return {"lexicon": frame_data()[0]}


def _probabilities(model: Any, X: Any) -> np.ndarray:
    return model.predict_proba(X)


def _transformed(model: Any, X: Any) -> list[str]:
    return model.transform(X).to_strings()


_TEXTS = ["The dog barked .", "Kim saw the cat .", "It slept ."]
_FRAMES: dict[str, Any] = {"bits": 10, "epochs": 1}

ESTIMATORS: dict[str, Specimen] = {
    "AdditiveLogistic": Specimen(
        _of("learn.additive", "AdditiveLogistic"), data=table, asked=None, search={"C": [0.1, 1.0]}, stored=False
    ),
    "AttachmentRanker": Specimen(
        _of("tasks.attachment", "AttachmentRanker", _of("learn", "RecursiveRanker", **_RECURSIVE), reduction=1),
        data=lambda: (attachments(), None),
        asked=_attachment_questions,
        ask=_attachment_answers,
        search={"reduction": [1, 2]},
    ),
    "BeneparParser": Specimen(_of("parse", "BeneparParser", "benepar_de2", language="de"), external=True),
    "BllipParser": Specimen(_of("parse", "BllipParser", "/models/bllip", rerank=True, overparsing=5), external=True),
    "CoreNLPParser": Specimen(_of("parse", "CoreNLPParser", "http://127.0.0.1:9", timeout=1.5), external=True),
    "FlatParser": Specimen(
        _of("parse", "FlatParser"), data=lambda: (trees(), None), asked=lambda: _TEXTS, ask=_transformed
    ),
    "FragmentMap": Specimen(_of("kernels", "FragmentMap", max_size=3), search={"max_size": [2, 3]}),
    "FrameIdentifier": Specimen(
        _of("tasks.frames", "FrameIdentifier", **_FRAMES),
        data=_frames_of(10),
        fit_with=_lexicon,
        asked=lambda: [one.parse for one in frame_data()[1][:4]],
        search={"epochs": [1, 2]},
    ),
    "FrameLabeler": Specimen(
        _of("tasks.frames", "FrameLabeler", **_FRAMES),
        data=_frames_of(10),
        fit_with=_lexicon,
        asked=lambda: frame_data()[1][:4],
        search={"epochs": [1, 2]},
    ),
    "FrameParser": Specimen(
        _of(
            "tasks.frames",
            "FrameParser",
            labeler=_of("tasks.frames", "FrameLabeler", **_FRAMES),
            identifier=_of("tasks.frames", "FrameIdentifier", **_FRAMES),
        ),
        data=_frames_of(10),
        fit_with=_lexicon,
        asked=lambda: frame_data()[1][:4],
        search={"labeler__epochs": [1, 2]},
    ),
    "FunctionParser": Specimen(
        lambda: sw.parse.as_parser(nouns),
        data=lambda: (trees(), None),
        asked=lambda: _TEXTS,
        ask=_transformed,
        stored=False,
    ),
    "HashedFragmentMap": Specimen(_of("kernels", "HashedFragmentMap", n_features=64), search={"max_size": [2, 3]}),
    "KernelRanker": Specimen(
        _of("learn", "KernelRanker", _SST, random_state=0),
        data=_ranked,
        fit_with=lambda: {"groups": _GROUPS},
        search={"epochs": [1, 2]},
    ),
    "KernelSVC": Specimen(_of("learn", "KernelSVC", _SST), search={"C": [0.1, 10.0]}),
    "KernelSVC, probabilities": Specimen(_of("learn", "KernelSVC", _SST, probability=True), ask=_probabilities),
    "KernelSVC, an expression": Specimen(_of("learn", "KernelSVC", "Subtree(decay=0.5).normalized()")),
    "KernelSVC, one against one": Specimen(
        _of("learn", "KernelSVC", _kernel("PartialTree() + Subtree()"), multi_class="ovo", class_weight="balanced"),
        search={"C": [0.1, 10.0]},
    ),
    "KernelSVC, similar words": Specimen(
        _of("learn", "KernelSVC", _of("kernels", "SmoothedPartialTree", similarity)), search={"C": [0.1, 10.0]}
    ),
    "KernelSVC, a grammar": Specimen(
        _of("learn", "KernelSVC", _kernel("GrammarDriven()")), search={"kernel__decay": [0.2, 0.4]}
    ),
    "KernelSVR": Specimen(
        _of("learn", "KernelSVR", _SST), data=lambda: (trees(), numbers()), search={"C": [0.1, 10.0]}
    ),
    "LandmarkMap": Specimen(
        _of("kernels", "LandmarkMap", _SST, n_components=3, random_state=0), search={"n_components": [2, 3]}
    ),
    "LogLinear": Specimen(
        _of("learn.loglinear", "LogLinear", bits=8, epochs=2),
        data=lambda: (candidate_sets(), np.array([0, 2])),
        asked=None,
        search={"epochs": [1, 2]},
    ),
    "PairClassifier": Specimen(
        _of("tasks.pairs", "PairClassifier", pair_features),
        data=lambda: tree_pairs(16),
        asked=lambda: sw.Examples(first=TREES[:2], second=TREES[2:]),
        search={"C": [0.1, 1.0]},
    ),
    "PairFeatures": Specimen(
        pair_features,
        data=lambda: tree_pairs(8),
        asked=lambda: sw.Examples(first=TREES[:2], second=TREES[2:]),
        search={"lowercase": [True, False]},
    ),
    "ParseReranker": Specimen(
        _of(
            "tasks.reranking",
            "ParseReranker",
            _of("learn", "KernelRanker", _kernel("SubsetTree(0.3).on('tree') + Linear().on('prior')"), random_state=0),
        ),
        data=lambda: (forests(), None),
        asked=lambda: forests()[:3],
        search={"ranker__epochs": [1, 2]},
    ),
    "PCFGParser": Specimen(
        _of("parse", "PCFGParser"),
        data=lambda: (sw.TreeArray([one.tree for one in corpus().sentences[:25]]), None),
        asked=lambda: [" ".join(one.words) for one in corpus().sentences[:3]],
        ask=_transformed,
        search={"vertical": [1, 2]},
    ),
    "QuestionClassifier": Specimen(
        # The default kernel would ask for WordNet, which not every machine has.
        _of("tasks.questions", "QuestionClassifier", _of("tasks.questions", "semantic_kernel", similarity)),
        data=questions,
        search={"C": [0.1, 10.0]},
    ),
    "RecursiveClassifier": Specimen(_of("learn", "RecursiveClassifier", **_RECURSIVE), search={"units": [2, 3]}),
    "RecursiveRanker": Specimen(
        _of("learn", "RecursiveRanker", **_RECURSIVE),
        data=_ranked,
        fit_with=lambda: {"groups": _GROUPS},
        search={"units": [2, 3]},
    ),
    "RecursiveRegressor": Specimen(
        _of("learn", "RecursiveRegressor", **_RECURSIVE),
        data=lambda: (trees(), numbers()),
        ask=lambda model, X: model.predict(X),
        search={"units": [2, 3]},
    ),
    "RoleClassifier": Specimen(
        _of("tasks.roles", "RoleClassifier", "truncated"),
        data=lambda: (role_arguments(15), role_arguments(15).labels),
        asked=lambda: role_arguments(4),
        search={"C": [0.1, 10.0]},
    ),
    "RoleClassifier, probabilities": Specimen(
        _of("tasks.roles", "RoleClassifier", "truncated", probability="sigmoid"),
        data=lambda: (role_arguments(15), role_arguments(15).labels),
        asked=lambda: role_arguments(4),
        ask=_probabilities,
    ),
    "RoleLabeler": Specimen(
        _of("tasks.roles", "RoleLabeler"),
        data=lambda: (role_sentences()[:40], None),
        asked=lambda: [one.tree for one in role_sentences()[:4]],
        search={"min_seen": [10, 20]},
    ),
    "ShardClassifier": Specimen(
        _of("scale", "ShardClassifier", epochs=2), data=lambda: (shards(), None), search={"epochs": [1, 2]}
    ),
    "SpanParser": (
        Specimen(
            _of("parse", "SpanParser", **SPANS),
            data=lambda: (sw.TreeArray([one.tree for one in corpus().sentences[:12]]), None),
            asked=lambda: [" ".join(one.words) for one in corpus().sentences[:3]],
            ask=_transformed,
            search={"epochs": [1, 2]},
        )
        if find_spec("torch")
        else Specimen(untrained_span_parser, external=True)
    ),
    "SpanParser, averaged": Specimen(averaged_span_parser, external=True),
    "StanzaParser": Specimen(_of("parse", "StanzaParser", "it"), external=True),
    "SubtreeMap": Specimen(_of("kernels", "SubtreeMap"), search={"min_df": [1, 2]}),
    "VotedPerceptron": Specimen(
        _of("learn", "VotedPerceptron", _SST, random_state=0),
        data=lambda: (trees(), two_labels()),
        search={"epochs": [1, 2]},
    ),
    "VotedPerceptron, averaged": Specimen(
        _of("learn", "VotedPerceptron", _SST, vote="averaged", random_state=0),
        data=lambda: (trees(), two_labels()),
        search={"epochs": [1, 2]},
    ),
    "VotedPerceptron, probabilities": Specimen(
        _of("learn", "VotedPerceptron", _SST, probability="temperature", random_state=0),
        data=lambda: (trees(), two_labels()),
        ask=_probabilities,
    ),
    "VotedPerceptron, last": Specimen(
        _of("learn", "VotedPerceptron", _SST, vote="last", random_state=0),
        data=lambda: (trees(), two_labels()),
        search={"epochs": [1, 2]},
    ),
}


# --- everything that can be stored


def _examples() -> Any:
    import scipy.sparse as sparse

    return sw.Examples(
        tree=TREES[:2],
        bag=[["(a b)", "(a b)"], []],
        dense=np.array([[1.0, 2.0], [3.0, 4.0]]),
        sparse=sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]])),
        words=[{"w": "dog", "n": 1.5}, {"i": 3}],
    )


def in_context() -> sw.TreeArray:
    found = sw.TreeArray(TREES)
    count = sum(map(len, found.leaves()))
    return found.with_vectors(np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32))


def _checkpoint() -> Any:
    from sapwood.resuming import Checkpoint

    return Checkpoint("abc", {"epoch": 3}, {"w": np.arange(4.0)})


def _paths() -> Any:
    from sapwood.parse.incremental import ConnectionPaths

    return ConnectionPaths.from_trees(_attachment_questions())


def _senses() -> Any:
    """Supersenses as a model file carries them, for machines without WordNet."""
    from sapwood.words.senses import WordSenses, _Listed

    senses = WordSenses.__new__(WordSenses)
    senses._parts = {
        "NN": _Listed("noun", {"dog": 5, "ox": 5, "park": 15}, {"oxen": ["ox"]}),
        "VB": _Listed("verb", {"bark": 32, "sleep": 29}, {"slept": ["sleep"]}),
        "JJ": _Listed("adj", {}, {}),
        "RB": _Listed("adv", {}, {}),
    }
    return senses


def _wrapped(kind: str) -> Callable[[], Any]:
    """One of scikit-learn's wrappers around estimators of Sapwood's."""

    def make() -> Any:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator
        from sklearn.pipeline import make_pipeline

        model = ESTIMATORS["KernelSVC"].make()
        if kind == "Pipeline":
            return make_pipeline("passthrough", sw.parse.FlatParser(), model).fit(
                [" ".join(tree.leaves()) for tree in trees()], labels()
            )
        if kind == "FrozenEstimator":
            return FrozenEstimator(model.fit(trees(), labels()))
        return CalibratedClassifierCV(model, cv=2, method=kind).fit(trees(), labels())

    return make


SPECIMENS: dict[str, Callable[[], Any]] = {
    "CalibratedClassifierCV": _wrapped("sigmoid"),
    "CalibratedClassifierCV, temperature": _wrapped("temperature"),
    "CalibratedClassifierCV, isotonic": _wrapped("isotonic"),
    "Checkpoint": _checkpoint,
    "ConnectionPaths": _paths,
    "Examples": _examples,
    "FrozenEstimator": _wrapped("FrozenEstimator"),
    "Grammar": lambda: sw.trees.Grammar.from_trees(sw.TreeArray(TREES)),
    "Kernel": lambda: sw.kernels.parse_kernel(
        "0.5 * SubsetTree(0.3).normalized() + Subtree() * PartialTree() ** 2 + 1"
    ),
    "Pipeline": _wrapped("Pipeline"),
    "TreeArray": lambda: sw.TreeArray(TREES),
    "TreeIndex": _of("search", "TreeIndex", TREES),
    "TreeIndex, sum": _of(
        "search", "TreeIndex", TREES, _kernel("0.5 * PartialTree().normalized() + 0.5 * Subtree().normalized()")
    ),
    "TreeArray, vectors": in_context,
    "WordSenses": _senses,
    "WordSimilarity": similarity,
    "WordSimilarity, vectors": lambda: sw.words.Vectors(["dog", "cat", "park"], np.eye(3, 4)),
    **{name: one.fitted for name, one in ESTIMATORS.items() if one.stored},
}


@cache
def specimen(name: str) -> Any:
    """The object of this name, fitted, made once."""
    return SPECIMENS[name]()


def use(value: Any) -> Any:
    """Do with an object what it is for; whoever gives the same answer here is the same model."""
    kind = type(value).__name__
    if isinstance(value, sw.TreeArray) and value.vectors is not None:
        return sw.kernels.SemanticSubsetTree(sw.words.Contextual())(value).tolist()
    if isinstance(value, sw.TreeArray):
        return [str(tree) for tree in value] if not value.has_bags else repr(value)
    if isinstance(value, sw.Examples):
        return [
            use(value[name]) if isinstance(value[name], sw.TreeArray) else repr(value[name]) for name in value.views
        ]
    if isinstance(value, sw.kernels.Kernel):
        return value(sw.TreeArray(TREES))
    if isinstance(value, sw.words.WordSimilarity):
        return value.matrix(["dog", "cat", "Dog", "x"])
    if kind == "Checkpoint":
        return value.values, {name: array.tolist() for name, array in value.arrays.items()}
    if kind == "ConnectionPaths":
        return list(value.items()), len(value.forests(_attachment_questions(), missing="keep"))
    if kind == "Grammar":
        return value.statistics()
    if kind == "WordSenses":
        return [value.supersense(word, tag) for word, tag in (("dogs", "NNS"), ("oxen", "NNS"), ("Slept", "VBD"))]
    if kind == "LogLinear":
        return value.weights_.tolist()
    if kind == "TreeIndex":
        return [one.similarities.tolist() for one in value.nearest(sw.TreeArray(TREES), 2)]
    if kind == "CalibratedClassifierCV":
        return value.predict_proba(sw.TreeArray(TREES))
    if kind in ("FrozenEstimator", "Pipeline"):
        return value.decision_function(sw.TreeArray(TREES) if kind == "FrozenEstimator" else _TEXTS)
    one = ESTIMATORS[kind]
    return value.get_params() if one.external else one.ask(value, one.examples())


def explain(value: Any) -> Any:
    """Ask an object for its reasons and for what its columns stand for; None if it has neither."""
    kind = type(value).__name__
    if isinstance(value, sw.kernels.Kernel):
        return value.explain(TREES[0], TREES[1])
    if kind == "PairClassifier":
        return value.explain((TREES[0], TREES[1]))
    if kind == "RoleLabeler":
        return value.explain(TREES[0], 2, (0, 1))
    if kind == "TreeIndex":
        return value.explain(TREES[0], 0)
    if kind in ("Pipeline", "FrozenEstimator", "CalibratedClassifierCV"):
        return None
    if kind in ("FrameIdentifier", "FrameLabeler", "FrameParser"):
        return None  # tests of frames explain them
    found = [value.explain(TREES[0])] if hasattr(value, "explain") else []
    if hasattr(value, "fragments"):
        found.append(value.fragments())
    if hasattr(value, "get_feature_names_out"):
        found.append(value.get_feature_names_out())
    return found or None

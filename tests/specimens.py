"""One small object of every kind that Sapwood can store, and something to do with each.

Fuzzers damage the files of these objects; tests of the format, of versions and of faults use them as they are. A class
that becomes storable and has no specimen here fails ``test_files_rules.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import sapwood as sw

__all__ = ["SPECIMENS", "explain", "garden", "specimen", "use"]

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBD barked)))",
    "(S (NP (DT a) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))))",
    "(S (NP (PRP it)) (VP (VBD slept) (PP (IN in) (NP (DT the) (NN park)))))",
    "(S (NP (NNP Kim)) (VP (VBD gave) (NP (DT the) (NN dog)) (NP (DT a) (NN bone))))",
]
LABELS = ["short", "long", "long", "short"]


@cache
def garden() -> Any:
    """A few dozen sentences of the nursery."""
    from sapwood.corpora import nursery

    return nursery.generate(size=60)


def _kernel() -> Any:
    from sapwood.kernels import PartialTree, SubsetTree, Subtree

    return 0.5 * SubsetTree(0.3).normalized() + Subtree() * PartialTree() ** 2 + 1


def _similarity() -> Any:
    from sapwood.words import Folded, Table

    return Folded(Table({("dog", "cat"): 0.5}))


def _vectors() -> Any:
    from sapwood.words import Vectors

    return Vectors(["dog", "cat", "park"], np.eye(3, 4))


def _examples() -> Any:
    import scipy.sparse as sparse

    return sw.Examples(
        tree=TREES[:2],
        bag=[["(a b)", "(a b)"], []],
        dense=np.array([[1.0, 2.0], [3.0, 4.0]]),
        sparse=sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]])),
        words=[{"w": "dog", "n": 1.5}, {"i": 3}],
    )


def _svc() -> Any:
    from sapwood.kernels import SubsetTree
    from sapwood.learn import KernelSVC

    return KernelSVC(SubsetTree().normalized()).fit(sw.TreeArray(TREES), LABELS)


def _semantic_svc() -> Any:
    from sapwood.kernels import SmoothedPartialTree
    from sapwood.learn import KernelSVC

    return KernelSVC(SmoothedPartialTree(_similarity())).fit(sw.TreeArray(TREES), LABELS)


def _driven_svc() -> Any:
    from sapwood.kernels import GrammarDriven
    from sapwood.learn import KernelSVC

    return KernelSVC(GrammarDriven()).fit(sw.TreeArray(TREES), LABELS)


def _svr() -> Any:
    from sapwood.kernels import PartialTree
    from sapwood.learn import KernelSVR

    return KernelSVR(PartialTree()).fit(sw.TreeArray(TREES), [1.0, 2.0, 2.5, 1.5])


def _perceptron() -> Any:
    from sapwood.kernels import SubsetTree
    from sapwood.learn import VotedPerceptron

    return VotedPerceptron(SubsetTree(), random_state=0).fit(sw.TreeArray(TREES), LABELS)


def _ranker() -> Any:
    from sapwood.kernels import SubsetTree
    from sapwood.learn import KernelRanker

    return KernelRanker(SubsetTree(), random_state=0).fit(sw.TreeArray(TREES), [1, 0, 0, 1], groups=[0, 0, 1, 1])


def _recursive(name: str) -> Callable[[], Any]:
    def make() -> Any:
        kind = getattr(sw.learn, name)
        model = kind(units=3, epochs=2, random_state=0)
        X = sw.TreeArray(TREES)
        if name == "RecursiveRanker":
            return model.fit(X, [1, 0, 0, 1], groups=[0, 0, 1, 1])
        return model.fit(X, LABELS if name == "RecursiveClassifier" else [1.0, 2.0, 2.5, 1.5])

    return make


def _checkpoint() -> Any:
    from sapwood.resuming import Checkpoint

    return Checkpoint("abc", {"epoch": 3}, {"w": np.arange(4.0)})


def _loglinear() -> Any:
    from sapwood.learn import CandidateSets, LogLinear

    sets = CandidateSets(
        features=np.array([1, 2, 3, 4, 5, 6], np.uint32),
        ends=np.array([[1], [2], [3], [4], [5], [6]], np.uint64),
        row_ends=np.array([3, 6], np.uint64),
        role_ends=np.array([1, 2], np.uint64),
        key_ends=np.array([1, 2], np.uint64),
        keys=np.array([7, 9], np.uint32),
        masks=np.array([1, 1], np.uint32),
    )
    return LogLinear(bits=8, epochs=2).fit(sets, np.array([0, 2]))


def _map(name: str, *arguments: Any, **keywords: Any) -> Callable[[], Any]:
    return lambda: getattr(sw.kernels, name)(*arguments, **keywords).fit(sw.TreeArray(TREES))


def _landmarks() -> Any:
    from sapwood.kernels import LandmarkMap, SubsetTree

    return LandmarkMap(SubsetTree(), n_components=3, random_state=0).fit(sw.TreeArray(TREES))


def _parser() -> Any:
    from sapwood.parse import PCFGParser

    return PCFGParser().fit([one.tree for one in garden().sentences[:25]])


def _flat_parser() -> Any:
    from sapwood.parse import FlatParser

    return FlatParser()


def _named(kind: str, **parameters: Any) -> Callable[[], Any]:
    """A parser of others, which holds names alone."""
    return lambda: getattr(sw.parse, kind)(**parameters)


def _paths() -> Any:
    from sapwood.parse.incremental import ConnectionPaths, attachment_trees

    return ConnectionPaths.from_trees(attachment_trees(sw.TreeArray(TREES)))


def _attachment() -> Any:
    from sapwood.learn import RecursiveRanker
    from sapwood.parse.incremental import attachment_trees
    from sapwood.tasks.attachment import AttachmentRanker

    trees = attachment_trees(sw.TreeArray([one.tree for one in garden().sentences[:6]]))
    return AttachmentRanker(RecursiveRanker(units=3, epochs=1, random_state=0), reduction=1).fit(trees)


def _reranker() -> Any:
    from sapwood.kernels import Linear, SubsetTree
    from sapwood.learn import KernelRanker
    from sapwood.tasks.reranking import ParseReranker

    ranker = KernelRanker(SubsetTree(decay=0.3).on("tree") + Linear().on("prior"), random_state=0)
    return ParseReranker(ranker).fit([garden().forest(number) for number in range(5)])


def _questions() -> Any:
    from sapwood.tasks.questions import QuestionClassifier, semantic_kernel

    asked = [one for one in garden().sentences if one.label is not None][:12]
    # The default kernel would ask for WordNet, which not every machine has.
    return QuestionClassifier(semantic_kernel(_similarity())).fit(
        [one.tree for one in asked], [one.label[0] for one in asked]
    )


def _pairs() -> Any:
    from sapwood.tasks.pairs import PairClassifier

    pairs = garden().pairs[:16]
    X = sw.Examples(**{side: garden().trees[[getattr(one, side) for one in pairs]] for side in ("first", "second")})
    return PairClassifier(_pair_features()).fit(X, [one.same for one in pairs])


def _pair_features() -> Any:
    from sapwood.tasks.pairs import PairFeatures

    return PairFeatures(("lexical", "subset", "semantic"), coarse_decays=(0.4,), similarity=_similarity())


def _fitted_pair_features() -> Any:
    pairs = garden().pairs[:8]
    X = sw.Examples(**{side: garden().trees[[getattr(one, side) for one in pairs]] for side in ("first", "second")})
    return _pair_features().fit(X)


def _roles() -> Any:

    return garden().role_sentences()


def _role_classifier() -> Any:
    from sapwood.tasks.roles import RoleArguments, RoleClassifier

    return RoleClassifier("truncated").fit(RoleArguments.from_sentences(_roles()[:15]))


def _role_labeler() -> Any:
    from sapwood.tasks.roles import RoleLabeler

    return RoleLabeler().fit(_roles()[:40])


@cache
def _frames() -> Any:
    from sapwood.tasks.frames import nursery_frames

    return nursery_frames(garden())


def _frame_labeler() -> Any:
    from sapwood.tasks.frames import FrameLabeler

    lexicon, data = _frames()
    return FrameLabeler(bits=10, epochs=1).fit(data[:10], lexicon=lexicon)


def _frame_identifier() -> Any:
    from sapwood.tasks.frames import FrameIdentifier

    lexicon, data = _frames()
    return FrameIdentifier(bits=10, epochs=1).fit(data[:10], lexicon=lexicon)


def _frame_parser() -> Any:
    from sapwood.tasks.frames import FrameIdentifier, FrameLabeler, FrameParser

    lexicon, data = _frames()
    parser = FrameParser(labeler=FrameLabeler(bits=10, epochs=1), identifier=FrameIdentifier(bits=10, epochs=1))
    return parser.fit(data[:10], lexicon=lexicon)


def _grammar() -> Any:
    from sapwood.trees import Grammar

    return Grammar.from_trees(sw.TreeArray(TREES))


def _shards() -> Any:
    import tempfile

    from sapwood.kernels import HashedFragmentMap
    from sapwood.scale import ShardClassifier, in_parts, map_to_shards

    with tempfile.TemporaryDirectory() as folder:
        shards = map_to_shards(HashedFragmentMap(n_features=64), in_parts(TREES, LABELS, size=2), folder)
        return ShardClassifier(epochs=2).fit(shards)


SPECIMENS: dict[str, Callable[[], Any]] = {
    "AttachmentRanker": _attachment,
    "BeneparParser": _named("BeneparParser", model="benepar_de2", language="de"),
    "BllipParser": _named("BllipParser", folder="/models/bllip", rerank=True, overparsing=5),
    "Checkpoint": _checkpoint,
    "ConnectionPaths": _paths,
    "CoreNLPParser": _named("CoreNLPParser", url="http://127.0.0.1:9", timeout=1.5),
    "Examples": _examples,
    "FlatParser": _flat_parser,
    "FragmentMap": _map("FragmentMap", max_size=3),
    "FrameIdentifier": _frame_identifier,
    "FrameLabeler": _frame_labeler,
    "FrameParser": _frame_parser,
    "Grammar": _grammar,
    "HashedFragmentMap": _map("HashedFragmentMap", n_features=64),
    "Kernel": _kernel,
    "KernelRanker": _ranker,
    "KernelSVC": _svc,
    "KernelSVC, similar words": _semantic_svc,
    "KernelSVC, a grammar": _driven_svc,
    "KernelSVR": _svr,
    "LandmarkMap": _landmarks,
    "LogLinear": _loglinear,
    "PCFGParser": _parser,
    "PairClassifier": _pairs,
    "PairFeatures": _fitted_pair_features,
    "ParseReranker": _reranker,
    "QuestionClassifier": _questions,
    "RecursiveClassifier": _recursive("RecursiveClassifier"),
    "RecursiveRanker": _recursive("RecursiveRanker"),
    "RecursiveRegressor": _recursive("RecursiveRegressor"),
    "RoleClassifier": _role_classifier,
    "RoleLabeler": _role_labeler,
    "ShardClassifier": _shards,
    "StanzaParser": _named("StanzaParser", lang="it"),
    "SubtreeMap": _map("SubtreeMap"),
    "TreeArray": lambda: sw.TreeArray(TREES),
    "VotedPerceptron": _perceptron,
    "WordSimilarity": _similarity,
    "WordSimilarity, vectors": _vectors,
}


@cache
def specimen(name: str) -> Any:
    """The object of this name, made once."""
    return SPECIMENS[name]()


def use(value: Any) -> Any:
    """Do with an object what it is for; whoever gives the same answer here is the same model."""
    kind = type(value).__name__
    trees = sw.TreeArray(TREES)
    if isinstance(value, sw.TreeArray):
        return [str(tree) for tree in value] if not value.has_bags else repr(value)
    if isinstance(value, sw.Examples):
        return [
            use(value[name]) if isinstance(value[name], sw.TreeArray) else repr(value[name]) for name in value.views
        ]
    if isinstance(value, sw.kernels.Kernel):
        return value(trees)
    if isinstance(value, sw.words.WordSimilarity):
        return value.matrix(["dog", "cat", "Dog", "x"])
    if kind == "Checkpoint":
        return value.values, {name: array.tolist() for name, array in value.arrays.items()}
    if kind == "ConnectionPaths":
        from sapwood.parse.incremental import attachment_trees

        return list(value.items()), len(value.forests(attachment_trees(trees), missing="keep"))
    if kind == "Grammar":
        return value.statistics()
    if kind == "LogLinear":
        return value.weights_.tolist()
    if kind in ("BeneparParser", "BllipParser", "CoreNLPParser", "StanzaParser"):
        return value.get_params()
    if kind == "FlatParser":
        return [str(tree) for tree in value.transform(["Why me? Why not?"])[0]]
    if kind in ("PairClassifier", "PairFeatures"):
        X = sw.Examples(first=trees[:2], second=trees[2:])
        return (value.transform if kind == "PairFeatures" else value.decision_function)(X)
    if kind == "PCFGParser":
        one = garden().sentences[0]
        return [str(tree) for tree in value.parse_nbest(one.words, 3).parses]
    if kind == "AttachmentRanker":
        from sapwood.parse.incremental import attachment_trees

        return value.decision_function(value.forests(attachment_trees(trees)))
    if kind == "ParseReranker":
        return value.predict([garden().forest(number) for number in range(3)])
    if kind == "RoleClassifier":
        from sapwood.tasks.roles import RoleArguments

        return value.decision_function(RoleArguments.from_sentences(_roles()[:4]))
    if kind == "RoleLabeler":
        return [repr(one) for one in value.predict(_roles()[:4], given_predicates=True)]
    if kind in ("FrameLabeler", "FrameParser"):
        return [repr(one) for one in value.predict(_frames()[1][:4])]
    if kind == "FrameIdentifier":
        return [repr(one) for one in value.predict([one.parse for one in _frames()[1][:4]])]
    for method in ("decision_function", "transform", "predict"):
        if hasattr(value, method):
            return getattr(value, method)(trees)
    raise AssertionError(f"nothing to do with a {kind}")


def explain(value: Any) -> Any:
    """Ask an object for its reasons and for what its columns stand for; None if it has neither."""
    kind = type(value).__name__
    if isinstance(value, sw.kernels.Kernel):
        return value.explain(TREES[0], TREES[1])
    if kind == "PairClassifier":
        return value.explain((TREES[0], TREES[1]))
    if kind == "RoleLabeler":
        return value.explain(TREES[0], 2, (0, 1))
    found = [value.explain(TREES[0])] if hasattr(value, "explain") else []
    if hasattr(value, "fragments"):
        found.append(value.fragments())
    if hasattr(value, "get_feature_names_out"):
        found.append(value.get_feature_names_out())
    return found or None

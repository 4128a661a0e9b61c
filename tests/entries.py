"""One call that works for every public callable, from which tests make calls that should not.

``ENTRIES`` names each callable of each package and says how to call it. Estimators are made and fitted; iterators are
run to their end. Two kinds of names need no entry: records, which only hold what they are given, and readers, which
``fuzz/targets.py`` covers (``READERS`` says by which target).
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import itertools
import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import sapwood as sw
import specimens

__all__ = ["ENTRIES", "INTERNAL", "PACKAGES", "READERS", "is_record", "public"]

# Not public, but users reach them: through operators, and through parameters of the estimators that they serve.
INTERNAL = {"AdditiveLogistic", "CandidateSets", "LogLinear", "WordProduct", "WordScaled", "WordSum"}

PACKAGES = (
    "sapwood",
    "sapwood.trees",
    "sapwood.words",
    "sapwood.kernels",
    "sapwood.learn",
    "sapwood.search",
    "sapwood.decode",
    "sapwood.parse",
    "sapwood.corpora",
    *(
        f"sapwood.corpora.{format}"
        for format in (
            "allennlp",
            "brown",
            "conll05",
            "conll09",
            "conllu",
            "corenlp",
            "framenet",
            "kelp",
            "labeled",
            "nbest",
            "nursery",
            "pairs",
            "parsed_texts",
            "propbank",
            "propbank_columns",
            "questions",
            "role_lines",
            "rolesets",
            "text_pairs",
            "tree_pairs",
        )
    ),
    "sapwood.metrics",
    "sapwood.search",
    "sapwood.draw",
    "sapwood.tasks.attachment",
    "sapwood.tasks.frames",
    "sapwood.tasks.pairs",
    "sapwood.tasks.questions",
    "sapwood.tasks.roles",
    "sapwood.tasks.reranking",
    "sapwood.parse.incremental",
)

# Which fuzz target covers a reader.
READERS = {
    "allennlp.read": "allennlp",
    "brown.read": "brown",
    "conll05.read": "conll05",
    "conll05.read_release": "conll05",
    "conll09.read": "conll09",
    "conllu.read": "conllu",
    "corenlp.read": "corenlp",
    "framenet.read": "release",
    "framenet.read_parses": "sentence_parses",
    "kelp.read": "kelp",
    "labeled.read": "labeled",
    "nbest.read": "nbest",
    "pairs.read": "quora",
    "parsed_texts.read": "parsed_texts",
    "propbank.read": "pointers",
    "propbank_columns.read": "joined",
    "questions.read": "questions",
    "role_lines.read": "role_lines",
    "rolesets.read": "rolesets",
    "text_pairs.read": "text_pairs",
    "tree_pairs.read": "tree_pairs",
    "read_trees": "trees",
    "iter_trees": "trees",
    "iter_tree_blocks": "packed",
    "load_framenet": "release",
    "iter_records": "frame_records",
    "load": "model",
}


def public() -> dict[str, Any]:
    """Every public callable, under its name; a verb of a format with the format in front."""
    found: dict[str, Any] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                # Every format has the same verbs.
                verb = name.startswith(("read", "write")) and package.startswith("sapwood.corpora.")
                key = f"{package.rpartition('.')[2]}.{name}" if verb else name
                assert found.get(key, value) is value, f"two packages each have another {key}"
                found[key] = value
    return found


def is_record(value: Any) -> bool:
    """Whether a class only holds what it is given: results, rows of files, errors; or nothing at all, as protocols."""
    if not inspect.isclass(value):
        return False
    if getattr(value, "_is_protocol", False):
        return True
    if issubclass(value, (Exception, Warning)):
        return True
    named = issubclass(value, tuple) and hasattr(value, "_fields")
    return named or (dataclasses.is_dataclass(value) and not hasattr(value, "__post_init__"))


def trees() -> Any:
    return sw.TreeArray(specimens.TREES)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="sapwood-entries-"))


def _sources() -> str:
    """A folder with a source file."""
    folder = _folder()
    (folder / "source.py").write_text("def f(x):\n    return x + 1\n")
    return str(folder)


def _path(name: str = "x.out") -> str:
    return str(_folder() / name)


def _fitted(kind: Any, *fixed: str) -> Callable[..., Any]:
    """Make an estimator, fit it and ask it something; what is not its parameter goes to ``fit``."""

    def call(X: Any, y: Any = None, **keywords: Any) -> Any:
        given = {name: keywords.pop(name) for name in fixed if name in keywords}
        model = kind(**keywords)
        model.fit(X, y, **given) if y is not None else model.fit(X, **given)
        for method in ("decision_function", "transform", "predict"):
            if hasattr(model, method):
                return getattr(model, method)(X)
        return model

    return call


def _kernel(kind: Any) -> Callable[..., Any]:
    def call(X: Any, **keywords: Any) -> Any:
        kernel = kind(**keywords)
        return kernel(X), kernel.diag(X), kernel.normalized()(X, X)

    return call


def _words(kind: Any) -> Callable[..., Any]:
    def call(words: Any, **keywords: Any) -> Any:
        return kind(**keywords).matrix(words)

    return call


def _all(function: Any) -> Callable[..., Any]:
    return lambda **keywords: list(itertools.islice(function(**keywords), 50))


def _roles() -> Any:
    return specimens.role_sentences()[:3]


def _dependencies() -> Any:
    text = "1\tdogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
    return list(sw.corpora.conllu.read(io.StringIO(text)))


def _forests() -> Any:
    from sapwood.parse.incremental import ConnectionPaths, attachment_trees

    made = attachment_trees(trees())
    return ConnectionPaths.from_trees(made).forests(made)


def _graph(scores: Any, **keywords: Any) -> Any:
    graph = sw.decode.FactorGraph()
    u = graph.variables(scores)
    graph.xor(u, axis=1)
    graph.budget(u, limit=3)
    return graph.solve(**keywords)


def _grammar() -> Any:
    return specimens.specimen("Grammar")


def _entries() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    from sapwood import corpora, decode, draw, kernels, learn, metrics, parse, search, words
    from sapwood.corpora import nursery
    from sapwood.corpora.framenet.lexicon import Frame, FrameElement, Lexicon
    from sapwood.learn import candidates, loglinear
    from sapwood.learn.additive import AdditiveLogistic
    from sapwood.parse import incremental
    from sapwood.tasks import attachment, frames, pairs, questions, reranking, roles
    from sapwood.words import base

    tree = sw.Tree.fromstring(specimens.TREES[1])
    labels = list(specimens.LABELS)
    rank = {"X": trees(), "y": [1, 0, 0, 1], "groups": [0, 0, 1, 1]}
    small = {
        "units": 3,
        "epochs": 1,
        "random_state": 0,
        "learning_rate": 0.01,
        "batch_size": 1,
        "alpha": 0.0,
        "dtype": "float32",
    }
    spans = [(-1, -1), (0, 1), (1, 2), (3, 3)]
    scores = [[0.0, 1.0, 2.0, -1.0], [0.5, 1.5, -2.0, 1.0]]
    gold = {"relevance": [1, 0, 0, 1], "scores": [0.5, 0.1, 0.3, 0.2], "groups": [0, 0, 1, 1]}
    question = sw.Tree.fromstring("(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (NN rain))) (. ?))")
    data = specimens.frame_data()[1][:6]
    lexicon = specimens.frame_data()[0]
    garden = specimens.corpus()
    two = sw.Examples(first=garden.trees[:12], second=garden.trees[12:24])
    similar = words.Table({("dog", "cat"): 0.5})
    asked = ["dog", "cat", "x"]
    said = specimens.role_sentences()[0]
    nbest = [garden.forest(number) for number in range(4)]
    positions = sw.trees.Positions(tree)
    features = np.random.default_rng(0).random((30, 3))
    sets = {"features": np.array([1, 2], np.uint32), "ends": np.array([[1], [2]], np.uint64), "row_ends": np.array([2], np.uint64),
            "role_ends": np.array([1], np.uint64), "key_ends": np.array([1], np.uint64), "keys": np.array([7], np.uint32),
            "masks": np.array([1], np.uint32)}  # fmt: skip

    def sets_fit(bits: Any, alpha: Any, learning_rate: Any, right: Any) -> Any:
        return loglinear.LogLinear(bits=bits, alpha=alpha, learning_rate=learning_rate, epochs=1).fit(
            candidates.CandidateSets(**sets), right
        )

    return {
        # trees
        "Tree": (lambda text: sw.Tree.fromstring(text), {"text": specimens.TREES[0]}),
        "TreeArray": (lambda trees: sw.TreeArray(trees).to_strings(), {"trees": specimens.TREES}),
        "Examples": (sw.Examples, {"tree": specimens.TREES, "flat": np.ones((4, 2))}),
        "Grammar": (sw.trees.Grammar, {"rules": [("NP", ("DT", "NN"), 1)], "min_children": 2, "marks": ("-ARG",)}),
        "HeadTable": (sw.trees.HeadTable, {"table": {"NP": ("right", [["NN"]])}, "default": "left"}),
        "Positions": (sw.trees.Positions, {"tree": tree}),
        "RoleSentence": (lambda words, predicate: sw.trees.RoleSentence(words, (sw.trees.Proposition(predicate, "x", ()),)),
                         {"words": ("a", "b"), "predicate": 1}),
        "Proposition": (sw.trees.Proposition, {"predicate": 1, "lemma": "x", "arguments": (sw.trees.Argument("A0", 0, 1),)}),
        "Argument": (sw.trees.Argument, {"role": "A0", "first": 0, "last": 1}),
        "binarize": (sw.trees.binarize, {"trees": tree, "mark": "|"}),
        "collapse_unary": (sw.trees.collapse_unary, {"trees": tree}),
        "concatenate": (sw.trees.concatenate, {"arrays": [trees(), trees()[:2]]}),
        "delexicalize": (sw.trees.delexicalize, {"trees": trees(), "word": "w"}),
        "map_leaves": (sw.trees.map_leaves, {"trees": trees(), "words": {"dog": "cat"}}),
        "relabel": (sw.trees.relabel, {"trees": trees(), "labels": {"NP": "XP"}}),
        "rewrite": (sw.trees.rewrite, {"trees": tree, "rule": lambda one: one}),
        "write_trees": (sw.write_trees, {"trees": trees(), "path": _path()}),
        "save": (sw.save, {"value": trees(), "path": _path("x.sap")}),
        "options": (lambda threads: sw.options(threads=threads).__exit__(), {"threads": 1}),
        # words
        "Table": (_words(words.Table), {"entries": {("dog", "cat"): 0.5}, "words": asked}),
        "Taxonomy": (_words(words.Taxonomy), {"edges": [("dog", "animal"), ("cat", "animal")], "weights": "full", "words": asked}),
        "Vectors": (_words(lambda vocabulary, matrix, measure: words.Vectors(vocabulary, matrix, measure=measure)),
                    {"vocabulary": ["dog", "cat"], "matrix": np.eye(2), "measure": "cosine", "words": asked}),
        "Latent": (_words(words.Latent), {"documents": ["a dog", "a cat", "a dog and a cat"], "dimensions": 2, "random_state": 0, "words": asked}),
        "Contextual": (lambda sharpness, vectors: kernels.SemanticSubsetTree(words.Contextual(sharpness=sharpness))(
                           trees().with_vectors(vectors)),
                       {"sharpness": 4.0, "vectors": np.ones((sum(map(len, trees().leaves())), 3))}),
        "Inflected": (_words(words.Inflected), {"strength": 0.8, "words": asked}),
        "Folded": (_words(words.Folded), {"similarity": similar, "words": asked}),
        "Tagged": (_words(words.Tagged), {"similarity": similar, "separator": "::", "prefix": "", "words": asked}),
        "WordScaled": (_words(base.WordScaled), {"weight": 0.5, "similarity": similar, "words": asked}),
        "WordSum": (_words(base.WordSum), {"first": similar, "second": similar, "words": asked}),
        "WordProduct": (_words(base.WordProduct), {"first": similar, "second": similar, "words": asked}),
        "WordSimilarity": (lambda words: similar.matrix(words), {"words": asked}),
        "Encoder": _encoder(),
        "WordNet": (words.WordNet, {"weights": "lin", "senses": "first", "information": "intrinsic", "path": str(_folder())}),
        "repair": (words.repair, {"words": ["a", "b"], "matrix": np.eye(2), "method": "clip"}),
        # search
        "EditDistance": (lambda X, Y, rename, insert, delete, normalization, limit: search.EditDistance(
                             rename, insert=insert, delete=delete, normalization=normalization)(X, Y, limit=limit),
                         {"X": trees(), "Y": trees()[:2], "rename": 1.0, "insert": 1.0, "delete": 1.0, "normalization": "size", "limit": 3.0}),
        "teds": (search.teds, {"predicted": "<table><tr><td>1</td></tr></table>", "expected": "<table><tr><td>2</td></tr></table>", "structure_only": False}),
        "tsed": (search.tsed, {"source": tree, "target": tree, "delete": 1.0, "insert": 0.8, "rename": 1.0}),
        # kernels
        "Subtree": (_kernel(kernels.Subtree), {"X": trees(), "decay": 0.4}),
        "SubsetTree": (_kernel(kernels.SubsetTree), {"X": trees(), "decay": 0.4, "max_depth": 3}),
        "PartialTree": (_kernel(kernels.PartialTree), {"X": trees(), "decay": 0.4, "depth_decay": 0.4, "max_subsequence": 2, "terminal_factor": 1.0}),
        "GrammarDriven": (_kernel(kernels.GrammarDriven), {"X": trees(), "grammar": _grammar(), "decay": 0.4, "deletion": 0.6, "mutation": 0.3,
                                                           "lexical": "exact", "mutation_scope": "deep", "duplicates": "count"}),
        "SemanticSubsetTree": (_kernel(kernels.SemanticSubsetTree), {"X": trees(), "similarity": similar, "decay": 0.4, "leaf_weight": 1.0}),
        "SmoothedPartialTree": (_kernel(kernels.SmoothedPartialTree), {"X": trees(), "similarity": similar, "decay": 0.4, "depth_decay": 0.4, "lexical": "leaves"}),
        "Linear": (_kernel(kernels.Linear), {"X": features[:4]}),
        "RBF": (_kernel(kernels.RBF), {"X": features[:4], "gamma": 0.5}),
        "Polynomial": (_kernel(kernels.Polynomial), {"X": features[:4], "degree": 2, "constant": 1.0, "scale": 1.0}),
        "CrossPair": (_kernel(kernels.CrossPair), {"X": two, "kernel": kernels.SubsetTree(), "first": "first", "second": "second"}),
        "Kernel": (lambda X, Y, k: (kernels.SubsetTree().pairwise(X, Y), kernels.SubsetTree().distance(X, Y), kernels.SubsetTree().nearest(X, Y, k)),
                   {"X": trees(), "Y": trees(), "k": 2}),
        "parse_kernel": (kernels.parse_kernel, {"text": "SubsetTree(decay=0.4)"}),
        "SubtreeMap": (_fitted(kernels.SubtreeMap), {"X": trees(), "decay": 0.4, "min_df": 1}),
        "FragmentMap": (_fitted(kernels.FragmentMap), {"X": trees(), "decay": 0.4, "max_size": 3, "max_depth": 3, "min_df": 1, "max_fragments": 1000}),
        "HashedFragmentMap": (_fitted(kernels.HashedFragmentMap), {"X": trees(), "decay": 0.4, "max_size": 3, "n_features": 64, "max_fragments": 1000}),
        "LandmarkMap": (_fitted(kernels.LandmarkMap), {"X": trees(), "kernel": kernels.SubsetTree(), "n_components": 2, "random_state": 0}),
        # search
        "TreeIndex": (lambda trees, kernel, query, k, at_least: search.TreeIndex(trees, kernel).nearest(query, k, at_least=at_least),
                      {"trees": trees(), "kernel": kernels.SubsetTree().normalized(), "query": trees(), "k": 2, "at_least": 0.1}),
        "find_clones": (search.find_clones, {"folder": _sources(), "at_least": 0.7, "min_nodes": 40, "max_bytes": 1000}),
        # learn
        "KernelSVC": (_fitted(learn.KernelSVC), {"X": trees(), "y": labels, "kernel": kernels.SubsetTree(), "C": 1.0, "tol": 0.001, "multi_class": "ovr",
                                                 "solver": "auto", "memory_limit": 10.0, "class_weight": "balanced", "probability": True}),
        "KernelSVR": (_fitted(learn.KernelSVR), {"X": trees(), "y": [1.0, 2.0, 2.5, 1.5], "kernel": kernels.SubsetTree(), "C": 1.0, "epsilon": 0.1}),
        "VotedPerceptron": (_fitted(learn.VotedPerceptron), {"X": trees(), "y": labels, "kernel": kernels.SubsetTree(), "epochs": 1, "vote": "voted", "random_state": 0}),
        "KernelRanker": (_fitted(learn.KernelRanker, "groups"), {**rank, "kernel": kernels.SubsetTree(), "loss": "pairwise", "pairs": "best", "epochs": 1,
                                                                  "learning_rate": 1.0, "random_state": 0}),
        "RecursiveRanker": (_fitted(learn.RecursiveRanker, "groups"), {**rank, **small, "loss": "setwise"}),
        "RecursiveClassifier": (_fitted(learn.RecursiveClassifier), {"X": trees(), "y": labels, **small, "optimizer": "adam"}),
        "RecursiveRegressor": (_fitted(learn.RecursiveRegressor), {"X": trees(), "y": [1.0, 2.0, 2.5, 1.5], **small, "clip": 5.0}),
        "AdditiveLogistic": (_fitted(AdditiveLogistic), {"X": features, "y": [n % 2 for n in range(30)], "C": 0.1, "knots": 4}),
        "LogLinear": (sets_fit, {"bits": 6, "alpha": 1.0, "learning_rate": 0.1, "right": np.array([0])}),
        "CandidateSets": (candidates.CandidateSets, sets),
        "choose_kernel": (learn.choose_kernel, {"kernel": kernels.SubsetTree(), "X": trees(), "y": labels, "grid": {"decay": [0.2, 0.4]}, "by": "alignment",
                                                "weights": True, "C": 1.0, "folds": 2}),
        "GPKernel": (lambda kernel, ranges, X: learn.GPKernel(kernel, ranges)(X, eval_gradient=True),
                     {"kernel": kernels.SubsetTree(), "ranges": {"decay": (0.1, 0.9)}, "X": trees()}),
        "from_ranks": (learn.from_ranks, {"ranks": [1, 2, 3]}),
        # decode
        "FactorGraph": (_graph, {"scores": scores, "method": "ad3", "time_limit": 0.2, "max_nodes": 5, "penalty": 1.0, "tolerance": 1e-7}),
        "Variables": (lambda scores: ~sw.decode.FactorGraph().variables(scores), {"scores": scores}),
        "RoleProblem": (decode.RoleProblem, {"scores": scores, "spans": spans, "excludes": [(0, 1)], "requires": [(0, 1)], "tokens": 4}),
        "SpanResult": (lambda scores, spans: decode.decode_roles(scores, spans).violations, {"scores": scores, "spans": spans}),
        "decode_roles": (decode.decode_roles, {"scores": scores, "spans": spans, "excludes": [(0, 1)], "requires": [], "tokens": 4, "method": "exact",
                                               "beam": 3, "time_limit": 0.2, "max_nodes": 5, "max_states": 9}),
        "decode_roles_batch": (decode.decode_roles_batch, {"problems": [decode.RoleProblem(scores, spans)], "method": "beam", "beam": 3, "threads": 1}),
        "decode_labels": (decode.decode_labels, {"scores": scores, "spans": spans[1:3], "unique": [1], "implies": [(1, 2)], "after": [(2, 1)], "tokens": 4,
                                                 "method": "exact", "time_limit": 0.2}),
        # parse
        "PCFGParser": (_parsed, {"trees": [one.tree for one in garden.sentences[:8]], "words": ["the", "dog"], "vertical": 2, "horizontal": 2,
                                 "backoff": 1.0, "beam": 10.0, "max_length": 20, "memory_limit": 268.0}),
        "silver_trees": (lambda **keywords: list(parse.silver_trees(specimens.specimen("PCFGParser"), **keywords)),
                         {"text": "The dog ran.", "min_probability": 0.5}),
        "ParseChart": (_charted, {"words": ["the", "dog"], "n": 2, "least": 0.1, "tree": "(NP (DT the) (NN dog))", "random_state": 0}),
        "SpanParser": _span_parsed(garden),
        "jackknife": (parse.jackknife, {"treebank": [one.tree for one in garden.sentences[:8]], "folds": 2, "n": 2}),
        "Token": (parse.Token, {"word": "dog", "begin": 0, "end": 3}),
        "tokenize": (parse.tokenize, {"text": "Mr. Smith's dog."}),
        "split_sentences": (parse.split_sentences, {"text": "One. Two!"}),
        "BaseParser": (parse.BaseParser, {}),
        "BeneparParser": (_stored(parse.BeneparParser), {"model": "benepar_en3", "language": "en"}),
        "BllipParser": (_stored(parse.BllipParser), {"folder": "bllip", "rerank": True, "overparsing": 5}),
        "CoreNLPParser": (_stored(parse.CoreNLPParser), {"url": "http://localhost:9000", "timeout": 1.5}),
        "StanzaParser": (_stored(parse.StanzaParser), {"lang": "en", "package": "default"}),
        "FlatParser": (lambda X: parse.FlatParser().transform(X), {"X": ["Why me? Why not?", "rain"]}),
        "as_parser": (lambda value: parse.as_parser(value).parse(["rain"]), {"value": lambda words: f"(NN {words[0]})"}),
        "read_examples": (lambda X, parser, what: parse.read_examples(X, parser, what=what).array(), {"X": ["Why me ? Why not ?", ["rain"], "(NN rain)"], "parser": parse.FlatParser(), "what": "text"}),
        "ConnectionPaths": (lambda trees, root: incremental.ConnectionPaths.from_trees(trees, root=root).forests(trees), {"trees": incremental.attachment_trees(trees()), "root": "lowest"}),
        "Forests": (lambda keep: _forests().select(keep), {"keep": np.arange(len(_forests())) < 2}),
        "attachment_trees": (incremental.attachment_trees, {"trees": trees()}),
        # corpora
        "find_nltk": (corpora.find_nltk, {"package": str(Path(__file__).parent)}),
        "KelpExample": (corpora.kelp.KelpExample, {"labels": ("a",)}),
        "NBest": (corpora.nbest.NBest, {"parses": trees(), "scores": np.array([-1.0, -2.0, -3.0, -4.0])}),
        "DependencySentence": (lambda shape, labels, drop_relations: _dependencies()[0].to_tree(shape, labels=labels, drop_relations=drop_relations), {"shape": "lexical", "labels": "kelp", "drop_relations": ("punct",)}),
        "PropInstance": (next(corpora.propbank.read(io.StringIO("f 0 1 gold see.01 ----- 0:1-ARG0 2:0-rel\n"))).proposition, {"tree": tree}),
        "to_json": (corpora.allennlp.to_json, {"sentence": _roles()[0]}),
        "allennlp.write": (corpora.allennlp.write, {"sentences": _roles(), "path": _path()}),
        "conll05.write": (corpora.conll05.write, {"sentences": _roles(), "path": _path()}),
        "conll09.write": (corpora.conll09.write, {"sentences": _roles(), "path": _path()}),
        "conllu.write": (corpora.conllu.write, {"sentences": _dependencies(), "path": _path()}),
        "corenlp.write": (corpora.corenlp.write, {"trees": [tree], "path": _path()}),
        "kelp.write": (corpora.kelp.write, {"examples": [corpora.kelp.KelpExample(("a",), trees={"t": tree})], "path": _path()}),
        "nbest.write": (corpora.nbest.write, {"lists": nbest[:1], "path": _path(), "format": "json"}),
        "pairs.write": (corpora.pairs.write, {"pairs": [corpora.pairs.SentencePair("a b", "b a", True, ("1", "2"))], "path": _path(), "format": "msr"}),
        "parsed_texts.write": (corpora.parsed_texts.write, {"texts": {"the dog": [tree]}, "path": _path()}),
        "propbank.write": (corpora.propbank.write, {"instances": [], "path": _path()}),
        "propbank_columns.write": (corpora.propbank_columns.write, {"sentences": _roles(), "path": _path(), "format": "skeleton"}),
        "questions.write": (corpora.questions.write, {"questions": [corpora.questions.Question("DESC", "def", ("Why", "?"))], "path": _path(), "format": "published"}),
        "role_lines.write": (corpora.role_lines.write, {"sentences": _roles(), "path": _path()}),
        "tree_pairs.write": (corpora.tree_pairs.write, {"pairs": two, "labels": ["a"] * 12, "path": _path()}),
        "generate": (nursery.generate, {"seed": 0, "size": 3}),
        "Lexicon": (lambda frames: Lexicon.of(frames, []), {"frames": [Frame("x", (FrameElement("A"),))]}),
        "Nursery": (lambda number: garden.forest(number), {"number": 1}),
        # metrics
        "score_labels": (metrics.score_labels, {"gold": ["a", "b"], "predicted": ["a", "a"], "ignore": ()}),
        "chi_squared": (metrics.chi_squared, {"table": [[3, 4], [5, 6]]}),
        "mcnemar": (metrics.mcnemar, {"first": [True, False, True], "second": [True, True, False], "method": "auto"}),
        "paired_bootstrap": (metrics.paired_bootstrap, {"first": [1.0, 0.0, 1.0], "second": [0.0, 0.0, 1.0], "samples": 20, "confidence": 0.95, "random_state": 0}),
        "score_ranking": (metrics.score_ranking, {**gold, "at": (1, 2)}),
        "score_tags": (metrics.score_tags, {"gold": trees(), "predicted": trees()}),
        "parseval": (metrics.parseval, {"gold": trees(), "predicted": trees()}),
        "score_forest": (metrics.score_forest, {"gold": tree, "parses": [tree]}),
        "score_roles": (metrics.score_roles, {"gold": _roles(), "predicted": _roles()}),
        "score_frames": (metrics.score_frames, {"gold": {1: metrics.FrameAnalysis("F", [("A", 0, 1)])}, "predicted": {1: metrics.FrameAnalysis("F", [("A", 0, 1)])},
                                                "is_core": lambda frame, role: True, "frame_points": 0.0}),
        "FrameAnalysis": (metrics.FrameAnalysis, {"frame": "F", "arguments": [("A", 0, 1)]}),
        "mutual_f1": (metrics.mutual_f1, {"parses": trees()}),
        # draw
        "bar_chart": (draw.bar_chart, {"title": "t", "bars": [draw.Bar("a", 1.0), draw.Bar("b", -0.5)], "label": "x", "decimals": 1, "width": 300, "start": 0.0}),
        "line_chart": (draw.line_chart, {"title": "t", "series": [draw.Series("a", [1.0, 2.0], [2.0, 3.0])], "x_label": "x", "y_label": "y", "x_log": True,
                                         "width": 300, "height": 200}),
        "role_layers": (draw.role_layers, {"sentence": said}),
        "roles_html": (draw.roles_html, {"sentence": said}),
        "roles_text": (draw.roles_text, {"sentence": said}),
        "outline": (draw.outline, {"tree": tree, "width": 80, "max_lines": 5}),
        "linked_svg": (draw.linked_svg, {"first": tree, "second": tree, "links": [(0, 1, 0.5)]}),
        "span_svg": (draw.span_svg, {"words": ["a", "b"], "layers": [draw.SpanLayer("t", [draw.LabeledSpan("A", 0, 1)])]}),
        "span_text": (draw.span_text, {"words": ["a", "b"], "layers": [draw.SpanLayer("t", [draw.LabeledSpan("A", 0, 1)])], "width": 60}),
        # tasks
        "AttachmentRanker": (_attached, {"X": incremental.attachment_trees(trees()), "ranker": learn.RecursiveRanker(units=3, epochs=1, random_state=0),
                                                                    "root": "lowest", "reduction": 1, "min_count": 1}),
        "choices": (attachment.choices, {"forests": _forests(), "utility": np.zeros(len(_forests().trees))}),
        "evaluate": (attachment.evaluate, {"forests": _forests(), "utility": np.zeros(len(_forests().trees))}),
        "frequency_utility": (attachment.frequency_utility, {"forests": _forests(), "counts": np.ones(50)}),
        "ParseReranker": (_fitted(reranking.ParseReranker), {"X": nbest, "ranker": learn.KernelRanker(kernels.SubsetTree().on("tree"), random_state=0)}),
        "RerankingScores": (lambda lists: specimens.specimen("ParseReranker").evaluate(lists), {"lists": nbest}),
        "PairClassifier": (_fitted(pairs.PairClassifier), {"X": two, "y": [n % 2 for n in range(12)], "features": specimens.pair_features(), "C": 0.1, "knots": 4}),
        "PairFeatures": (_fitted(pairs.PairFeatures), {"X": two, "groups": ("lexical", "subset"), "decays": (0.4,), "coarse_decays": (0.4,)}),
        "relaxed_grammar": (pairs.relaxed_grammar, {"trees": trees(), "optional": ("DT",), "min_count": 1}),
        "relaxed_kernel": (pairs.relaxed_kernel, {"grammar": _grammar(), "decay": 0.4, "deletion": 0.8, "mutation": 0.5}),
        "QuestionClassifier": (_fitted(questions.QuestionClassifier), {"X": [one.tree for one in garden.sentences if one.label][:6],
                                                                       "y": ["a", "b"] * 3, "C": 10.0, "tol": 0.001}),
        "find_focus": (questions.find_focus, {"tree": question}),
        "plain_kernel": (questions.plain_kernel, {}),
        "contextual_kernel": (questions.contextual_kernel, {"similarity": similar, "view": "focus"}),
        "semantic_kernel": (questions.semantic_kernel, {"similarity": similar}),
        "question_views": (questions.question_views, {"trees": [question], "names": ("focus",)}),
        "tune": (questions.tune, {"X": [one.tree for one in garden.sentences if one.label][:8], "y": ["a", "b"] * 4, "kernels": [kernels.SubsetTree().on("tree")],
                                  "C": (1.0,), "folds": 2, "keep": 1, "ridge": 0.05}),
        "RoleArguments": (lambda sentences: roles.RoleArguments.from_sentences(sentences), {"sentences": _roles()}),
        "RoleClassifier": (_fitted(roles.RoleClassifier), {"X": roles.RoleArguments.from_sentences(specimens.role_sentences()[:6]), "kernel": "truncated", "theta": 0.6, "gamma": 0.1,
                                                           "decay": 0.4, "C": 2.4, "min_count": 1, "features": "full"}),
        "RoleLabeler": (_labelled, {"X": specimens.role_sentences()[:30], "features": "linear", "identification_C": 0.03, "classification_C": 0.05, "min_seen": 20,
                                    "threshold": 0.03}),
        "candidates": (roles.candidates, {"at": positions, "predicate": 2}),
        "find_predicates": (roles.find_predicates, {"at": positions, "nouns": ("dog",)}),
        "role_kernel": (roles.role_kernel, {"name": "composite", "grammar": _grammar(), "theta": 0.6, "gamma": 0.1, "decay": 0.4}),
        "FrameIdentifier": (_frames_fitted(frames.FrameIdentifier), {"X": data, "lexicon": lexicon, "alpha": 1.0, "learning_rate": 0.1, "epochs": 1, "bits": 8, "none_offset": 0.0}),
        "FrameLabeler": (_frames_fitted(frames.FrameLabeler), {"X": data, "lexicon": lexicon, "alpha": 1.0, "learning_rate": 0.1, "epochs": 1, "bits": 8, "batch_size": 2, "method": "exact",
                                                               "spans": "extended", "templates": "extended", "null_offset": 0.0}),
        "FrameParser": (lambda X, lexicon: frames.FrameParser(labeler=frames.FrameLabeler(bits=8, epochs=1), identifier=frames.FrameIdentifier(bits=8, epochs=1)).fit(X, lexicon=lexicon).predict(X), {"X": data[:2], "lexicon": lexicon}),
        "FrameInput": (frames.FrameInput, {"parse": data[0].parse, "targets": ()}),
        "ParsedSentence": (frames.ParsedSentence.from_tags, {"words": ["dogs", "bark"], "tags": ["NNS", "VBP"]}),
        "evaluate_arguments": (frames.evaluate_arguments, {"data": data, "predicted": specimens.specimen("FrameLabeler").predict(data), "lexicon": lexicon}),
        "nursery_frames": (frames.nursery_frames, {"corpus": garden}),
        "write_records": (frames.write_records, {"trees": [(garden.sentences[0].tree, data[0])], "path": _path()}),
    }  # fmt: skip


def _frames_fitted(kind: Any) -> Callable[..., Any]:
    def call(X: Any, lexicon: Any, **keywords: Any) -> Any:
        model = kind(**keywords).fit(X, lexicon=lexicon)
        return model.predict(X if hasattr(model, "score_candidates") else [one.parse for one in X])

    return call


def _attached(X: Any, **keywords: Any) -> Any:
    from sapwood.tasks.attachment import AttachmentRanker

    model = AttachmentRanker(**keywords).fit(X)
    return model.decision_function(model.forests(X))


def _labelled(X: Any, **keywords: Any) -> Any:
    from sapwood.tasks.roles import RoleLabeler

    return RoleLabeler(**keywords).fit(X).predict(X[:2], given_predicates=True)


def _stored(kind: Any) -> Callable[..., Any]:
    return lambda **keywords: sw.save(kind(**keywords), _path())


def _parsed(trees: Any, words: Any, **keywords: Any) -> Any:
    from sapwood.parse import PCFGParser

    return PCFGParser(**keywords).fit(trees).parse_nbest(words, 2)


def _charted(words: Any, n: Any, least: Any, tree: Any, random_state: Any) -> Any:
    chart = specimens.specimen("PCFGParser").chart(words)
    found = chart.nbest(n), chart.constituents(least), chart.tags(least), chart.sample(n, random_state=random_state)
    return found, chart.log_probability(tree), chart.minimum_risk(), chart.probabilities(chart.best())


def _encoder() -> tuple[Callable[..., Any], dict[str, Any]]:
    from sapwood.words import Encoder
    from tiny_encoders import make_encoder

    folder = _folder() / "encoder"
    installed = all(find_spec(name) for name in ("onnx", "onnxruntime", "tokenizers"))
    if installed:
        make_encoder(folder, "bert")
    else:
        # Enough to open it: words become vectors only where the packages are.
        folder.mkdir()
        shape = {"model_type": "bert", "num_hidden_layers": 2, "num_attention_heads": 1, "hidden_size": 4}
        (folder / "config.json").write_text(json.dumps(shape))
        for name in ("tokenizer.json", "model.safetensors"):
            (folder / name).write_text("{}")

    def encoded(words: Any, **keywords: Any) -> Any:
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(_folder())}):
            encoder = Encoder(**keywords)
            return encoder.encode(words) if installed else repr(encoder)

    return encoded, {
        "source": str(folder),
        "words": ["the", "dogs", "ran"],
        "layers": [1, 2],
        "pieces": "ends",
        "precision": "float32",
    }


def _span_parsed(garden: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    from sapwood.parse import SpanParser

    def trained(trees: Any, words: Any, **keywords: Any) -> Any:
        return SpanParser(**{**specimens.SPANS, **keywords}).fit(trees).parse_nbest(words, 2)

    if find_spec("torch") is None:
        return lambda words: specimens.untrained_span_parser().parse_nbest(words, 2), {"words": ["the", "dog"]}
    return trained, {
        "trees": [one.tree for one in garden.sentences[:4]],
        "words": ["the", "dog"],
        "encoder": None,
        "epochs": 1,
        "hidden_size": 8,
        "dropout": 0.1,
        "word_dropout": 1.0,
        "learning_rate": 0.01,
        "alpha": 0.01,
        "patience": 2,
        "max_length": 20,
        "checkpoint": None,
    }


@cache
def ENTRIES() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:  # noqa: N802
    """Every entry; made when it is first asked for, since it takes some models to call everything."""
    return _entries()

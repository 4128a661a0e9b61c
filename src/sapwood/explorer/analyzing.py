"""One sentence or tree, looked at with one model: the panel Analyze.

One function per kind of model. Each takes the model, the sentence and the request, and returns the JSON that is
particular to it; what all answers have is added by ``analyze``. Why a role was given is asked for role by role
(``explain_role``), since most are never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sapwood.draw.places import fragment_places
from sapwood.errors import DataError, ParameterError, SapwoodError
from sapwood.explorer import requests
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.explorer.reading import Sentence, parser_of, read_sentence, tree_json
from sapwood.explorer.requests import Request, finite
from sapwood.learn import KernelSVC, KernelSVR, RecursiveClassifier, RecursiveRegressor, VotedPerceptron
from sapwood.learn.explain import Explanation
from sapwood.parse import BaseParser
from sapwood.tasks.frames import FrameInput, FrameParser, ParsedSentence
from sapwood.tasks.frames.labeler import decisive_scores
from sapwood.tasks.questions import QuestionClassifier
from sapwood.tasks.reranking import ParseReranker
from sapwood.tasks.roles import RoleLabeler
from sapwood.tasks.roles.explanation import RoleExplanation
from sapwood.trees import Tree
from sapwood.trees.positions import Positions

__all__ = ["KINDS", "Kind", "Query", "analyze", "explain_role", "kind_of"]

_PARSES = 5
_RERANKED = 20
_FEATURES = 8
_PLACES = 40
# A table on a page has room for few spans; low-scoring ones are left out.
_SPANS_PER_ROLE = 3
_SPANS = 10


class Kind(NamedTuple):
    """What the page says about a kind of model, and who answers for it."""

    model: type
    title: str
    does: str
    answer: Callable[[Any, Query], dict[str, Any]]


class Query(NamedTuple):
    """What a model is asked: a sentence, with the rest of the request and what there is to answer it with."""

    sentence: Sentence
    request: Request
    models: ModelFolder
    limits: Limits


def kind_of(models: ModelFolder, name: str) -> Kind:
    """Return what the panel does with a model, or raise."""
    model = models[name]
    kind = next((one for one in KINDS if isinstance(model, one.model)), None)
    if kind is None:
        raise DataError(f"the model {name!r} is a {type(model).__name__}, which this panel cannot show.")
    return kind


def analyze(models: ModelFolder, request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request with ``text`` and ``model``, and perhaps ``parser``, ``sentence``, ``label`` and ``top``.

    With ``explain`` false, classes come without the fragments behind them, which take longer than everything else.
    """
    name = requests.text(request, "model")
    kind, model = kind_of(models, name), models[name]
    sentence = _asked(models, request, limits)
    answer = kind.answer(model, Query(sentence, request, models, limits))
    return {
        "model": name,
        "kind": kind.title,
        "words": list(sentence.words),
        "tree": None if sentence.tree is None else tree_json(sentence.tree),
        "sure": None if sentence.tree is None else _sure(models, sentence, sentence.tree, model),
        "given": sentence.given,
        "sentences": list(sentence.texts),
        "sentence": sentence.number,
        "parser": sentence.parser,
        **answer,
        "notes": [*sentence.notes, *answer.get("notes", [])],
    }


def _asked(models: ModelFolder, request: Request, limits: Limits) -> Sentence:
    name = requests.text(request, "model")
    model = models[name]
    parser = name if isinstance(model, BaseParser) else requests.text(request, "parser", "")
    which = requests.integer(request, "sentence", 0, limits.characters, 0)
    return read_sentence(requests.text(request, "text"), models, limits, parser=parser, model=model, which=which)


def _sure(models: ModelFolder, sentence: Sentence, tree: Tree, model: Any) -> list[float] | None:
    """Return how probable each node of a parse is, in pre-order; None where nobody can tell."""
    named = models.of(BaseParser).get(sentence.parser)
    parser = None if sentence.given else named or parser_of(models, "", model)[1]
    return None if parser is None else _probabilities(parser, sentence.words, [tree])[0]


def _probabilities(parser: BaseParser, words: tuple[str, ...], trees: list[Tree]) -> Sequence[list[float] | None]:
    if not hasattr(parser, "chart"):
        return [None for _ in trees]
    try:
        chart = parser.chart(words)
        return [[round(share, 4) for share in chart.node_probabilities(tree)] for tree in trees]
    except SapwoodError:  # put together from pieces, which have no chart in common
        return [None for _ in trees]


def _parse(model: BaseParser, query: Query) -> dict[str, Any]:
    notes = ["These are parses of the words; the tree that was typed is not used."] if query.sentence.given else []
    words = query.sentence.words
    if not hasattr(model, "parse_nbest"):
        return {
            "parses": [{"score": None, "tree": tree_json(model.parse(words)), "sure": None}],
            "scores": [],
            "notes": notes,
        }
    found = model.parse_nbest(words, _PARSES)
    pairs = [
        (score, tree) for score, tree in zip(found.scores.tolist(), found.parses, strict=True) if isinstance(tree, Tree)
    ]
    shares = _probabilities(model, words, [tree for _, tree in pairs])
    parses = [
        {"score": finite(score), "tree": tree_json(tree), "sure": sure}
        for (score, tree), sure in zip(pairs, shares, strict=True)
    ]
    return {"parses": parses, "scores": ["log probability"], "notes": notes}


def _rerank(model: ParseReranker, query: Query) -> dict[str, Any]:
    name, parser = parser_of(query.models, requests.text(query.request, "parser", ""), model)
    if parser is None:
        raise DataError("a reranker chooses among parses, and the folder holds no parser; put one there.")
    if not hasattr(parser, "parse_nbest"):
        raise DataError(f"a reranker chooses among parses, and {name} makes one only; choose a PCFGParser.")
    found = parser.parse_nbest(query.sentence.words, _RERANKED)
    utility = model.decision_function([found])[0]
    order = np.argsort(-utility, kind="stable")[:_PARSES].tolist()
    parses = []
    for number in order:
        tree = found.parses[number]
        assert isinstance(tree, Tree)
        parses.append(
            {
                "score": finite(utility[number]),
                "prior": finite(found.scores[number]),
                "rank": number + 1,
                "tree": tree_json(tree),
            }
        )
    notes = [f"Chosen among the {len(found)} best parses of {name}."]
    return {"parses": parses, "scores": ["utility", "log probability"], "notes": notes}


def _example(model: Any, query: Query, notes: list[str]) -> Any:
    """Return what a classifier takes: a tree, or text where it can do without one."""
    if not isinstance(model, QuestionClassifier) or query.sentence.tree is not None:
        return query.sentence.needs_tree()
    example = " ".join(query.sentence.words)
    if model.unparsed([example])[0]:
        notes.append("There is no parser: the question is classified by a flat tree of its words.")
    return example


def _classify(model: Any, query: Query) -> dict[str, Any]:
    notes: list[str] = []
    example = _example(model, query, notes)
    margins = np.atleast_1d(model.decision_function([example])[0])
    if len(margins) == 1:
        margins = np.array([-margins[0], margins[0]])
    order = np.argsort(-margins, kind="stable").tolist()
    labels = model.classes_.tolist()
    wanted = requests.text(query.request, "label", "")
    chosen = labels[order[0]]
    if wanted:
        chosen = next((label for label in labels if str(label) == wanted), None)
        if chosen is None:
            raise ParameterError(f"there is no class {wanted!r}; the classes are {', '.join(map(str, labels))}.")
    answer = {"classes": [{"label": str(labels[k]), "margin": finite(margins[k])} for k in order], "notes": notes}
    if not hasattr(model, "explain"):
        notes.append(f"A {type(model).__name__} does not say which fragments speak for a class.")
    elif requests.flag(query.request, "explain", True):
        top = requests.integer(query.request, "top", 0, query.limits.fragments, 10)
        answer["explanation"] = _explanation_json(model.explain(example, label=chosen, top=top))
    return answer


def _regress(model: Any, query: Query) -> dict[str, Any]:
    tree = query.sentence.needs_tree()
    answer: dict[str, Any] = {"value": finite(float(model.predict([tree])[0]))}
    if not hasattr(model, "explain"):
        return {**answer, "notes": [f"A {type(model).__name__} does not say which fragments its number comes from."]}
    if requests.flag(query.request, "explain", True):
        top = requests.integer(query.request, "top", 0, query.limits.fragments, 10)
        answer["explanation"] = _explanation_json(model.explain(tree, top=top))
    return answer


def _explanation_json(explanation: Explanation) -> dict[str, Any]:
    places = {tree.view: Positions(tree.tree) for tree in explanation.trees}
    fragments = []
    for fragment in explanation.fragments:
        at = places.get(fragment.view)
        fragments.append(
            {
                "weight": finite(fragment.weight),
                "count": finite(fragment.count),
                "text": str(fragment),
                "view": fragment.view,
                "places": [] if at is None else fragment_places(at, fragment.tree, gaps=fragment.gapped, limit=_PLACES),
            }
        )
    return {
        "label": "the number" if explanation.label is None else str(explanation.label),
        "value": finite(explanation.value),
        "bias": finite(explanation.bias),
        "share": finite(explanation.share),
        "exact": explanation.exact,
        "trees": [
            {"view": tree.view, "tree": tree_json(tree.tree), "weights": tree.contributions.tolist()}
            for tree in explanation.trees
        ],
        "fragments": fragments,
        "others": [{"kernel": other.kernel, "value": finite(other.value)} for other in explanation.others],
    }


def _label_roles(model: RoleLabeler, query: Query) -> dict[str, Any]:
    tree = query.sentence.needs_tree()
    labelled = model.label(tree)
    layers = []
    for proposition in labelled.propositions:
        spans = [
            {
                "label": argument.role,
                "first": argument.first,
                "last": argument.last,
                "node": argument.node,
                "score": None if argument.score is None else finite(argument.score),
                # Roles that a rule has given have no features behind them.
                "why": argument.role in model.roles_ and hasattr(model.classifier_, "weights"),
            }
            for argument in proposition.roles
        ]
        layers.append({"title": proposition.title, "marked": [proposition.predicate], "spans": spans})
    notes = [] if layers else ["No predicate was found."]
    return {"layers": layers, "scores": ["probability"], "notes": notes}


def explain_role(models: ModelFolder, request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request as ``analyze`` takes it, with ``predicate``, ``first``, ``last`` and ``role``: why this role?"""
    model = models[requests.text(request, "model")]
    if not isinstance(model, RoleLabeler):
        raise DataError(f"the model {requests.text(request, 'model')!r} labels no roles.")
    sentence = _asked(models, request, limits)
    last = len(sentence.words) - 1
    predicate, first, end = (requests.integer(request, name, 0, last) for name in ("predicate", "first", "last"))
    role = requests.text(request, "role")
    found = model.explain(sentence.needs_tree(), predicate, (first, end), role=role)
    assert isinstance(found, RoleExplanation)
    return {
        "margin": finite(found.margin),
        "features": [[name, finite(weight)] for name, weight in found.features[:_FEATURES]],
    }


def _label_frames(model: FrameParser, query: Query) -> dict[str, Any]:
    parse = ParsedSentence.from_tree(query.sentence.needs_tree(), senses=model.labeler_.senses_)
    targets = model.identifier_.predict([parse])[0]
    if not targets:
        return {"layers": [], "notes": ["No frame was found."]}
    data = [FrameInput(parse, tuple(targets))]
    labeler = model.labeler_
    scored = labeler.score_candidates(data)
    layers = []
    for found, instance, table in zip(labeler.predict(data)[0].frames, scored.instances, scored.tables, strict=True):
        spans = [
            {"label": one.role, "first": one.first, "last": one.last, "score": finite(one.margin)}
            for one in found.fillers
        ]
        frame = labeler.lexicon_[instance.frame]
        scores = decisive_scores(table, labeler.null_offset, labeler.threshold)
        chosen = {(one.first, one.last) for one in found.fillers}
        problem = {
            "words": list(query.sentence.words),
            "roles": [element.name for element in frame.elements],
            "excludes": [list(pair) for pair in frame.excludes],
            "requires": [list(pair) for pair in frame.requires],
            **_shortened(scores, instance.candidates, chosen),
        }
        layers.append({"title": found.frame, "marked": list(found.tokens), "spans": spans, "problem": problem})
    return {"layers": layers, "scores": ["margin"]}


def _shortened(scores: Any, candidates: Any, chosen: set[tuple[int, int]]) -> dict[str, Any]:
    """Keep the spans that were chosen and those that score best for some role; leaving a role unfilled is worth 0.

    The page can show spans only, so that candidates in several pieces are left out.
    """
    single = [number for number, pieces in enumerate(candidates) if len(pieces) == 1]
    spans = [candidates[number][0] for number in single]
    relative = scores[:, single] - scores[:, -1:]
    best = np.argsort(-relative, axis=1, kind="stable")[:, :_SPANS_PER_ROLE]
    liked = sorted(set(best.ravel().tolist()), key=lambda span: -float(relative[:, span].max()))
    kept = [number for number, span in enumerate(spans) if tuple(span) in chosen]
    kept = sorted({*kept, *liked[: max(0, _SPANS - len(kept))]}, key=lambda number: tuple(spans[number]))
    return {
        "spans": [[int(end) for end in spans[number]] for number in kept],
        "scores": [[round(float(row[number]), 2) for number in kept] for row in relative],
        "left_out": len(candidates) - len(kept),
    }


KINDS = (
    Kind(BaseParser, "parser", "finds the most probable trees of a sentence", _parse),
    Kind(QuestionClassifier, "question classifier", "says what kind of answer a question asks for", _classify),
    Kind(KernelSVC, "tree classifier", "gives a tree one of its classes", _classify),
    Kind(VotedPerceptron, "tree classifier", "gives a tree one of its classes", _classify),
    Kind(RecursiveClassifier, "tree classifier", "gives a tree one of its classes", _classify),
    Kind(KernelSVR, "tree regressor", "gives a tree a number", _regress),
    Kind(RecursiveRegressor, "tree regressor", "gives a tree a number", _regress),
    Kind(RoleLabeler, "role labeler", "says who did what to whom", _label_roles),
    Kind(FrameParser, "frame labeler", "finds frames and what fills their roles", _label_frames),
    Kind(ParseReranker, "parse reranker", "chooses among the parser's trees", _rerank),
)
"""The kinds of models that this panel can show."""

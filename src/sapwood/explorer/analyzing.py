"""One sentence or tree, looked at with one model: what the page's first panel shows.

One function per kind of model. Each takes the model, the sentence and the request, and returns the JSON that is
particular to it; what all answers have is added by ``analyze``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sapwood.draw.places import fragment_places
from sapwood.errors import DataError, ParameterError
from sapwood.explorer import requests
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.explorer.reading import Sentence, parser_of, read_sentence, tree_json
from sapwood.explorer.requests import Request, finite
from sapwood.learn import KernelSVC
from sapwood.learn.explain import Explanation
from sapwood.parse import BaseParser
from sapwood.tasks.frames import FrameInput, FrameParser, ParsedSentence
from sapwood.tasks.questions import QuestionClassifier
from sapwood.tasks.reranking import ParseReranker
from sapwood.tasks.roles import RoleLabeler
from sapwood.tasks.roles.explanation import RoleExplanation
from sapwood.trees import Tree
from sapwood.trees.positions import Positions

__all__ = ["KINDS", "analyze"]

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


def analyze(models: ModelFolder, request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request with ``text`` and ``model``, and perhaps ``parser``, ``sentence``, ``label`` and ``top``."""
    name = requests.text(request, "model")
    model = models[name]
    kind = next((one for one in KINDS if isinstance(model, one.model)), None)
    if kind is None:
        raise DataError(f"the model {name!r} is a {type(model).__name__}, which this panel cannot show.")
    parser = name if isinstance(model, BaseParser) else requests.text(request, "parser", "")
    which = requests.integer(request, "sentence", 0, limits.characters, 0)
    sentence = read_sentence(requests.text(request, "text"), models, limits, parser=parser, model=model, which=which)
    answer = kind.answer(model, Query(sentence, request, models, limits))
    return {
        "model": name,
        "kind": kind.title,
        "words": list(sentence.words),
        "tree": None if sentence.tree is None else tree_json(sentence.tree),
        "given": sentence.given,
        "sentences": list(sentence.texts),
        "sentence": sentence.number,
        "parser": sentence.parser,
        **answer,
        "notes": [*sentence.notes, *answer.get("notes", [])],
    }


def _parse(model: BaseParser, query: Query) -> dict[str, Any]:
    notes = ["These are parses of the words; the tree that was typed is not used."] if query.sentence.given else []
    if not hasattr(model, "parse_nbest"):
        return {
            "parses": [{"score": None, "tree": tree_json(model.parse(query.sentence.words))}],
            "scores": [],
            "notes": notes,
        }
    found = model.parse_nbest(query.sentence.words, _PARSES)
    pairs = zip(found.scores.tolist(), found.parses, strict=True)
    parses = [{"score": finite(score), "tree": tree_json(tree)} for score, tree in pairs if isinstance(tree, Tree)]
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


def _classify(model: KernelSVC | QuestionClassifier, query: Query) -> dict[str, Any]:
    notes: list[str] = []
    example: Any
    if isinstance(model, QuestionClassifier) and query.sentence.tree is None:
        example = " ".join(query.sentence.words)
        if model.unparsed([example])[0]:
            notes.append("There is no parser: the question is classified by a flat tree of its words.")
    else:
        example = query.sentence.needs_tree()
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
    top = requests.integer(query.request, "top", 0, query.limits.fragments, 10)
    explanation = model.explain(example, label=chosen, top=top)
    return {
        "classes": [{"label": str(labels[k]), "margin": finite(margins[k])} for k in order],
        "explanation": _explanation_json(explanation),
        "notes": notes,
    }


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
        "label": str(explanation.label),
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
        spans = []
        for argument in proposition.roles:
            # Roles that a rule has given have no features behind them.
            ruled = argument.role not in model.roles_ or not hasattr(model.classifier_, "weights")
            why = None if ruled else model.explain(tree, proposition.predicate, argument.span, role=argument.role)
            assert why is None or isinstance(why, RoleExplanation)
            spans.append(
                {
                    "label": argument.role,
                    "first": argument.first,
                    "last": argument.last,
                    "node": argument.node,
                    "score": None if argument.score is None else finite(argument.score),
                    "margin": None if why is None else finite(why.margin),
                    "features": [] if why is None else [[name, finite(w)] for name, w in why.features[:_FEATURES]],
                }
            )
        layers.append({"title": proposition.title, "marked": [proposition.predicate], "spans": spans})
    notes = [] if layers else ["No predicate was found."]
    return {"layers": layers, "scores": ["probability"], "notes": notes}


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
        scores = table.copy()
        scores[:, -1] += labeler.null_offset
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
    """Keep the spans that were chosen and those that some role likes best; leaving a role unfilled is worth 0.

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
    Kind(RoleLabeler, "role labeler", "says who did what to whom", _label_roles),
    Kind(FrameParser, "frame labeler", "finds frames and what fills their roles", _label_frames),
    Kind(ParseReranker, "parse reranker", "chooses among the parser's trees", _rerank),
)
"""The kinds of models that this panel can show."""

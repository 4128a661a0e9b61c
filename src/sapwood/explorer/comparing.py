"""Two sentences or trees under each kernel: what they are worth, and what they share. The panel Compare."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from sapwood.corpora.nursery.lexicon import lexicon
from sapwood.draw.places import fragment_places
from sapwood.errors import DataError
from sapwood.explorer import requests
from sapwood.explorer.limits import Limits
from sapwood.explorer.model_folder import ModelFolder
from sapwood.explorer.reading import Sentence, read_sentence, tree_json
from sapwood.explorer.requests import Request, finite
from sapwood.kernels import GrammarDriven, PartialTree, SemanticSubsetTree, SmoothedPartialTree, SubsetTree, Subtree
from sapwood.kernels.base import Kernel
from sapwood.tasks.pairs import PairClassifier
from sapwood.trees import Grammar, Tree, TreeArray
from sapwood.trees.positions import Positions
from sapwood.words import Contextual, WordNet
from sapwood.words.base import WordSimilarity
from sapwood.words.encoder import Encoder
from sapwood.words.encoder.places import found_encoders

__all__ = ["FORMS", "compare", "similarities"]

_DECAYS = tuple(step / 10 for step in range(1, 11))
_PLACES = 40
_FEATURES = 8
_LINKS = 60
# Words compared where they stand, which takes an encoder.
_CONTEXT = "context"


class Form(NamedTuple):
    """A kernel of the panel: how it is called, what it counts, its second parameter if it has one, how it is made."""

    name: str
    short: str
    counts: str
    make: Callable[[float, float, Any], Kernel]
    extra: tuple[str, str, float] | None = None
    words: bool = False
    gaps: bool = False


FORMS = (
    Form("Subtree", "ST", "complete subtrees, down to the words", lambda decay, _, __: Subtree(decay)),
    Form("SubsetTree", "SST", "fragments that keep productions whole", lambda decay, _, __: SubsetTree(decay)),
    Form(
        "PartialTree",
        "PTK",
        "fragments that may leave out children",
        lambda decay, depth, _: PartialTree(decay, depth),
        ("depth_decay", "Depth decay μ", 0.4),
        gaps=True,
    ),
    Form(
        "SemanticSubsetTree",
        "SSTK",
        "subset trees whose words need only be similar",
        lambda decay, _, alike: SemanticSubsetTree(alike, decay=decay),
        words=True,
    ),
    Form(
        "SmoothedPartialTree",
        "SPTK",
        "partial trees whose words need only be similar",
        lambda decay, depth, alike: SmoothedPartialTree(alike, decay=decay, depth_decay=depth),
        ("depth_decay", "Depth decay μ", 0.4),
        words=True,
        gaps=True,
    ),
    Form(
        "GrammarDriven",
        "GTK",
        "subset trees up to optional children and similar tags",
        lambda decay, deletion, grammar: GrammarDriven(grammar, decay, deletion),
        ("deletion", "Deletion λ₁", 0.6),
        gaps=True,
    ),
)
"""The kernels of the panel, in the order in which they are shown."""


def compare(models: ModelFolder, request: Request, limits: Limits) -> dict[str, Any]:
    """Answer a request with the fields ``first``, ``second``, ``kernel`` and ``decay``.

    Optional fields: ``extra`` (the kernel's second parameter), ``words`` (how words are compared), ``parser``, ``top``,
    and ``curves``: whether the values for all decays are asked for too.
    """
    form = next(one for one in FORMS if one.name == requests.choice(request, "kernel", [one.name for one in FORMS]))
    decay = requests.number(request, "decay", 0.01, 1.0, 0.4)
    extra = requests.number(request, "extra", 0.0 if form.name == "GrammarDriven" else 0.01, 1.0, _default(form))
    words = requests.choice(request, "words", similarities(), similarities()[0])
    top = requests.integer(request, "top", 1, limits.fragments, 12)
    parser = requests.text(request, "parser", "")
    sides = [_read(request, name, models, limits, parser) for name in ("first", "second")]
    trees = TreeArray([side.needs_tree() for side in sides])
    alike = _similarity(words)
    if words == _CONTEXT and any(one.words for one in FORMS):
        trees = trees.with_vectors(list(_encoder().encode_batch(trees.leaves())))
    grammar, grammar_note = _grammar(models)

    def made(one: Form, decay: float, extra: float) -> Kernel:
        kernel = one.make(decay, extra, alike if one.words else grammar if one.name == "GrammarDriven" else None)
        return kernel.bind(trees)

    kernel = made(form, decay, extra)
    explanation = kernel.explain(trees[0:1], trees[1:2], top=top)
    places = [Positions(side.needs_tree()) for side in sides]
    table = []
    for one in FORMS:
        chosen = kernel if one is form else made(one, decay, _default(one))
        raw, likeness = _values(chosen, trees)
        table.append({"name": one.name, "short": one.short, "value": finite(raw), "normalized": likeness})
    answer: dict[str, Any] = {
        "kernel": form.name,
        "trees": [
            {
                "tree": tree_json(side.needs_tree()),
                "words": list(side.words),
                "notes": side.notes,
                "parser": side.parser,
                "given": side.given,
            }
            for side in sides
        ],
        "value": finite(explanation.value),
        "remainder": finite(explanation.remainder),
        "exact": explanation.exact,
        "fragments": [_fragment_json(one, places, form.gaps) for one in explanation.fragments],
        "table": table,
        "links": [
            [pair.first, pair.second, finite(pair.similarity), finite(pair.weight)]
            for pair in explanation.words[:_LINKS]
        ],
        "notes": [grammar_note] if form.name == "GrammarDriven" and grammar_note else [],
        "pairs": _judged(models, trees),
    }
    if requests.flag(request, "curves"):
        answer["curves"] = {
            "decays": list(_DECAYS),
            "lines": [
                [_values(made(one, step, extra if one is form else _default(one)), trees)[1] for step in _DECAYS]
                for one in FORMS
            ],
        }
    return answer


@cache
def similarities() -> list[str]:
    """Return how words can be compared on this machine, the usual way first."""
    found = ["synonyms"]
    if WordNet.installed():
        found.append("wordnet")
    if find_spec("onnxruntime") is not None and "minilm" in found_encoders():
        found.append(_CONTEXT)
    return found


def _read(request: Request, name: str, models: ModelFolder, limits: Limits, parser: str) -> Sentence:
    try:
        return read_sentence(requests.text(request, name), models, limits, parser=parser)
    except ValueError as error:
        raise DataError(f"{name} text: {error}") from None


def _values(kernel: Kernel, trees: TreeArray) -> tuple[float, float | None]:
    """Return the raw value of the two trees, and the normalised one unless a tree has no fragment at all."""
    gram = kernel(trees)
    product = float(gram[0, 0]) * float(gram[1, 1])
    return float(gram[0, 1]), finite(float(gram[0, 1]) / product**0.5) if product > 0 else None


def _fragment_json(fragment: Any, places: list[Positions], gaps: bool) -> dict[str, Any]:
    other: Tree = fragment.tree if fragment.other is None else fragment.other
    return {
        "weight": finite(fragment.weight),
        "text": str(fragment),
        "places": [
            fragment_places(places[0], fragment.tree, gaps=gaps, limit=_PLACES),
            fragment_places(places[1], other, gaps=gaps, limit=_PLACES),
        ],
    }


def _judged(models: ModelFolder, trees: TreeArray) -> list[dict[str, Any]]:
    """Ask every classifier of pairs in the folder whether the two mean the same."""
    found = []
    for name, model in models.of(PairClassifier).items():
        judged = model.explain((trees[0], trees[1]), top=_FEATURES)
        second = str(model.classes_[1])
        found.append(
            {
                "model": name,
                "label": str(judged.label),
                "class": second,
                "probability": finite(judged.probability),
                "features": [[feature, finite(value), finite(added)] for feature, value, added in judged.rows],
            }
        )
    return found


def _default(form: Form) -> float:
    return 0.4 if form.extra is None else form.extra[2]


def _grammar(models: ModelFolder) -> tuple[Grammar | None, str]:
    """Return the grammar of the folder, if there is one; otherwise the rules come from the two trees."""
    for name, grammar in models.of(Grammar).items():
        return grammar, f"Which children may be left out is read off {name}."
    return None, "Which children may be left out is read off the two trees; put a Grammar into the folder for more."


@cache
def _encoder() -> Encoder:
    return Encoder("minilm", layers=[5], pieces="mean")


@cache
def _similarity(name: str) -> WordSimilarity:
    if name == _CONTEXT:
        return Contextual()
    return WordNet() if name == "wordnet" else lexicon().similarity()

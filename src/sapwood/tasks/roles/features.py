"""Flat features of a candidate argument: small pure functions of a ``View`` and a node that return text.

After Gildea & Jurafsky (2002), Surdeanu et al. (2003), Xue & Palmer (2004) and Pradhan et al. (2005), without the
features that need named entities. An empty text means that the feature does not apply. ``FEATURES`` has them by name;
which are used together is defined in ``feature_sets``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from sapwood.penn import PUNCTUATION_TAGS
from sapwood.tasks.roles.views import View
from sapwood.trees.heads import bare_label
from sapwood.words.lemmas import lemma
from sapwood.words.senses import WordSenses

__all__ = ["FEATURES"]

Feature = Callable[[View, int], str]

FEATURES: dict[str, Feature] = {}
"""The features by name."""

_CLAUSES = frozenset(["S", "SBAR", "SBARQ", "SINV", "SQ"])
_TIME_WORDS = """
today yesterday tomorrow now then when while before after until till since during ago week weeks month months
year years day days hour hours minute minutes morning afternoon evening night monday tuesday wednesday thursday
friday saturday sunday january february march april june july august september october november december time
times moment recently soon already always never often still again once sometimes usually later earlier
"""
_TIME = frozenset(_TIME_WORDS.split())


def _feature(function: Feature) -> Feature:
    FEATURES[function.__name__] = function
    return function


# --- words of a constituent, and their tags


def content_token(view: View, node: int) -> int:
    """Return the content word of Surdeanu et al.: the one that says most about a constituent, not always its head."""
    at, heads = view.at, view.parse.heads
    label, below = bare_label(at.labels[node]), at.children[node]
    if at.is_tag(node):
        return at.first[node]
    if label == "PP":
        return heads[below[-1]]
    if label == "SBAR":
        return heads[next((child for child in below if at.labels[child] == "S"), below[-1])]
    if label == "VP":
        inner = next((child for child in below if at.labels[child] == "VP"), None)
        # A verb phrase inside a verb phrase is where the main verb is, however many auxiliaries come before.
        while inner is not None:
            node, inner = inner, next((child for child in at.children[inner] if at.labels[child] == "VP"), None)
        return heads[node]
    if label == "ADVP":
        return heads[next((child for child in reversed(below) if at.labels[child] not in ("IN", "TO")), below[-1])]
    if label == "ADJP":
        good = ("JJ", "VB", "NN", "ADJP")
        return heads[next((child for child in reversed(below) if at.labels[child].startswith(good)), below[-1])]
    return heads[node]


def _add_words(name: str, token: Callable[[View, int], int]) -> None:
    FEATURES[f"{name}_word"] = lambda view, node: view.parse.lower[token(view, node)]
    FEATURES[f"{name}_tag"] = lambda view, node: view.parse.tags[token(view, node)]
    FEATURES[f"{name}_sense"] = lambda view, node: _sense(*_lower_and_tag(view, token(view, node)))


_add_words("head", lambda view, node: view.parse.heads[node])
_add_words("content", content_token)
_add_words("first", lambda view, node: view.at.first[node])
_add_words("last", lambda view, node: view.at.last[node])
_head_word = FEATURES["head_word"]
_content_word = FEATURES["content_word"]

FEATURES.update(
    second_word=lambda view, node: "".join(view.parse.lower[view.at.first[node] + 1 : view.at.last[node] + 1][:1]),
    content_ending=lambda view, node: _content_word(view, node)[-3:],
    content_lemma=lambda view, node: lemma(*_lower_and_tag(view, content_token(view, node))),
)


def _lower_and_tag(view: View, token: int) -> tuple[str, str]:
    return view.parse.lower[token], view.parse.tags[token]


@lru_cache(maxsize=1)
def _senses() -> WordSenses:
    return WordSenses()


@lru_cache(maxsize=1 << 14)
def _sense(word: str, tag: str) -> str:
    """Return WordNet's supersense of a word, as ``noun.time``; the class of names and numbers; a pronoun itself."""
    if tag.startswith("NNP"):
        return "name"
    if tag in ("PRP", "WP"):
        return word
    if tag == "CD":
        return "number"
    return _senses().supersense(word, tag)


@_feature
def temporal_cue(view: View, node: int) -> str:
    """The first word inside that speaks of time."""
    span = view.parse.lower[view.at.first[node] : view.at.last[node] + 1]
    return next((word for word in span if word in _TIME), "")


@_feature
def length(view: View, node: int) -> str:
    """The number of words, in steps."""
    count = view.at.last[node] - view.at.first[node] + 1
    return str(count) if count < 4 else "4-6" if count < 7 else "7-12" if count < 13 else "13+"


@_feature
def punctuation(view: View, node: int) -> str:
    """Whether punctuation stands right before and right after."""
    tags, first, last = view.parse.tags, view.at.first[node], view.at.last[node]
    before = first > 0 and tags[first - 1] in PUNCTUATION_TAGS
    after = last + 1 < len(tags) and tags[last + 1] in PUNCTUATION_TAGS
    return f"{'p' if before else '-'}{'p' if after else '-'}"


# --- labels of a constituent and of those around it


def _label(view: View, node: int) -> str:
    return view.at.labels[node]


@_feature
def type_with_preposition(view: View, node: int) -> str:
    """The label, for prepositional phrases with the preposition: ``PP-by``."""
    label = view.at.labels[node]
    return f"{label}-{_head_word(view, node)}" if bare_label(label) in ("PP", "SBAR", "WHPP") else label


@_feature
def children_types(view: View, node: int) -> str:
    """The labels of the children, at most five."""
    at = view.at
    return "" if at.is_tag(node) else "-".join(at.labels[child] for child in at.children[node][:5])


@_feature
def governing_category(view: View, node: int) -> str:
    """For noun phrases, the nearest S or VP above."""
    if bare_label(view.at.labels[node]) != "NP":
        return ""
    above = view.at.parent[node]
    while above >= 0 and view.at.labels[above] not in ("S", "VP"):
        above = view.at.parent[above]
    return view.at.labels[above] if above >= 0 else ""


@_feature
def parent_preposition(view: View, node: int) -> str:
    """For a phrase inside a prepositional phrase, the preposition."""
    above = view.at.parent[node]
    return _head_word(view, above) if above >= 0 and view.at.labels[above] == "PP" else ""


def _sibling(view: View, node: int, step: int) -> int:
    above = view.at.parent[node]
    if above < 0:
        return -1
    siblings = view.at.children[above]
    number = siblings.index(node) + step
    return siblings[number] if 0 <= number < len(siblings) else -1


def _of(relative: Callable[[View, int], int], feature: Feature) -> Feature:
    """Make a feature of another node, which does not apply where there is none."""

    def value(view: View, node: int) -> str:
        other = relative(view, node)
        return feature(view, other) if other >= 0 else ""

    return value


for _name, _relative in {
    "parent": lambda view, node: view.at.parent[node],
    "left": lambda view, node: _sibling(view, node, -1),
    "right": lambda view, node: _sibling(view, node, 1),
}.items():
    FEATURES[f"{_name}_type"] = _of(_relative, _label)
    FEATURES[f"{_name}_head"] = _of(_relative, _head_word)
    FEATURES[f"{_name}_tag"] = _of(_relative, FEATURES["head_tag"])
FEATURES["phrase_type"] = _label


# --- the predicate


FEATURES.update(
    predicate=lambda view, node: view.lemma,
    predicate_tag=lambda view, node: view.parse.tags[view.predicate],
    predicate_sense=lambda view, node: _senses().supersense(view.lemma, "VB"),
    voice=lambda view, node: view.voice,
    particle=lambda view, node: view.particle,
    subcategorization=lambda view, node: view.subcategorization,
)


# --- where a constituent stands, seen from the predicate


@_feature
def position(view: View, node: int) -> str:
    if view.at.last[node] < view.predicate:
        return "before"
    return "after" if view.at.first[node] > view.predicate else "around"


@_feature
def word_distance(view: View, node: int) -> str:
    """The number of words between constituent and predicate, in steps."""
    first, last = view.at.first[node], view.at.last[node]
    gap = first - view.predicate if first > view.predicate else view.predicate - last
    return str(gap) if gap < 4 else "4-6" if gap < 7 else "7+"


@_feature
def ordinal(view: View, node: int) -> str:
    """How many siblings of the same label lie between constituent and predicate, plus one, and on which side."""
    at = view.at
    label, above = at.labels[node], at.parent[node]
    siblings = at.children[above] if above >= 0 else [node]
    after = at.first[node] > view.predicate
    low, high = (view.tag, node) if after else (node, view.tag)
    between = [child for child in siblings if at.labels[child] == label and low < child < high]
    return f"{min(len(between) + 1, 4)} {label} {'after' if after else 'before'}"


@_feature
def later_phrases(view: View, node: int) -> str:
    """The labels of the predicate's siblings after this one."""
    at, above = view.at, view.at.parent[view.tag]
    if above < 0 or at.parent[node] != above:
        return ""
    return "-".join(at.labels[child] for child in at.children[above] if child > node)


@_feature
def syntactic_frame(view: View, node: int) -> str:
    """The noun phrases around the predicate, this one in capitals."""
    names = ["NP" if phrase == node else "np" for phrase in view.noun_phrases]
    names.insert(sum(phrase <= view.tag for phrase in view.noun_phrases), "v")
    return "_".join(names)


@_feature
def frame_with_predicate(view: View, node: int) -> str:
    return "_".join(view.lemma if name == "v" else name for name in syntactic_frame(view, node).split("_"))


# --- the path to the predicate


FEATURES.update(
    # The labels up to the common ancestor (^), and down to the predicate's tag (!).
    path=lambda view, node: _path(*view.path(node)),
    partial_path=lambda view, node: "^".join(view.path(node)[0]),
    undirected_path=lambda view, node: "-".join(sum(view.path(node), ())),
    initial_path=lambda view, node: "!".join("".join(label[0] for label in part) for part in view.path(node)),
    # The number of steps.
    distance=lambda view, node: str(min(len(sum(view.path(node), ())) - 1, 12)),
)


@_feature
def collapsed_path(view: View, node: int) -> str:
    """The path with runs of one label written once."""
    rising, falling = (_runs(part) for part in view.path(node))
    return _path(rising, falling[1:] if falling and falling[0] == rising[-1] else falling)


@_feature
def clause_path(view: View, node: int) -> str:
    """The clauses and verb phrases on the path, other nodes as ``*``."""
    rising, falling = view.path(node)
    keep = _CLAUSES | {"VP"}
    names = [_runs([label if label in keep else "*" for label in part]) for part in (rising[1:], falling[:-1])]
    return f"{rising[0]}^{'^'.join(names[0])}!{'!'.join(names[1])}"


def _path(rising: Sequence[str], falling: Sequence[str]) -> str:
    return "^".join(rising) + "".join(f"!{label}" for label in falling)


def _runs(labels: Sequence[str]) -> list[str]:
    return [label for at, label in enumerate(labels) if not at or label != labels[at - 1]]


# --- the other arguments, where they are given (``View.given``) and only their roles are in question


@_feature
def given_frame(view: View, node: int) -> str:
    """The labels of all given arguments around the predicate, this one marked: ``*NP_v_NP_PP``."""
    if not view.given:
        return ""
    names = [f"*{view.at.labels[one]}" if one == node else view.at.labels[one] for one in view.given]
    names.insert(_before(view), "v")
    return "_".join(names)


@_feature
def given_frame_with_predicate(view: View, node: int) -> str:
    frame = given_frame(view, node)
    return frame and f"{view.lemma}:{frame}"


@_feature
def given_place(view: View, node: int) -> str:
    """Which of the given arguments this is, counted from the predicate: -1 is the last before it, 1 the first after."""
    if node not in view.given:
        return ""
    steps = view.given.index(node) - _before(view)
    return str(steps + 1 if steps >= 0 else steps)


FEATURES.update(
    # The given arguments beside this one, with their prepositions.
    previous_given=lambda view, node: _given(view, node, -1),
    next_given=lambda view, node: _given(view, node, 1),
)


@_feature
def arguments_after(view: View, node: int) -> str:
    """The predicate and how many given arguments come after it."""
    return f"{len(view.given) - _before(view)}{view.lemma}" if view.given else ""


@_feature
def given_rank(view: View, node: int) -> str:
    """How many given arguments with this label come first, of how many there are."""
    if node not in view.given:
        return ""
    same = [one for one in view.given if view.at.labels[one] == view.at.labels[node]]
    return f"{same.index(node)}/{len(same)}"


def _before(view: View) -> int:
    return sum(view.at.first[one] <= view.predicate for one in view.given)


def _given(view: View, node: int, step: int) -> str:
    if node not in view.given:
        return ""
    number = view.given.index(node) + step
    return type_with_preposition(view, view.given[number]) if 0 <= number < len(view.given) else "none"

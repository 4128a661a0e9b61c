"""Flat features of a candidate argument: small pure functions that return text.

After Gildea & Jurafsky (2002), Surdeanu et al. (2003), Xue & Palmer (2004) and Pradhan et al. (2005), without the
features that need named entities. An empty text means that the feature does not apply. Each is a function of no more
than it depends on, so that it need not be computed more often than that changes: ``OF_PREDICATES`` have the predicate,
``OF_NODES`` the parse and the candidate, ``OF_BOTH`` both. Which are used together is defined in ``feature_sets``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sapwood.penn import PUNCTUATION_TAGS
from sapwood.tasks.roles.views import Parse, View
from sapwood.trees.heads import bare_label
from sapwood.words.lemmas import lemma
from sapwood.words.senses import WordSenses

__all__ = ["OF_BOTH", "OF_NODES", "OF_PREDICATES", "content_token"]

OfPredicate = Callable[[View], str]
OfNode = Callable[[Parse, int], str]
OfBoth = Callable[[View, int], str]

OF_PREDICATES: dict[str, OfPredicate] = {}
OF_NODES: dict[str, OfNode] = {}
OF_BOTH: dict[str, OfBoth] = {}

_TIME_WORDS = """
today yesterday tomorrow now then when while before after until till since during ago week weeks month months
year years day days hour hours minute minutes morning afternoon evening night monday tuesday wednesday thursday
friday saturday sunday january february march april june july august september october november december time
times moment recently soon already always never often still again once sometimes usually later earlier
"""
_TIME = frozenset(_TIME_WORDS.split())


def _of_node(function: OfNode) -> OfNode:
    OF_NODES[function.__name__] = function
    return function


def _of_both(function: OfBoth) -> OfBoth:
    OF_BOTH[function.__name__] = function
    return function


# --- words of a constituent, and their tags


def content_token(parse: Parse, node: int) -> int:
    """Return the content word of Surdeanu et al.: the one that says most about a constituent, not always its head."""
    at, heads = parse.at, parse.heads
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


def _add_words(name: str, token: Callable[[Parse, int], int]) -> None:
    OF_NODES[f"{name}_word"] = lambda parse, node: parse.lower[token(parse, node)]
    OF_NODES[f"{name}_tag"] = lambda parse, node: parse.tags[token(parse, node)]
    OF_NODES[f"{name}_sense"] = lambda parse, node: _sense(*_lower_and_tag(parse, token(parse, node)))


_add_words("head", lambda parse, node: parse.heads[node])
_add_words("content", content_token)
_add_words("first", lambda parse, node: parse.at.first[node])
_add_words("last", lambda parse, node: parse.at.last[node])
_head_word = OF_NODES["head_word"]
_content_word = OF_NODES["content_word"]

OF_NODES.update(
    second_word=lambda parse, node: "".join(parse.lower[parse.at.first[node] + 1 : parse.at.last[node] + 1][:1]),
    content_ending=lambda parse, node: _content_word(parse, node)[-3:],
    content_lemma=lambda parse, node: lemma(*_lower_and_tag(parse, content_token(parse, node))),
)


def _lower_and_tag(parse: Parse, token: int) -> tuple[str, str]:
    return parse.lower[token], parse.tags[token]


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


@_of_node
def temporal_cue(parse: Parse, node: int) -> str:
    """The first word inside that speaks of time."""
    span = parse.lower[parse.at.first[node] : parse.at.last[node] + 1]
    return next((word for word in span if word in _TIME), "")


@_of_node
def length(parse: Parse, node: int) -> str:
    """The number of words, in steps."""
    count = parse.at.last[node] - parse.at.first[node] + 1
    return str(count) if count < 4 else "4-6" if count < 7 else "7-12" if count < 13 else "13+"


@_of_node
def punctuation(parse: Parse, node: int) -> str:
    """Whether punctuation stands right before and right after."""
    tags, first, last = parse.tags, parse.at.first[node], parse.at.last[node]
    before = first > 0 and tags[first - 1] in PUNCTUATION_TAGS
    after = last + 1 < len(tags) and tags[last + 1] in PUNCTUATION_TAGS
    return f"{'p' if before else '-'}{'p' if after else '-'}"


# --- labels of a constituent and of those around it


def _label(parse: Parse, node: int) -> str:
    return parse.at.labels[node]


@_of_node
def type_with_preposition(parse: Parse, node: int) -> str:
    """The label, for prepositional phrases with the preposition: ``PP-by``."""
    label = parse.at.labels[node]
    return f"{label}-{_head_word(parse, node)}" if bare_label(label) in ("PP", "SBAR", "WHPP") else label


@_of_node
def children_types(parse: Parse, node: int) -> str:
    """The labels of the children, at most five."""
    at = parse.at
    return "" if at.is_tag(node) else "-".join(at.labels[child] for child in at.children[node][:5])


@_of_node
def governing_category(parse: Parse, node: int) -> str:
    """For noun phrases, the nearest S or VP above."""
    if bare_label(parse.at.labels[node]) != "NP":
        return ""
    above = parse.at.parent[node]
    while above >= 0 and parse.at.labels[above] not in ("S", "VP"):
        above = parse.at.parent[above]
    return parse.at.labels[above] if above >= 0 else ""


@_of_node
def parent_preposition(parse: Parse, node: int) -> str:
    """For a phrase inside a prepositional phrase, the preposition."""
    above = parse.at.parent[node]
    return _head_word(parse, above) if above >= 0 and parse.at.labels[above] == "PP" else ""


def _sibling(parse: Parse, node: int, step: int) -> int:
    above = parse.at.parent[node]
    if above < 0:
        return -1
    siblings = parse.at.children[above]
    number = siblings.index(node) + step
    return siblings[number] if 0 <= number < len(siblings) else -1


def _of(relative: Callable[[Parse, int], int], feature: OfNode) -> OfNode:
    """Make a feature of another node, which does not apply where there is none."""

    def value(parse: Parse, node: int) -> str:
        other = relative(parse, node)
        return feature(parse, other) if other >= 0 else ""

    return value


for _name, _relative in {
    "parent": lambda parse, node: parse.at.parent[node],
    "left": lambda parse, node: _sibling(parse, node, -1),
    "right": lambda parse, node: _sibling(parse, node, 1),
}.items():
    OF_NODES[f"{_name}_type"] = _of(_relative, _label)
    OF_NODES[f"{_name}_head"] = _of(_relative, _head_word)
    OF_NODES[f"{_name}_tag"] = _of(_relative, OF_NODES["head_tag"])
OF_NODES["phrase_type"] = _label


# --- the predicate


OF_PREDICATES.update(
    predicate=lambda view: view.lemma,
    predicate_tag=lambda view: view.parse.tags[view.predicate],
    predicate_sense=lambda view: _senses().supersense(view.lemma, "VB"),
    voice=lambda view: view.voice,
    particle=lambda view: view.particle,
    subcategorization=lambda view: view.subcategorization,
)


# --- where a constituent stands, seen from the predicate


@_of_both
def position(view: View, node: int) -> str:
    if view.at.last[node] < view.predicate:
        return "before"
    return "after" if view.at.first[node] > view.predicate else "around"


@_of_both
def word_distance(view: View, node: int) -> str:
    """The number of words between constituent and predicate, in steps."""
    first, last = view.at.first[node], view.at.last[node]
    gap = first - view.predicate if first > view.predicate else view.predicate - last
    return str(gap) if gap < 4 else "4-6" if gap < 7 else "7+"


@_of_both
def ordinal(view: View, node: int) -> str:
    """How many siblings of the same label lie between constituent and predicate, plus one, and on which side."""
    at = view.at
    label, above = at.labels[node], at.parent[node]
    siblings = at.children[above] if above >= 0 else [node]
    after = at.first[node] > view.predicate
    low, high = (view.tag, node) if after else (node, view.tag)
    between = [child for child in siblings if at.labels[child] == label and low < child < high]
    return f"{min(len(between) + 1, 4)} {label} {'after' if after else 'before'}"


@_of_both
def later_phrases(view: View, node: int) -> str:
    """The labels of the predicate's siblings after this one."""
    at, above = view.at, view.at.parent[view.tag]
    if above < 0 or at.parent[node] != above:
        return ""
    return "-".join(at.labels[child] for child in at.children[above] if child > node)


@_of_both
def syntactic_frame(view: View, node: int) -> str:
    """The noun phrases around the predicate, this one in capitals."""
    return view.frames.get(node) or view.frames[-1]


@_of_both
def frame_with_predicate(view: View, node: int) -> str:
    return syntactic_frame(view, node).replace("v", view.lemma)


# --- the path to the predicate


OF_BOTH.update(
    path=lambda view, node: view.path(node).text,
    partial_path=lambda view, node: view.path(node).rising,
    undirected_path=lambda view, node: view.path(node).undirected,
    initial_path=lambda view, node: view.path(node).initials,
    collapsed_path=lambda view, node: view.path(node).collapsed,
    clause_path=lambda view, node: view.path(node).clauses,
    distance=lambda view, node: view.path(node).steps,
)


# --- the other arguments, where they are given (``View.given``) and only their roles are in question


@_of_both
def given_frame(view: View, node: int) -> str:
    """The labels of all given arguments around the predicate, this one marked: ``*NP_v_NP_PP``."""
    if not view.given:
        return ""
    names = [f"*{view.at.labels[one]}" if one == node else view.at.labels[one] for one in view.given]
    names.insert(_before(view), "v")
    return "_".join(names)


@_of_both
def given_frame_with_predicate(view: View, node: int) -> str:
    frame = given_frame(view, node)
    return frame and f"{view.lemma}:{frame}"


@_of_both
def given_place(view: View, node: int) -> str:
    """Which of the given arguments this is, counted from the predicate: -1 is the last before it, 1 the first after."""
    if node not in view.given:
        return ""
    steps = view.given.index(node) - _before(view)
    return str(steps + 1 if steps >= 0 else steps)


OF_BOTH.update(
    # The given arguments beside this one, with their prepositions.
    previous_given=lambda view, node: _given(view, node, -1),
    next_given=lambda view, node: _given(view, node, 1),
)


@_of_both
def arguments_after(view: View, node: int) -> str:
    """The predicate and how many given arguments come after it."""
    return f"{len(view.given) - _before(view)}{view.lemma}" if view.given else ""


@_of_both
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
    return type_with_preposition(view.parse, view.given[number]) if 0 <= number < len(view.given) else "none"

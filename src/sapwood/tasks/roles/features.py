"""Flat features of a candidate argument: one small pure function each, text in the end.

After Gildea & Jurafsky (2002), Surdeanu et al. (2003), Xue & Palmer (2004) and Pradhan et al. (2005). Features that
need named entities are left out: Sapwood has no recogniser for them. Which are used together is the business of
``feature_sets``. Each function takes a ``View`` and a place, and
gives text; an empty text means that the feature does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sapwood.penn import PUNCTUATION_TAGS
from sapwood.tasks.roles.views import View
from sapwood.trees.heads import bare_label

__all__ = [
    "Feature",
    "children_types",
    "clause_path",
    "collapsed_path",
    "content_ending",
    "content_place",
    "content_tag",
    "content_word",
    "distance",
    "first_tag",
    "first_word",
    "frame_with_predicate",
    "governing_category",
    "head_tag",
    "head_word",
    "initial_path",
    "last_tag",
    "last_word",
    "later_phrases",
    "left_head",
    "left_tag",
    "left_type",
    "length",
    "ordinal",
    "parent_head",
    "parent_preposition",
    "parent_type",
    "partial_path",
    "particle",
    "path",
    "phrase_type",
    "position",
    "predicate",
    "predicate_tag",
    "punctuation",
    "right_head",
    "right_tag",
    "right_type",
    "second_word",
    "subcategorisation",
    "syntactic_frame",
    "temporal_cue",
    "type_with_preposition",
    "undirected_path",
    "voice",
    "word_distance",
]

Feature = Callable[[View, int], str]

_CLAUSES = frozenset(["S", "SBAR", "SBARQ", "SINV", "SQ"])
_TIME_WORDS = """
today yesterday tomorrow now then when while before after until till since during ago week weeks month months
year years day days hour hours minute minutes morning afternoon evening night monday tuesday wednesday thursday
friday saturday sunday january february march april june july august september october november december time
times moment recently soon already always never often still again once sometimes usually later earlier
"""
_TIME = frozenset(_TIME_WORDS.split())

# --- Gildea & Jurafsky


def predicate(view: View, node: int) -> str:
    """The base form of the predicate."""
    return view.lemma


def phrase_type(view: View, node: int) -> str:
    """The label of the constituent."""
    return view.at.labels[node]


def path(view: View, node: int) -> str:
    """The way to the predicate's tag, ``^`` up and ``!`` down."""
    rising, falling = view.way(node)
    return "^".join(rising) + "".join(f"!{label}" for label in falling)


def governing_category(view: View, node: int) -> str:
    """For noun phrases, the nearest S or VP above."""
    if bare_label(view.at.labels[node]) != "NP":
        return ""
    above = view.at.parent[node]
    while above >= 0 and view.at.labels[above] not in ("S", "VP"):
        above = view.at.parent[above]
    return view.at.labels[above] if above >= 0 else ""


def position(view: View, node: int) -> str:
    """Before the predicate, after it, or around it."""
    if view.at.last[node] < view.predicate:
        return "before"
    return "after" if view.at.first[node] > view.predicate else "around"


def voice(view: View, node: int) -> str:
    """Active or passive."""
    return view.voice


def head_word(view: View, node: int) -> str:
    """The head word of the constituent, in lower case."""
    return view.parse.lower[view.parse.heads[node]]


def head_tag(view: View, node: int) -> str:
    """The tag of the head word."""
    return view.parse.tags[view.parse.heads[node]]


def subcategorisation(view: View, node: int) -> str:
    """The production of the predicate's parent."""
    return view.subcategorisation


# --- Surdeanu et al.


def content_place(view: View, node: int) -> int:
    """Return the content word: the one that says most about a constituent, not always its head."""
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


def content_word(view: View, node: int) -> str:
    """The content word, in lower case: in *by her students*, *students*."""
    return view.parse.lower[content_place(view, node)]


def content_tag(view: View, node: int) -> str:
    """The tag of the content word."""
    return view.parse.tags[content_place(view, node)]


def particle(view: View, node: int) -> str:
    """The particle of a phrasal verb."""
    return view.particle


# --- Xue & Palmer


def syntactic_frame(view: View, node: int) -> str:
    """The noun phrases around the predicate, this one in capitals."""
    names = []
    done = False
    for phrase in view.noun_phrases:
        if not done and phrase > view.tag:
            names.append("v")
            done = True
        names.append("NP" if phrase == node else "np")
    return "_".join(names if done else [*names, "v"])


def frame_with_predicate(view: View, node: int) -> str:
    """The same with the predicate's base form."""
    return "_".join(view.lemma if name == "v" else name for name in syntactic_frame(view, node).split("_"))


def parent_preposition(view: View, node: int) -> str:
    """For a phrase inside a prepositional phrase, the preposition."""
    above = view.at.parent[node]
    return view.parse.lower[view.parse.heads[above]] if above >= 0 and view.at.labels[above] == "PP" else ""


# --- Pradhan et al.


def partial_path(view: View, node: int) -> str:
    """The way up to the common ancestor."""
    return "^".join(view.way(node)[0])


def undirected_path(view: View, node: int) -> str:
    """The way without directions."""
    rising, falling = view.way(node)
    return "-".join(rising + falling)


def collapsed_path(view: View, node: int) -> str:
    """The way with runs of one label written once."""
    rising, falling = (_runs(part) for part in view.way(node))
    if falling and falling[0] == rising[-1]:
        falling = falling[1:]
    return "^".join(rising) + "".join(f"!{label}" for label in falling)


def clause_path(view: View, node: int) -> str:
    """The clauses and verb phrases on the way, other nodes as ``*``."""
    rising, falling = view.way(node)
    keep = _CLAUSES | {"VP"}
    names = [_runs([label if label in keep else "*" for label in part]) for part in (rising[1:], falling[:-1])]
    return f"{rising[0]}^{'^'.join(names[0])}!{'!'.join(names[1])}"


def initial_path(view: View, node: int) -> str:
    """The way with the first letter of each label."""
    rising, falling = view.way(node)
    return "".join(label[0] for label in rising) + "!" + "".join(label[0] for label in falling)


def distance(view: View, node: int) -> str:
    """The number of steps to the predicate's tag."""
    rising, falling = view.way(node)
    return str(min(len(rising) + len(falling) - 1, 12))


def type_with_preposition(view: View, node: int) -> str:
    """The label, for prepositional phrases with the preposition: ``PP-by``."""
    label = view.at.labels[node]
    return f"{label}-{head_word(view, node)}" if bare_label(label) in ("PP", "SBAR", "WHPP") else label


def first_word(view: View, node: int) -> str:
    """The first word, in lower case."""
    return view.parse.lower[view.at.first[node]]


def first_tag(view: View, node: int) -> str:
    """The tag of the first word."""
    return view.parse.tags[view.at.first[node]]


def last_word(view: View, node: int) -> str:
    """The last word, in lower case."""
    return view.parse.lower[view.at.last[node]]


def last_tag(view: View, node: int) -> str:
    """The tag of the last word."""
    return view.parse.tags[view.at.last[node]]


def parent_type(view: View, node: int) -> str:
    """The label above."""
    above = view.at.parent[node]
    return view.at.labels[above] if above >= 0 else ""


def parent_head(view: View, node: int) -> str:
    """The head word of the constituent above."""
    above = view.at.parent[node]
    return view.parse.lower[view.parse.heads[above]] if above >= 0 else ""


def _sibling(view: View, node: int, step: int) -> int | None:
    above = view.at.parent[node]
    if above < 0:
        return None
    beside = view.at.children[above]
    at = beside.index(node) + step
    return beside[at] if 0 <= at < len(beside) else None


def left_type(view: View, node: int) -> str:
    """The label of the sister on the left."""
    other = _sibling(view, node, -1)
    return "" if other is None else view.at.labels[other]


def left_head(view: View, node: int) -> str:
    """The head word of the sister on the left."""
    other = _sibling(view, node, -1)
    return "" if other is None else view.parse.lower[view.parse.heads[other]]


def left_tag(view: View, node: int) -> str:
    """The tag of that head."""
    other = _sibling(view, node, -1)
    return "" if other is None else view.parse.tags[view.parse.heads[other]]


def right_type(view: View, node: int) -> str:
    """The label of the sister on the right."""
    other = _sibling(view, node, 1)
    return "" if other is None else view.at.labels[other]


def right_head(view: View, node: int) -> str:
    """The head word of the sister on the right."""
    other = _sibling(view, node, 1)
    return "" if other is None else view.parse.lower[view.parse.heads[other]]


def right_tag(view: View, node: int) -> str:
    """The tag of that head."""
    other = _sibling(view, node, 1)
    return "" if other is None else view.parse.tags[view.parse.heads[other]]


def ordinal(view: View, node: int) -> str:
    """How many sisters of the same label lie between the constituent and the predicate, plus one, and on which side."""
    at = view.at
    label, above = at.labels[node], at.parent[node]
    beside = at.children[above] if above >= 0 else [node]
    after = at.first[node] > view.predicate
    between = [c for c in beside if at.labels[c] == label and (view.tag < c < node if after else node < c < view.tag)]
    return f"{min(len(between) + 1, 4)} {label} {'after' if after else 'before'}"


def temporal_cue(view: View, node: int) -> str:
    """The first word inside that speaks of time."""
    span = view.parse.lower[view.at.first[node] : view.at.last[node] + 1]
    return next((word for word in span if word in _TIME), "")


def punctuation(view: View, node: int) -> str:
    """Whether punctuation stands right before and right after."""
    tags, first, last = view.parse.tags, view.at.first[node], view.at.last[node]
    before = first > 0 and tags[first - 1] in PUNCTUATION_TAGS
    after = last + 1 < len(tags) and tags[last + 1] in PUNCTUATION_TAGS
    return f"{'p' if before else '-'}{'p' if after else '-'}"


# --- of our own, simple


def predicate_tag(view: View, node: int) -> str:
    """The tag of the predicate."""
    return view.parse.tags[view.predicate]


def content_ending(view: View, node: int) -> str:
    """The last three letters of the content word."""
    return content_word(view, node)[-3:]


def length(view: View, node: int) -> str:
    """The number of words, in steps."""
    count = view.at.last[node] - view.at.first[node] + 1
    return str(count) if count < 4 else "4-6" if count < 7 else "7-12" if count < 13 else "13+"


def word_distance(view: View, node: int) -> str:
    """The number of words between constituent and predicate, in steps."""
    first, last = view.at.first[node], view.at.last[node]
    gap = first - view.predicate if first > view.predicate else view.predicate - last
    return str(gap) if gap < 4 else "4-6" if gap < 7 else "7+"


def second_word(view: View, node: int) -> str:
    """The second word of the constituent, if it has two."""
    first, last = view.at.first[node], view.at.last[node]
    return view.parse.lower[first + 1] if last > first else ""


def children_types(view: View, node: int) -> str:
    """The production of the constituent, at most five children."""
    at = view.at
    return "" if at.is_tag(node) else "-".join(at.labels[child] for child in at.children[node][:5])


def later_phrases(view: View, node: int) -> str:
    """The labels of the predicate's sisters after this constituent."""
    at, above = view.at, view.at.parent[view.tag]
    if above < 0 or at.parent[node] != above:
        return ""
    return "-".join(at.labels[child] for child in at.children[above] if child > node)


def _runs(labels: Sequence[str]) -> list[str]:
    return [label for at, label in enumerate(labels) if not at or label != labels[at - 1]]

"""Features that look beyond the tree of one argument: what words mean, and which other arguments there are.

Meanings are WordNet's supersenses of the most frequent sense. The other arguments are those of ``View.given``: known
where arguments are given and only roles are asked for, and then as much a part of the question as the tree; elsewhere
these features are empty. Of the same form as ``features``.
"""

from __future__ import annotations

from functools import lru_cache

from sapwood.tasks.roles.features import content_place, type_with_preposition
from sapwood.tasks.roles.views import View
from sapwood.words.lemmas import lemma
from sapwood.words.senses import WordSenses

__all__ = [
    "arguments_after",
    "content_lemma",
    "content_sense",
    "given_frame",
    "given_frame_with_predicate",
    "given_place",
    "given_rank",
    "head_sense",
    "next_given",
    "predicate_sense",
    "previous_given",
]


@lru_cache(maxsize=1)
def _senses() -> WordSenses:
    return WordSenses()


@lru_cache(maxsize=1 << 14)
def _sense(word: str, tag: str) -> str:
    if tag.startswith("NNP"):
        return "name"
    if tag in ("PRP", "WP"):
        return word
    if tag == "CD":
        return "number"
    return _senses().supersense(word, tag)


# --- meanings


def content_sense(view: View, node: int) -> str:
    """The supersense of the content word, as ``noun.time``; what names and numbers are; a pronoun itself."""
    word = content_place(view, node)
    return _sense(view.parse.lower[word], view.parse.tags[word])


def head_sense(view: View, node: int) -> str:
    """The same of the head word."""
    word = view.parse.heads[node]
    return _sense(view.parse.lower[word], view.parse.tags[word])


def content_lemma(view: View, node: int) -> str:
    """The base form of the content word."""
    word = content_place(view, node)
    return lemma(view.parse.lower[word], view.parse.tags[word])


def predicate_sense(view: View, node: int) -> str:
    """The supersense of the predicate: ``verb.motion``."""
    return _senses().supersense(view.lemma, "VB")


# --- other arguments


def given_frame(view: View, node: int) -> str:
    """The labels of all given arguments around the predicate, this one marked: ``*NP_v_NP_PP``."""
    if not view.given:
        return ""
    names = [f"*{view.at.labels[one]}" if one == node else view.at.labels[one] for one in view.given]
    names.insert(_before(view), "v")
    return "_".join(names)


def given_frame_with_predicate(view: View, node: int) -> str:
    """The same with the predicate's base form."""
    frame = given_frame(view, node)
    return frame and f"{view.lemma}:{frame}"


def given_place(view: View, node: int) -> str:
    """Which of the given arguments this is, counted from the predicate: -1 is the last before it, 1 the first after."""
    if node not in view.given:
        return ""
    steps = view.given.index(node) - _before(view)
    return str(steps + 1 if steps >= 0 else steps)


def previous_given(view: View, node: int) -> str:
    """The given argument before this one, with its preposition."""
    return _neighbour(view, node, -1)


def next_given(view: View, node: int) -> str:
    """The given argument after this one, with its preposition."""
    return _neighbour(view, node, 1)


def arguments_after(view: View, node: int) -> str:
    """The predicate and how many given arguments come after it."""
    return f"{len(view.given) - _before(view)}{view.lemma}" if view.given else ""


def given_rank(view: View, node: int) -> str:
    """How many given arguments with this label come first, of how many there are."""
    if node not in view.given:
        return ""
    alike = [one for one in view.given if view.at.labels[one] == view.at.labels[node]]
    return f"{alike.index(node)}/{len(alike)}"


def _before(view: View) -> int:
    return sum(view.at.first[one] <= view.predicate for one in view.given)


def _neighbour(view: View, node: int, step: int) -> str:
    if node not in view.given:
        return ""
    at = view.given.index(node) + step
    return type_with_preposition(view, view.given[at]) if 0 <= at < len(view.given) else "none"

"""Which features are used together: small sets, large ones, and groups of features that mean more as one."""

from __future__ import annotations

from sapwood.checks import check_choice
from sapwood.tasks.roles.context import (
    arguments_after,
    content_lemma,
    content_sense,
    given_frame,
    given_frame_with_predicate,
    given_place,
    given_rank,
    head_sense,
    next_given,
    predicate_sense,
    previous_given,
)
from sapwood.tasks.roles.features import (
    Feature,
    children_types,
    clause_path,
    collapsed_path,
    content_ending,
    content_tag,
    content_word,
    distance,
    first_tag,
    first_word,
    frame_with_predicate,
    governing_category,
    head_tag,
    head_word,
    initial_path,
    last_tag,
    last_word,
    later_phrases,
    left_head,
    left_tag,
    left_type,
    length,
    ordinal,
    parent_head,
    parent_preposition,
    parent_type,
    partial_path,
    particle,
    path,
    phrase_type,
    position,
    predicate,
    predicate_tag,
    punctuation,
    right_head,
    right_tag,
    right_type,
    second_word,
    subcategorisation,
    syntactic_frame,
    temporal_cue,
    type_with_preposition,
    undirected_path,
    voice,
    word_distance,
)
from sapwood.tasks.roles.views import View

__all__ = ["BASIC", "CONJUNCTIONS", "FULL", "GROUPS", "RICH", "describe", "feature_names", "flat_features"]

BASIC: tuple[Feature, ...] = (
    predicate,
    phrase_type,
    path,
    governing_category,
    position,
    voice,
    head_word,
    head_tag,
    subcategorisation,
    content_word,
    content_tag,
    partial_path,
    first_word,
    first_tag,
    last_word,
    last_tag,
    distance,
    parent_type,
    left_type,
    right_type,
)
"""Twenty features, most of them Gildea and Jurafsky's."""

FULL: tuple[Feature, ...] = (
    *BASIC,
    particle,
    syntactic_frame,
    frame_with_predicate,
    parent_preposition,
    undirected_path,
    collapsed_path,
    clause_path,
    initial_path,
    type_with_preposition,
    parent_head,
    left_head,
    left_tag,
    right_head,
    right_tag,
    ordinal,
    temporal_cue,
    punctuation,
    predicate_tag,
    content_ending,
    length,
    word_distance,
    second_word,
    children_types,
    later_phrases,
)
"""All features of one thing each."""

GROUPS: tuple[tuple[Feature, ...], ...] = (
    (predicate, type_with_preposition),
    (predicate, content_word),
    (predicate, voice, position),
    (predicate, voice, position, phrase_type),
    (predicate, path),
    (predicate, collapsed_path),
    (voice, path),
    (type_with_preposition, content_word),
)
"""Groups in the manner of Xue and Palmer, which a polynomial kernel combines further."""

CONJUNCTIONS: tuple[tuple[Feature, ...], ...] = (
    (predicate, phrase_type),
    (predicate, head_word),
    (predicate, content_word),
    (predicate, path),
    (predicate, collapsed_path),
    (predicate, position),
    (predicate, voice, position),
    (predicate, voice, position, phrase_type),
    (predicate, type_with_preposition),
    (predicate, subcategorisation),
    (predicate, later_phrases),
    (predicate, particle),
    (predicate, ordinal),
    (voice, position),
    (voice, path),
    (voice, syntactic_frame),
    (voice, position, phrase_type),
    (voice, position, head_word),
    (position, head_word),
    (position, content_word),
    (position, type_with_preposition),
    (type_with_preposition, content_word),
    (type_with_preposition, content_tag),
    (phrase_type, content_word),
    (phrase_type, first_word),
    (phrase_type, temporal_cue),
    (phrase_type, last_word),
    (phrase_type, ordinal),
    (phrase_type, later_phrases),
    (head_word, path),
    (path, type_with_preposition),
    (path, content_word),
    (left_type, right_type),
    (first_word, second_word),
    (predicate, left_type, phrase_type),
    (predicate, left_head),
    (predicate, first_word),
    (subcategorisation, path),
    (punctuation, phrase_type, position),
    (predicate_tag, path),
    (predicate_tag, voice, phrase_type),
)
"""Features that mean more together; a polynomial kernel has all pairs by itself, a linear model has these."""

RICH: tuple[Feature, ...] = (
    *FULL,
    content_sense,
    head_sense,
    content_lemma,
    predicate_sense,
    given_frame,
    given_frame_with_predicate,
    given_place,
    previous_given,
    next_given,
    arguments_after,
    given_rank,
)
"""The same, what words mean, and the other arguments."""

_RICH_GROUPS: tuple[tuple[Feature, ...], ...] = (
    *GROUPS,
    (content_sense, predicate),
    (content_sense, type_with_preposition),
    (predicate_sense, type_with_preposition, position, voice),
)

_SETS: dict[str, tuple[tuple[Feature, ...], tuple[tuple[Feature, ...], ...]]] = {
    "basic": (BASIC, ()),
    "full": (FULL, GROUPS),
    "rich": (RICH, _RICH_GROUPS),
    "linear": (FULL, CONJUNCTIONS),
}


def feature_names(kind: str) -> list[str]:
    """Return the names of a set: ``basic``, ``full`` and ``rich`` (with groups), or ``linear`` (with conjunctions)."""
    check_choice(kind, "features", _SETS)
    single, joint = _SETS[kind]
    return [one.__name__ for one in single] + ["&".join(one.__name__ for one in group) for group in joint]


def flat_features(view: View, node: int, kind: str = "full") -> dict[str, str]:
    """Describe a candidate by name and value, as ``Polynomial`` and ``Linear`` take it.

    >>> from sapwood.tasks.roles.views import Parse
    >>> from sapwood.trees import Tree
    >>> parse = Parse(Tree.fromstring("(S (NP (PRP I)) (VP (VBD slept)))"))
    >>> node = parse.at.spanning(0, 0)[0]
    >>> features = flat_features(parse.view(1, "sleep"), node, "basic")
    >>> features["path"], features["position"], features["voice"]
    ('NP^S!VP!VBD', 'before', 'active')
    """
    values = describe(view, node, kind)
    return {name: value for name, value in zip(feature_names(kind), values, strict=True) if value}


def describe(view: View, node: int, kind: str = "full") -> list[str]:
    """Return the values of a set of features in the order of ``feature_names``; empty where one does not apply."""
    check_choice(kind, "features", _SETS)
    single, joint = _SETS[kind]
    values = [feature(view, node) for feature in single]
    if joint:
        known = dict(zip(single, values, strict=True))
        for group in joint:
            parts = [known[feature] for feature in group]
            values.append("|".join(parts) if all(parts) else "")
    return values

"""Which features are used together: sets of single features, and groups of them that mean more as one."""

from __future__ import annotations

from collections.abc import Sequence

from sapwood.checks import check_choice
from sapwood.tasks.roles.features import OF_BOTH, OF_NODES, OF_PREDICATES
from sapwood.tasks.roles.views import View

__all__ = ["SETS", "describe", "feature_names", "feature_set", "flat_features"]

# Most of these are Gildea and Jurafsky's.
_BASIC = """
predicate phrase_type path governing_category position voice head_word head_tag subcategorization content_word
content_tag partial_path first_word first_tag last_word last_tag distance parent_type left_type right_type
"""
_FULL = f"""{_BASIC}
particle syntactic_frame frame_with_predicate parent_preposition undirected_path collapsed_path clause_path initial_path
type_with_preposition parent_head left_head left_tag right_head right_tag ordinal temporal_cue punctuation predicate_tag
content_ending length word_distance second_word children_types later_phrases
"""
# What words mean, and the other arguments.
_RICH = f"""{_FULL}
content_sense head_sense content_lemma predicate_sense given_frame given_frame_with_predicate given_place previous_given
next_given arguments_after given_rank
"""
# In the manner of Xue and Palmer; a polynomial kernel combines them further.
_GROUPS = """
predicate&type_with_preposition predicate&content_word predicate&voice&position predicate&voice&position&phrase_type
predicate&path predicate&collapsed_path voice&path type_with_preposition&content_word
"""
_RICH_GROUPS = f"""{_GROUPS}
content_sense&predicate content_sense&type_with_preposition predicate_sense&type_with_preposition&position&voice
"""
# A polynomial kernel has all pairs by itself, a linear model has these.
_CONJUNCTIONS = """
predicate&phrase_type predicate&head_word predicate&content_word predicate&path predicate&collapsed_path
predicate&position predicate&voice&position predicate&voice&position&phrase_type predicate&type_with_preposition
predicate&subcategorization predicate&later_phrases predicate&particle predicate&ordinal voice&position voice&path
voice&syntactic_frame voice&position&phrase_type voice&position&head_word position&head_word position&content_word
position&type_with_preposition type_with_preposition&content_word type_with_preposition&content_tag
phrase_type&content_word phrase_type&first_word phrase_type&temporal_cue phrase_type&last_word phrase_type&ordinal
phrase_type&later_phrases head_word&path path&type_with_preposition path&content_word left_type&right_type
first_word&second_word predicate&left_type&phrase_type predicate&left_head predicate&first_word subcategorization&path
punctuation&phrase_type&position predicate_tag&path predicate_tag&voice&phrase_type
"""


class FeatureSet:
    """Features, and groups of them whose values are joined.

    Attributes
    ----------
    names : list of str
        Single features first; a group is written ``predicate&path``.
    groups : list of tuples of int
        For each group, the numbers of its features.
    """

    def __init__(self, single: str, groups: str = "") -> None:
        names, joint = single.split(), groups.split()
        self.names = [*names, *joint]
        self.groups = [tuple(names.index(name) for name in group.split("&")) for group in joint]
        self._of_node = [OF_NODES.get(name) for name in names]
        self._of_predicate = [(at, OF_PREDICATES[name]) for at, name in enumerate(names) if name in OF_PREDICATES]
        self._of_both = [(at, OF_BOTH[name]) for at, name in enumerate(names) if name in OF_BOTH]

    def describe(self, view: View, node: int) -> list[str]:
        """Return the values of the single features."""
        of_nodes, of_predicate = view.parse.described.setdefault(self, {}), view.described.get(self)
        if node not in of_nodes:
            of_nodes[node] = [feature(view.parse, node) if feature else "" for feature in self._of_node]
        if of_predicate is None:
            of_predicate = view.described[self] = [(at, feature(view)) for at, feature in self._of_predicate]
        values = of_nodes[node].copy()
        for at, value in of_predicate:
            values[at] = value
        for at, feature in self._of_both:
            values[at] = feature(view, node)
        return values

    def joined(self, values: Sequence[str]) -> list[str]:
        """Return the values of the groups, from those of the single features."""
        parts = ([values[number] for number in group] for group in self.groups)
        return ["|".join(some) if all(some) else "" for some in parts]


SETS = {
    "basic": FeatureSet(_BASIC),
    "full": FeatureSet(_FULL, _GROUPS),
    "rich": FeatureSet(_RICH, _RICH_GROUPS),
    "linear": FeatureSet(_FULL, _CONJUNCTIONS),
}
"""The sets that have a name."""


def feature_set(kind: str) -> FeatureSet:
    """Return the set of a name, or raise naming all."""
    if not isinstance(kind, str) or kind not in SETS:
        check_choice(kind, "features", SETS)
    return SETS[kind]


def feature_names(kind: str) -> list[str]:
    """Return the names of the features of a set, groups last."""
    return feature_set(kind).names


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
    chosen = feature_set(kind)
    values = chosen.describe(view, node)
    every = zip(chosen.names, [*values, *chosen.joined(values)], strict=True)
    return {name: value for name, value in every if value}


def describe(view: View, node: int, kind: str = "full") -> list[str]:
    """Return the values of the single features of a set in their order; empty where one does not apply."""
    return feature_set(kind).describe(view, node)

"""Occurrences of fragments against all ways to lay a fragment over a tree."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.draw.places import fragment_places
from sapwood.trees import Tree
from sapwood.trees.positions import Positions

LABELS = st.sampled_from("ab")
TREES = st.recursive(
    LABELS.map(Tree), lambda inner: st.builds(Tree, LABELS, st.lists(inner, min_size=1, max_size=3)), max_leaves=8
)
FRAGMENTS = st.recursive(
    LABELS.map(Tree), lambda inner: st.builds(Tree, LABELS, st.lists(inner, min_size=1, max_size=2)), max_leaves=3
)


def ways(at, node, fragment, gaps):
    """List the sets of nodes that the fragment can cover from this node on, by trying all."""
    if at.labels[node] != fragment.label:
        return []
    kids, wanted = at.children[node], fragment.children
    if not wanted:
        return [{node}]
    if not gaps and len(kids) != len(wanted):
        return []
    found = []
    for chosen in combinations(kids, len(wanted)):
        below = [ways(at, kid, part, gaps) for kid, part in zip(chosen, wanted, strict=True)]
        found += [{node}.union(*sets) for sets in product(*below)]
    return found


@pytest.mark.parametrize("gaps", [False, True])
@given(tree=TREES, fragment=FRAGMENTS)
def test_every_occurrence_is_found_and_fits(gaps, tree, fragment):
    at = Positions(tree)
    expected = {node: all_ways for node in range(len(at)) if (all_ways := ways(at, node, fragment, gaps))}
    found = fragment_places(tree, fragment, gaps=gaps)
    assert [place[0] for place in found] == list(expected)
    for place in found:
        assert set(place) in expected[place[0]]
    assert fragment_places(at, fragment, gaps=gaps, limit=1) == found[:1]

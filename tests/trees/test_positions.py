"""Places of a tree against what the tree itself says."""

from __future__ import annotations

import pytest
from hypothesis import given

from sapwood.errors import DataError
from sapwood.trees import Positions, Tree
from strategies import trees


@given(trees())
def test_places_agree_with_the_tree(tree: Tree) -> None:
    at = Positions(tree)
    assert at.nodes == list(tree.preorder())
    words = tree.leaves()
    for node, subtree in enumerate(at.nodes):
        assert words[at.first[node] : at.last[node] + 1] == subtree.leaves()
        assert [at.nodes[child] for child in at.children[node]] == list(subtree.children)
        assert all(at.parent[child] == node for child in at.children[node])
        if subtree.children:
            assert node in at.spanning(at.first[node], at.last[node])


def test_ways_meet_at_the_lowest_common_place() -> None:
    at = Positions(Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it))))"))
    up, down = at.path(at.spanning(0, 1)[0], at.tag(2))
    assert [at.labels[node] for node in up] == ["NP", "S"]
    assert [at.labels[node] for node in down] == ["VP", "VBD"]
    up, down = at.path(at.tag(2), at.tag(2))
    assert [at.labels[node] for node in up] == ["VBD"]
    assert not down


def test_words_out_of_range_are_named() -> None:
    at = Positions(Tree.fromstring("(NP (NN dog))"))
    with pytest.raises(DataError, match="no word 1; the tree has 1"):
        at.tag(1)
    with pytest.raises(DataError, match="single word"):
        Positions(Tree("dog")).tag(0)

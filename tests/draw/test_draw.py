"""Pictures and outlines: one mark per node, nothing unescaped, nothing that chokes on size."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.fragments import fragments, internal_trees
from oracles.tree_kernels import nodes
from sapwood import Tree
from sapwood.draw import outline
from sapwood.draw.html import fragment_table, page, panel
from sapwood.draw.svg import fragment_nodes, weighted_svg
from sapwood.draw.text import weighted_outline
from sapwood.palette import text_width

TREE = Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN dog))))")


def texts(picture):
    return [element for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("text")]


def boxes(picture):
    """Return the style of the box of each node that has one, by label, in the order of the tree."""
    groups = [element for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("}g")]
    found = [(next(one for one in group if one.tag.endswith("text")).text, group) for group in groups]
    return [(label, one.get("style")) for label, group in found for one in group if one.tag.endswith("rect")]


def test_one_text_per_node_and_a_box_for_each_that_weighs():
    weights = [0.0] * TREE.size()
    weights[1], weights[6] = 1.0, -0.25
    picture = weighted_svg(TREE, weights)
    assert [element.text for element in texts(picture)] == [node.label for node in TREE.preorder()]
    assert [label for label, _ in boxes(picture)] == ["NP", "VP"]
    strongest, weaker = (style for _, style in boxes(picture))
    assert re.fullmatch("fill:.*--sw-for.*fill-opacity:0.50", strongest)
    assert re.fullmatch("fill:.*--sw-against.*fill-opacity:0.25", weaker), "the root of the share"
    assert not boxes(weighted_svg(TREE, [0.0] * TREE.size()))


def test_marked_nodes_have_frames_and_strong_lines_between_them():
    marked = weighted_svg(TREE, [0.0] * TREE.size(), marked=[0, 1])
    assert [label for label, _ in boxes(marked)] == ["S", "NP"]
    assert [element.get("font-weight") for element in texts(marked)][:3] == ["700", "700", None]
    assert marked.count("stroke-width:2.5") == 1


def test_no_two_labels_of_a_row_overlap():
    tree = Tree.fromstring(
        "(S (NP-of-a-very-long-name (DT the) (N x)) (VP (V saw) (PP in the deepest forest)) (WWW MMMMMMMM))"
    )
    rows = {}
    for element in texts(tree._repr_svg_()):
        rows.setdefault(element.get("y"), []).append((float(element.get("x")), text_width(element.text)))
    assert len(rows) == tree.height() + 1
    for row in rows.values():
        for (x, wide), (y, other) in itertools.pairwise(row):
            assert x + wide / 2 <= y - other / 2


def test_the_legend_says_what_is_there():
    weights = [0.0] * TREE.size()
    weights[1] = 1.0
    said = [element.text for element in texts(weighted_svg(TREE, weights, marked=[1], legend=True))][TREE.size() :]
    assert said == ["speaks for it", "strongest fragment"]


@pytest.mark.parametrize("label", ["<script>", "a&b", "\"'", "]]>", "é漢", "a b", "(x)"])
def test_labels_are_escaped(label):
    tree = Tree(label, [Tree(label, [label])])
    picture = weighted_svg(tree, [1.0, 0.5, 0.2])
    assert [element.text for element in texts(picture)] == [label] * 3
    table = fragment_table([(1.0, tree, label)], [(2.0, label)])
    whole = page(label, [panel(label, [table])])
    assert "<script>" not in picture + whole.replace("<style>", "")
    assert label in weighted_outline(tree, [1.0, 0.5, 0.2])


@pytest.mark.slow
def test_too_large_to_draw():
    deep = Tree("a")
    for _ in range(100_000):
        deep = Tree("a", [deep])
    assert "too large to draw" in weighted_svg(deep, [0.0] * 100_001)
    assert len(weighted_outline(deep, [1.0] * 100_001, max_lines=5).splitlines()) == 6


def test_outlines_agree():
    bare = outline(TREE).splitlines()
    weighted = weighted_outline(TREE, [0.5, -0.25, 0.1, 0.1, 0.0, 0.0, *([0.0] * (TREE.size() - 6))]).splitlines()
    assert [line[16:] for line in weighted] == bare
    assert weighted[0].startswith("+0.5000 ++++++")
    assert weighted[1].startswith("-0.2500 ---")
    assert weighted[2].startswith("+0.2000 ++"), "a pre-terminal shows the sum with its word"
    assert all(len(line) <= 20 for line in weighted_outline(TREE, [1e9] * TREE.size(), width=20).splitlines())


@settings(max_examples=60, deadline=None)
@given(internal_trees, st.randoms(use_true_random=False))
def test_fragments_are_found_where_they_hang(tree, random):
    fragment = random.choice(sorted(fragments(tree), key=str))
    covered = fragment_nodes(tree, fragment)
    assert len(covered) == fragment.size()
    labels = [node.label for node in nodes(tree)]
    assert [labels[position] for position in covered] == [node.label for node in fragment.preorder()]


def test_absent_fragments():
    assert fragment_nodes(TREE, Tree.fromstring("(NP DT JJ NN)")) == []
    assert fragment_table([]) == "<p>no fragments</p>"

"""Pictures and outlines: one mark per node, nothing unescaped, nothing that chokes on size."""

from __future__ import annotations

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

TREE = Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN dog))))")


def texts(picture):
    return [element for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("text")]


def test_one_text_per_node_in_its_colour():
    weights = [0.0] * TREE.size()
    weights[1], weights[6] = 1.0, -1.0
    found = texts(weighted_svg(TREE, weights))
    assert len(found) == TREE.size()
    colours = {element.text: element.get("fill") for element in found}
    assert colours["S"] == "#808080"
    assert colours["VP"] == "rgb(0,0,218)"
    assert [e.get("fill") for e in found if e.text == "NP"] == ["rgb(218,0,0)", "#808080"]


def test_marked_nodes_differ():
    plain = weighted_svg(TREE, [0.0] * TREE.size())
    marked = weighted_svg(TREE, [0.0] * TREE.size(), marked=[0])
    assert [element.get("stroke") for element in texts(marked)] == ["#808080", *([None] * (TREE.size() - 1))]
    assert not any(element.get("stroke") for element in texts(plain))


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

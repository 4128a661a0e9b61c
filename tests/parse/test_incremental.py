"""Forests against a slow twin that works on plain trees by the definitions alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.parse.forests import word_classes
from sapwood.parse.incremental import ConnectionPath, ConnectionPaths, attachment_trees
from sapwood.trees import Tree, TreeArray


def trees_over_tags():
    tags = st.sampled_from(["D", "N", "V"]).map(Tree)
    phrases = st.sampled_from(["S", "P", "D"])
    return st.recursive(
        tags, lambda below: st.builds(Tree, phrases, st.lists(below, min_size=1, max_size=3)), max_leaves=8
    )


def restrict(tree, words):
    """The part of a tree over its first words."""

    def walk(node, first):
        if node.is_leaf:
            return (node if first < words else None), 1
        kept, seen = [], 0
        for child in node.children:
            part, size = walk(child, first + seen)
            seen += size
            if part is not None:
                kept.append(part)
        return (Tree(node.label, kept) if kept else None), seen

    return walk(tree, 0)[0]


def incremental(tree, words, root):
    """The tree over the first words, cut at the lowest node that holds them all if it is not rooted at the top."""
    part = restrict(tree, words)
    if root == "top":
        return part
    while len(part.children) == 1:
        part = part.children[0]
    return part


def chain(labels):
    node = Tree(labels[-1])
    for label in reversed(labels[:-1]):
        node = Tree(label, [node])
    return node


def attach(tree, depth, down):
    if depth == 0:
        return Tree(tree.label, [*tree.children, chain(down)])
    return Tree(tree.label, [*tree.children[:-1], attach(tree.children[-1], depth - 1, down)])


def attach_upward(tree, up, down):
    for label in up[:-1]:
        tree = Tree(label, [tree])
    return Tree(up[-1], [tree, chain(down)])


def ways(tree, tag, paths):
    """Every way to attach a word with this tag: the trees, and the path of each."""
    found = {}
    node, depth = tree, 0
    while not node.is_leaf:
        for path in paths:
            if not path.up and path.anchor == node.label and path.down[-1] == tag:
                found[attach(tree, depth, path.down)] = path
        node, depth = node.children[-1], depth + 1
    for path in paths:
        if path.up and path.anchor == tree.label and path.down[-1] == tag:
            found[attach_upward(tree, path.up, path.down)] = path
    return found


@pytest.mark.slow
@given(st.lists(trees_over_tags(), min_size=1, max_size=4), st.sampled_from(["lowest", "top"]))
def test_forests_hold_all_ways_and_the_right_one(trees, root):
    grammar = ConnectionPaths.from_trees(trees, root=root)
    paths = list(grammar)
    forests = grammar.forests(trees)
    assert forests.missing == 0
    assert forests.steps == grammar.counts.sum() == sum(len(list(tree.leaves())) - 1 for tree in trees)
    made = list(forests.trees)
    begins = forests.ends - forests.sizes
    alone = at = 0
    for number, tree in enumerate(trees):
        leaves = list(tree.leaves())
        for word in range(1, len(leaves)):
            expected = ways(incremental(tree, word, root), leaves[word], paths)
            if len(expected) < 2:
                alone += 1
                continue
            members = made[begins[at] : forests.ends[at]]
            assert Counter(members) == Counter(list(expected))
            assert members[forests.gold[at]] == incremental(tree, word + 1, root)
            assert (forests.sentence[at], forests.word[at], forests.feet[at]) == (number, word, leaves[word])
            assert [paths[p] for p in forests.path[begins[at] : forests.ends[at]]] == [expected[t] for t in members]
            at += 1
    assert (at, alone) == (len(forests), forests.alone)
    assert forests.y.sum() == len(forests)
    assert np.array_equal(np.bincount(forests.groups, minlength=len(forests)), forests.sizes)


def test_paths_start_from_the_lowest_node_over_the_words():
    grammar = ConnectionPaths.from_trees(["(S (A (B D N) V) (P N))"])
    assert [str(path) for path in grammar] == ["D ↑ B ↓ N", "B ↑ A ↓ V", "A ↑ S ↓ P ↓ N"]


@given(st.lists(trees_over_tags(), min_size=1, max_size=4), st.integers(0, 3), st.integers(0, 3))
def test_recombined_paths_join_ways_up_and_down(trees, min_up, min_down):
    seen = dict(ConnectionPaths.from_trees(trees).items())

    def often(up, anchor):
        return sum(n for path, n in seen.items() if path.up == up and path.anchor == anchor) >= min_up

    def follows(label, down):
        return sum(n for (up, top, way), n in seen.items() if way == down and (up[-1] if up else top) == label)

    new = {
        ConnectionPath(a.up, a.anchor, b.down)
        for a in seen
        for b in seen
        if a.up and often(a.up, a.anchor) and 0 < follows(a.up[-1], b.down) >= min_down
    }
    found = ConnectionPaths.from_trees(trees).recombined(min_up=min_up, min_down=min_down)
    assert dict(found.items()) == {**dict.fromkeys(new, 1.0), **seen}
    assert list(found)[: len(seen)] == list(seen)
    # Paths of trees rooted at the top never go up.
    top = ConnectionPaths.from_trees(trees, root="top")
    assert (len(top.recombined()), top.recombined().root) == (len(top), "top")


@pytest.mark.parametrize(
    ("levels", "left"), [(None, "(S (P (P D D) D) "), (1, "(S P "), (2, "(S (P P D) "), (50, "(S (P (P D D) D) ")]
)
def test_reduction_cuts_what_is_off_the_frontier(levels, left):
    tree = "(S (P (P D D) D) (V V N))"
    grammar = ConnectionPaths.from_trees([tree, "(S (P D) (V V (P N)))"])
    forests = grammar.forests([tree], reduction=levels)
    last = [str(member) for member, f in zip(forests.trees, forests.groups, strict=True) if forests.word[f] == 4]
    assert sorted(last) == [left + "(V V (P N)))", left + "(V V N))"]


def test_what_to_do_where_the_right_path_is_unknown():
    grammar = ConnectionPaths.from_trees(["(S (P D) (V V N))", "(S (P D) (V V (P N)))"])
    new = "(S (P D) (V V (Q N)))"
    appended = grammar.forests([new])
    assert (appended.missing, appended.path[-1], appended.gold[-1]) == (1, -1, appended.sizes[-1] - 1)
    assert str(appended.trees[len(appended.trees) - 1]) == new
    kept = grammar.forests([new], missing="keep")
    assert (kept.missing, kept.gold[-1], kept.y.sum()) == (1, -1, 0)
    assert len(grammar.forests([new], missing="skip")) == 0


def test_rare_paths_can_be_left_out():
    grammar = ConnectionPaths.from_trees(["(S (P D) (V V N))"] * 3 + ["(S (P D) (V V (P N)))"])
    assert len(grammar.forests(["(S (P D) (V V N))"]).trees) == 2
    assert len(grammar.forests(["(S (P D) (V V N))"], min_count=2)) == 0


def test_words_without_a_choice_are_counted_not_kept():
    forests = ConnectionPaths.from_trees(["(S D N)"]).forests(["(S D N)", "D"])
    assert (len(forests), forests.steps, forests.alone) == (0, 1, 1)


def test_some_forests_can_be_chosen():
    trees = ["(S (P D N) (V V))", "(S (P D) (V V N))", "(S (P D) (V V (P N)))"]
    forests = ConnectionPaths.from_trees(trees).forests(trees)
    nouns = forests.select(forests.feet == "N")
    assert set(nouns.feet) == {"N"}
    assert len(nouns.trees) == nouns.ends[-1] == nouns.sizes.sum()
    first = int(np.flatnonzero(forests.feet == "N")[0])
    assert nouns.trees[0] == forests.trees[int(forests.ends[first] - forests.sizes[first])]
    assert forests.select(np.zeros(len(forests), dtype=bool)).trees.shape == (0,)


def test_paths_are_stored(tmp_path):
    grammar = ConnectionPaths.from_trees(["(S (P D) (V V (P N)))", "(S (P D N) V)"], root="top")
    sw.save(grammar, tmp_path / "paths.sap")
    again = sw.load(tmp_path / "paths.sap")
    assert list(again.items()) == list(grammar.items())
    assert again.root == "top"
    sw.save(ConnectionPaths({}), tmp_path / "none.sap")
    assert len(sw.load(tmp_path / "none.sap")) == 0


def test_damaged_paths_are_refused(tmp_path, monkeypatch):
    from sapwood import registry
    from sapwood.parse import store

    def write(paths, writer):
        return store._write_paths(paths, writer) | {"counts": writer.array(np.array([-1.0]))}

    monkeypatch.setattr(registry._registry["ConnectionPaths"], "write", write)
    sw.save(ConnectionPaths({ConnectionPath((), "S", ("N",)): 1.0}), tmp_path / "paths.sap")
    with pytest.raises(ModelFileError, match="count"):
        sw.load(tmp_path / "paths.sap")


def test_tags_become_leaves_and_have_classes():
    assert attachment_trees(["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"]).to_strings() == ["(S (NP DT NN) (VP VBZ))"]
    with pytest.raises(ParameterError, match="'NN' is in two classes, 'a' and 'b'"):
        word_classes([], {"a": ["NN"], "b": ["NN"]})


def test_bad_arguments_are_named():
    grammar = ConnectionPaths.from_trees(["(S D N)"])
    with pytest.raises(ParameterError, match="missing must be one of 'append', 'keep', 'skip', got 'drop'"):
        grammar.forests(["(S D N)"], missing="drop")
    with pytest.raises(ParameterError, match="reduction must be None or an integer of at least 1, got 0"):
        grammar.forests(["(S D N)"], reduction=0)
    with pytest.raises(ParameterError, match="min_down must be a finite number of at least 0, got -1"):
        grammar.recombined(min_down=-1)
    with pytest.raises(ParameterError, match="root must be one of 'lowest', 'top', got 'left'"):
        ConnectionPaths.from_trees(["(S D N)"], root="left")
    with pytest.raises(ParameterError, match="at least a tag in down"):
        ConnectionPaths({ConnectionPath((), "S", ()): 1})
    with pytest.raises(ParameterError, match="must be above 0, got 0"):
        ConnectionPaths({ConnectionPath((), "S", ("N",)): 0})
    with pytest.raises(DataError, match="bags"):
        grammar.forests(TreeArray([["(S D N)", "(S D N)"]]))


def test_trees_too_large_to_walk_are_refused():
    shared = Tree("N")
    for _ in range(60):
        shared = Tree("S", [shared, shared])
    with pytest.raises(DataError, match="more than a billion nodes"):
        ConnectionPaths.from_trees([shared])


def test_empty_input_gives_no_forests():
    grammar = ConnectionPaths.from_trees([])
    forests = grammar.forests([])
    assert (len(grammar), len(forests), forests.y.tolist(), forests.groups.tolist()) == (0, 0, [], [])


@pytest.mark.slow
def test_deep_trees_need_no_recursion():
    deep = Tree("N")
    for _ in range(2_000):
        deep = Tree("S", [deep])
    whole = Tree("S", [deep, Tree("V")])
    assert [len(path.up) for path in ConnectionPaths.from_trees([whole])] == [2_001]
    top = ConnectionPaths.from_trees([whole], root="top").forests([whole])
    assert (top.steps, top.alone, len(top.trees)) == (1, 0, 2_001)

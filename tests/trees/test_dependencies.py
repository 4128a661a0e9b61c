"""Dependencies by head rules, on sentences worked out by hand and on every tree of a treebank sample."""

from __future__ import annotations

import pytest

from sapwood import Tree
from sapwood.errors import TreeError
from sapwood.trees.dependencies import dependencies, head_constituents


def links(text):
    found = dependencies(Tree.fromstring(text))
    return {
        word: (found.words[head] if head >= 0 else None, relation)
        for word, head, relation in zip(found.words, found.heads, found.relations, strict=True)
    }


def test_a_passive_sentence():
    found = links("(S (NP (DT The) (NN cake)) (VP (VBD was) (VP (VBN eaten) (PP (IN by) (NP (NNP Kim))))) (. .))")
    assert found == {
        "The": ("cake", "NMOD"),
        "cake": ("was", "SBJ"),
        "was": (None, "ROOT"),
        "eaten": ("was", "VC"),
        "by": ("eaten", "ADV"),
        "Kim": ("by", "PMOD"),
        ".": ("was", "P"),
    }


def test_coordination_and_relative_clauses():
    found = links("(NP (NP (NNS dogs) (CC and) (NNS cats)) (SBAR (WHNP (WDT that)) (S (VP (VBP sleep)))))")
    assert found["cats"] == ("dogs", "CONJ")
    assert found["and"] == ("dogs", "CC")
    assert found["that"] == ("dogs", "REL")
    assert found["sleep"] == ("that", "SUB")


def test_function_tags_do_not_matter():
    plain = dependencies(Tree.fromstring("(S (NP (NNP Kim)) (VP (VBD ran)))"))
    tagged = dependencies(Tree.fromstring("(S (NP-SBJ-1 (NNP Kim)) (VP (VBD ran)))"))
    assert plain == tagged


def test_words_need_a_part_of_speech():
    with pytest.raises(TreeError, match="'dog' under 'NP' has no part of speech"):
        head_constituents(Tree.fromstring("(NP (DT the) dog)"))
    with pytest.raises(TreeError, match="word without a part of speech"):
        head_constituents(Tree("dog"))


def test_other_head_rules_can_be_given():
    tree = Tree.fromstring("(X (A a) (B b) (C c))")
    assert dependencies(tree, lambda label, children: len(children) - 1).heads == (2, 2, -1)


def test_deep_trees_are_no_problem():
    tree = Tree("NN", ["x"])
    for _ in range(5000):
        tree = Tree("NP", [tree, Tree("NN", ["y"])])
    assert len(dependencies(tree).heads) == 5001


@pytest.mark.slow
def test_every_real_tree_gives_a_projective_tree_with_one_root(treebank):
    for tree in list(treebank)[::20]:
        found = dependencies(tree)
        nodes = head_constituents(tree)
        assert found.words == tree.leaves()
        assert found.heads.count(-1) == 1
        for first, last, head in zip(nodes.first, nodes.last, nodes.heads, strict=True):
            outside = [at for at in range(first, last + 1) if not first <= found.heads[at] <= last]
            assert outside == [head]

"""What questions ask about, on worked examples, and the trees that are built from it."""
# ruff: noqa: E501

from __future__ import annotations

import pytest
from hypothesis import given

import sapwood as sw
from sapwood.parse import FlatParser, tokenize
from sapwood.tasks.questions import find_focus
from sapwood.tasks.questions.views import focus_tree, lexical_tree, word_counts
from sapwood.trees import Tree
from sapwood.words.lemmas import lemma
from strategies import trees

WORKED = [
    ("which", "country", "(SBARQ (WHNP (WDT Which) (NNS countries)) (SQ (VP (VBD fell))) (. ?))"),
    ("what", "capital", "(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (NP (DT the) (NN capital)) (PP (IN of) (NP (NNP Peru))))))"),
    ("what", "animal", "(SBARQ (WHNP (WHNP (WDT What) (NN kind)) (PP (IN of) (NP (NN animal)))) (SQ (VBZ is) (NP (NNP Babar))))"),
    ("what", "river", "(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (NP (DT the) (NN name)) (PP (IN of) (NP (DT the) (JJ long) (NN river))))))"),
    ("what", "birthstone", "(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (NP (NNP May) (POS 's)) (NN birthstone))))"),
    ("what", "state", "(SBARQ (WHNP (WDT What) (NN state) (POS 's) (JJS largest) (NN city)) (SQ (VBZ is) (NP (NNP Reno))))"),
    ("what", "city", "(SBARQ (WHPP (IN In) (WHNP (WDT what) (NN city))) (SQ (VBD was) (NP (PRP he)) (VP (VBN born))))"),
    ("how_many", "mile", "(SBARQ (WHNP (WHADJP (WRB How) (JJ many)) (NNS miles)) (SQ (VBZ is) (NP (PRP it))))"),
    ("how_tall", "tower", "(SBARQ (WHADJP (WRB How) (JJ tall)) (SQ (VBZ is) (NP (DT the) (NN tower))))"),
    ("name", "dwarf", "(S (VP (VB Name) (NP (NP (DT a) (NN dwarf)) (PP (IN of) (NP (NNP Tolkien))))) (. .))"),
    ("what", "trial", "(S (NP (DT The) (NNS trials)) (VP (VBP are) (VP (VBN called) (WHNP (WP what)))) (. ?))"),
    ("who", None, "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD ran))) (. ?))"),
    ("why", None, "why"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "head", "tree"), WORKED, ids=lambda value: str(value)[:12])
def test_question_word_and_focus(word, head, tree):
    found = find_focus(Tree.fromstring(tree))
    assert (found.word, found.head) == (word, head)
    if head is not None:
        assert lemma(Tree.fromstring(tree).leaves()[found.position], "NNS") == head


def test_focus_tree_shows_the_compound_on_top_and_marks_its_head_below():
    tree = Tree.fromstring("(SBARQ (WHNP (WDT Which) (JJ prime) (NNS ministers)) (SQ (VP (VBD fell))))")
    shown = "(TOP (QH (QW which) (QF minister)) (QC prime_minister) (SBARQ (WHNP (WDT which) (JJ prime) (NN-F minister)) (SQ (VP (VB fall)))))"
    assert str(focus_tree(tree)) == shown


def test_lexical_tree_puts_auxiliaries_under_the_verb_and_leaves_punctuation_out():
    tree = Tree.fromstring("(S1 (SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (NNP Bell)) (VP (VB invent))) (. ?)))")
    shown = "(invent::v (what::w WP SBARQ>WHNP) (do::v VB SQ>VB) (bell::n NNP SQ>NP FOCUS) VB S1)"
    assert str(lexical_tree(tree)) == f"(TOP (what::q (bell::n FOCUS)) {shown})"


@given(trees())
def test_any_tree_has_both_shapes_with_the_words_it_had(tree):
    focused, lexical = focus_tree(tree), lexical_tree(tree)
    body = focused.children[-1]
    assert body.size() == tree.size()
    assert len(body.leaves()) == len(tree.leaves())
    assert not lexical.is_leaf
    assert lexical.size() <= 3 * len(tree.leaves()) + 5


def test_deep_trees_do_not_overflow_the_stack():
    tree = Tree("NN", ["dog"])
    for _ in range(3_000):
        tree = Tree("NP", [tree])
    assert find_focus(tree).head == "dog"
    assert focus_tree(tree).height() == 3_002
    assert str(lexical_tree(tree)) == "(TOP (dog::q (dog::n FOCUS)) (dog::n NN NP FOCUS))"


def test_flat_trees_still_show_the_focus():
    tree = FlatParser().parse(tokenize("What is the capital of Peru?"))
    assert find_focus(tree).head == "capital"
    assert sw.TreeArray([tree])[0].leaves() == ("What", "is", "the", "capital", "of", "Peru", "?")


def test_word_counts_know_pairs():
    assert word_counts(["How", "far"]) == {"how": 1.0, "far": 1.0, "how far": 1.0}


@pytest.mark.parametrize(
    ("word", "tag", "base"),
    [
        ("cities", "NNS", "city"), ("Women", "NNS", "woman"), ("buses", "NNS", "bus"), ("causes", "NNS", "cause"),
        ("series", "NN", "series"), ("firemen", "NNS", "fireman"), ("has", "VBZ", "have"), ("invented", "VBD", "invent"),
        ("caused", "VBN", "cause"), ("stopping", "VBG", "stop"), ("studied", "VBD", "study"), ("agreed", "VBD", "agree"),
        ("tallest", "JJS", "tall"), ("biggest", "JJS", "big"), ("happier", "JJR", "happy"), ("largest", "JJS", "large"),
        ("Paris", "NNP", "paris"), ("'s", "POS", "'s"), ("s", "NNS", "s"), ("succeed", "VB", "succeed"),
    ],
)  # fmt: skip
def test_lemmas(word, tag, base):
    assert lemma(word, tag) == base

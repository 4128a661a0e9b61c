"""Portions of trees: worked examples, and what holds for all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import DataError, ParameterError
from sapwood.kernels import GrammarDriven, SubsetTree
from sapwood.trees import Grammar, Positions, Tree
from sapwood.trees.portions import PORTIONS, portion
from strategies import trees

TEACHER = Tree.fromstring(
    "(S (NP (DT The) (JJ old) (NN teacher)) (VP (VBD was) (VP (VBN given) (NP (DT a) (JJ red) (NN book)) "
    "(PP (IN by) (NP (PRP$ her) (NNS students))) (NP (NN yesterday)))) (. .))"
)
AT = Positions(TEACHER)


@pytest.mark.parametrize(
    ("span", "kind", "expected"),
    [
        ((8, 10), "path", "(VP-PATH (VBN-PRED given) PP-ARG)"),
        ((8, 10), "path+siblings", "(VP-PATH (VBN-PRED given) NP PP-ARG NP)"),
        ((8, 10), "constituent", "(PP (IN by) (NP (PRP$ her) (NNS students)))"),
        ((0, 2), "path", "(S-PATH NP-ARG (VP-PATH (VP-PATH (VBN-PRED given))))"),
        ((0, 2), "path+siblings", "(S-PATH NP-ARG (VP-PATH VBD (VP-PATH (VBN-PRED given) NP PP NP)) .)"),
        ((0, 2), "paf", "(S-PATH (NP-ARG (DT The) (JJ old) (NN teacher)) (VP-PATH (VP-PATH (VBN-PRED given))))"),
        ((9, 10), "path", "(VP-PATH (VBN-PRED given) (PP-PATH NP-ARG))"),
        ((11, 11), "paf+siblings", "(VP-PATH (VBN-PRED given) NP PP (NP-ARG (NN yesterday)))"),
        # The predicate lies inside the argument.
        ((4, 11), "path", "(VP-ARG (VBN-PRED given))"),
    ],
)
def test_worked_examples(span: tuple[int, int], kind: str, expected: str) -> None:
    assert str(portion(AT, AT.spanning(*span)[0], 4, kind)) == " ".join(expected.split())


def test_the_lemma_stands_for_the_word() -> None:
    assert str(portion(AT, AT.spanning(5, 7)[0], 4, "path", lemma="give")) == "(VP-PATH (VBN-PRED give) NP-ARG)"


def test_the_predicate_itself_is_one_marked_node() -> None:
    assert str(portion(AT, AT.tag(4), 4, "paf")) == "(VBN-PRED given)"


@given(trees(max_leaves=8), st.data())
def test_portions_hold_the_predicate_once_and_the_way_to_it(tree: Tree, data: st.DataObject) -> None:
    at = Positions(tree)
    phrases = [node for node in range(len(at)) if at.children[node]]
    if not phrases:
        return
    words = [w for w, leaf in enumerate(at.leaves) if at.parent[leaf] >= 0 and at.is_tag(at.parent[leaf])]
    if not words:
        return
    word, node = data.draw(st.sampled_from(words)), data.draw(st.sampled_from(phrases))
    rising, falling = at.path(node, at.tag(word))
    for kind in PORTIONS:
        made = portion(at, node, word, kind)
        labels = [each.label for each in made.preorder()]
        if kind == "constituent":
            assert made == at.nodes[node]
            continue
        assert sum(label.endswith("-PRED") for label in labels) == 1
        inner = {*rising, *falling} - {node, at.tag(word)}
        assert sum(label.endswith("-PATH") for label in labels) == len(inner)
        if kind == "path":
            assert made.size() == len({*rising, *falling}) + 1


def test_deletions_act_on_siblings_and_nowhere_else() -> None:
    """On truncated paths the grammar-driven kernel is the subset-tree kernel; with siblings it sees more."""
    other = Positions(
        Tree.fromstring(
            "(S (NP (DT The) (NN dog)) (VP (VBD was) (VP (VBN given) (NP (DT a) (NN bone)) "
            "(PP (IN by) (NP (PRP$ her) (NNS friends))))) (. .))"
        )
    )
    grammar = Grammar.from_trees([TEACHER, other.nodes[0]])
    gtk, sst = GrammarDriven(grammar, mutation=0.0), SubsetTree()
    first, second = AT.spanning(8, 10)[0], other.spanning(6, 8)[0]
    pairs = {kind: (portion(AT, first, 4, kind), portion(other, second, 3, kind)) for kind in ("path", "path+siblings")}
    assert gtk(*pairs["path"]) == pytest.approx(sst(*pairs["path"]))
    assert gtk(*pairs["path+siblings"]) > sst(*pairs["path+siblings"]) > 0


def test_faults_are_named() -> None:
    with pytest.raises(ParameterError, match="kind must be one of 'path"):
        portion(AT, 1, 4, "paths")
    with pytest.raises(DataError, match="no constituent at place 99"):
        portion(AT, 99, 4, "path")
    with pytest.raises(DataError, match="no word 40"):
        portion(AT, 1, 40, "path")

"""Search by pattern: against definitions, against NLTK, and what is refused."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from oracles import patterns as oracle
from sapwood import Tree, TreeArray
from sapwood.errors import DataError, ParameterError
from sapwood.trees.patterns import parse

T = Tree.fromstring

RELATIONS = ("<", ">", "<1", ">2", "<-1", ">-2", "<,", ">,", "<'", ">'", "<-", "<:", ">:", "<<", ">>", "<<,", "<<'")
RELATIONS += (">>,", ">>'", "<<:", ">>:", ".", ",", "..", ",,", "$", "$.", "$,", "$..", "$,,")
LABELS = ("a", "b", "c", "a|b", "/[ab]/", '"c"', "*", "!a")
# NLTK looks for nodes that are equal where it should look for the very node.
WRONG_IN_NLTK = (">>,", ">>'")


def patterns(labels: tuple[str, ...], relations: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Patterns of all forms; what is joined by & or |, or by nothing, and what is in brackets."""

    def related(node: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        one = st.tuples(st.sampled_from(["", "", "!"]), st.sampled_from(relations), st.just(" "), node).map("".join)
        joined = st.tuples(one, st.sampled_from([" ", " & ", " | "]), one).map("".join)
        group = st.tuples(st.sampled_from(["[", "!["]), st.one_of(one, joined), st.just("]")).map("".join)
        return st.one_of(one, joined, st.tuples(one, st.just(" "), group).map("".join))

    label = st.sampled_from(labels)
    node = st.recursive(
        label,
        lambda inner: st.tuples(st.just("("), label, st.just(" "), related(inner), st.just(")")).map("".join),
        max_leaves=3,
    )
    return st.tuples(label, st.just(" "), related(node)).map("".join)


@pytest.mark.slow
@given(st.lists(strategies.trees(8), max_size=4), patterns(LABELS, RELATIONS))
def test_definitions(trees: list[Tree], pattern: str) -> None:
    expected = [(number, place) for number, tree in enumerate(trees) for place in oracle.places(tree, pattern)]
    found = TreeArray(trees).find(pattern)
    assert [(number, place) for number, place in zip(found.elements, found._places, strict=True)] == expected
    for (number, subtree), (_, place), position in zip(found, expected, found.positions(), strict=True):
        assert subtree == list(trees[number].preorder())[place] == trees[number].at(position)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40)
@given(
    strategies.internal_trees(8),
    patterns(LABELS[:-2], tuple(one for one in RELATIONS if one not in WRONG_IN_NLTK)),
)
def test_nltk(tree: Tree, pattern: str) -> None:
    """The same, where leaves are nodes over something else: NLTK's relations cannot start from leaves."""
    pytest.importorskip("pyparsing")
    tgrep = pytest.importorskip("nltk.tgrep")
    parented = pytest.importorskip("nltk.tree").ParentedTree

    def convert(node: Tree) -> Any:
        return parented(node.label, [convert(child) for child in node.children] or ["#"])

    # NLTK makes its parser anew for every pattern, which takes a fifth of a second.
    if not hasattr(tgrep._build_tgrep_parser, "cache_info"):
        tgrep._build_tgrep_parser = cache(tgrep._build_tgrep_parser)
    expected = next(iter(tgrep.tgrep_positions(pattern, [convert(tree)], search_leaves=False)))
    assert tree.find_positions(pattern) == list(expected)


SENTENCE = T(
    "(S (NP-SBJ (PRP$ his) (NN dog)) (VP (VBD chased) (NP (DT the) (NN cat)) (PP (IN in) (NP (NNP Rome)))) (. .))"
)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("NP", ["the cat", "Rome"]),
        ("@NP", ["his dog", "the cat", "Rome"]),
        ("/^NP/ !< DT", ["his dog", "Rome"]),
        ('"PRP$"', ["his"]),
        ("/^n/i < dog|Rome", ["dog", "Rome"]),
        ("NN|NNP > (NP > PP)", ["Rome"]),
        ("NP $. PP", ["the cat"]),
        ("NP < (DT $. NN) $. (PP << NNP) > VP", ["the cat"]),
        ("VBD . DT", ["chased"]),
        ("!/./ > VP", []),
        ("! NN|NP|* > VP", []),
        ("NP [< DT | > PP] !<< dog", ["the cat", "Rome"]),
        ("(NP < DT) $.. PP", ["the cat"]),
        ("__ <1 DT", ["the cat"]),
        ("@/^NP$/ << dog", ["his dog"]),
        ("/\\./ < *", ["."]),
        ('"\\".\\""', []),
        (" NP\n<\tDT ", ["the cat"]),
        ("S !> *", ["his dog chased the cat in Rome ."]),
    ],
)
def test_meaning(pattern: str, expected: list[str]) -> None:
    assert [" ".join(node.leaves()) for node in SENTENCE.find(pattern)] == expected


@pytest.mark.parametrize(
    ("pattern", "column", "reason"),
    [
        ("", 1, "a node is missing here"),
        ("NP <", 5, "a node is missing here"),
        ("NP < (", 7, "a node is missing here"),
        ("NP < (NN", 9, r"expected a relation or \)"),
        ("NP [< NN", 9, r"expected a relation or \]"),
        ("NP NN", 4, "expected a relation such as"),
        ("NP < NN)", 8, "expected a relation such as"),
        ("NP !NN", 4, "expected a relation such as"),
        ("PRP$ < his", 6, r'if the \$ before it is part of a label, quote that: "PRP\$"'),
        ("NP < /a(/", 8, "not a regular expression"),
        ("NP < /a", 6, "this / is never closed"),
        ('NP < "a', 6, 'this " is never closed'),
        ('NP < ""', 6, "an empty label"),
        ("NP=x < NN", 3, "names of nodes"),
        ("NP <# NN", 4, "heads .* are not supported"),
        ("NP >># VP", 4, "heads .* are not supported"),
        ("NP <0 NN", 5, "children are counted from 1"),
        (f"NP <{'9' * 5000} NN", 5, "a number of a child that no node has"),
        ("NP < 's", 6, "are quoted"),
        ("(" * 3000, 102, "nested more than 100"),
        ("a " + "![" * 1500, 205, "nested more than 100"),
        ("a" + " < (a" * 1500, 506, "nested more than 100"),
        ("x" * 500 + " )", 502, "expected a relation such as"),
    ],
)
def test_refusals(pattern: str, column: int, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason) as caught:
        TreeArray(["(a b)"]).find(pattern)
    text = str(caught.value)
    assert text.startswith(f"pattern, column {column}: ")
    _, line, caret = text.split("\n")
    # The caret is under what is wrong.
    assert (line + " ")[caret.index("^")] == (pattern + " ")[column - 1]


def test_no_text() -> None:
    for value in (None, 3, b"NP", ["NP"]):
        with pytest.raises(ParameterError, match="a pattern must be text"):
            TreeArray(["(a b)"]).find(value)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="has 80,001 characters"):
        TreeArray(["(a b)"]).find("a" + " < b" * 20_000)


def test_arrays() -> None:
    X = TreeArray(["(S (NP a) (VP b))", "(NP a)", "(S (NP c))"])
    found = X.find("NP < a")
    assert repr(found) == "Matches(2 matches in 2 of 3 elements)"
    assert len(found) == 2
    assert found.subtrees.to_strings() == ["(NP a)", "(NP a)"]
    assert X.contains("NP < a").tolist() == [True, True, False]
    assert X[::-1].contains("VP").tolist() == [False, False, True]
    assert X[:0].contains("VP").tolist() == []
    assert len(X.find("missing")) == 0
    # Few trees of a large store.
    many = TreeArray([f"(S (NP w{n}))" for n in range(2000)])
    assert many[7:9].find("NP < w8").elements.tolist() == [1]
    assert many[7:9].find("w8 > NP").positions() == [(0, 0)]


def test_bags() -> None:
    X = TreeArray([["(S (NP a))", "(NP a)"], [], ["(NP b)", "(NP a)"]])
    found = X.find("a > NP")
    assert found.elements.tolist() == [0, 0, 2]
    assert found.positions() == [(0, 0), (0,), (0,)]
    assert X.contains("S").tolist() == [True, False, False]


def test_large_trees() -> None:
    deep = Tree("x")
    for _ in range(5_000):
        deep = Tree("a", [deep])
    assert len(deep.find("a << x")) == 5_000
    assert deep.find_positions("x >> a") == [(0,) * 5_000]
    wide = Tree("s", ["a"] * 10_000 + ["b"])
    assert len(wide.find("a $.. b")) == 10_000
    assert wide.find_positions("b , a") == [(10_000,)]
    double = Tree("a")
    for _ in range(60):
        double = Tree("a", [double, double])
    with pytest.raises(DataError, match="too many to search it"):
        double.find("a")


def test_parsed_patterns_are_values() -> None:
    assert parse("NP<DT") == parse(" NP  < DT")
    assert pickle.loads(pickle.dumps(parse("NP < /x/"))) == parse("NP < /x/")


@pytest.mark.slow
def test_a_large_treebank(stopwatch: Any) -> None:
    trees = TreeArray([str(SENTENCE).replace("dog", f"dog{n}") for n in range(40_000)])
    with stopwatch(0.4):
        found = trees.find("NP < (DT $. NN) $. (PP << NNP)")
    assert len(found) == 40_000
    assert np.array_equal(found.elements, np.arange(40_000))

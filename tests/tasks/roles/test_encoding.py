"""Candidates as rows: what is computed once per node and predicate, and found by native code, against slow twins."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import role_features
from sapwood._core.columns import TextColumns
from sapwood.tasks.roles.encoding import Encoder
from sapwood.tasks.roles.feature_sets import SETS, describe, flat_features
from sapwood.tasks.roles.features import OF_BOTH, OF_NODES, OF_PREDICATES
from sapwood.tasks.roles.views import Candidate, Parse
from sapwood.trees import Tree
from strategies import internal_trees, trees_over

PENN = st.sampled_from(
    ["S", "SBAR", "NP", "NP-SBJ", "VP", "PP", "ADVP", "CC", "VBD", "VBN", "NN", "IN", "RP", "was", "é"]
)


def rows_of(tree: Tree) -> list[Candidate]:
    """Return every node seen from every word that has a tag."""
    parse = Parse(tree)
    views = [parse.view(word, f"v_{word}") for word, leaf in enumerate(parse.at.leaves) if parse.at.parent[leaf] >= 0]
    for view in views[1:]:
        view.given = tuple(range(0, len(parse.at), 3))
    return [(view, node) for view in views for node in range(len(parse.at)) if parse.at.children[node]]


@given(trees_over(PENN).filter(lambda tree: bool(tree.children)), st.sampled_from(["basic", "full", "linear"]))
def test_features_are_those_of_a_new_look(tree, kind):
    names = SETS[kind].names
    for view, node in rows_of(tree):
        expected = role_features.values(view, node, kind)
        found = describe(view, node, kind)
        assert [*found, *SETS[kind].joined(found)] == expected
        assert flat_features(view, node, kind) == {k: v for k, v in zip(names, expected, strict=True) if v}


def test_every_feature_depends_on_one_thing():
    assert not OF_NODES.keys() & OF_PREDICATES.keys() | OF_NODES.keys() & OF_BOTH.keys()
    assert not OF_PREDICATES.keys() & OF_BOTH.keys()


@given(trees_over(PENN).filter(lambda tree: bool(tree.children)), st.sampled_from(["full", "linear"]))
def test_columns_are_those_of_a_dictionary(tree, kind):
    rows = rows_of(tree)
    encoder = Encoder(kind, min_count=2).fit(rows, [describe(*row, kind) for row in rows])
    assert encoder.width == sum(map(len, encoder.values)) == encoder.total
    X = encoder.transform(rows)
    for number, row in enumerate(rows):
        expected = role_features.columns(encoder.values, role_features.values(*row, kind))
        assert X.indices[X.indptr[number] : X.indptr[number + 1]].tolist() == expected


TEXTS = st.text(st.sampled_from("ab|é\ud800"), max_size=3)


@given(st.lists(st.lists(TEXTS.filter(bool), unique=True, max_size=6), min_size=3, max_size=3), st.data())
def test_any_texts(known, data):
    """Two features and the group of both, in which parts may hold what joins them."""
    encode = lambda texts: "".join(f"{text}\0" for text in texts).encode("utf-8", "surrogatepass")  # noqa: E731
    ends = [sum(map(len, known[: at + 1])) for at in range(3)]
    made = TextColumns(b"".join(map(encode, known)), ends, [[0, 1]])
    rows = data.draw(st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=4))
    for columns in (made, pickle.loads(pickle.dumps(made))):
        indices, found = columns.find(rows)
        expected = [role_features.columns(known, [a, b, f"{a}|{b}" if a and b else ""]) for a, b in rows]
        assert indices.tolist() == [column for row in expected for column in row]
        assert found.tolist() == [sum(map(len, expected[:at])) for at in range(len(rows) + 1)]
        assert columns.ends == ends


@pytest.mark.parametrize(
    ("texts", "ends", "groups", "said"),
    [
        (b"a\0a\0", [2], [], "twice"),
        (b"a\0", [2], [], "out of order"),
        (b"a\0b\0", [2, 1], [], "out of order"),
        (b"a\0b\0", [1], [], "do not cover"),
        (b"a", [1], [], "no end"),
        (b"", [0], [[0]], "a feature that there is not"),
        (b"", [0], [[], []], "more groups"),
    ],
)
def test_columns_that_make_no_sense_are_refused(texts, ends, groups, said):
    with pytest.raises(ValueError, match=said):
        TextColumns(texts, ends, groups)


def test_rows_are_checked():
    columns = TextColumns(b"a\0", [1], [])
    for rows in ([["a", "b"]], [[]]):
        with pytest.raises(ValueError, match="another number of values"):
            columns.find(rows)
    with pytest.raises(TypeError):
        columns.find([[3]])


@given(internal_trees())
def test_an_encoder_keeps_what_is_used(tree):
    rows = rows_of(tree)
    encoder = Encoder("basic", min_count=1).fit(rows, [describe(*row, "basic") for row in rows])
    used = np.arange(encoder.width) % 3 > 0
    some = encoder.only(used)
    kept = [name for name, wanted in zip(encoder.names(), used, strict=True) if wanted]
    assert some.names() == kept
    assert encoder.joined([describe(*row, "basic") for row in rows]).names() == encoder.names()
    assert encoder.places_of(some).tolist() == [at for at, wanted in enumerate(used) if wanted]

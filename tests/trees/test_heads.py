"""Head finding: Collins' table, noun phrases, coordination, labels of every kind."""

from __future__ import annotations

import pickle

import pytest

from sapwood.errors import ParameterError
from sapwood.trees import HeadTable
from sapwood.trees.heads import COLLINS_HEADS, bare_label

CASES = [
    # Priority lists: the first label of the list that occurs anywhere, whatever stands before it.
    ("S", "NP VP .", 1),
    ("S", "NP S TO", 2),
    ("VP", "ADVP VBD NP PP", 1),
    ("VP", "MD RB VP", 0),
    ("VP", "VBG VBN", 1),
    ("PP", "ADVP IN NP", 1),
    ("PP", "IN TO NP", 0),  # from the right, but IN is preferred to TO
    ("SBAR", "IN WHNP S", 1),
    ("ADJP", "RB JJ PP", 1),
    ("ADVP", "RB RB", 1),
    ("ADVP", "RB IN", 0),
    ("QP", "RB CD CD", 0),
    ("WHNP", "WP$ NN", 0),
    ("WHPP", "IN WHNP", 0),
    ("PRT", "RP", 0),
    ("CONJP", "RB RB IN", 1),
    ("NAC", "NNP , NNP", 0),
    ("SINV", "ADVP VBZ NP", 1),
    # No label of the list: the outermost child.
    ("FRAG", "NP PP .", 2),
    ("UCP", "NP CC ADJP", 0),  # the last child, then moved by the conjunction
    ("PRN", ": S :", 0),
    ("VP", "FOO BAR", 0),
    ("PP", "FOO BAR", 1),
    # Noun phrases.
    ("NP", "DT JJ NN", 2),
    ("NP", "DT NN POS", 2),
    ("NP", "NP POS NN", 2),
    ("NP", "NP PP", 0),
    ("NP", "NP , NP", 0),
    ("NP", "DT ADJP PRN", 2),
    ("NP", "DT CD", 1),
    ("NP", "CD JJ", 0),
    ("NP", "DT JJ", 1),
    ("NP", "DT QP", 1),
    ("NP", "DT PRP", 1),
    ("NP", "JJR DT", 0),
    ("NML", "NN NN JJ", 1),
    ("NML", "NML CC NML", 0),
    ("NP", "JJ NML", 1),
    # Coordination: the head moves to the conjunct before, beyond punctuation.
    ("NP", "NN CC NN", 0),
    ("NP", "NN CONJP NN", 0),
    ("NP", "NNS , CC NNS", 0),
    ("NP", "DT NN , CC NN", 1),
    ("NP", "CC NN", 1),
    ("NP", ", CC NN", 2),  # nothing but punctuation before: it stays
    # Function tags, indices and marks make no difference.
    ("NP-SBJ-1", "NP=2 PP-LOC", 0),
    ("VP-ARG", "MD VBD-PRED NP-ARG", 1),
    ("S|X", "NP|Y VP", 1),
    ("NP", "-LRB- NN -RRB-", 1),
    # Labels that no table knows.
    ("???", "A B C", 0),
]


@pytest.mark.parametrize(("lhs", "rhs", "head"), CASES)
def test_heads(lhs, rhs, head):
    assert HeadTable()(lhs, rhs.split()) == head


def test_nml_is_treated_like_np():
    table = HeadTable()
    for rhs in ("DT NN", "JJ NNP", "NP PP", "CD JJ", "NN CC NN"):
        assert table("NML", rhs.split()) == table("NP", rhs.split())


def test_options():
    coordinated = ["NN", ",", "CC", "NN"]
    assert HeadTable(skip_punctuation=False)("NP", coordinated) == 1
    assert HeadTable(coordination=False)("NP", coordinated) == 3
    assert HeadTable(default="right")("???", ["A", "B"]) == 1
    own = HeadTable({"NP": ("right", [["A", "B"], ["C"]]), "X": ("left", [])})
    assert own("NP", ["A", "B", "C"]) == 1
    assert own("NP", ["C", "NN"]) == 0
    assert own("NP", ["NN", "D"]) == 1
    assert own("X", ["A", "B"]) == 0
    assert own("S", ["NP", "VP"]) == 0
    assert own("NML", ["NN", "JJ"]) == 0  # the noun-phrase rule stays for labels that the table does not name


def test_every_entry_of_the_table_can_be_reached():
    table = HeadTable()
    for label, (side, preferences) in COLLINS_HEADS.items():
        for (wanted,) in preferences:
            children = ["?", wanted, "?"]
            assert table(label, children) == 1
        assert table(label, ["?", "?"]) == (0 if side == "left" else 1)


def test_tables_are_values():
    assert HeadTable() == HeadTable(None)
    assert HeadTable() != HeadTable(coordination=False)
    assert hash(HeadTable()) == hash(HeadTable())
    own = HeadTable({"X": ("right", [["A"]])}, skip_punctuation=False)
    assert pickle.loads(pickle.dumps(own)) == own
    assert eval(repr(own), {"HeadTable": HeadTable}) == own
    assert (own == 3) is False


def test_bare_labels():
    assert [bare_label(label) for label in ("-NONE-", "-LRB-", "=", "-", "PRP$", "NP-SBJ=1")] == [
        "-NONE-",
        "-LRB-",
        "=",
        "-",
        "PRP$",
        "NP",
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: HeadTable(default="middle"),
        lambda: HeadTable({"NP": "NN"}),
        lambda: HeadTable({"NP": ("up", [["NN"]])}),
        lambda: HeadTable({"NP": ("left", ["NN", "NNS"])}),
        lambda: HeadTable({"NP": ("left",)}),
        lambda: HeadTable()("NP", []),
        lambda: HeadTable()("NP", "NN"),
    ],
)
def test_bad_tables_are_refused(make):
    with pytest.raises(ParameterError):
        make()

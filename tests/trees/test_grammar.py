"""Grammars: rules from trees, reductions against enumeration, statistics, files, bad input."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.trees import Grammar, HeadTable, Tree
from treebank import sample_trees


@pytest.fixture(scope="module")
def treebank():
    return sample_trees(plain=True)


def by_enumeration(rules, rhs, head, max_deletions=None, deletable=None, strict=False):
    """Every set of children is tried: the slow and obvious way."""
    found = set()
    for length in range(2, len(rhs)):
        for kept in combinations(range(len(rhs)), length):
            form = tuple(rhs[i] for i in kept)
            gone = [rhs[i] for i in range(len(rhs)) if i not in kept]
            if (
                head in kept
                and form in rules
                and (max_deletions is None or len(gone) <= max_deletions)
                and (deletable is None or set(gone) <= set(deletable))
                and not any(label.endswith("-ARG") for label in gone)
                and (not strict or kept.index(head) == rules[form])
            ):
                found.add(form)
    return found


LABELS = st.sampled_from("abc")


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.lists(LABELS, min_size=1, max_size=7),
    st.lists(st.lists(LABELS, min_size=1, max_size=5), max_size=12),
    st.data(),
)
def test_reductions_are_those_of_enumeration(rhs, targets, data):
    rules = {tuple(target): data.draw(st.integers(0, len(target) - 1)) for target in targets}
    head = rules.get(tuple(rhs), data.draw(st.integers(0, len(rhs) - 1)))
    knobs = {
        "max_deletions": data.draw(st.sampled_from([None, 0, 1, 3])),
        "deletable": data.draw(st.sampled_from([None, ["a"], ["a", "b"], []])),
    }
    strict = data.draw(st.booleans())
    grammar = Grammar(
        [("X", form, position) for form, position in rules.items()],
        {("X", tuple(rhs)): head},
        strict_head=strict,
        **knobs,
    )
    found = grammar.reductions("X", rhs)
    assert len(found) == len(set(found))
    assert set(found) == by_enumeration(rules, tuple(rhs), head, strict=strict, **knobs)
    assert grammar.reductions("Y", rhs) == []


def test_marks_are_looked_through_and_protect():
    grammar = Grammar([("NP", ["DT", "NN"], 1), ("NP", ["DT", "JJ", "NN"], 2), ("NP", ["JJ", "NN"], 1)])
    assert ("NP-ARG", ("DT", "NN-PRED")) in grammar
    assert grammar.head("NP-ARG", ["DT-PATH", "JJ", "NN"]) == 2
    assert grammar.reductions("NP-ARG", ["DT", "JJ-ARG", "NN"]) == [("JJ-ARG", "NN")]
    assert grammar.reductions("NP", ["DT-ARG", "JJ-ARG", "NN"]) == []
    assert grammar.reductions("NP", ["DT@", "JJ", "NN"]) == [("JJ", "NN")]
    own = Grammar(grammar.rules, marks=["@"])
    assert own.reductions("NP", ["DT@", "JJ", "NN"]) == [("DT@", "NN")]


def test_rules_from_trees():
    trees = ["(S (NP (DT a) (NN dog)) (VP (VBD sat)))", "(S (NP (DT a) (NN cat)) (VP (VBD sat)))", "(VP NP)"]
    grammar = Grammar.from_trees(trees)
    assert set(zip(grammar.rules, grammar.counts, strict=True)) == {
        (("S", ("NP", "VP"), 1), 2),
        (("NP", ("DT", "NN"), 1), 2),
        (("VP", ("VBD",), 0), 2),
        (("VP", ("NP",), 0), 1),  # VP is a left-hand side elsewhere, so NP here is a frontier label and no word
    }
    assert grammar.phrasal_labels == {"S", "NP", "VP"}
    assert ("DT", ("a",)) not in grammar
    assert len(grammar) == 4
    assert list(grammar) == list(grammar.rules)


def test_rules_from_bags_and_repeated_trees_count_every_occurrence():
    tree = Tree.fromstring("(S (NP (NN a) (NN b)) (NP (NN a) (NN b)))")
    grammar = Grammar.from_trees([[tree, tree], [tree]])
    assert dict(zip(grammar.rules, grammar.counts, strict=True))["NP", ("NN", "NN"), 1] == 6


def test_min_count_drops_rules_but_not_left_hand_sides():
    trees = ["(S (NP (NN a) (NN b)) (X (NN c) (NN d)))", "(S (NP (NN a) (NN b)) (X (NN c) (JJ d)))"]
    grammar = Grammar.from_trees(trees, min_count=2)
    assert {rule[0] for rule in grammar} == {"S", "NP"}
    assert "X" in grammar.phrasal_labels


def test_heads_of_productions_outside_the_rules():
    rules = [("NP", ["DT", "NN"], 1)]
    assert Grammar(rules).head("NP", ["DT", "JJ", "NN"]) == 2
    assert Grammar(rules, {("NP", ("DT", "JJ", "NN")): 0}).head("NP", ["DT", "JJ", "NN"]) == 0
    listed = Grammar(rules, {})
    assert listed.head("NP", ["DT", "JJ", "NN"]) is None
    assert listed.reductions("NP", ["DT", "JJ", "NN"]) == []
    table = HeadTable({"NP": ("left", [])})
    assert Grammar(rules, table).head("NP", ["DT", "JJ", "NN"]) == 0
    assert Grammar.from_trees(["(NP (DT a) (NN b))"], heads=table).rules == (("NP", ("DT", "NN"), 0),)


@pytest.mark.slow
def test_published_statistics_of_the_treebank_sample(treebank):
    """79.1 % of rule types, 2,969 of 3,753, where a conjunct's head may be the punctuation before a conjunction."""
    found = Grammar.from_trees(treebank, heads=HeadTable(skip_punctuation=False)).statistics()
    assert (found.types, found.tokens, found.reducible_types) == (3753, 73461, 2969)
    assert found.reducible_tokens / found.tokens == pytest.approx(0.255, abs=5e-4)
    assert (found.most_reductions, found.longest) == (33, 32)
    assert "79.1%" in str(found)
    for min_count, share in ((2, 0.712), (5, 0.622), (10, 0.532)):
        few = Grammar.from_trees(treebank, min_count=min_count).statistics()
        assert few.reducible_types / few.types == pytest.approx(share, abs=1e-3)
    # Skipping that punctuation, the default, makes five more types reducible.
    assert Grammar.from_trees(treebank).statistics().reducible_types == 2974


def test_statistics_of_other_trees():
    grammar = Grammar([("NP", ["DT", "NN"], 1)])
    found = grammar.statistics(["(S (NP (DT a) (JJ b) (NN c)) (NP (DT a) (JJ b) (NN c)))", "(NP (DT a) (NN c))"])
    assert (found.types, found.tokens, found.reducible_types, found.reducible_tokens) == (3, 4, 1, 2)
    assert grammar.statistics([]).types == 0
    assert "0 of 0" in str(grammar.statistics([]))


GRAMMARS = [
    lambda: Grammar([]),
    lambda: Grammar([("NP", ["DT", "NN"], 1)]),
    lambda: Grammar([("A B", ["(", ")é"], 0)], {("A B", ("x", "y", "z")): 2}, marks=["@", "-X"]),
    lambda: Grammar(
        [("A", ["B", "C"], 0)], HeadTable({"A": ("right", [["B", "C"]])}, default="right", coordination=False)
    ),
    lambda: Grammar(
        [("A", ["B"], 0)], max_deletions=2, deletable=["X"], strict_head=True, phrasal_labels=["Z"], counts=[7]
    ),
    lambda: Grammar.from_trees([f"(S (A{i} (B b) (C c)) (D d))" for i in range(30)]),
]


@pytest.mark.parametrize("make", GRAMMARS)
def test_grammars_are_values(make, tmp_path):
    grammar = make()
    sw.save(grammar, tmp_path / "grammar.sap")
    loaded = sw.load(tmp_path / "grammar.sap")
    for other in (loaded, pickle.loads(pickle.dumps(grammar)), copy.deepcopy(grammar), make()):
        assert other == grammar
        assert hash(other) == hash(grammar)
        assert (other.rules, other.counts, other.heads) == (grammar.rules, grammar.counts, grammar.heads)
    assert grammar != Grammar([("Q", ["R"], 0)])
    assert grammar != 3
    if len(grammar) <= 20:
        assert eval(repr(grammar), {"Grammar": Grammar, "HeadTable": HeadTable}) == grammar
    else:
        assert len(repr(grammar)) < 40


def test_a_damaged_file_says_so(tmp_path):
    from sapwood import files

    path = tmp_path / "grammar.sap"
    sw.save(Grammar([("NP", ["DT", "NN"], 1)]), path)
    document = files.describe(path)
    assert document["object"]["class"] == "Grammar"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"DT", b"\\u0", 1)[: len(data)])
    with pytest.raises(ModelFileError):
        sw.load(path)
    # A head beyond the right-hand side.
    path.write_bytes(data[:-4] + b"\x09\0\0\0" if data.endswith(b"\1\0\0\0") else data[:-1])
    with pytest.raises(ModelFileError):
        sw.load(path)


class OwnHeads(HeadTable):
    def __call__(self, lhs, rhs):
        return 0


def test_heads_of_ones_own_class_work_but_cannot_be_saved(tmp_path):
    grammar = Grammar([("NP", ["DT", "NN"], 0)], OwnHeads())
    assert grammar.reductions("NP", ["DT", "JJ", "NN"]) == [("DT", "NN")]
    with pytest.raises(ParameterError, match="OwnHeads"):
        sw.save(grammar, tmp_path / "grammar.sap")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Grammar.from_trees([]), DataError, "no trees"),
        (lambda: Grammar.from_trees(["(NN dog)", "dog"]), DataError, "no rule"),
        (lambda: Grammar.from_trees(["(NP (NN a))"], min_count=0), ParameterError, "min_count"),
        (
            lambda: Grammar.from_trees(["(S (NP (NN a)))"], heads={}),
            ParameterError,
            "no entry for the production NP -> NN",
        ),
        (lambda: Grammar([("NP", ["DT", "NN"], 2)]), ParameterError, "from 0 to 1, got 2"),
        (lambda: Grammar([("NP", ["DT", "NN"], -1)]), ParameterError, "rule 0, NP -> DT NN"),
        (lambda: Grammar([("NP", ["DT", "NN"], 1.0)]), ParameterError, "head must be a position"),
        (lambda: Grammar([("NP", ["DT", "NN"], True)]), ParameterError, "head must be a position"),
        (lambda: Grammar([("NP", ["A", "B"], 0), ("NP", ["A", "B"], 1)]), ParameterError, "the heads 0 and 1"),
        (lambda: Grammar([("NP-ARG", ["A", "B"], 0), ("NP", ["A", "B"], 1)]), ParameterError, "the heads 0 and 1"),
        (lambda: Grammar([("NP", ["A", "B"], 0)], {("NP", ("A", "B")): 1}), ParameterError, "the rules say 0"),
        (lambda: Grammar([("NP", ["A", "B"], 0)], {("NP", ("C", "D")): 2}), ParameterError, "got 2"),
        (lambda: Grammar([("NP", ["A", "B"], 0)], {"NP": 0}), ParameterError, "key of heads|right-hand side"),
        (lambda: Grammar([("NP", ["A", "B"], 0)], "collins"), ParameterError, "heads must be"),
        (lambda: Grammar([("NP", [], 0)]), ParameterError, "at least one label"),
        (lambda: Grammar([("NP", "DT", 0)]), ParameterError, "at least one label"),
        (lambda: Grammar([("NP", ["DT", ""], 0)]), ParameterError, "not empty"),
        (lambda: Grammar([("NP", ["DT", 3], 0)]), ParameterError, "got 3"),
        (lambda: Grammar([("NP", ["DT"])]), ParameterError, "expected"),
        (lambda: Grammar([3]), ParameterError, "rule 0 is 3"),
        (lambda: Grammar([("A", ["B"], 0)], max_deletions=-1), ParameterError, "max_deletions"),
        (lambda: Grammar([("A", ["B"], 0)], deletable="JJ"), ParameterError, "deletable must list labels"),
        (lambda: Grammar([("A", ["B"], 0)], counts=[1, 2]), ParameterError, "counts"),
        (lambda: Grammar([("A", ["B"], 0)], counts=[0]), ParameterError, "counts"),
        (lambda: Grammar([("A", ["B"], 0)], marks="-ARG"), ParameterError, "marks"),
        (lambda: Grammar([("A", ["B"], 0)]).reductions("A", []), ParameterError, "at least one child"),
    ],
)
def test_bad_input_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_contradictions_are_about_heads_only():
    assert Grammar([("A", ["B"], 0), ("A", ["B"], 0)]).counts == (2,)
    assert ("A", ["B"]) in Grammar([("A", ["B"], 0)])
    assert "A" not in Grammar([("A", ["B"], 0)])
    assert 3 not in Grammar([("A", ["B"], 0)])

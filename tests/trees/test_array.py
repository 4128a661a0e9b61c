"""TreeArray and Examples: what goes in comes out, under every way of indexing."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
import strategies
from sapwood.errors import DataError, TooLargeError, TreeError
from sapwood.trees import concatenate
from sapwood.trees.brackets import to_brackets

elements = st.one_of(
    st.lists(strategies.trees(6), max_size=8),
    st.lists(strategies.bags().map(tuple), max_size=6),
    st.lists(st.one_of(strategies.trees(6), strategies.bags().map(tuple)), max_size=6),
)


def plain(values: list[Any]) -> list[Any]:
    """What an array of these holds: with one bag among them, all are bags."""
    if any(isinstance(value, tuple) for value in values):
        return [value if isinstance(value, tuple) else (value,) for value in values]
    return values


class TestContents:
    @pytest.mark.slow
    @given(elements)
    def test_round_trip(self, values: list[Any]) -> None:
        X = sw.TreeArray(values)
        expected = plain(values)
        assert X.shape == (len(values),)
        assert X.ndim == 1
        assert len(X) == len(values)
        assert list(X) == expected
        assert [X[i] for i in range(len(X))] == expected
        assert [X[i - len(X)] for i in range(len(X))] == expected
        assert X.has_bags == any(isinstance(value, tuple) for value in values)
        trees = [tree for value in values for tree in (value if isinstance(value, tuple) else (value,))]
        assert X.node_count() == sum(tree.size() for tree in trees)
        assert X.distinct_count() == len({node for tree in trees for node in tree.preorder()})
        assert list(np.asarray(X)) == expected
        for again in (pickle.loads(pickle.dumps(X)), copy.copy(X), copy.deepcopy(X), sw.TreeArray(X)):
            assert list(again) == expected
            assert repr(again) == repr(X)

    @pytest.mark.slow
    @given(elements, elements, st.data())
    def test_comparison_is_that_of_the_elements(self, first: list[Any], second: list[Any], data: st.DataObject) -> None:
        shared = sw.TreeArray([*first, *second])
        order = data.draw(st.lists(st.integers(0, max(0, len(shared) - 1)), max_size=8)) if len(shared) else []
        for left, right in (
            (sw.TreeArray(first), sw.TreeArray(second)),
            (shared[order], shared[: len(order)]),
            (shared[order].detach(), shared[: len(order)]),
            (shared, sw.TreeArray(list(shared))),
        ):
            length = min(len(left), len(right))
            same = left[:length] == right[:length]
            assert isinstance(same, np.ndarray)
            assert same.dtype == np.bool_
            assert same.tolist() == [x == y for x, y in zip(left[:length], right[:length], strict=True)]
            np.testing.assert_array_equal(left[:length] != right[:length], ~same)
            assert left.equals(right) is (list(left) == list(right))
            assert left.equals(left[:])
            if len(left) != len(right):
                with pytest.raises(DataError, match=f"{len(left)} elements with {len(right)}"):
                    _ = left == right
            if length and not right.has_bags:
                assert (right[0] == left).tolist() == [x == right[0] for x in left]
                assert (right[0] != left).tolist() == [x != right[0] for x in left]

    def test_comparison_with_something_else(self) -> None:
        left = sw.TreeArray(["(a b)", "(a c)"])
        for other in (None, 3, (sw.Tree("a"), sw.Tree("b"))):
            assert (other == left) is False
            assert (other != left) is True
        assert (np.asarray(left) == left).tolist() == [True, True]
        for many in (["(a b)", "(a d)"], [left[0], "(a d)"]):
            assert (left == many).tolist() == (many == left).tolist() == [True, False]
            assert (left != many).tolist() == [False, True]
        assert (left == "(a c)").tolist() == (left == left[1].to_nltk()).tolist() == [False, True]
        with pytest.raises(DataError, match="cannot compare 2 elements with 1 one by one"):
            _ = left == ["(a b)"]
        with pytest.raises(DataError, match="expected a TreeArray, got list"):
            left.equals(["(a b)", "(a c)"])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="unhashable"):
            hash(left)

    @pytest.mark.slow
    @given(st.lists(st.lists(strategies.trees_over(strategies.tokens), min_size=1, max_size=3), max_size=8), st.data())
    def test_trees_may_come_as_anything(self, bags: list[list[sw.Tree]], data: st.DataObject) -> None:
        # Labels of hypothesis are rarely ASCII, so both ways of handing strings over are taken.
        forms = st.sampled_from([lambda tree: tree, to_brackets, lambda tree: tree.to_nltk()])
        given_as = [[data.draw(forms)(tree) for tree in bag] for bag in bags]
        assert list(sw.TreeArray(given_as)) == [tuple(bag) for bag in bags]
        single = [tree for bag in bags for tree in bag]
        assert list(sw.TreeArray(form for bag in given_as for form in bag)) == single
        assert list(sw.TreeArray([to_brackets(tree) for tree in single])) == single

    @pytest.mark.slow
    @given(elements, st.data())
    def test_indexing(self, values: list[Any], data: st.DataObject) -> None:
        X, n = sw.TreeArray(values), len(values)
        reference = np.empty(n, dtype=object)
        for i, value in enumerate(plain(values)):
            reference[i] = value
        keys: list[Any] = [
            data.draw(st.slices(n)),
            np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool),
        ]
        if n:
            positions = data.draw(st.lists(st.integers(-n, n - 1), max_size=10))
            kinds = (np.array(positions, dtype=np.int64), np.array([p % n for p in positions], dtype=np.uint64))
            keys += [positions, *kinds, np.array(positions, dtype=np.int8)]
        for key in keys:
            chosen = X[key]
            expected = list(reference[np.asarray(key, dtype=np.intp) if isinstance(key, list) else key])
            assert isinstance(chosen, sw.TreeArray)
            assert list(chosen) == expected
            # As scikit-learn asks.
            assert list(X[key, ...]) == expected
            assert list(pickle.loads(pickle.dumps(chosen))) == expected
            assert chosen.node_count() == sum(t.size() for e in expected for t in (e if isinstance(e, tuple) else (e,)))
            assert list(chosen[::-1]) == expected[::-1]

    @pytest.mark.slow
    @given(st.lists(elements, min_size=1, max_size=4))
    def test_concatenate(self, parts: list[list[Any]]) -> None:
        joined = concatenate([sw.TreeArray(part) for part in parts])
        assert list(joined) == plain([value for part in parts for value in part])

    def test_sources(self) -> None:
        import nltk

        text = "(S (NP dogs) (VP bark))"
        tree = sw.Tree.fromstring(text)
        X = sw.TreeArray([text, tree, nltk.Tree.fromstring(text), np.str_(text)])
        assert list(X) == [tree] * 4
        assert X.distinct_count() == tree.size()
        assert list(sw.TreeArray(t for t in [text, text])) == [tree] * 2
        assert list(sw.TreeArray(np.array([text]))) == [tree]
        assert list(sw.TreeArray([[text, tree], (nltk.Tree.fromstring(text),)])) == [(tree, tree), (tree,)]

    @pytest.mark.slow
    def test_many_objects_and_texts_stay_in_order(self) -> None:
        values = [sw.Tree(f"l{i}") if i % 3 else f"(t{i} x)" for i in range(25_000)]
        X = sw.TreeArray(values)
        assert [t.label for t in X] == [f"l{i}" if i % 3 else f"t{i}" for i in range(25_000)]

    def test_slices_share_the_store_and_travel_small(self, treebank: sw.TreeArray) -> None:
        part = treebank[10:12]
        assert part._arena is treebank._arena
        assert len(pickle.dumps(part)) < 20_000

    def test_shown(self) -> None:
        X = sw.TreeArray(["(a b)", "(a b)"])
        assert repr(X) == "TreeArray(2 trees, 4 nodes, 2 distinct subtrees)"
        assert repr(X[:1]) == "TreeArray(1 tree, 2 nodes, 2 distinct subtrees)"
        assert repr(sw.TreeArray([["(a b)"], []])) == "TreeArray(2 bags of trees, 2 nodes, 2 distinct subtrees)"
        assert repr(sw.TreeArray([["(a b)"]])).startswith("TreeArray(1 bag of trees,")
        assert "<svg" in X._repr_html_()
        assert "<svg" in sw.TreeArray([["(a b)"], []])._repr_html_()

    def test_countless_nodes(self) -> None:
        tree = sw.Tree("x")
        for _ in range(1100):
            tree = sw.Tree("a", [tree, tree])
        X = sw.TreeArray([tree])
        assert repr(X) == "TreeArray(1 tree, countless nodes, 1,101 distinct subtrees)"
        with pytest.raises(DataError, match="distinct_count"):
            X.node_count()
        for write in (X.leaves, X.to_strings):
            with pytest.raises(DataError, match=r"the tree at index 0 has more than .* leave it out"):
                write()

    def test_neighbouring_bags_cost_what_they_hold(self) -> None:
        # What one element costs in an array of many: the store is shared, so it is the positions that could add up.
        X = sw.TreeArray([["(a b)"]] * 100_000 + [[], ["(a b)", "(c d)"]])
        few = X[-5:]
        tracemalloc.start()
        assert X[-1] == (sw.Tree("a", ["b"]), sw.Tree("c", ["d"]))
        assert X[len(X) - 2] == ()
        assert list(X[-5:]) == list(few)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 100_000

    @given(st.lists(st.lists(strategies.trees(), max_size=3), max_size=4))
    def test_leaves(self, bags: list[list[sw.Tree]]) -> None:
        single = [tree for bag in bags for tree in bag]
        assert sw.TreeArray(single).leaves() == [list(tree.leaves()) for tree in single]
        assert sw.TreeArray(bags).leaves() == [[word for tree in bag for word in tree.leaves()] for bag in bags]
        assert sw.TreeArray(bags)[::-1].leaves() == sw.TreeArray(bags).leaves()[::-1]

    def test_to_strings(self) -> None:
        X = sw.TreeArray([sw.Tree("a", ["(", "b c"]), "x"])
        assert X.to_strings(escape=True) == ["(a -LRB- b_c)", "(x)"]
        assert X[1:].to_strings() == ["(x)"]
        with pytest.raises(TreeError, match="escape=True"):
            X.to_strings()
        with pytest.raises(DataError, match="bags"):
            sw.TreeArray([["(a b)"]]).to_strings()

    @given(st.lists(strategies.trees_over(strategies.tokens), max_size=5))
    def test_to_strings_is_str(self, trees: list[sw.Tree]) -> None:
        assert sw.TreeArray(trees).to_strings() == [str(tree) for tree in trees]


class TestRefusals:
    @pytest.mark.parametrize(
        ("trees", "message"),
        [
            ("(a b)", "got a single tree; write"),
            (sw.Tree("a"), "got a single tree; write"),
            (3, "expected an iterable of trees, got int"),
            ({"t": ["(a b)"]}, r"got a dict of columns; .*views\['t'\], .*Examples\(\*\*views"),
            ({}, r"got a dict of columns; .*views\['tree'\]"),
            (np.array("(a b)"), r"an array without dimensions; write TreeArray\(\[tree\]\)"),
            (np.array(sw.Tree("a")), "an array without dimensions"),
            ([3], "element 0 is a int; expected a Tree"),
            (["(a b)", None], "element 1 is missing, it is None"),
            ([["(a b)", ["(c d)"]]], "element 0 is a list"),
            (["(a b) (c d)"], "element 0 holds 2 trees"),
            ([""], "element 0 is an empty string; expected a tree in brackets"),
            (["(a b)", "What is it?"], "element 1 is text, not a tree in brackets: 'What is it[?]'; parse it first"),
            ([["(a b)", "Who ran?"]], "element 0 is text, not a tree in brackets"),
            (["It (the dog) ran."], "element 0 holds 3 trees; .* if this is text, parse it first"),
            (["Nice :)"], "element 0>:1:7: .* if this is text, parse it first"),
            ([b"(a b)"], "element 0 is a bytes"),
            (["(a b)", "(a b"], r"<element 1>:1:1: this bracket is never closed"),
            (["(a \ud800)"], r"<element 0>:1:4: a byte that is not valid UTF-8"),
            (["(a b)", "(é (c d)"], r"<element 1>:1:1: this bracket is never closed"),
            (["(a b)", "(é\n\0"], r"<element 1>:2:1: a NUL byte"),
            # What comes first is reported first, whatever else there is.
            (["(a b)", "(c", 3, "(d"], r"<element 1>:1:1: this bracket is never closed"),
            ([sw.Tree("a"), ["(a b)", "(c d) e"], None], "element 1 holds 2 trees"),
            ([*["(a b)"] * 10_001, ")", *["(a b)"] * 10_001], r"<element 10001>:1:1: unexpected '\)'"),
        ],
    )
    def test_construction(self, trees: Any, message: str) -> None:
        with pytest.raises((DataError, TreeError), match=message):
            sw.TreeArray(trees)

    def test_nltk_trees_at_fault_are_named(self) -> None:
        import nltk

        good, nameless = nltk.Tree("S", ["a"]), nltk.Tree("", ["a"])
        with pytest.raises(TreeError, match="element 2: a label must not be empty"):
            sw.TreeArray(["(a b)", good, nameless])
        with pytest.raises(TreeError, match=r"element 1: a node of the nltk\.Tree is a int: 3"):
            sw.TreeArray([[good], [good, nltk.Tree("S", [3])]])

    def test_tables(self) -> None:
        import pandas as pd

        frame = pd.DataFrame({"t": ["(a b)", "(c d)"]}, index=[7, 9])
        with pytest.raises(DataError, match=r"got a DataFrame of columns; .*df\['t'\], .*Examples\.from_frame\(df\)"):
            sw.TreeArray(frame)
        with pytest.raises(DataError, match="got a DataFrame of columns"):
            sw.TreeArray(frame[[]])
        assert sw.TreeArray(frame["t"]).to_strings() == ["(a b)", "(c d)"]
        assert len(sw.TreeArray({"t": "(a b)"}.values())) == 1

    @pytest.mark.parametrize("bags", [False, True])
    def test_indexing(self, bags: bool) -> None:
        X = sw.TreeArray([["(a b)"], ["(c d)"]] if bags else ["(a b)", "(c d)"])
        for key in (2, -3, [0, 2], np.array([-3]), np.array([True]), [True, False, True]):
            with pytest.raises(IndexError):
                X[key]
        for bad in ("a", 1.0, [0.5], None, [[0]], (0, 1), (0, ..., 1), ["a"]):
            with pytest.raises(DataError, match="index"):
                X[bad]
        with pytest.raises(IndexError):
            X[:0][0]

    def test_concatenate(self) -> None:
        with pytest.raises(DataError, match="at least one"):
            concatenate([])
        assert len(concatenate([["(a b)"], sw.TreeArray(["(c d)"])])) == 2  # type: ignore[list-item]


class TestExamples:
    @staticmethod
    def examples() -> sw.Examples:
        import scipy.sparse as sparse

        return sw.Examples(
            tree=[f"(a {i})" for i in range(6)],
            bag=[[f"(a {i})"] * (i % 3) for i in range(6)],
            dense=np.arange(12.0).reshape(6, 2),
            sparse=sparse.random(6, 4, density=0.5, random_state=0),
            words=[{"i": float(i), "w": f"w{i}"} for i in range(6)],
        )

    def test_kinds(self) -> None:
        E = self.examples()
        assert (len(E), E.shape) == (6, (6,))
        assert E.views == ("tree", "bag", "dense", "sparse", "words")
        assert isinstance(E["tree"], sw.TreeArray)
        assert E["bag"].has_bags
        assert E["dense"].shape == (6, 2)
        assert E["sparse"].format == "csr"
        assert E["words"][3] == {"i": 3.0, "w": "w3"}
        assert sw.Examples(flat=[[1, 2], [3, 4]])["flat"].tolist() == [[1, 2], [3, 4]]

    @pytest.mark.parametrize(
        "key",
        [slice(1, 5, 2), [3, 0, 0], np.array([5, -1]), np.array([True] * 3 + [False] * 3), [], slice(0, 0), 2, -1],
    )
    def test_views_stay_in_step(self, key: Any) -> None:
        E = self.examples()
        index = np.atleast_1d(np.arange(6)[np.zeros(0, int) if isinstance(key, list) and not key else key])
        chosen = E[key]
        for view in (chosen, E[key, ...], pickle.loads(pickle.dumps(chosen))):
            assert len(view) == len(index)
            assert list(view["tree"]) == [sw.Tree("a", [str(i)]) for i in index]
            assert [len(bag) for bag in view["bag"]] == [i % 3 for i in index]
            np.testing.assert_array_equal(view["dense"], E["dense"][index])
            np.testing.assert_array_equal(view["sparse"].toarray(), E["sparse"].toarray()[index])
            assert [row["i"] for row in view["words"]] == index.tolist()

    def test_iteration(self) -> None:
        assert [e["dense"][0, 0] for e in self.examples()] == [0, 2, 4, 6, 8, 10]

    def test_refusals(self) -> None:
        E = self.examples()
        with pytest.raises(DataError, match=r"no view 'nope'; these examples have tree, bag"):
            E["nope"]
        with pytest.raises(DataError, match="no view 'nope'"):
            sw.kernels.SubsetTree().on("nope")(E)
        with pytest.raises(IndexError, match="out of range for 6"):
            E[6]
        with pytest.raises(IndexError):
            E[[6]]
        with pytest.raises(DataError, match="tree has 1, flat has 2"):
            sw.Examples(tree=["(a b)"], flat=np.zeros((2, 1)))
        with pytest.raises(DataError, match="at least one view"):
            sw.Examples()
        with pytest.raises(DataError, match="two dimensions"):
            sw.Examples(flat=np.zeros(3))
        with pytest.raises(DataError, match="empty list"):
            sw.Examples(tree=[])
        with pytest.raises(DataError, match="its rows are dict, str"):
            sw.Examples(flat=["(a b)", {}])
        with pytest.raises(DataError, match="single dict"):
            sw.Examples(flat={"a": 1})
        with pytest.raises(DataError, match="single str"):
            sw.Examples(tree="(a b)")
        with pytest.raises(DataError, match=r"^view 't': element 1 holds 2 trees; expected one tree per string"):
            sw.Examples(t=["(a b)", "(a b) (c d)"])
        for value in (3, None, 0.5, object(), np.array(3.0), np.array("(a b)"), np.array(None)):
            with pytest.raises(DataError, match=r"^view 'a' must be trees, a matrix .*; got "):
                sw.Examples(a=value)
        for rows in ([[1, 2], [3]], [[1, 2], [3, "x"]], [[1, 2], [3, {}]]):
            with pytest.raises(DataError, match=r"view 'a' (must have rows of real|has 'x' in row 1 among) numbers"):
                sw.Examples(a=rows)

    def test_data_frames(self) -> None:
        import pandas as pd

        frame = pd.DataFrame(
            {"path": ["(a b)", "(c d)"], "n": [1, 2], "t": [sw.Tree("x"), sw.Tree("y")], "m": [0.5, 1.5]}, index=[7, 9]
        )
        E = sw.Examples.from_frame(frame)
        assert E.views == ("path", "t", "flat")
        assert E["flat"].tolist() == [[1, 0.5], [2, 1.5]]
        assert list(E["t"]) == [sw.Tree("x"), sw.Tree("y")]
        assert sw.Examples.from_frame(frame[["path"]]).views == ("path",)
        assert sw.Examples.from_frame(pd.DataFrame([["(a b)", 2.0]])).views == ("0", "flat")
        np.testing.assert_array_equal(sw.Examples(flat=frame[["n", "m"]])["flat"], E["flat"])
        assert list(sw.Examples(tree=frame["path"])["tree"]) == list(E["path"])
        with pytest.raises(DataError, match="no column 'z'"):
            sw.Examples.from_frame(frame, trees=["z"])
        days = pd.to_datetime(["2024-01-01", "2024-01-02"])
        for other in (["x", "y"], days, days.tz_localize("UTC"), days - days[0], days.astype(object), [1j, 2.0]):
            with pytest.raises(DataError, match=r"these columns are not numbers: word; drop or encode them"):
                sw.Examples.from_frame(frame.assign(word=other, last=[1, 2]))
        with pytest.raises(DataError, match=r"not numbers: u, v; "):
            sw.Examples.from_frame(pd.DataFrame({"u": ["x"], "n": [1.0], "v": [days[0]]}))
        for gap in ([1.0, np.nan], pd.array([1, None], dtype="Int64"), [1, None], pd.array([True, None])):
            with pytest.raises(
                DataError, match=r"column 'gap' has no number in row 1 \(frame\.iloc\[1\]\); fill or drop"
            ):
                sw.Examples.from_frame(frame.assign(gap=gap))
        whole = frame.assign(
            i=pd.array([1, 2], dtype="Int64"), b=[True, False], c=pd.Categorical([3, 4]), o=np.array([5, 6.5], object)
        )
        assert sw.Examples.from_frame(whole)["flat"].tolist() == [[1, 0.5, 1, 1, 3, 5], [2, 1.5, 2, 0, 4, 6.5]]
        assert sw.Examples.from_frame(whole[:0], trees=["path", "t"])["flat"].shape == (0, 6)
        expected = "float; expected a Tree"
        for wrong, said in (
            ([{"a": 1.0}, {}], "dict with the keys a; make"),
            ([[1.0], [2.0]], expected),
            ([1.0, 2.0], expected),
        ):
            with pytest.raises(TreeError, match=f"column 'path': element 0 is a {said}"):
                sw.Examples.from_frame(frame.assign(path=wrong), trees="path")
        with pytest.raises(DataError, match="column 'path': element 1 holds 2 trees"):
            sw.Examples.from_frame(frame.assign(path=["(a b)", "(a b) (c d)"]))
        with pytest.raises(DataError, match="rename it"):
            sw.Examples.from_frame(pd.DataFrame({"flat": ["(a b)"], "n": [1.0]}))
        with pytest.raises(DataError, match="same name"):
            sw.Examples.from_frame(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]))
        with pytest.raises(DataError, match="expected a pandas DataFrame"):
            sw.Examples.from_frame([1])


def doubled(times: int) -> sw.Tree:
    """A tree of ``2 ** (times + 1) - 1`` nodes in few objects."""
    tree = sw.Tree("x")
    for _ in range(times):
        tree = sw.Tree("a", [tree, tree])
    return tree


class TestWritingOut:
    def test_many_trees_are_no_large_tree(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A treebank may have any number of nodes; only a single tree may not have too many."""
        monkeypatch.setattr("sapwood.trees.array.MOST_WRITTEN_OUT", 100)
        monkeypatch.setattr("sapwood.trees.array._BLOCK", 7)
        X = sw.TreeArray(["(a b)", doubled(3), "(c (d e) f)", doubled(5)] * 50)
        texts = [str(tree) for tree in X]
        assert X.to_strings() == texts
        assert X.leaves() == [list(tree.leaves()) for tree in X]
        for name in ("t.mrg", "t.mrg.gz"):
            sw.write_trees(X, tmp_path / name)
            assert sw.read_trees(tmp_path / name).to_strings() == texts
        odd = sw.TreeArray([*X, sw.Tree("a b")])
        assert odd.to_strings(escape=True) == [*texts, "(a_b)"]
        with pytest.raises(TreeError, match="holds a bracket or white space"):
            sw.write_trees(odd, tmp_path / "t.mrg")
        assert sw.read_trees(tmp_path / "t.mrg").to_strings() == texts

    def test_the_tree_at_fault_is_named(self, tmp_path: Path) -> None:
        X = sw.TreeArray(["(a b)", "(c d)", doubled(30), "(e f)"])
        bags = sw.TreeArray([["(a b)", "(c d)"], [], [doubled(30), "(e f)"]])
        for index, act in (
            (2, X.to_strings),
            (2, X.leaves),
            (2, lambda: sw.write_trees(X, tmp_path / "t")),
            (2, bags.leaves),
        ):
            with pytest.raises(
                DataError, match=f"the tree at index {index} has more than 100,000,000 nodes, too many to "
            ):
                act()
        assert list(tmp_path.iterdir()) == []

    def test_what_no_memory_holds_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sapwood.trees.array.available", lambda: 10**9)
        X = sw.TreeArray([doubled(25)] * 10)
        for act in (X.to_strings, X.leaves):
            with pytest.raises(TooLargeError, match=r"takes at least 1\.3 GB, but only 1\.0 GB are free; take fewer"):
                act()

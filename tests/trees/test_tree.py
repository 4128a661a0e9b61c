"""Tree as a value: construction, equality, hashing, copies, conversions, pictures."""

from __future__ import annotations

import ast
import copy
import pickle
import weakref
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from oracles import tree_kernels
from sapwood import BracketError, Tree
from sapwood.errors import SapwoodError, TreeError

T = Tree.fromstring


def nested(tree: Tree) -> Any:
    """An independent picture of a tree, for comparison."""
    return (tree.label, [nested(child) for child in tree.children])


class TestValue:
    def test_parts(self) -> None:
        t = Tree("NP", [Tree("DT", ["the"]), Tree("NN", ("dog",))])
        assert t.label == "NP"
        assert isinstance(t.children, tuple)
        assert [child.label for child in t.children] == ["DT", "NN"]
        assert t.leaves() == ("the", "dog")
        assert (t.size(), t.height(), t.is_leaf) == (5, 2, False)
        assert Tree("x").is_leaf
        assert Tree("x").height() == 0
        assert Tree("x").leaves() == ("x",)

    @given(strategies.trees(10), strategies.trees(10))
    def test_equality_is_by_value(self, a: Tree, b: Tree) -> None:
        assert (a == b) == (nested(a) == nested(b))
        assert (a != b) == (nested(a) != nested(b))
        if a == b:
            assert hash(a) == hash(b)

    @given(strategies.trees_over(strategies.labels))
    def test_copies(self, tree: Tree) -> None:
        for again in (copy.copy(tree), copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
            assert again == tree
            assert hash(again) == hash(tree)
            assert nested(again) == nested(tree)

    @given(strategies.trees(12))
    def test_walks(self, tree: Tree) -> None:
        assert list(tree.preorder()) == tree_kernels.nodes(tree)

        def post(node: Tree) -> list[Tree]:
            return [n for child in node.children for n in post(child)] + [node]

        assert list(tree.postorder()) == post(tree)
        assert tree.size() == len(tree_kernels.nodes(tree))
        assert tree.leaves() == tuple(node.label for node in tree_kernels.nodes(tree) if node.is_leaf)

        def height(node: Tree) -> int:
            return max((1 + height(child) for child in node.children), default=0)

        assert tree.height() == height(tree)

    def test_immutable(self) -> None:
        t = T("(a b)")
        for act in (
            lambda: setattr(t, "label", "x"),
            lambda: setattr(t, "_label", "x"),
            lambda: setattr(t, "other", 1),
            lambda: delattr(t, "_children"),
        ):
            with pytest.raises(AttributeError):
                act()
        assert t == T("(a b)")

    def test_not_a_sequence(self) -> None:
        import numpy as np

        t = T("(a b c)")
        for act in (lambda: len(t), lambda: t[0], lambda: list(t)):  # type: ignore[arg-type, index, call-overload]
            with pytest.raises(TypeError):
                act()
        assert np.array([t, t]).shape == (2,)

    def test_pattern_matching(self) -> None:
        match T("(NP (DT the) (NN dog))"):
            case Tree("NP", (Tree("DT"), Tree("NN", (Tree(noun),)))):
                assert noun == "dog"
            case _:
                pytest.fail("the pattern did not match")

    def test_usable_in_sets_and_weak_references(self) -> None:
        assert len({T("(a b)"), T("( a  b )"), Tree("a", ["b"])}) == 1
        t = T("(a b)")
        assert weakref.ref(t)() is t
        assert t != "(a b)"
        assert (t == 3) is False

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("",), "must not be empty"),
            ((3,), "must be a str, got 3"),
            ((None,), "must be a str"),
            (("a", "b"), r"write Tree\('a', \[child\]\)"),
            (("a", Tree("b")), r"write Tree\('a', \[child\]\)"),
            (
                ("a", None),
                r"children of 'a' must be a list or tuple of trees, got None of type NoneType; .*Tree\('a'\)",
            ),
            (("a", 5), "children of 'a' must be a list or tuple of trees, got 5 of type int"),
            (("a", [3]), "a child of 'a' is a int"),
            (("a", [["b"]]), "a child of 'a' is a list"),
            (("a", [""]), "must not be empty"),
            (("\ud800",), "surrogate"),
        ],
    )
    def test_refusals(self, arguments: tuple[Any, ...], message: str) -> None:
        with pytest.raises(TreeError, match=message) as caught:
            Tree(*arguments)
        assert isinstance(caught.value, (SapwoodError, ValueError))


class TestText:
    @given(strategies.trees_over(strategies.tokens))
    def test_round_trip(self, tree: Tree) -> None:
        assert T(str(tree)) == tree
        if tree.size() < 20 and len(str(tree)) < 300:
            assert eval(repr(tree), {"Tree": Tree}) == tree

    @given(strategies.trees_over(strategies.labels))
    def test_every_label_can_be_shown(self, tree: Tree) -> None:
        again = T(str(tree))
        assert again.size() == tree.size()
        assert repr(tree).startswith("Tree")
        if len(repr(tree)) < 300:
            assert eval(repr(tree), {"Tree": Tree}) == tree

    @pytest.mark.slow
    def test_labels_that_brackets_cannot_express(self) -> None:
        assert repr(Tree("(", ["x"])) == "Tree('(', ['x'])"
        assert repr(Tree("A", [Tree("B", ["c d", "e"]), "f"])) == "Tree('A', [Tree('B', ['c d', 'e']), 'f'])"
        assert repr(Tree("-LRB-", ["x_y"])) == "Tree.fromstring('(-LRB- x_y)')"
        assert repr(Tree("a b")) == "Tree('a b')"
        tree = Tree("(")
        for _ in range(100_000):
            tree = Tree("a b", [tree, tree])
        assert repr(tree).endswith("...")
        assert len(repr(tree)) == 300

    def test_a_leaf_reads_with_and_without_brackets(self) -> None:
        assert T("NP") == T("(NP)") == T(" ( NP ) ") == Tree("NP")
        assert T("(S (NP) VP)") == T("(S NP (VP))")

    def test_long_trees_are_cut_in_repr(self) -> None:
        assert len(repr(Tree("a", ["b"] * 1000))) < 330
        # As much of the text as fits, to the character.
        for count in range(145, 152):
            tree = Tree("a", ["b"] * count)
            text = str(tree)
            shown = text if len(text) <= 300 else f"{text[:297]}..."
            assert repr(tree) == f"Tree.fromstring({shown!r})"

    @pytest.mark.parametrize("text", ["", " \n", "(a b) (c d)", "a (b c)"])
    def test_exactly_one(self, text: str) -> None:
        with pytest.raises(BracketError, match="expected exactly one tree, found"):
            T(text)

    def test_text(self) -> None:
        with pytest.raises(
            BracketError, match=r"this is text, not a tree in brackets: 'Who ran away [?]'; parse it first"
        ):
            T("Who ran away ?")

    def test_only_text(self) -> None:
        with pytest.raises(TreeError, match="got bytes"):
            T(b"(a b)")  # type: ignore[arg-type]


class TestNltk:
    @given(strategies.trees_over(strategies.tokens))
    def test_round_trip(self, tree: Tree) -> None:
        assert Tree.from_nltk(tree.to_nltk()) == tree

    def test_kinds(self) -> None:
        import nltk

        nt = nltk.Tree.fromstring("(S (NP dogs) (VP (V bark)))")
        expected = T("(S (NP dogs) (VP (V bark)))")
        assert Tree.from_nltk(nt) == expected
        assert Tree.from_nltk(nltk.ImmutableTree.convert(nt)) == expected
        assert Tree.from_nltk(nltk.ParentedTree.convert(nt)) == expected
        assert expected.to_nltk() == nt
        assert Tree("x").to_nltk() == nltk.Tree("x", [])
        assert Tree.from_nltk(nltk.Tree(nltk.Nonterminal("S"), ["a"])) == T("(S a)")

    def test_refusals(self) -> None:
        import nltk

        with pytest.raises(TreeError, match="got list"):
            Tree.from_nltk(["a"])
        for other in ("(S a)", "dog", T("(S a)"), None):
            with pytest.raises(TreeError, match=r"expected an nltk\.Tree, got .*with Tree\.fromstring"):
                Tree.from_nltk(other)
        with pytest.raises(TreeError, match="is a tuple"):
            Tree.from_nltk(nltk.Tree("S", [("dog", "NN")]))
        with pytest.raises(TreeError, match="must not be empty"):
            Tree.from_nltk(nltk.Tree("", ["a"]))

    def test_one_node_in_several_places(self) -> None:
        import nltk

        shared = nltk.Tree("NP", ["dogs"])
        tree = nltk.Tree("S", [shared, nltk.Tree("VP", [shared, shared])])
        assert Tree.from_nltk(tree) == T("(S (NP dogs) (VP (NP dogs) (NP dogs)))")

    def test_cycles(self) -> None:
        import nltk

        loop = nltk.Tree("S", ["a"])
        loop.append(loop)
        low = nltk.Tree("C", ["c"])
        long = nltk.Tree("A", ["a", nltk.Tree("B", [low])])
        low.append(long)
        for tree, label in ((loop, "S"), (nltk.Tree("TOP", [loop]), "S"), (long, "A"), (low, "C")):
            with pytest.raises(TreeError, match=f"holds itself: a node '{label}' is its own ancestor; put a copy"):
                Tree.from_nltk(tree)


class TestRecords:
    @given(strategies.trees(12), st.randoms(use_true_random=False))
    def test_round_trip(self, tree: Tree, random: Any) -> None:
        records: list[tuple[Any, Any, str]] = []

        def walk(node: Tree, parent: Any) -> None:
            identity = f"n{len(records)}"
            records.append((identity, parent, node.label))
            for child in node.children:
                walk(child, identity)

        walk(tree, None)
        assert Tree.from_records(records) == tree
        assert Tree.from_records(iter(records)) == tree
        # Only the order among siblings counts, not that parents come first.
        assert Tree.from_records(sorted(records, key=lambda record: int(record[0][1:]) % 2 == 0)).size() == tree.size()

    @pytest.mark.parametrize(
        ("records", "message"),
        [
            ([], "exactly one record whose parent is None .*found 0"),
            ([(1, None, "a"), (2, None, "b")], "found 2"),
            ([(1, None, "a"), (1, 1, "b")], "the id 1 is used twice"),
            ([(1, None, "a"), (2, 3, "b")], "names the parent 3"),
            ([(1, None, "a"), (2, 3, "b"), (3, 2, "c")], "its own ancestor"),
            ([(1, None, "a"), (2, 2, "b")], "its own ancestor"),
            ([(None, None, "a")], "id None"),
            ([(1, None)], "record 0 is"),
            ([5], "record 0 is 5"),
            (["abc"], "record 0 is 'abc'"),
            (
                [{"id": 1, "parent": None, "label": "a"}],
                r"record 0 is a dict; expected a tuple \(id, parent id, label\)",
            ),
            (3, r"expected a list of \(id, parent id, label\) records, got int"),
            ([(1, None, "a"), (float("nan"), 1, "b")], "record 1 has the id nan, which stands for 'no parent'"),
            ([(1, None, "a"), (2, float("nan"), "b")], "found 2"),
            ([(1, None, "a"), (2, 1, "")], "record 1: a label must not be empty"),
            ([(1, None, 7)], "record 0: a label must be a str"),
            ([([], None, "a")], "record 0 has an id that cannot be looked up"),
            ([(1, None, "a"), (2, [], "a")], "record 1 has an id that cannot be looked up"),
        ],
    )
    def test_refusals(self, records: list[Any], message: str) -> None:
        with pytest.raises(TreeError, match=message):
            Tree.from_records(records)

    def test_tables(self) -> None:
        import numpy as np
        import pandas as pd

        expected = T("(NP DT NN)")
        frame = pd.DataFrame({"id": [1, 2, 3], "parent": [None, 1, 1], "label": ["NP", "DT", "NN"]})
        assert frame["parent"].dtype == np.float64
        assert Tree.from_records(frame.itertuples(index=False)) == expected
        assert Tree.from_records(frame.astype({"parent": "Int64"}).itertuples(index=False)) == expected
        assert Tree.from_records(frame.to_numpy()) == expected
        for missing in (None, float("nan"), np.float64("nan"), pd.NA, pd.NaT):
            assert Tree.from_records([(np.int64(1), missing, "NP"), (2, np.int8(1), "DT"), (3, 1, "NN")]) == expected
        # Numbers that are zero or false are parents like others.
        for zero in (0, False, 0.0, np.int64(0)):
            assert Tree.from_records([(zero, None, "a"), (1, zero, "b")]) == T("(a b)")
        with pytest.raises(TreeError, match=r"got a DataFrame; pass its rows, .*itertuples\(index=False\)"):
            Tree.from_records(frame)
        with pytest.raises(TreeError, match="record 0 has the id <NA>"):
            Tree.from_records([(pd.NA, None, "a")])
        with pytest.raises(TreeError, match="record 1 has an id that cannot be looked up"):
            Tree.from_records([(1, None, "a"), (2, np.zeros(3), "b")])


class TestAst:
    def test_source_and_nodes(self) -> None:
        source = "def f(x, *y):\n    return x + y[0] if {'a b': None} else -1.5\n"
        tree = Tree.from_ast(source)
        assert tree == Tree.from_ast(ast.parse(source))
        assert tree.label == "Module"
        assert "FunctionDef" in str(tree)
        assert T(str(tree)).size() == tree.size()

    @pytest.mark.slow
    def test_this_file(self) -> None:
        with open(__file__) as stream:
            source = stream.read()
        tree = Tree.from_ast(source)
        internal = [node.label for node in tree.preorder() if not node.is_leaf]
        # Every syntax node appears under the name of its class.
        expected = sum(isinstance(node, ast.ClassDef) for node in ast.walk(ast.parse(source)))
        assert internal.count("ClassDef") == expected

    def test_different_constants_give_different_trees(self) -> None:
        texts = [
            "True",
            "False",
            "None",
            "Ellipsis",
            "inf",
            "infj",
            "nan",
            "1",
            "1.5",
            "1j",
            "b'a'",
            "a",
            "a b",
            "'a'",
            "é",
        ]
        values = [True, False, None, ..., 1, 0, 1.5, 1.0, 1e999, 1j, complex("infj"), float("nan"), b"a", b"True", ""]
        trees = [Tree.from_ast(ast.Constant(value)) for value in (*texts, *values)]
        assert len(set(trees)) == len(texts) + len(values)
        assert all(tree.size() == 3 for tree in trees)

    @pytest.mark.parametrize(
        ("source", "constant"),
        [
            ("None", "None"),
            ("True", "True"),
            ("...", "Ellipsis"),
            ("'True'", "'True'"),
            ("'None'", "'None'"),
            ("'word'", "word"),
            ("'1'", "'1'"),
            # More digits than Python writes in decimal.
            ("0x" + "f" * 5000, "0x" + "f" * 5000),
        ],
    )
    def test_constants(self, source: str, constant: str) -> None:
        expected = Tree("Expr", [Tree("value", [Tree("Constant", [Tree("value", [constant])])])])
        assert Tree.from_ast(source) == Tree("Module", [Tree("body", [expected])])

    def test_none_is_kept_only_where_it_is_said(self) -> None:
        assert "(MatchSingleton (value None))" in str(Tree.from_ast("match x:\n    case None: pass"))
        assert "(body Return)" in str(Tree.from_ast("def f(): return"))
        assert "(Return (value (Constant (value None))))" in str(Tree.from_ast("def f(): return None"))
        # Names cannot be mistaken for constants.
        assert str(Tree.from_ast(ast.Name("inf", ast.Load()))) == "(Name (id inf) (ctx Load))"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("x =", "not valid Python, line 1"),
            ("a\0b", "Python"),
            (3, "got int"),
            ("(" * 300, "Python"),
            (ast.Constant((16**5000,)), "a tuple of the source cannot be written"),
        ],
    )
    def test_refusals(self, source: Any, message: str) -> None:
        with pytest.raises(TreeError, match=message):
            Tree.from_ast(source)


class TestPicture:
    @given(strategies.trees_over(st.text("ab<>&\"'()é\n\x01 ", min_size=1, max_size=4), 5))
    def test_well_formed(self, tree: Tree) -> None:
        root = ElementTree.fromstring(tree._repr_svg_())
        assert root.tag.endswith("svg")

    def test_shows_the_words(self) -> None:
        assert "dog" in T("(NP (NN dog))")._repr_svg_()

    def test_too_large_to_draw(self) -> None:
        assert "too large to draw" in Tree("a", ["b"] * 5000)._repr_svg_()

"""The bracket reader and writer: every source, every option, every fault."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import sapwood as sw
import strategies
from oracles import transforms
from sapwood import BracketError, Tree
from sapwood.errors import DataError, FormatError, ParameterError, TreeError
from sapwood.trees.treebank import iter_tree_blocks, iter_trees

T = Tree.fromstring


def read(text: str, **options: Any) -> list[Any]:
    return list(sw.read_trees(io.StringIO(text), **options))


class TestReading:
    @pytest.mark.slow
    @given(
        strategies.trees_over(st.text("abc-=|*$.,é", min_size=1, max_size=4), 10),
        st.sampled_from([" ", "\n  ", "\t", "\r\n"]),
    )
    def test_as_nltk_reads(self, tree: Tree, space: str) -> None:
        import nltk

        assume(not tree.is_leaf)
        text = str(tree).replace(" ", space)
        assert [Tree.from_nltk(nltk.Tree.fromstring(text))] == read(text)

    def test_the_treebank_as_nltk_reads_it(self, treebank_texts: list[str]) -> None:
        import nltk

        for text in treebank_texts[:8]:
            theirs = []
            for nt in nltk.Tree.fromstring(f"(TOP {text})"):
                (only,) = nt
                theirs.append(Tree.from_nltk(only))
            assert read(text) == theirs

    @pytest.mark.parametrize("space", ["", " ", "\n", "\r\n", "\t\x0b\x0c"])
    def test_white_space(self, space: str) -> None:
        text = f"{space}({space}a{space or ' '}({space}b{space or ' '}c{space}){space}){space}"
        assert read(text) == [T("(a (b c))")]

    def test_nameless_outer_bracket(self) -> None:
        assert read("( (S (NP x)))\n((S y))") == [T("(S (NP x))"), T("(S y)")]

    def test_other_spaces_are_part_of_words(self) -> None:
        assert read("(a b\u00a0c\u2003d)") == [Tree("a", ["b\u00a0c\u2003d"])]

    def test_byte_order_mark(self) -> None:
        assert list(sw.read_trees(io.BytesIO(b"\xef\xbb\xbf(a b)"))) == [T("(a b)")]

    @given(st.text("()ab \n-", max_size=30))
    def test_any_text_gives_trees_or_a_place(self, text: str) -> None:
        try:
            trees = read(text)
        except BracketError as error:
            lines = text.split("\n")
            place, context = (error.line, error.column), error.context
            assert 1 <= place[0] <= len(lines)
            assert 1 <= place[1] <= len(lines[place[0] - 1]) + 1
            shown, caret = context.split("\n")
            assert caret.index("^") - 4 <= len(shown)
        except DataError:
            assert not text.strip()
        else:
            assert text.count("(") == text.count(")")
            assert trees

    @given(st.binary(max_size=40))
    @example(b"(a \x00)")
    @example(b"(a \xff)")
    @example(b"\xf4\x90\x80\x80")
    @example(b"(a \xed\xa0\x80)")
    def test_any_bytes(self, data: bytes) -> None:
        try:
            trees = sw.read_trees(io.BytesIO(data))
        except (BracketError, DataError):
            return
        data.decode("utf-8")
        assert b"\0" not in data
        assert len(trees)


class TestOptions:
    LABELS = st.sampled_from(["S", "NP", "NP-SBJ", "NP=2", "NP-SBJ=2", "-NONE-", "PRT|ADVP", "-LRB-", "X-", "=", "-"])
    WORDS = st.sampled_from(
        ["*", "dog", "-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "-NONE-", "a-b", "-lrb-"]
    )

    @staticmethod
    def treebank_like() -> st.SearchStrategy[Tree]:
        return st.recursive(
            TestOptions.WORDS.map(Tree),
            lambda child: st.builds(Tree, TestOptions.LABELS, st.lists(child, min_size=1, max_size=3)),
            max_leaves=8,
        )

    TWINS: tuple[tuple[str, Callable[[Tree], Any]], ...] = (
        ("drop_traces", transforms.drop_traces),
        ("drop_function_tags", transforms.drop_function_tags),
        ("collapse_unary", transforms.collapse_unary),
        ("unescape", transforms.unescape),
    )

    @pytest.mark.slow
    @given(st.data())
    @settings(max_examples=25)
    @pytest.mark.parametrize("chosen", range(16))
    def test_against_plain_twins(self, chosen: int, data: st.DataObject) -> None:
        tree = data.draw(self.treebank_like())
        assume(not tree.is_leaf)
        options = {name: bool(chosen >> bit & 1) for bit, (name, _) in enumerate(self.TWINS)}
        expected: Tree | None = tree
        for name, twin in self.TWINS:
            if options[name] and expected is not None:
                expected = twin(expected)
        if expected is None:
            with pytest.raises(BracketError, match=r"nothing is left of this tree .*drop_traces=False"):
                read(str(tree), **options)
        else:
            assert read(str(tree), **options) == [expected]

    def test_empty_traces(self) -> None:
        for trace in ("(-NONE- )", "(-NONE-)", "( -NONE-\n)", "(-NONE- *)", "(-NONE- (x y) z)", "( )"):
            assert read(f"(S (NP {trace}) (VP x))", drop_traces=True) == [T("(S (VP x))")], trace
            with pytest.raises(BracketError, match="nothing is left of this tree"):
                read(f"(S {trace})", drop_traces=True)
        with pytest.raises(BracketError, match="nothing is left of this tree"):
            read("(-NONE-)", drop_traces=True)
        assert read("(S (NP (-NONE- )) (VP x))") == [T("(S (NP -NONE-) (VP x))")]
        # A word may be called like this: it has a tag, or a constituent, of its own.
        assert read("(S (NN -NONE-) (VP -NONE- x))", drop_traces=True) == [T("(S (NN -NONE-) (VP -NONE- x))")]

    def test_treebank(self, treebank: sw.TreeArray, treebank_texts: list[str]) -> None:
        text = "".join(treebank_texts[:5])
        plain = read(text)
        options = {"drop_traces": True, "drop_function_tags": True, "collapse_unary": True, "unescape": True}
        expected = [
            transforms.unescape(transforms.collapse_unary(transforms.drop_function_tags(kept)))
            for tree in plain
            if (kept := transforms.drop_traces(tree)) is not None
        ]
        assert read(text, **options) == expected
        assert not any("-NONE-" in str(tree) for tree in expected)


class TestSources:
    def test_files_globs_lists_streams(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "b.mrg").write_text("(b 1) (b 2)")
        (tmp_path / "a.mrg").write_text("(a 1)")
        (tmp_path / "c.mrg.gz").write_bytes(gzip.compress(b"(c 1)"))
        (tmp_path / "deep" / "er").mkdir(parents=True)
        (tmp_path / "deep" / "er" / "d.mrg").write_text("(d 1)")

        def labels(source: Any) -> str:
            return " ".join(str(tree) for tree in sw.read_trees(source))

        assert labels(tmp_path / "b.mrg") == "(b 1) (b 2)"
        assert labels(str(tmp_path / "*.mrg")) == "(a 1) (b 1) (b 2)"
        assert labels(str(tmp_path / "*.mrg*")) == "(a 1) (b 1) (b 2) (c 1)"
        assert labels(str(tmp_path / "**" / "d.mrg")) == "(d 1)"
        assert labels([tmp_path / "c.mrg.gz", str(tmp_path / "[a]*"), io.BytesIO(b"(s 1)")]) == "(c 1) (a 1) (s 1)"
        with open(tmp_path / "a.mrg") as text, open(tmp_path / "a.mrg", "rb") as binary:
            assert labels([text, binary]) == "(a 1) (a 1)"
        # A name with the characters of a pattern is a name if there is such a file.
        (tmp_path / "x[1].mrg").write_text("(x 1)")
        assert labels(str(tmp_path / "x[1].mrg")) == "(x 1)"
        monkeypatch.chdir(tmp_path)
        assert labels("a.mrg") == "(a 1)"

    def test_encodings(self, tmp_path: Path) -> None:
        path = tmp_path / "t.mrg"
        path.write_bytes("(a é)".encode("latin-1"))
        assert list(sw.read_trees(path, encoding="latin-1")) == [Tree("a", ["é"])]
        with pytest.raises(BracketError, match=r"t\.mrg:1:4: a byte that is not valid UTF-8; .*encoding="):
            sw.read_trees(path)
        with pytest.raises(FormatError, match=r"t\.mrg:1:4: the byte 0xe9 is not valid ascii"):
            sw.read_trees(path, encoding="ascii")
        with pytest.raises(ParameterError, match="unknown encoding 'klingon'"):
            sw.read_trees(path, encoding="klingon")
        path.write_text("(a é)", encoding="utf-16")
        assert list(sw.read_trees(path, encoding="utf-16")) == [Tree("a", ["é"])]

    def test_refusals(self, tmp_path: Path) -> None:
        empty = tmp_path / "empty.mrg"
        empty.write_text("")
        blank = tmp_path / "blank.mrg"
        blank.write_text(" \n\n")
        (tmp_path / "folder").mkdir()
        broken = tmp_path / "broken.gz"
        packed = gzip.compress(os.urandom(100) + b"(a b)" * 200)
        cases: list[tuple[Any, str]] = [
            (empty, r"empty\.mrg: holds no tree\. Expected bracketed trees such as"),
            (blank, r"blank\.mrg: holds no tree"),
            (tmp_path / "nope.mrg", r"nope\.mrg: no such file"),
            (tmp_path / "*.nope", r"no file matches .*\*\.nope"),
            (tmp_path / "folder", "no file under this folder ends in"),
            ([], "empty list"),
            (3, "source must be a path"),
            (io.StringIO(""), "holds no tree"),
        ]
        for source, message in cases:
            with pytest.raises(DataError, match=message):
                sw.read_trees(source)
        for data in (packed[:-9], packed[:20], b"not gzip", b"", packed[:15] + b"\xff\xff\xff" + packed[18:]):
            broken.write_bytes(data)
            with pytest.raises(DataError, match=r"broken\.gz: (the compressed file is not whole|holds no tree)"):
                sw.read_trees(broken)

    def test_flags(self) -> None:
        for flag in ("drop_traces", "drop_function_tags", "collapse_unary", "unescape"):
            for value in (1, 0, "yes", None, [], 1.0):
                for reading in (sw.read_trees, lambda *a, **k: list(iter_trees(*a, **k))):
                    with pytest.raises(
                        ParameterError, match=f"{flag} must be True or False, got {re.escape(repr(value))}"
                    ):
                        reading(io.StringIO("(a b)"), **{flag: value})
                for entry in (sw.read_trees, iter_trees, iter_tree_blocks):
                    # An empty file has no tree to read with the flag, and nothing is asked of what is returned.
                    with pytest.raises(ParameterError, match=f"{flag} must be True or False"):
                        entry(io.StringIO(""), **{flag: value})
            assert read("(a b)", **{flag: np.bool_(True)}) == [T("(a b)")]

    @pytest.mark.parametrize("reading", [sw.read_trees, lambda *a, **k: list(iter_trees(*a, **k))])
    def test_streams_that_fail(self, tmp_path: Path, reading: Callable[..., Any]) -> None:
        latin = tmp_path / "latin1.mrg"
        latin.write_bytes("(a é)".encode("latin-1"))
        message = r"latin1\.mrg: holds the byte 0xe9, which is not valid utf-8 there; .*encoding='latin-1'"
        with open(latin, encoding="utf-8") as stream, pytest.raises(DataError, match=message):
            reading(stream)
        truncated = tmp_path / "truncated.gz"
        truncated.write_bytes(gzip.compress(b"(a b)" * 1000)[:-12])
        message = r"truncated\.gz: the compressed file is not whole .*; fetch or pack it again"
        with gzip.open(truncated) as packed, pytest.raises(DataError, match=message):
            reading(packed)
        damaged = tmp_path / "t.bz2"
        damaged.write_bytes(bz2.compress(b"(a b)" * 1000)[:-12])
        with bz2.open(damaged) as other, pytest.raises(DataError, match="the compressed file is not whole"):
            reading(other)

        class Odd(io.RawIOBase):
            def __init__(self, content: Any) -> None:
                self.content = content

            def read(self, size: int = -1) -> Any:
                return self.content

        for content in (None, ["(a b)"], 3):
            with pytest.raises(
                DataError, match=f"<stream>: read\\(\\) gave {type(content).__name__}, expected text or"
            ):
                reading(Odd(content))

    @pytest.mark.parametrize("reading", [sw.read_trees, lambda *a, **k: list(iter_trees(*a, **k))])
    def test_encodings_that_are_none(self, tmp_path: Path, reading: Callable[..., Any]) -> None:
        path = tmp_path / "t.mrg"
        path.write_bytes(b"(a +2AA-)")
        for encoding in (None, 3, b"utf-8"):
            with pytest.raises(ParameterError, match=f"encoding must be a name such as 'utf-8' .*, got {encoding!r}"):
                reading(path, encoding=encoding)
        for encoding in ("hex", "zip", "rot13", "klingon", "undefined", "idna", "a\0b", "\ud800"):
            with pytest.raises(ParameterError, match="unknown encoding"):
                reading(path, encoding=encoding)
        # A lone surrogate, which UTF-7 can say.
        with pytest.raises((BracketError, DataError), match=r"t\.mrg.* not valid"):
            reading(path, encoding="utf-7")

    def test_what_is_no_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "sub").mkdir()
        (tmp_path / "d" / "a.mrg").write_text("(a b)")
        (tmp_path / "a.GZ").write_bytes(gzip.compress(b"(a b)"))
        (tmp_path / "a.bz2").write_bytes(bz2.compress(b"(a b)"))
        (tmp_path / "a.zst").write_bytes(b"x")

        class BytesPath:
            def __fspath__(self) -> bytes:
                return b"good.mrg"

        cases: list[tuple[Any, str]] = [
            ("a\0b", r"'a\\x00b': no file has such a name; it holds a NUL"),
            ("\ud800", "cannot be read"),
            ("(S (NP dogs) (VP bark))", r"no such file .*Tree\.fromstring\(text\).*TreeArray"),
            ("\n(S (NP dogs?) (VP [bark]))" * 200, r"no such file .*Tree\.fromstring\(text\).*TreeArray"),
            (b"good.mrg", r"a path must be text: pass os\.fsdecode\(path\)"),
            (BytesPath(), "a path must be text"),
            ([bytearray(b"good.mrg")], "a path must be text"),
            ("d/s*", r"no file matches 'd/s\*'"),
            ("nope.bz2", "no such file"),
            (
                "a.zst",
                r"a\.zst: of compressed files those in \.gz, \.xz, \.lzma, \.bz2 are .*; unpack it first\.$",
            ),
            ("nope.zst", "no such file"),
        ]
        for source, message in cases:
            for reading in (sw.read_trees, lambda source: list(iter_trees(source))):
                with pytest.raises(DataError, match=message) as caught:
                    reading(source)
                assert len(str(caught.value)) < 400
        sw.write_trees(["(c d)"], "b.GZ")
        for reading in (sw.read_trees, iter_trees):
            assert [str(tree) for tree in reading(["a.GZ", "b.GZ", "d/*"])] == ["(a b)", "(c d)", "(a b)"]
            assert [str(tree) for tree in reading(path for path in ("a.bz2", "d"))] == ["(a b)", "(a b)"]
        # A file may be called like a tree.
        (tmp_path / "(draft).mrg").write_text("(a b)")
        assert len(sw.read_trees("(draft).mrg")) == len(sw.read_trees("(draft).*")) == 1
        (tmp_path / "(data)" / "deep" / "er").mkdir(parents=True)
        (tmp_path / "(data)" / "deep" / "er" / "x.mrg").write_text("(a b)")
        assert len(sw.read_trees("(data)/**/*.mrg")) == 1

    def test_sizes_of_blocks(self) -> None:
        text = "(a b) " * 50
        assert [len(block) for block in iter_tree_blocks(io.StringIO(text), block_bytes=np.int64(60))] == [10] * 5
        for size in (0, True, 2.0, None):
            with pytest.raises(ParameterError, match="block_bytes must be an integer of at least 1"):
                next(iter_tree_blocks(io.StringIO(text), block_bytes=size))  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=r"block_bytes must be .* at most 1,073,741,824"):
            next(iter_tree_blocks(io.StringIO(text), block_bytes=10**30))

    def test_archives(self, tmp_path: Path) -> None:
        archive = tmp_path / "bank.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("deep/1.mrg", "(a b)")
            packed.writestr("deep/2.mrg", "(c d)")
        for reading in (sw.read_trees, iter_trees):
            assert [str(tree) for tree in reading(archive / "deep/1.mrg")] == ["(a b)"]
            assert [str(tree) for tree in reading(str(archive / "deep/*.mrg"))] == ["(a b)", "(c d)"]
            with pytest.raises(DataError, match=r"bank\.zip: holds no file that matches 'nope\.mrg'"):
                list(reading(archive / "nope.mrg"))
            with pytest.raises(DataError, match=r"is an archive; name the files in it, for example '.*bank\.zip/\*'"):
                list(reading(archive))
        # A folder may have any name.
        (tmp_path / "unpacked.zip").mkdir()
        (tmp_path / "unpacked.zip" / "1.mrg").write_text("(a b)")
        assert len(sw.read_trees(tmp_path / "unpacked.zip" / "*.mrg")) == 1

    def test_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        path = tmp_path / "t.mrg"
        path.write_text("(a b)")
        with open(path) as closed:
            assert len(sw.read_trees(closed)) == 1
        memory = io.StringIO("(a b)")
        memory.close()
        for source, name in ((closed, r"t\.mrg"), (memory, "<stream>"), ([path, closed], r"t\.mrg")):
            with pytest.raises(DataError, match=f"{name}: the file is closed; pass an open one, or its path"):
                sw.read_trees(source)
            with pytest.raises(DataError, match="the file is closed"):
                list(iter_trees(source))
        message = r"out\.mrg: cannot be read \(not readable\)"
        with open(tmp_path / "out.mrg", "w") as writing, pytest.raises(DataError, match=message):
            sw.read_trees(writing)

    def test_a_fault_in_one_file_gives_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "1.mrg").write_text("(a b)")
        (tmp_path / "2.mrg").write_text("(a b)\n(c d))\n")
        with pytest.raises(BracketError) as caught:
            sw.read_trees(str(tmp_path / "*.mrg"))
        assert caught.value.source.endswith("2.mrg")
        assert (caught.value.line, caught.value.column) == (2, 6)


class TestFaults:
    """The place, the picture and what was expected, to the character."""

    @pytest.mark.parametrize(
        ("text", "line", "column", "reason"),
        [
            ("(a b", 1, 1, "never closed .1 bracket is still open"),
            ("(a b)\n (c (d e)", 2, 2, "never closed .1 bracket is"),
            ("(a b)\n (c (d e", 2, 2, "2 brackets are still open"),
            ("(a b))", 1, 6, "unexpected '\\)'"),
            (")", 1, 1, "unexpected '\\)'"),
            ("(a b)\n\t)", 2, 2, "unexpected '\\)'"),
            ("(a é ())", 1, 6, "an empty bracket"),
            ("()", 1, 1, "an empty bracket"),
            ("( )", 1, 1, "an empty bracket"),
            ("(a ((b c)))", 1, 4, "a label is missing"),
            ("((a b) (c d))", 1, 1, "a label is missing: .* this one holds 2"),
            ("(", 1, 1, "never closed"),
            ("(a b) word (c d)", 1, 7, "found the text 'word' outside any bracket\n"),
            ("(a b\0)", 1, 5, "a NUL byte"),
            ("(a\n日本 \ud800)", 2, 4, "not valid UTF-8"),
            ("(a b)\r\n)\r\n", 2, 1, "unexpected"),
            ("\ufeff)", 1, 1, "unexpected"),
        ],
    )
    def test_places(self, text: str, line: int, column: int, reason: str) -> None:
        with pytest.raises(BracketError, match=reason) as caught:
            read(text)
        error = caught.value
        assert (error.line, error.column) == (line, column)
        assert str(error).startswith(f"{error.source}:{line}:{column}: ")
        _, caret = error.context.split("\n")
        assert caret.strip() == "^"
        assert caret.index("^") == 4 + column - 1
        assert "\r" not in error.context
        assert "\0" not in error.context
        assert isinstance(error, ValueError)
        assert str(pickle_round_trip(error)) == str(error)

    def test_picture(self) -> None:
        with pytest.raises(BracketError) as caught:
            read("(S (NP dogs)\n   (VP () ))")
        assert str(caught.value) == (
            "<stream>:2:8: an empty bracket '()': expected a label after '('\n       (VP () ))\n           ^"
        )

    def test_long_lines_are_cut_around_the_fault(self) -> None:
        with pytest.raises(BracketError) as caught:
            read("(a " + "b " * 5000 + "() " + "c " * 5000 + ")")
        shown, caret = caught.value.context.split("\n")
        assert len(shown) < 120
        assert shown[caret.index("^")] == "("
        assert caught.value.column == 10_004


def pickle_round_trip(value: Any) -> Any:
    import pickle

    return pickle.loads(pickle.dumps(value))


class TestWriting:
    @pytest.mark.slow
    @given(
        st.lists(strategies.trees_over(strategies.tokens), min_size=1, max_size=5),
        st.sampled_from(["t.mrg", "t.mrg.gz"]),
    )
    def test_round_trip(self, tmp_path_factory: pytest.TempPathFactory, trees: list[Tree], name: str) -> None:
        path = tmp_path_factory.mktemp("w") / name
        sw.write_trees(trees, path)
        assert list(sw.read_trees(path)) == trees
        if name.endswith(".gz"):
            assert gzip.decompress(path.read_bytes()).count(b"\n") == len(trees)

    def test_escapes(self, tmp_path: Path) -> None:
        path = tmp_path / "t.mrg"
        tree = Tree("a b", ["(", ")", "x\ty"])
        with pytest.raises(TreeError, match=r"'a b' holds a bracket or white space.*escape=True"):
            sw.write_trees([tree], path)
        assert not os.listdir(tmp_path)
        sw.write_trees([tree], path, escape=True)
        assert path.read_text() == "(a_b -LRB- -RRB- x_y)\n"
        assert list(sw.read_trees(path, unescape=True)) == [Tree("a_b", ["(", ")", "x_y"])]

    def test_a_failure_leaves_the_old_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "t.mrg"
        sw.write_trees(["(a b)"], path)
        with pytest.raises(DataError, match="holds bags of trees"):
            sw.write_trees([["(x y)"]], path)  # type: ignore[list-item]

        def fail(*_: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="disk is full"):
            sw.write_trees(["(c d)"], path)
        assert path.read_text() == "(a b)\n"
        assert os.listdir(tmp_path) == ["t.mrg"]

    def test_only_names_of_files(self) -> None:
        for stream in (io.StringIO(), io.BytesIO()):
            with pytest.raises(ParameterError, match=r"path must be the name of a file, got an open .*to_strings\(\)"):
                sw.write_trees(["(a b)"], stream)  # type: ignore[arg-type]
            assert not stream.getvalue()
        for path in (3, None, b"t.mrg"):
            with pytest.raises(ParameterError, match=f"path must be the name of a file, .* got {path!r}"):
                sw.write_trees(["(a b)"], path)  # type: ignore[arg-type]

    def test_nothing(self, tmp_path: Path) -> None:
        sw.write_trees([], tmp_path / "t.mrg")
        assert (tmp_path / "t.mrg").read_text() == ""

    def test_an_array(self, tmp_path: Path) -> None:
        X = sw.TreeArray(["(a b)", "x"])
        sw.write_trees(X[::-1], tmp_path / "t.mrg")
        assert (tmp_path / "t.mrg").read_text() == "(x)\n(a b)\n"

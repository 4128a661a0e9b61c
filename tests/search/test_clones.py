"""Copies in source code: what is found in small folders, and what happens to files that cannot be read."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from sapwood.cli import main
from sapwood.errors import DataError, ParameterError
from sapwood.search import code_files, find_clones

pytest.importorskip("tree_sitter_python")

BODY = """
    total = 0
    for item in {0}:
        if item > limit:
            total += item * 2
        else:
            log(item, total)
    print("done", total)
    return total / len({0})
"""
FIRST = "def mean(items, limit):" + BODY.format("items")
RENAMED = "def average(them, limit):" + BODY.format("them").replace("total", "s").replace("2", "3")
RESTRUCTURED = FIRST.replace('    print("done", total)\n', "    report = open(path)\n").replace("mean", "other")
DIFFERENT = """
class Reader:
    def read(self, path):
        with open(path) as stream:
            lines = [line.strip() for line in stream if line]
        return {name: value for name, value in map(split, lines)}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "exact.py").write_text("# a copy\n" + FIRST.replace("    total = 0", "    total   =  0  # sum"))
    (tmp_path / "renamed.py").write_text(RENAMED)
    (tmp_path / "restructured.py").write_text(RESTRUCTURED)
    (tmp_path / "different.py").write_text(DIFFERENT)
    return tmp_path


def kinds(report: object) -> dict[str, str]:
    return {Path(one.second.path).name: one.kind for one in report.clones if one.first.kind == "function"}


def test_exact_renamed_and_restructured_copies(folder: Path) -> None:
    report = find_clones(folder, min_nodes=20)
    assert kinds(report) == {"exact.py": "exact", "renamed.py": "renamed", "restructured.py": "restructured"}
    assert [one.kind for one in report.clones] == ["exact", "renamed", "restructured"]
    restructured = report.clones[-1]
    assert 0.7 <= restructured.similarity < 1
    shared = [Path(restructured.first.path).read_bytes()[a:b].decode() for a, b in restructured.first_marks]
    assert any("total += item * 2" in text for text in shared)
    assert not any("print" in text for text in shared)


def test_names_may_have_to_be_equal(folder: Path) -> None:
    assert "renamed.py" not in kinds(find_clones(folder, min_nodes=20, normalize=False))


def test_blocks_within_different_functions(tmp_path: Path) -> None:
    loop = ["for item in items:", "    if item > 3:", "        store(item, key=item + 1)", "    total = total * item"]
    inner = "\n".join(f"        {line}" for line in loop)
    (tmp_path / "a.py").write_text(f"def f(items):\n    a = 1\n    b = [1, 2]\n    if a:\n{inner}\n")
    (tmp_path / "b.py").write_text(f"while True:\n{inner}\n")
    found = find_clones(tmp_path, min_nodes=15)
    assert [(one.kind, one.first.kind) for one in found.clones] == [("exact", "block")]
    assert find_clones(tmp_path, min_nodes=15, blocks=False).clones == ()


def test_only_changed_files_are_parsed_again(folder: Path) -> None:
    cache = folder / "cache.gz"
    first = find_clones(folder, min_nodes=20, cache=cache)
    assert (first.parsed, first.files) == (5, 5)
    again = find_clones(folder, min_nodes=20, cache=cache)
    assert again.parsed == 0
    assert again.clones == first.clones
    (folder / "renamed.py").write_text(DIFFERENT.replace("Reader", "Writer"))
    changed = find_clones(folder, min_nodes=20, cache=cache)
    assert changed.parsed == 1
    assert changed.clones == find_clones(folder, min_nodes=20).clones
    cache.write_bytes(b"nonsense")
    with pytest.raises(DataError, match="no cache of sapwood clones"):
        find_clones(folder, cache=cache)


def test_a_cache_is_of_one_grammar(folder: Path) -> None:
    pytest.importorskip("tree_sitter_c")
    (folder / "a.h").write_text("int f(int a) { int s = 0; for (;;) { s += a; if (s > 9) { return s; } } }\n")
    cache = folder / "cache.gz"
    find_clones(folder, min_nodes=20, cache=cache)
    again = find_clones(folder, min_nodes=20, cache=cache, grammars={".h": "tree_sitter_python"})
    assert again.parsed == 1
    assert any("a.h: some of it cannot be parsed" in note for note in again.notes)


def test_generated_files_with_many_like_functions(tmp_path: Path) -> None:
    """Neither equal nor similar functions take time that grows with their square."""
    equal = "".join(FIRST.replace("mean", f"f{k}") for k in range(1000))
    alike = "".join(
        f"def g{k}(a):\n" + f"    a{'.b' * (k % 40)} = [{'0, ' * (k // 40)}]\n" + BODY.format("a") for k in range(200)
    )
    (tmp_path / "generated.py").write_text(equal + alike)
    start = time.process_time()
    report = find_clones(tmp_path, min_nodes=20, blocks=False)
    assert time.process_time() - start < 30
    assert sum(one.kind == "renamed" for one in report.clones) >= 999
    alike_pairs = [one for one in report.clones if one.kind == "restructured"]
    assert len({unit.name for one in alike_pairs for unit in (one.first, one.second) if unit.name[0] == "g"}) == 200
    assert len(alike_pairs) < 200 * 199 / 2
    assert "with 50 that are more like it" in "\n".join(report.notes)


def test_files_whose_names_are_no_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.py")).write_text(FIRST)
    except OSError:
        pytest.skip("this file system has only names that are text")
    page = folder / "page.html"
    assert main(["clones", str(folder), "--min-nodes", "20", "--html", str(page), "--json", "-"]) == 0
    printed = json.loads(capsys.readouterr().out)["clones"]
    assert any("caf?.py" in one[side]["path"] for one in printed for side in ("first", "second"))
    assert "caf?.py" in page.read_text()


def test_files_that_cannot_be_read(folder: Path) -> None:
    (folder / "broken.py").write_text("def f(:\n  ((((\n" + FIRST)
    (folder / "binary.py").write_bytes(b"\x7fELF\0\0" + bytes(range(256)))
    (folder / "latin.py").write_bytes(b"# caf\xe9\nx = '\xe9'\n")
    (folder / "large.py").write_text("x = [" + "1, " * 4_000_000 + "]\n")
    (folder / "empty.py").write_text("")
    (folder / "program.rs").write_text("fn main() {}")
    os.symlink(folder, folder / "sub" / "loop")
    os.symlink(folder / "first.py", folder / "link.py")
    os.symlink(folder / "nowhere.py", folder / "dangling.py")
    report = find_clones(folder, min_nodes=20)
    notes = "\n".join(report.notes)
    assert "broken.py: some of it cannot be parsed" in notes
    assert "binary.py: left out, it is binary" in notes
    assert "large.py: left out, 12,000,007 bytes are more than max_bytes=2,000,000" in notes
    if not _installed("tree_sitter_rust"):
        assert "1 file left out for want of a grammar; pip install tree-sitter-rust" in notes
    assert not any("link.py" in str(one.second.path) for one in report.clones)
    assert {"exact.py", "renamed.py", "restructured.py"} <= set(kinds(report))


def test_deep_nesting(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("x = " + "(" * 5000 + "1" + ")" * 5000 + "\n" + FIRST)
    assert find_clones(tmp_path).files == 1


def test_folders_without_sources(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no source file that can be read"):
        find_clones(tmp_path)
    with pytest.raises(DataError, match="there is no such folder"):
        find_clones(tmp_path / "missing")
    (tmp_path / "notes.txt").write_text("text")
    with pytest.raises(DataError, match="no grammar is known"):
        find_clones(tmp_path / "notes.txt")
    with pytest.raises(ParameterError, match="at_least must be"):
        find_clones(tmp_path, at_least=0)


def test_other_languages(tmp_path: Path) -> None:
    pytest.importorskip("tree_sitter_javascript")
    code = (
        "function {0}(a) {{ let s = 0; for (const x of a) {{ if (x > 1) {{ s += x; }} }} return s * 2 - a.length; }}\n"
    )
    (tmp_path / "a.js").write_text(code.format("f"))
    (tmp_path / "b.code").write_text(code.format("g"))
    found = find_clones(tmp_path, min_nodes=15, grammars={".code": "tree_sitter_javascript"})
    assert [one.kind for one in found.clones] == ["renamed"]


# The same function in the languages whose grammars differ in where a body and a name are.
LANGUAGES = {
    ".c": "int N(int *V, int n) { int s = 0; for (int i = 0; i < n; i++) { if (V[i] > 3) { s += 2; } } return s; }",
    ".cpp": "int N(Ints V) { int s = 0; for (auto x : V) { if (x > 3) { s += x * 2; } } return s / 7; }",
    ".go": "package p\nfunc N(V []int) int { s := 0\n for _, x := range V { if x > 3 { s += x } }\n return s / 7 }",
    ".hs": "N V = case V of\n  [] -> 0\n  (x:xs) -> if x > 3 then x * 2 + N xs else N xs - 1 + (x * 3 - 4)",
    ".java": "class C { int N(int[] V) { int s = 0; for (int x : V) { if (x > 3) { s += x * 2; } } return s; } }",
    ".jl": "function N(V)\n s = 0\n for x in V\n  if x > 3\n   s += x * 2\n  end\n end\n return s / length(V)\nend",
    ".jsx": "const N = (V) => { let s = 0; for (const x of V) { if (x > 3) { s += x * 2; } } return s / V.length; };",
    ".kt": "fun N(V: Ints): Int { var s = 0\n for (x in V) { if (x > 3) { s += x * 2 } }\n return s / V.size }",
    ".ml": "let rec N V = match V with [] -> 0 | x :: r -> if x > 3 then x * 2 + N r else N r - 1 + (x * 3 - 4)",
    ".py": "def N(V):\n    s = 0\n    for x in V:\n        if x > 3:\n            s += x * 2\n    return s / len(V)",
    ".rb": "def N(V)\n s = 0\n V.each do |x|\n  if x > 3\n   s += x * 2\n  end\n end\n s / V.length\nend",
    ".rs": "fn N(V: &Ints) -> Int { let mut s = 0; for x in V { if *x > 3 { s += x * 2; } } s / V.len() }",
    ".sh": "N() { local V=$1; s=0; for x in $V; do if [ $x -gt 3 ]; then s=$((s + x * 2)); fi; done; echo $s; }",
    ".swift": "func N(V: Ints) -> Int { var s = 0; for x in V { if x > 3 { s += x * 2 } }; return s / V.count }",
}


@pytest.mark.parametrize("ending", LANGUAGES)
def test_functions_and_their_names_in_many_languages(ending: str, tmp_path: Path) -> None:
    pytest.importorskip(code_files.GRAMMARS[ending].partition(":")[0])
    for file, name, variable in (("a", "mean", "items"), ("b", "average", "values")):
        (tmp_path / (file + ending)).write_text(f"{LANGUAGES[ending].replace('N', name).replace('V', variable)}\n")
    (found,) = find_clones(tmp_path, min_nodes=15).clones
    assert (found.kind, found.first.kind, found.first.name, found.second.name) == (
        "renamed", "function", "mean", "average"
    )  # fmt: skip


def test_functions_that_have_no_name_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("tree_sitter_javascript")
    body = "(a) => { let s = 0; for (const x of a) { if (x > 1) { s += x; } } return s * 2 - a.length; }"
    code = f"o.first = {body};\nuse({{second: {body}}});\nuse({body});\nuse(other || {body});\n"
    (tmp_path / "a.js").write_text(code)
    found = find_clones(tmp_path, min_nodes=15, blocks=False).clones
    assert {unit.name for one in found for unit in (one.first, one.second)} == {"o.first", "second", ""}


def test_of_parts_that_are_alike_the_largest_are_listed(tmp_path: Path) -> None:
    loop = "    for x in xs:\n        if x > 4:\n            acc += x * 2\n    return acc / len(xs)\n"
    code = f"def mean(xs):\n    acc = 0\n{loop}\ndef other(xs):\n    acc = 0\n    print(acc)\n{loop}"
    (tmp_path / "a.py").write_text(code)
    found = find_clones(tmp_path, min_nodes=20).clones
    assert [(one.first.name, one.second.name) for one in found] == [("mean", "other")]


def test_a_block_that_holds_one_function_is_that_function(tmp_path: Path) -> None:
    inner = "\n".join(f"    {line}" for line in FIRST.splitlines())
    (tmp_path / "a.py").write_text(f"if ready:\n{inner}\n")
    (tmp_path / "b.py").write_text(f"try:\n{inner}\nexcept OSError:\n    pass\n")
    (found,) = find_clones(tmp_path, min_nodes=20).clones
    assert (found.kind, found.first.kind, found.first.name) == ("exact", "function", "mean")


def test_what_equals_a_part_of_something_is_no_copy_of_the_whole(tmp_path: Path) -> None:
    loop = "    for x in xs:\n        if x > 4:\n            acc += x * 2\n        log(acc, x, xs)\n    acc = acc / 7\n"
    (tmp_path / "a.py").write_text(f"if ready:\n{loop}\ndef other(xs):\n{loop}")
    found = find_clones(tmp_path, min_nodes=20, at_least=0.5).clones
    assert [(one.kind, one.first.kind, one.second.kind) for one in found] == [("exact", "block", "block")]


def test_tree_sitter_is_named_where_it_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    with pytest.raises(Exception, match=r"tree.sitter"):
        find_clones(folder)


def test_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.html"
    assert main(["clones", str(folder), "--min-nodes", "20", "--sources", "1", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "5 files" in printed
    assert " | " in printed
    assert page.read_text().count("<mark>") >= 6
    assert main(["clones", str(folder), "--min-nodes", "20", "--json", "-"]) == 0
    assert [one["kind"] for one in json.loads(capsys.readouterr().out)["clones"]] == [
        "exact",
        "renamed",
        "restructured",
    ]
    assert main(["clones", str(folder), "--grammar", "zig"]) == 2
    assert "--grammar must be like" in capsys.readouterr().err


def _installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def test_grammars_are_packages() -> None:
    assert all(
        ending.startswith(".") and name.startswith("tree_sitter_") for ending, name in code_files.GRAMMARS.items()
    )

"""Native files and names: folders use only those below them, one type per name, bindings of the stable interface."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

NATIVE = Path(__file__).resolve().parents[1] / "native"
# What each folder may include beside itself. Python is in bind alone.
BELOW = {
    "core": (),
    "trees": ("core",),
    "decode": ("core",),
    "parse": ("core", "trees"),
    "kernels": ("core", "trees"),
    "explain": ("core", "trees", "kernels"),
    "learn": ("core", "trees", "kernels"),
    "search": ("core", "trees", "kernels"),
}


def test_folders_include_only_those_below_them() -> None:
    wrong = []
    for folder, below in BELOW.items():
        paths = sorted((NATIVE / folder).iterdir())
        assert len(paths) >= 2
        for path in paths:
            included = re.findall(r'#include ["<]([\w./]+)[">]', path.read_text())
            inside = [name for name in included if name.endswith(".hpp")]
            assert all((NATIVE / name).is_file() for name in inside)
            wrong += [(path.name, name) for name in inside if Path(name).parts[0] not in (folder, *below)]
            wrong += [(path.name, name) for name in included if name.startswith(("nanobind", "Python"))]
    assert wrong == []
    assert {path.parent.name for path in NATIVE.glob("*/*.hpp")} == {*BELOW, "bind", "test"}


def test_no_two_headers_define_the_same_type() -> None:
    """C++ calls this the one-definition rule, and no compiler checks it across files."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(NATIVE.glob("*/*.hpp")):
        space = ""
        for line in path.read_text().splitlines():
            if opened := re.match(r"namespace ([\w:]*) ?\{", line):
                space = opened[1]
            if defined := re.match(r"(?:struct|class|enum class) (\w+)[^;]*$", line):
                found[space, defined[1]] += 1
    assert len(found) > 50
    assert [name for name, count in found.items() if count > 1] == []


def test_bindings_keep_to_the_stable_interface() -> None:
    """Wheels from Python 3.12 on are built once for all versions, which rules out the macros of the C interface."""
    paths = sorted((NATIVE / "bind").glob("*.[ch]pp"))
    assert len(paths) > 5
    macro = re.compile(r"\bPy[A-Z][A-Za-z]*_[A-Z][A-Z_]+\(")
    assert macro.search("PyUnicode_IS_ASCII(text)")
    assert not macro.search("PyUnicode_AsUTF8AndSize(text, &size)")
    found = [(path.name, use) for path in paths for use in macro.findall(path.read_text())]
    assert found == []

"""Files that are small and mean to become large, and names that mean to lead elsewhere."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sapwood as sw
from sapwood.errors import FormatError, ParameterError
from sapwood.kernels import parse_kernel


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize("reader", ["sw.corpora.conllu.read", "sw.read_trees", "sw.corpora.labeled.read"])
def test_a_compressed_line_without_end(reader: str, tmp_path: Path, fresh: Callable[..., Any]) -> None:
    """A gigabyte of one letter in a megabyte: refused after 64 MB, in a process that has half a gigabyte."""
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=1) as stream:
        for _ in range(64):
            stream.write(b"x" * (16 << 20))
    code = f"""
        import resource
        import sapwood as sw
        import sapwood.corpora.conllu, sapwood.corpora.labeled
        with open("/proc/self/statm") as stream:
            size = int(stream.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + (512 << 20),) * 2)
        try:
            list({reader}("bomb.gz"))
        except sw.SapwoodError as error:
            print(type(error).__name__)
    """
    done = fresh(code)
    assert done.stdout.strip() in ("FormatError", "BracketError", "TooLargeError"), done.stdout + done.stderr


def test_members_of_archives_are_read_and_not_unpacked(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    with zipfile.ZipFile(inner / "trees.zip", "w") as packed:
        packed.writestr("../evil.mrg", "(S (NN dog))")
        packed.writestr("/tmp/sapwood-evil.mrg", "(S (NN cat))")
    assert sorted(str(tree) for tree in sw.read_trees(f"{inner / 'trees.zip'}/*")) == ["(S (NN cat))", "(S (NN dog))"]
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]
    assert [path.name for path in inner.iterdir()] == ["trees.zip"]
    assert not Path("/tmp/sapwood-evil.mrg").exists()


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "SubsetTree.__class__",
        "(lambda: Subtree())()",
        "[Subtree() for _ in range(3)]",
        "open('/etc/passwd')",
        "Subtree(decay=open('/etc/passwd'))",
        "Subtree() + " * 2_000 + "Subtree()",
        "(" * 3_000 + "Subtree()" + ")" * 3_000,
    ],
)
def test_expressions_are_not_evaluated(text: str) -> None:
    with pytest.raises(ParameterError):
        parse_kernel(text)


def test_json_without_end_of_nesting() -> None:
    with pytest.raises(FormatError):
        list(sw.corpora.role_lines.read(io.StringIO("[" * 100_000)))

"""Names of the native core: one type per name, or the linker mixes two of them up without a word."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

NATIVE = Path(__file__).resolve().parents[1] / "native"


def test_no_two_headers_define_the_same_type() -> None:
    """C++ calls this the one-definition rule, and no compiler checks it across files."""
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(NATIVE.glob("*.hpp")):
        space = ""
        for line in path.read_text().splitlines():
            if opened := re.match(r"namespace ([\w:]*) ?\{", line):
                space = opened[1]
            if defined := re.match(r"(?:struct|class|enum class) (\w+)[^;]*$", line):
                found[space, defined[1]] += 1
    assert len(found) > 50
    assert [name for name, count in found.items() if count > 1] == []

"""Peak memory of a Gram matrix relative to the array that is returned.

Each kernel runs in a process of its own, so that none finds memory that another has left behind.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import treebank
from table import Row, show

TREES = 2000
KERNELS = {"SST": "SubsetTree()", "ST": "Subtree()", "PTK": "PartialTree()"}


def main() -> list[Row]:
    """Measure every kernel and return the rows; nothing where the system does not tell."""
    if not Path("/proc/self/clear_refs").exists():
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trees.txt"
        path.write_text("\n".join(treebank.load(TREES).lines) + "\n", encoding="utf-8")
        for name, kernel in KERNELS.items():
            command = [sys.executable, __file__, "--measure", str(path), kernel]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            note = "growth of the peak during the call, less the size of the arena, over the size of the array"
            ratio = (found["growth"] - found["arena"]) / found["array"]
            rows.append(Row(f"Memory {name}", "the array", ratio, target=1.2, at_most=True, note=note))
    return rows


def measure(path: str, kernel: str) -> dict[str, int]:
    """Compute one Gram matrix in this process and return what it took, in bytes."""
    import sapwood as sw
    from sapwood.kernels import parse_kernel

    sw.options(threads=1, progress=False)
    compare = parse_kernel(kernel)
    # What is loaded on first use is not the Gram's.
    compare(sw.TreeArray(["(A (B c) (D e))"] * 40))
    trees = sw.read_trees(path)
    # This sets the peak back to what is in use now.
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmHWM")
    result = compare(trees)
    growth = _status("VmHWM") - before
    return {"growth": growth, "arena": trees._arena.nbytes, "array": result.nbytes}


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"/proc/self/status has no {field}.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(*sys.argv[2:])))
    else:
        print(show(main()))

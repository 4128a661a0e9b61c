"""Readers hold little at a time: peak memory must not follow the size of the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PAD = "x" * 8000
ITEMS = {
    "trees": ("", f"(S (NP (NN {PAD})))\n"),
    "corenlp": ("", f"(ROOT\n  (NP (NN {PAD})))\n\n"),
    "corenlp_json": ('{"sentences": [', f'{{"parse": "(ROOT (NN rain))", "text": "{PAD}"}},\n'),
    "conllu": ("", f"1\train\train\tNOUN\tNN\t_\t0\troot\t_\t{PAD}\n\n"),
    "kelp": ("", f"A |BS:q| {PAD} |ES| |BT:t| (NP(NN(rain))) |ET|\n"),
    "questions": ("", f"DESC:def What is {PAD} ?\n"),
    "quora": ("is_duplicate\tquestion1\tquestion2\n", f"1\train\t{PAD}\n"),
    "msr": ("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n", f"1\t1\t2\train\t{PAD}\n"),
    "nbest": ("", f'{{"name": "{PAD}", "parses": [[-1.0, "(S (NN rain))"]]}}\n'),
}
END = {"corenlp_json": '{"parse": "(ROOT (NN rain))"}]}'}

PROGRAM = """
import json, resource, sys
from sapwood import corpora, trees

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

growth = {}
for name in json.loads(sys.argv[1]):
    module = {"corenlp_json": "corenlp", "quora": "pairs", "msr": "pairs"}.get(name, name)
    read = trees.iter_tree_blocks if name == "trees" else getattr(corpora, module).read
    small = sum(1 for _ in read(f"{sys.argv[2]}/{name}.small"))
    before = peak()
    large = sum(1 for _ in read(f"{sys.argv[2]}/{name}.large"))
    assert large > small, (name, small, large)
    growth[name] = peak() - before
print(json.dumps(growth))
"""


@pytest.mark.slow
def test_peak_memory_does_not_follow_the_size_of_the_file(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("peak memory is measured in units of Linux")
    for name, (header, item) in ITEMS.items():
        for size, count in (("small", 400), ("large", 3000)):
            (tmp_path / f"{name}.{size}").write_text(header + item * count + END.get(name, ""))
    assert (tmp_path / "quora.large").stat().st_size > 22 << 20
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(list(ITEMS)), str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
    )
    growth = json.loads(done.stdout)
    # The large files are 20 MB larger than the small ones; what is left is the noise of the allocator.
    assert growth.keys() == ITEMS.keys()
    assert all(value < 6 for value in growth.values()), growth

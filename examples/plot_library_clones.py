"""
Copies in Python's standard library
===================================

Functions of the standard library that are copies of each other, found in the syntax trees of tree-sitter.
"""

import sysconfig
from importlib.util import find_spec
from pathlib import Path

from sapwood.draw import Bar, bar_chart
from sapwood.search import find_clones

folder = Path(sysconfig.get_paths()["stdlib"]) / "asyncio"
report = None
if find_spec("tree_sitter_python") and folder.is_dir():
    report = find_clones(folder, blocks=False)
    for clone in report.clones[:10]:
        print(
            f"{clone.kind:<12} {clone.similarity:.2f}  {Path(clone.first.path).name} {clone.first.name}, "
            f"{Path(clone.second.path).name} {clone.second.name}"
        )
else:
    print("pip install tree-sitter tree-sitter-python to run this example")

# %%
# How alike the two functions of each pair are.
pairs = [] if report is None else report.clones[:10]
bars = [Bar(f"{one.first.name}, {one.second.name}", one.similarity) for one in pairs]
bar_chart("Copies in asyncio", bars or [Bar("tree-sitter is not installed", 0.0)], label="similarity")

# %%
# The sources of the first restructured copy, with a bar before the lines that both share.
if report is not None:
    found = [clone for clone in report.clones if clone.kind == "restructured"][:1]
    print(type(report)(tuple(found), report.files, report.parsed, report.units).to_text(sources=1))

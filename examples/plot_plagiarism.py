"""
Plagiarism in student programs
==============================

Five students hand in a program. Two have copied, and changed names and a statement or two.
"""

import tempfile
from importlib.util import find_spec
from pathlib import Path

from sapwood.draw import Bar, bar_chart
from sapwood.search import find_clones

PROGRAMS = {
    "ada": """
def grade(scores, weights):
    total = 0
    for score, weight in zip(scores, weights):
        if score < 0:
            raise ValueError("negative score")
        total += score * weight
    average = total / sum(weights)
    print("average", round(average, 2))
    return average >= 0.5
""",
    "ben": """
def mark(points, factors):
    s = 0
    for p, f in zip(points, factors):
        if p < 0:
            raise ValueError("bad")
        s += p * f
    mean = s / sum(factors)
    print("mean", round(mean, 2))
    return mean >= 0.6
""",
    "cem": """
def result(scores, weights):
    log = open("grades.txt")
    total = 0
    for score, weight in zip(scores, weights):
        if score < 0:
            raise ValueError("negative score")
        total += score * weight
    average = total / sum(weights)
    return average >= 0.5
""",
    "dee": """
def passed(scores, weights):
    pairs = [score * weight for score, weight in zip(scores, weights) if score >= 0]
    if len(pairs) < len(scores):
        raise ValueError("a score is negative")
    return sum(pairs) >= 0.5 * sum(weights)
""",
    "eve": """
def check(values, importance):
    return sum(map(lambda a, b: a * b, values, importance)) / sum(importance) >= 0.5
""",
}

# %%
# Copies come with their kind: the same but for names, or restructured. Programs that solve the task in their own way
# are not listed.
bars = []
if find_spec("tree_sitter_python"):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            (Path(folder) / f"{name}.py").write_text(text)
        for clone in find_clones(folder, min_nodes=30, blocks=False).clones:
            names = f"{Path(clone.first.path).stem}, {Path(clone.second.path).stem}"
            print(f"{clone.kind:<12} {clone.similarity:.2f}  {names}")
            bars.append(Bar(f"{names}: {clone.kind}", clone.similarity))
else:
    print("pip install tree-sitter tree-sitter-python to run this example")

# %%
# The pairs that somebody should look at, by how alike they are.
bar_chart("Pairs of programs", bars or [Bar("tree-sitter is not installed", 0.0)], label="similarity")

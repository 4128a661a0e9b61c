"""How fast the grammar-driven kernel is: beside the subset-tree kernel, and where deletions explode.

The kernels take turns, one thread, medians of several rounds, on the first 2,000 trees of NLTK's treebank sample,
without traces and function tags (or on generated trees of that kind where the sample is missing).

    python benchmarks/grammar_driven.py
"""

from __future__ import annotations

import argparse
import io
import random
import zipfile
from typing import Any

import sapwood as sw
from measure import interleaved
from places import corpus
from sapwood.kernels import GrammarDriven, SubsetTree
from sapwood.trees import Grammar
from table import Row

SAMPLE = corpus("nltk-zips/treebank.zip")


def load(count: int) -> tuple[str, sw.TreeArray]:
    if not SAMPLE.exists():
        return "generated trees", sw.TreeArray(generate(count))
    with zipfile.ZipFile(SAMPLE) as files:
        names = sorted(name for name in files.namelist() if name.endswith(".mrg"))
        text = "\n".join(files.read(name).decode() for name in names)
    trees = sw.read_trees(io.StringIO(text), drop_traces=True, drop_function_tags=True)
    # A store of its own, so that nothing beyond these trees is paid for.
    return "treebank sample", sw.TreeArray(trees[:count].to_strings())


def generate(count: int) -> list[str]:
    """Trees with optional adjectives, adverbs and prepositional phrases, about the size of newspaper sentences."""
    rng = random.Random(0)

    def tag(label: str) -> str:
        return f"({label} w{min(int(rng.expovariate(0.01)), 9999)})"

    def noun(depth: int) -> str:
        inner = [tag("DT")] if rng.random() < 0.6 else []
        inner += [tag(rng.choice(["JJ", "JJR", "NN"])) for _ in range(rng.choice([0, 0, 1, 2]))]
        plain = f"(NP {' '.join(inner)} {tag(rng.choice(['NN', 'NNS', 'NNP']))})"
        return f"(NP {plain} (PP {tag('IN')} {noun(depth + 1)}))" if depth < 4 and rng.random() < 0.5 else plain

    def verb(depth: int) -> str:
        inner = [tag(rng.choice(["VBD", "VBZ"]))]
        inner += [f"(ADVP {tag('RB')})"] if rng.random() < 0.3 else []
        inner += [noun(depth)] if rng.random() < 0.7 else []
        inner += [f"(PP {tag('IN')} {noun(depth)})" for _ in range(rng.choice([0, 1, 1, 2]))]
        return f"(VP {' '.join(inner)})"

    def sentence(depth: int = 0) -> str:
        clause = f", (SBAR {tag('IN')} {sentence(depth + 1)})" if depth < 2 and rng.random() < 0.5 else ""
        return f"(S {noun(0)} {verb(0)} {clause.replace(',', '(, ,)')} {'(. .)' if rng.random() < 0.9 else ''})"

    return [sentence() for _ in range(count)]


# How many times the subset-tree kernel's time the grammar-driven one may take.
LARGEST_RATIO = 3.5


def main() -> list[Row]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    name, X = load(options.trees)
    grammar = Grammar.from_trees(X)
    X.node_count()  # counts subtrees, which both kernels need
    print(f"{len(X):,} trees ({name}), {len(grammar):,} rules, one thread, CPU s, medians of {options.rounds} in turns")
    print(f"{grammar.statistics()}\n")
    variants: dict[str, Any] = {
        "SubsetTree()": SubsetTree(),
        "GrammarDriven(g)": GrammarDriven(grammar),
        '  mutation_scope="root"': GrammarDriven(grammar, mutation_scope="root"),
        '  lexical="ignore"': GrammarDriven(grammar, lexical="ignore"),
        '  duplicates="canonical"': GrammarDriven(grammar, duplicates="canonical"),
        "  deletion=0": GrammarDriven(grammar, deletion=0.0),
    }
    pairs = len(X) * (len(X) + 1) / 2
    with sw.options(threads=1):
        works = {label: lambda kernel=kernel: kernel(X) for label, kernel in variants.items()}
        measured = interleaved(works, repeat=options.rounds)
    base = measured["SubsetTree()"]
    for label, one in measured.items():
        seconds = one.median
        print(
            f"{label:28} {seconds:7.3f} s  {pairs / seconds / 1e6:6.1f} M pairs/s  "
            f"{base.over(one):5.1f} x SubsetTree, ±{base.ratio_spread(one):.0%}"
        )
    print("\nNP -> DT JJ^k NN with itself, all shorter forms being rules")
    for k in (8, 16, 24):
        forms = Grammar([("NP", ("DT", *["JJ"] * j, "NN"), j + 1) for j in range(k + 1)])
        tree = sw.Tree.fromstring(f"(NP (DT the) {' '.join(f'(JJ a{i})' for i in range(k))} (NN dog))")
        kernel = GrammarDriven(forms)
        seconds = interleaved({"": lambda kernel=kernel, tree=tree: kernel(tree, tree)}, repeat=20)[""].median
        print(
            f"k = {k:2}: {seconds * 1e3:6.2f} ms per pair, value {kernel(tree, tree):.4g}, 2^{k} deletions on each side"
        )
    ours = measured["GrammarDriven(g)"]
    return [
        Row(
            "Gram grammar-driven", "our SST", base.over(ours), pairs / ours.median, pairs / base.median, "pairs",
            LARGEST_RATIO, at_most=True, note=f"times the CPU time of the other kernel; {len(X):,} trees",
            spread=base.ratio_spread(ours),
        )
    ]  # fmt: skip


if __name__ == "__main__":
    main()

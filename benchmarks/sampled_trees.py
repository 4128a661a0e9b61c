"""Trees sampled from the grammar of the English Web Treebank, for benchmarks that need more than treebanks hold.

Productions are drawn by their relative frequencies, words included, so that lengths, shapes and words are spread as in
the treebank. Of trees that were drawn before, at most one in twenty is kept.

    python benchmarks/sampled_trees.py 1000000 trees.mrg
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate

from places import corpus
from sapwood import Tree, read_trees

MOST_NODES = 300  # trees of more nodes are drawn again


def grammar() -> dict[str, tuple[list[tuple[str, ...]], list[float]]]:
    """Return, for every label, what it is expanded to and the cumulated counts; leaves have no entry."""
    counts: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    trees = read_trees(corpus("ewt-propbank/train.trees.gz"), drop_traces=True, drop_function_tags=True)
    for tree in trees:
        assert isinstance(tree, Tree)
        counts[""][(f"<{tree.label}",)] += 1
        stack = [tree]
        while stack:
            node = stack.pop()
            # Labels of internal nodes are marked, since a word can be spelled like one.
            counts[f"<{node.label}"][
                tuple(f"<{kid.label}" if kid.children else kid.label for kid in node.children)
            ] += 1
            stack += [kid for kid in node.children if kid.children]
    return {label: (list(found), list(accumulate(map(float, found.values())))) for label, found in counts.items()}


def sample(count: int, *, seed: int = 0) -> Iterator[str]:
    """Draw trees in bracket notation."""
    rules = grammar()
    draw = random.Random(seed)
    seen: set[int] = set()
    again = 0
    made = 0
    while made < count:
        text = _tree(rules, draw)
        if text is None:
            continue
        key = hash(text)
        if key in seen:
            if again >= made // 20:
                continue
            again += 1
        seen.add(key)
        made += 1
        yield text


def _tree(rules: dict[str, tuple[list[tuple[str, ...]], list[float]]], draw: random.Random) -> str | None:
    pieces: list[str] = []
    stack = [draw.choices(rules[""][0], cum_weights=rules[""][1])[0][0]]
    nodes = 0
    while stack:
        label = stack.pop()
        if label == ")":
            pieces.append(")")
            continue
        nodes += 1
        if nodes > MOST_NODES:
            return None
        if label not in rules:
            pieces.append(f" {label}")
            continue
        choices, cumulated = rules[label]
        below = choices[0] if len(choices) == 1 else draw.choices(choices, cum_weights=cumulated)[0]
        pieces.append(f" ({label[1:]}")
        stack.append(")")
        stack += reversed(below)
    return "".join(pieces).strip()


if __name__ == "__main__":
    number, path = int(sys.argv[1]), sys.argv[2]
    with open(path, "w", encoding="utf-8") as out:
        for line in sample(number):
            out.write(line + "\n")

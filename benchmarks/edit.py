"""Tree edit distance beside apted and docling-metrics-teds at 100 nodes, and all pairs of 2,000 trees of 50 nodes.

Run ``python benchmarks/run.py edit``; ``python benchmarks/edit.py --check`` compares 10,000 random pairs with zss and
apted, which takes some minutes. Rivals that are not installed are left out (pip install apted zss
docling-metrics-teds). CPU time in turns, one thread; all pairs with two.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

import sapwood as sw
from measure import busy, interleaved
from sapwood import Tree
from sapwood.search import EditDistance
from table import Row

PAIRS, NODES = 3, 100
MANY, SMALLER, SECONDS = 2000, 50, 60.0


def random_tree(rng: random.Random, size: int, labels: str = "abcdefgh") -> Tree:
    """Draw trees of all shapes: a node hangs below one of the latest, so some are deep and some are flat."""
    reach = rng.choice([1, 2, 4, size])
    parents = [rng.randrange(max(0, node - reach), node) for node in range(1, size)]
    below: list[list[Tree]] = [[] for _ in range(size)]
    for node in range(size - 1, 0, -1):
        siblings = below[parents[node - 1]]
        siblings.insert(rng.randint(0, len(siblings)), Tree(rng.choice(labels), below[node]))
    return Tree(rng.choice(labels), below[0])


def main() -> list[Row]:
    """Measure and return the rows."""
    rng = random.Random(0)
    pairs = [(random_tree(rng, NODES), random_tree(rng, NODES)) for _ in range(PAIRS)]
    ours = EditDistance()
    found: dict[str, list[float]] = {}

    def sapwood() -> None:
        found["sapwood"] = [ours(a, b) for a, b in pairs]

    rows = []
    with sw.options(threads=1, progress=False):
        for name, work, target in (
            ("docling-metrics-teds", _docling(pairs, found), 2.0),
            ("apted", _apted(pairs, found), 100.0),
        ):
            if work is None:
                print(f"edit: {name} is not installed, so it is left out.")
                continue
            watch = busy()
            measured = interleaved(
                {"sapwood": sapwood, name: work}, repeat=3 if name == "apted" else 15, warm=name != "apted"
            )
            if max(abs(a - b) for a, b in zip(found["sapwood"], found[name], strict=True)) > 1e-6:
                raise SystemExit(f"{name} finds {found[name]}, and we find {found['sapwood']}")
            rows.append(Row.compare(
                f"edit distance, {NODES} nodes", name, measured["sapwood"], measured[name], PAIRS, "pairs", target,
                busy=watch.note(),
            ))  # fmt: skip
    X = sw.TreeArray([random_tree(rng, SMALLER) for _ in range(MANY)])
    with sw.options(threads=2, progress=False):
        watch, start, clock = busy(), time.process_time(), time.perf_counter()
        ours(X)
        cpu, wall = time.process_time() - start, time.perf_counter() - clock
    distances = MANY * (MANY - 1) / 2
    rows.append(Row(
        f"edit, all pairs of {MANY:,}", f"{SECONDS:.0f} s on two cores", cpu / 2 / SECONDS, distances / (cpu / 2), None,
        "pairs", 1.0, at_most=True, note=f"{SMALLER} nodes each; {cpu:.1f} CPU s, {wall:.1f} s on the clock",
        busy=watch.note(),
    ))  # fmt: skip
    return rows


def _apted(pairs: list[tuple[Tree, Tree]], found: dict[str, list[float]]) -> Callable[[], None] | None:
    try:
        from apted import APTED
    except ImportError:
        return None
    trees = [(_to_apted(a), _to_apted(b)) for a, b in pairs]

    def work() -> None:
        found["apted"] = [float(APTED(a, b).compute_edit_distance()) for a, b in trees]

    return work


def _docling(pairs: list[tuple[Tree, Tree]], found: dict[str, list[float]]) -> Callable[[], None] | None:
    try:
        from docling_metrics_teds.docling_metric_teds_cpp import TEDSManager
    except ImportError:
        return None
    texts = [(_braces(a), _braces(b)) for a, b in pairs]
    manager, largest = TEDSManager(), [max(a.size(), b.size()) for a, b in pairs]

    def work() -> None:
        scores = [manager.evaluate_sample("", a, b).teds for a, b in texts]
        found["docling-metrics-teds"] = [(1 - score) * size for score, size in zip(scores, largest, strict=True)]

    return work


def _braces(tree: Tree) -> str:
    return "{" + tree.label + "".join(map(_braces, tree.children)) + "}"


def _to_apted(tree: Tree) -> Any:
    from apted.helpers import Tree as Other

    return Other(tree.label, *map(_to_apted, tree.children))


def check(count: int = 10_000) -> None:
    """Compare with zss and apted on random pairs of up to 14 nodes."""
    import zss
    from apted import APTED

    def to_zss(tree: Tree) -> Any:
        node = zss.Node(tree.label)
        for child in tree.children:
            node.addkid(to_zss(child))
        return node

    rng = random.Random(1)
    pairs = [(random_tree(rng, rng.randint(1, 14)), random_tree(rng, rng.randint(1, 14))) for _ in range(count)]
    found = EditDistance().pairwise([a for a, _ in pairs], [b for _, b in pairs]).tolist()
    wrong = 0
    for number, ((a, b), ours) in enumerate(zip(pairs, found, strict=True), 1):
        wrong += ours != zss.simple_distance(to_zss(a), to_zss(b))
        wrong += ours != APTED(_to_apted(a), _to_apted(b)).compute_edit_distance()
        if number % 1000 == 0:
            print(f"{number:,} pairs, {wrong} differ", flush=True)


if __name__ == "__main__":
    if "--check" in sys.argv:
        check()
    else:
        from table import show

        print(show(main()))

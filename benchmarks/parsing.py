"""What a parse costs: by length, against the target of 50 ms at 24 words, and the memory of a 200-word sentence.

Needs the Penn Treebank sample at the place that ``treebank`` names; where it is missing, the generated one is used.
"""

from __future__ import annotations

import numpy as np

import sapwood as sw
import treebank
from sapwood.parse import PCFGParser
from table import Row, best

TARGET_MS = 50.0
LIMIT_MB = 200.0


def main() -> list[Row]:
    lines = treebank.load(3900).lines
    held_out = [sw.Tree.fromstring(line) for line in lines[::10]]
    parser = PCFGParser().fit([line for number, line in enumerate(lines) if number % 10])
    words = [_words(tree) for tree in held_out]
    rows = []
    with sw.options(threads=1):
        average = [one for one in words if 21 <= len(one) <= 27][:40]
        mean = np.mean([len(one) for one in average])
        for n in (1, 30):
            seconds = best(lambda n=n: parser.parse_nbest_batch(average, n), repeat=2) / len(average)
            name = f"parse {mean:.0f} words, {n} best"
            versus = f"{TARGET_MS:.0f} ms"
            rows.append(
                Row(name, versus, 1000 * seconds / TARGET_MS, 1 / seconds, 1000 / TARGET_MS, "sentences", 1.0, True)
            )
        short = [one for one in words if 11 <= len(one) <= 13][:30]
        cost = [best(lambda some=some: parser.parse_batch(some), repeat=2) / len(some) for some in (short, average)]
        growth = np.log(cost[1] / cost[0]) / np.log(mean / np.mean([len(one) for one in short]))
        rows.append(Row("power of the length that time grows with", "cubic", growth / 3, target=1.0, at_most=True))
        long = [word for one in words for word in one[:-1]][:200]
        (size,) = parser.chart_bytes([long])
        rows.append(Row("chart of 200 words", f"{LIMIT_MB:.0f} MB", size / 1e6 / LIMIT_MB, target=1.0, at_most=True))
    return rows


def _words(tree: sw.Tree) -> list[str]:
    return [node.children[0].label for node in tree.preorder() if node.height() == 1 and node.label != "-NONE-"]


if __name__ == "__main__":
    from table import show

    print(show(main()))

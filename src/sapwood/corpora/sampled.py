"""Trees sampled from a random grammar, as large, as varied and as repetitive as those of a newspaper.

They stand in for a treebank where sizes matter and words do not: a part of any length, from any place of an endless
stream, follows from a seed. They are not English; ``nursery`` is, a little.
"""

from __future__ import annotations

import bisect
import io
import itertools
import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.checks import check_count
from sapwood.trees.array import TreeArray
from sapwood.trees.treebank import read_trees

__all__ = ["sample_brackets", "sample_labeled"]

Rules = Mapping[str, Sequence[tuple[float, str]]]


def sample_brackets(count: int, *, seed: int = 20) -> list[str]:
    """Draw trees in bracket notation.

    >>> sample_brackets(1, seed=5)[0][:52]
    '(S (PP-TMP (IN in11) (NP (DT dt0) (JJ jj0) (NN nn5) '
    """
    check_count(count, "count", 0)
    draw = random.Random(seed)
    lexicons = _lexicons()
    return [_sentence(draw, _RULES, lexicons) for _ in range(count)]


def sample_labeled(count: int, *, seed: int = 0, classes: int = 4) -> tuple[TreeArray, NDArray[np.str_]]:
    """Draw trees of several classes, which differ in how often they use each rule of one grammar.

    Parameters
    ----------
    count : int
        How many trees.
    seed : int
        Another seed gives another part of the same endless stream: the classes are what they are for every seed.
    classes : int
        How many classes, called "a", "b" and so on; at most 26.

    Examples
    --------
    >>> trees, labels = sample_labeled(3, seed=1)
    >>> trees, labels.tolist()
    (TreeArray(3 trees, 244 nodes, 216 distinct subtrees), ['d', 'd', 'c'])
    """
    check_count(count, "count", 0)
    check_count(classes, "classes", most=26)
    names = "abcdefghijklmnopqrstuvwxyz"[:classes]
    # One tilt per class, the same for every seed.
    grammars = {name: _tilted(random.Random(f"class {name}")) for name in names}
    draw = random.Random(f"part {seed}")
    lexicons = _lexicons()
    labels = [draw.choice(names) for _ in range(count)]
    text = "\n".join(_sentence(draw, grammars[label], lexicons) for label in labels)
    return read_trees(io.StringIO(text)), np.array(labels)


def _lexicons() -> dict[str, _Zipf]:
    return {tag: _Zipf(size, exponent) for tag, (size, exponent) in _LEXICON.items()}


def _tilted(draw: random.Random) -> Rules:
    return {
        label: [(weight * draw.choice((0.5, 1.0, 2.0)), right) for weight, right in rules]
        for label, rules in _RULES.items()
    }


# Expansions with their weights; the first ones are the plainest. Labels with a 0 are rules of the generator only: the
# tree shows them without it.
_RULES: dict[str, list[tuple[float, str]]] = {
    "S": [(6, "NP-SBJ VP ."), (2, "PP , NP-SBJ VP ."), (1.2, "S0 , NP-SBJ VP ."), (0.6, "ADVP NP-SBJ VP .")],
    "S0": [(5, "NP-SBJ VP"), (1, "NP-SBJ ADVP VP"), (1, "PP NP-SBJ VP")],
    "NP-SBJ": [
        (3, "DT NN"), (3, "NNP NNP"), (2, "PRP"), (2, "-NONE-"), (1.5, "NNS"), (3, "NP PP"),
        (1, "DT JJ NN"), (1, "NP SBAR"),
    ],
    "NP": [
        (4, "DT NN"), (2, "NNS"), (2, "JJ NNS"), (2, "NN"), (2, "NNP"), (4.5, "NP PP"), (1.5, "DT JJ NN"),
        (1.5, "-NONE-"),
        (1.2, "CD NNS"), (1, "NNP NNP"), (1, "NP , NP"), (0.7, "NN NNS"), (0.6, "DT NN NN"), (0.8, "NP CC NP"),
        (0.5, "DT JJ NN NNS"), (0.4, "DT NNP NNP NN"), (0.4, "JJ NN NNS"), (0.8, "NP SBAR"),
    ],
    "VP": [
        (3, "VBD NP"), (2, "VBZ NP"), (1.5, "VBD PP"), (3, "VBD SBAR"), (2.5, "MD VP0"), (2.5, "VBD NP PP"),
        (1.5, "VBZ VP0"),
        (1, "VBD ADVP PP"), (0.8, "VBZ ADJP"), (1, "VP CC VP"), (0.7, "VBD NP , PP"),
    ],
    "VP0": [(3, "VB NP"), (2, "VBN PP"), (2.5, "VB NP PP"), (1.5, "VBN NP PP"), (1.5, "VB SBAR"), (1, "TO VP0")],
    "PP": [(9, "IN NP"), (1, "TO NP"), (0.7, "IN S0")],
    "SBAR": [(3, "IN S0"), (2, "WHNP S0"), (2, "-NONE- S0")],
    "WHNP": [(3, "WDT"), (2, "WP")],
    "ADVP": [(4, "RB"), (1, "RB RB")],
    "ADJP": [(3, "JJ"), (1.5, "RB JJ"), (1, "JJ PP")],
}  # fmt: skip

# What makes real productions so many: function tags and indices on labels, and material put in between.
_TAGS = [
    "-LOC",
    "-TMP",
    "-PRD",
    "-CLR",
    "-1",
    "-2",
    "-ADV",
    "-MNR",
    "-3",
    "-TTL",
    "-NOM",
    "-DIR",
    "-EXT",
    "-PRP",
    "-LGS",
]
_INSERTS = ["ADVP", ",", "PP", "CC", "NNP", "JJ", "RB", "CD", "ADJP", "NN", "S0", ".", "-NONE-"]

# Per tag: the number of words and how steeply their frequency falls.
_LEXICON: dict[str, tuple[int, float]] = {
    "NN": (4000, 0.85), "NNS": (2500, 0.85), "NNP": (4000, 0.85), "JJ": (2500, 0.85), "CD": (1200, 0.9),
    "VBD": (900, 0.9), "VBZ": (600, 1.0), "VB": (900, 0.9), "VBN": (900, 0.9), "RB": (500, 1.0), "IN": (70, 1.2),
    "DT": (20, 1.5), "PRP": (15, 1.3), "MD": (12, 1.2), "CC": (10, 1.8), "TO": (1, 1.0), "WDT": (3, 1.5),
    "WP": (4, 1.5), ",": (1, 1.0), ".": (3, 2.5), "-NONE-": (120, 1.3),
}  # fmt: skip


class _Zipf:
    """Ranks with probability proportional to 1 / rank ** exponent."""

    def __init__(self, size: int, exponent: float) -> None:
        self._sums = list(itertools.accumulate(1 / rank**exponent for rank in range(1, size + 1)))

    def __call__(self, draw: random.Random) -> int:
        return bisect.bisect_left(self._sums, draw.random() * self._sums[-1])


def _sentence(draw: random.Random, grammar: Rules, lexicons: dict[str, _Zipf]) -> str:
    while True:
        tree, words = _expand("S", 0, draw, grammar, lexicons)
        if 9 <= words <= 90:
            return tree


def _expand(label: str, depth: int, draw: random.Random, grammar: Rules, lexicons: dict[str, _Zipf]) -> tuple[str, int]:
    if label in lexicons:
        return f"({label} {label.lower()}{lexicons[label](draw)})", 1
    rules = grammar[label]
    # Deep down only the plainest expansions remain, so that every tree ends.
    if depth > 11:
        rules = rules[: 1 + len(rules) // 4]
    right = draw.choices([labels for _, labels in rules], [weight for weight, _ in rules])[0].split()
    if draw.random() < 0.13:
        right.insert(draw.randrange(1, len(right) + 1), _rare(_INSERTS, draw))
    parts = [_expand(child, depth + 1, draw, grammar, lexicons) for child in right]
    shown = label.rstrip("0")
    if depth > 0 and draw.random() < 0.2:
        shown += _rare(_TAGS, draw)
    return f"({shown} {' '.join(part for part, _ in parts)})", sum(words for _, words in parts)


def _rare(choices: list[str], draw: random.Random) -> str:
    """Draw with falling probability along the list."""
    return choices[min(int(draw.expovariate(0.25)), len(choices) - 1)]

"""The trees that benchmarks run on: the Penn Treebank sample, or a generated treebank of the same shape.

``load(count)`` gives one bracketed string per tree. The sample is read from the archive that NLTK distributes, without
NLTK; where it is missing, ``generate`` draws trees from a random grammar with a Zipfian lexicon.
"""

from __future__ import annotations

import bisect
import itertools
import random
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from places import corpus

ARCHIVE = corpus("nltk-zips/treebank.zip")
SEED = 20


@dataclass(frozen=True)
class Treebank:
    """Trees as strings, one tree each, and where they come from."""

    lines: list[str]
    origin: str


def load(count: int, *, archive: Path = ARCHIVE, seed: int = SEED) -> Treebank:
    """Return the first ``count`` trees of the sample, or generated ones where there is no archive."""
    if not archive.exists():
        return Treebank(generate(count, seed=seed), f"generated treebank, seed {seed}")
    with zipfile.ZipFile(archive) as files:
        names = sorted(name for name in files.namelist() if "/combined/" in name and name.endswith(".mrg"))
        found = itertools.chain.from_iterable(split(files.read(name).decode("utf-8")) for name in names)
        lines = list(itertools.islice(found, count))
    if len(lines) < count:
        raise SystemExit(f"{archive} holds {len(lines)} trees; this benchmark needs {count}.")
    return Treebank(lines, f"Penn Treebank sample (first {count:,} trees of {archive.name})")


def split(text: str) -> list[str]:
    """Cut the text of a treebank file into trees, each on one line and without its nameless outer bracket."""
    trees, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character == "(":
            if depth == 0:
                start = at
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                tree = " ".join(text[start : at + 1].split())
                if re.match(r"\( ?\(", tree):
                    tree = tree[1:-1].strip()
                trees.append(tree)
    return trees


def generate(count: int, *, seed: int = SEED) -> list[str]:
    """Draw trees that are as large, as varied and as repetitive as those of the sample."""
    draw = random.Random(seed)
    lexicons = {tag: _Zipf(size, exponent) for tag, (size, exponent) in _LEXICON.items()}
    return [_sentence(draw, lexicons) for _ in range(count)]


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


def _sentence(draw: random.Random, lexicons: dict[str, _Zipf]) -> str:
    while True:
        tree, words = _expand("S", 0, draw, lexicons)
        if 9 <= words <= 90:
            return tree


def _expand(label: str, depth: int, draw: random.Random, lexicons: dict[str, _Zipf]) -> tuple[str, int]:
    if label in lexicons:
        return f"({label} {label.lower()}{lexicons[label](draw)})", 1
    rules = _RULES[label]
    # Deep down only the plainest expansions remain, so that every tree ends.
    if depth > 11:
        rules = rules[: 1 + len(rules) // 4]
    right = draw.choices([labels for _, labels in rules], [weight for weight, _ in rules])[0].split()
    if draw.random() < 0.13:
        right.insert(draw.randrange(1, len(right) + 1), _rare(_INSERTS, draw))
    parts = [_expand(child, depth + 1, draw, lexicons) for child in right]
    shown = label.rstrip("0")
    if depth > 0 and draw.random() < 0.2:
        shown += _rare(_TAGS, draw)
    return f"({shown} {' '.join(part for part, _ in parts)})", sum(words for _, words in parts)


def _rare(choices: list[str], draw: random.Random) -> str:
    """Draw with falling probability along the list."""
    return choices[min(int(draw.expovariate(0.25)), len(choices) - 1)]

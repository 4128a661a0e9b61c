"""The trees that benchmarks run on: the Penn Treebank sample, or a generated treebank of the same shape.

``load(count)`` gives one bracketed string per tree. The sample is read from the archive that NLTK distributes, without
NLTK; where it is missing, trees are drawn from a random grammar (``sapwood.corpora.sampled``).
"""

from __future__ import annotations

import itertools
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
        from sapwood.corpora.sampled import sample_brackets  # old revisions that are measured have no such module

        return Treebank(sample_brackets(count, seed=seed), f"generated treebank, seed {seed}")
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

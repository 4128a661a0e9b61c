"""Where the next word of a sentence hangs, by a kernel and by a network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sapwood.corpora.nursery import Nursery
from sapwood.draw import outline
from sapwood.experiments.attachment.data import Data
from sapwood.experiments.attachment.learners import attach, kernel, learn, network
from sapwood.experiments.attachment.pictures import components, iterations
from sapwood.experiments.figures import Figure, Part
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.parse.incremental import attachment_trees
from sapwood.trees import Tree, TreeArray

__all__ = ["ABOUT", "TITLE", "run"]

TITLE = "Incremental attachment"
ABOUT = (
    "A parser that reads from left to right has a tree over the first words. Where does the next word attach? A kernel "
    "and a recursive network learn to choose."
)


def run(corpus: Nursery) -> Iterator[Part]:
    """Train both learners on a hundred sentences."""
    trees = attachment_trees(TreeArray([sentence.tree for sentence in corpus.sentences[:400]]))
    data = Data("The nursery", trees[:100], trees[100:200], trees[200:], Setting())
    forests = data.test_forests
    largest = int(forests.sizes.argmax())
    right = forests.trees[int(forests.ends[largest] - forests.sizes[largest] + forests.gold[largest])]
    assert isinstance(right, Tree)
    says = f"one of {forests.sizes[largest]} ways to attach its last word, {forests.feet[largest]}."
    yield Figure(
        "A tree over the first words of a sentence",
        right._repr_svg_(),
        f"{outline(right)}\n\nis {says}",
        (f"This is {says}",),
    )
    rows: list[tuple[Cell, ...]] = [("most frequent path, lowest anchor", 100 * data.baseline.error, None)]
    for name, ranker in (("kernel", kernel(0)), ("recursive network", network(0, epochs=5))):
        outcome = learn(data, name, ranker, partial(attach, data, ranker, data.train), forests)
        rows.append((name, 100 * outcome.errors.error, outcome.learn))
    yield Table(
        "attachment",
        f"Trained on {len(data.train):,} sentences, tested on {len(forests):,} words with {len(forests.trees):,} trees",
        ("choice", "wrong %", "CPU s"),
        rows,
        {"wrong %": 1},
    )
    passes, states = iterations(data, passes=8), components(data)
    yield Figure("Learning, pass by pass, on held-out sentences", passes.chart)
    yield Figure(
        "The trees of one forest on two principal components of the network's states",
        states.chart,
        notes=(states.notes[-1], "Point at one to see its tree."),
    )

"""Models for a first look: one of each kind, trained on the nursery in seconds."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.corpora import nursery
from sapwood.corpora.nursery import Nursery
from sapwood.files import save
from sapwood.kernels import Linear, SubsetTree
from sapwood.learn import KernelRanker, KernelSVC
from sapwood.parse import PCFGParser
from sapwood.tasks.frames import FrameIdentifier, FrameLabeler, FrameParser, nursery_frames
from sapwood.tasks.pairs import PairClassifier, PairFeatures
from sapwood.tasks.questions import QuestionClassifier, plain_kernel
from sapwood.tasks.reranking import ParseReranker
from sapwood.tasks.roles import RoleLabeler
from sapwood.trees import Examples, Grammar
from sapwood.writing import write_text

__all__ = ["train_starters"]

_ABOUT = (
    "These are toy models, trained in seconds on a small synthetic corpus: they show how the explorer works, and are "
    "often wrong about other sentences. Name a folder of your own models to look at those: sapwood serve FOLDER.\n"
)
# What each is trained on, for its card.
_LEARNT = {
    **dict.fromkeys(("parser", "grammar"), "all trees"),
    "questions": "all questions",
    **dict.fromkeys(("trees", "roles", "frames"), "half of the sentences"),
    "pairs": "pairs of sentences",
    "reranker": "parses of 200 sentences",
}


def train_starters(
    folder: str | os.PathLike[str], *, size: int = 1500, report: Callable[[str], None] | None = None
) -> None:
    """Train small models and save them into a folder.

    Parameters
    ----------
    folder : path
        Where to; it must exist.
    size : int
        Sentences of the nursery to learn from.
    report : callable, optional
        Takes a line of text whenever a model is finished.
    """
    tell = report or (lambda line: None)
    tell("Training small models on the nursery, which is synthetic and not a benchmark.")
    write_text(Path(folder) / "about.txt", _ABOUT)
    start = time.perf_counter()
    corpus = nursery.generate(size=size)
    said = {name: {"trained_on": f"{what} of a synthetic toy corpus"} for name, what in _LEARNT.items()}
    write_text(Path(folder) / "models.json", json.dumps({"models": said}))
    for name, model in _models(corpus):
        save(model, Path(folder) / f"{name}.sap")
        tell(f"  {name:<10} {time.perf_counter() - start:5.1f} s")
        start = time.perf_counter()


def _models(corpus: Nursery) -> Iterator[tuple[str, Any]]:
    yield "parser", PCFGParser().fit(corpus.trees)
    yield "grammar", Grammar.from_trees(corpus.trees)
    half = corpus.sentences[: len(corpus.sentences) // 2]
    asked = [sentence for sentence in corpus.sentences if sentence.label is not None]
    labels = [":".join(sentence.label) for sentence in asked if sentence.label is not None]
    yield "questions", QuestionClassifier(plain_kernel()).fit([sentence.tree for sentence in asked], labels)
    kinds = np.array(["statement" if sentence.label is None else "question" for sentence in half])
    yield "trees", KernelSVC(SubsetTree(decay=0.4).normalized()).fit(corpus.trees[: len(half)], kinds)
    yield "roles", RoleLabeler().fit(corpus.role_sentences()[: len(half)])
    lexicon, data = nursery_frames(corpus)
    yield (
        "frames",
        FrameParser(labeler=FrameLabeler(bits=18, alpha=0.3, epochs=6), identifier=FrameIdentifier(bits=16)).fit(
            data[: len(half)], lexicon=lexicon
        ),
    )
    first, second = ([getattr(pair, side) for pair in corpus.pairs] for side in ("first", "second"))
    pairs = Examples(first=corpus.trees[first], second=corpus.trees[second])
    same = np.array(["same" if pair.same else "different" for pair in corpus.pairs])
    groups = ("lexical", "subset", "partial", "semantic")
    features = PairFeatures(groups, coarse_decays=(0.4,), similarity=corpus.lexicon.similarity())
    yield "pairs", PairClassifier(features).fit(pairs, same)
    ranker = KernelRanker(SubsetTree(decay=0.3).on("tree") + Linear().on("prior"), epochs=2, random_state=0)
    yield "reranker", ParseReranker(ranker).fit([corpus.forest(number) for number in range(min(200, len(half)))])

"""The questions of TREC, and every view of them that the rows of the tables look at."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import corpora
from sapwood.corpora.questions import Question
from sapwood.errors import DataError
from sapwood.experiments.setting import Setting
from sapwood.tasks.questions import question_views
from sapwood.tasks.questions.views import lemma_tree
from sapwood.trees import Examples, TreeArray
from sapwood.words import Latent
from sapwood.words.lemmas import lemma

__all__ = ["DIMENSIONS", "QuestionData", "read_questions"]

DIMENSIONS = 300


@dataclass(frozen=True)
class QuestionData:
    """Questions for training and test, and their views; ``counts`` are WordNet's of Brown, if they are there."""

    train: list[Question]
    test: list[Question]
    views: Examples
    test_views: Examples
    questions: Latent
    brown: Latent | None
    counts: str | None

    def labels(self, fine: bool, test: bool = False) -> NDArray[np.str_]:
        """Return the labels, of 50 classes or of 6."""
        return np.array([q.label if fine else q.coarse for q in (self.test if test else self.train)])


def read_questions(setting: Setting) -> QuestionData:
    """Read the questions with all views that need no encoder."""
    trees, kelp = setting.path("trec-trees"), setting.path("trec-kelp")
    train, test = (list(corpora.questions.read(trees.replace("*", part))) for part in ("train", "test"))
    brown = setting.find("brown")
    views = []
    for questions, part in ((train, "train_5500.coarse"), (test, "TREC_10.coarse")):
        examples = list(corpora.kelp.read(kelp.replace("*", part), trees=["lct"]))
        if [example.labels[0] for example in examples] != [question.coarse for question in questions]:
            raise DataError(f"{kelp}: the questions are not in the order of {trees}; fetch both again.")
        shapes = question_views([question.tree for question in questions], ["focus", "lexical", "words"])
        views.append(
            Examples(
                focus=shapes["focus"],
                lexical=shapes["lexical"],
                words=list(shapes["words"]),
                bag=[dict(Counter(word.lower() for word in question.words)) for question in questions],
                lemmas=TreeArray([lemma_tree(question.tree) for question in questions if question.tree]),
                dependencies=TreeArray([example.trees["lct"] for example in examples]),
            )
        )
    places = [os.path.join(folder, "wordnet", "ic-brown.dat.gz") for folder in setting.folders()]
    counts = next((path for path in places if os.path.isfile(path)), None)
    if counts is not None:
        setting.read["wordnet-counts"] = counts
    return QuestionData(
        train,
        test,
        views[0],
        views[1],
        Latent([_nouns(tree) for tree in views[0]["lemmas"]], dimensions=DIMENSIONS),
        None if brown is None else Latent(_lemmas(brown), dimensions=DIMENSIONS),
        counts,
    )


def _lemmas(path: str) -> Iterator[list[str]]:
    """Read the nouns of Brown's documents as lemmas; its tags of nouns are those of the treebank in lower case."""
    for document in corpora.brown.read(path):
        yield [lemma(word, tag.split("-")[0].upper()) for word, tag in document if tag.startswith("n")]


def _nouns(tree: Any) -> list[str]:
    return [node.children[0].label for node in tree.preorder() if node.label in ("NN", "NNP") and node.children]

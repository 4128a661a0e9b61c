"""Long work in small: every job that keeps what it has done, so that it can be killed and go on.

A job writes its result into a folder, and goes on from whatever it finds there. ``SEEN`` says what may be in the folder
while the job is not finished, and how to tell how far it is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sapwood as sw
import specimens
from sapwood import resuming

__all__ = ["JOBS", "progress"]


def _forests() -> tuple[Any, list[int], list[int]]:
    trees, relevance, groups = [], [], []
    for number in range(40):
        for place, tree in enumerate(specimens.corpus().forest(number).parses):
            trees.append(tree)
            relevance.append(int(place == 0))
            groups.append(number)
    return sw.TreeArray(trees), relevance, groups


def _patient() -> None:
    # Every step is kept, not one in ten seconds.
    resuming.CheckpointFile.__init__.__defaults__ = (0.0,)  # type: ignore[misc]


def ranker(folder: Path) -> None:
    from sapwood.kernels import PartialTree
    from sapwood.learn import KernelRanker

    _patient()
    X, y, groups = _forests()
    model = KernelRanker(PartialTree(), epochs=4, checkpoint=str(folder / "state.sap"), random_state=1)
    model.fit(X, y, groups=groups)
    sw.save(model.set_params(checkpoint=None), folder / "model.sap")


def network(folder: Path) -> None:
    from sapwood.learn import RecursiveRanker

    _patient()
    X, y, groups = _forests()
    model = RecursiveRanker(units=8, epochs=12, checkpoint=str(folder / "state.sap"), random_state=1)
    model.fit(X, y, groups=groups)
    sw.save(model.set_params(checkpoint=None), folder / "model.sap")


def perceptron(folder: Path) -> None:
    from sapwood.kernels import PartialTree
    from sapwood.learn import VotedPerceptron

    _patient()
    X, y, _ = _forests()
    model = VotedPerceptron(PartialTree(), epochs=3, checkpoint=str(folder / "state.sap"), random_state=1)
    model.fit(X[:150], y[:150])
    sw.save(model.set_params(checkpoint=None), folder / "model.sap")


def labelling(folder: Path) -> None:
    from sapwood import drafts
    from sapwood.tasks.roles import runs

    drafts._STEP = 3
    sentences = specimens.role_sentences() * 4
    runs.label_to_file(specimens.specimen("RoleLabeler"), sentences, folder / "roles.jsonl", resume=True)


def saving(folder: Path) -> None:
    # A model written over and over: whenever somebody looks, it is there and whole.
    for _ in range(40):
        sw.save(specimens.specimen("QuestionClassifier"), folder / "model.sap")


JOBS: dict[str, Callable[[Path], None]] = {
    "ranker": ranker,
    "network": network,
    "perceptron": perceptron,
    "labelling": labelling,
    "saving": saving,
}


def progress(folder: Path) -> tuple[int, ...]:
    """How far the job in this folder is; also checks that every file that has its final name is whole."""
    far: list[int] = []
    for path in sorted(folder.glob("*.sap")):
        value = sw.load(path)
        if path.name == "state.sap":
            far += [int(value.values["epoch"]), int(value.values["done"])]
    note = folder / ".roles.jsonl.note"
    if note.exists():
        far.append(int(sw.load(note).values["done"]))
    for path in folder.glob("*.jsonl"):
        lines = path.read_text().splitlines()
        assert len(lines) == 4 * len(specimens.role_sentences())
    return tuple(far)

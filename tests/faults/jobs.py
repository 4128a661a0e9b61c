"""Long work in small: every job that keeps what it has done, so that it can be killed and go on.

A job writes its result into a folder, and goes on from whatever it finds there; ``progress`` tells how far it is. Some
are commands as one gives them in a shell.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
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


@cache
def _given() -> Path:
    """Files that commands read, beside the folders that they write to."""
    folder = Path(tempfile.mkdtemp(prefix="sapwood-given-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    X, _, _ = _forests()
    lines = "".join(f"{('a', 'b')[number % 2]}\t{tree}\n" for number, tree in enumerate(X))
    (folder / "trees.mrg").write_text("".join(f"{tree}\n" for tree in X[:160]))
    (folder / "labelled.tsv").write_text(lines)
    sw.save(specimens.specimen("RoleLabeler"), folder / "roles.sap")
    sw.corpora.role_lines.write(specimens.role_sentences() * 4, folder / "roles.jsonl")
    return folder


def _command(*arguments: str | Path) -> None:
    from sapwood.cli import main

    code = main([*map(str, arguments), "-q"])
    assert code == 0, f"{arguments} ended with {code}"


def train(folder: Path) -> None:
    _command("train", "trees", _given() / "labelled.tsv", "-o", folder / "model.sap", "--kernel", "PartialTree()")


def gram(folder: Path) -> None:
    given = _given() / "trees.mrg"
    _command("gram", given, "-o", folder / "gram", "--kernel", "PartialTree()", "--tile", "20")


def predict(folder: Path) -> None:
    from sapwood import drafts

    drafts._STEP = 3
    given = _given()
    _command("predict", given / "roles.sap", given / "roles.jsonl", "-o", folder / "roles.jsonl", "--resume")


def experiment(folder: Path) -> None:
    from sapwood.experiments.result_cache import ResultCache
    from sapwood.experiments.setting import Setting
    from sapwood.kernels import PartialTree

    X, _, _ = _forests()
    results = ResultCache(Setting(cache=folder), "toy", X)
    for number in range(30):
        results(f"part {number}", lambda at: float(PartialTree()(X[at : at + 60]).sum()), number)


def shards(folder: Path) -> None:
    from sapwood.kernels import HashedFragmentMap
    from sapwood.scale import ShardClassifier, in_parts, map_to_shards

    _patient()
    X, y, _ = _forests()
    made = map_to_shards(HashedFragmentMap(n_features=256), in_parts(X, y, size=15), folder / "shards")
    model = ShardClassifier(epochs=3).fit(made, checkpoint=folder / "state.sap")
    sw.save(model, folder / "model.sap")


JOBS: dict[str, Callable[[Path], None]] = {
    "train": train,
    "gram": gram,
    "predict": predict,
    "experiment": experiment,
    "shards": shards,
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
            far += [int(value.values.get("epoch", 0)), int(value.values["done"])]
    for path in sorted(folder.glob("toy-*.json")):
        far.append(len(json.loads(path.read_text())["results"]))
    # Every tile and every shard has a file of its own; the others are unfinished ones of ours and of Zarr's.
    for name in ("gram", "shards"):
        found = (folder / name).rglob("*")
        files = [path for path in found if path.is_file() and path.suffix not in (".part", ".partial")]
        far.append(len(files))
    note = folder / ".roles.jsonl.note"
    if note.exists():
        far.append(int(sw.load(note).values["done"]))
    for path in folder.glob("*.jsonl"):
        lines = path.read_text().splitlines()
        assert len(lines) == 4 * len(specimens.role_sentences())
    return tuple(far)

"""Commands as one gives them in a shell, each a program of its own that is stopped or killed at any point.

Whatever the signal, a file with a final name has what an undisturbed run writes, nothing finished is lost, and no
process stays behind. Sizes are such that a command is at work for about as long as the program takes to load.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import sapwood as sw
import specimens
from faults.calls import Stopped
from faults.kills import content, empty

__all__ = ["COMMANDS", "KEEPING", "Killed", "kill_command", "kill_command_often", "undisturbed_command"]

# What the ``sapwood`` script does, which is not on every path.
_PROGRAM = (sys.executable, "-m", "sapwood.cli")
_PATIENCE = 60.0
_FOLDS = 4

COMMANDS: dict[str, tuple[str, ...]] = {
    "train trees": ("train", "trees", "{given}/labeled.tsv", "-o", "model.sap", "--kernel", "PartialTree()"),
    "train parser": ("train", "parser", "{given}/trees.mrg", "-o", "parser.sap"),
    "predict": ("predict", "{given}/roles.sap", "{given}/roles.jsonl", "-o", "roles.jsonl", "--resume"),
    "evaluate": ("evaluate", "{given}/classifier.sap", "{given}/labeled.tsv", "--json", "scores.json"),
    "explain": ("explain", "{given}/classifier.sap", "{given}/trees.mrg", "--count", "20", "--html", "why.html"),
    "parse": ("parse", "{given}/parser.sap", "{given}/text.txt", "--tokens", "-o", "parsed.mrg", "--resume"),
    "kernel": ("kernel", "{given}/trees.mrg", "--kernel", "PartialTree()", "-o", "gram.npz"),
    "gram": ("gram", "{given}/trees.mrg", "--kernel", "PartialTree()", "-o", "gram", "--tile", "100"),
    "gram --workers": (
        "gram", "{given}/trees.mrg", "--kernel", "PartialTree()", "-o", "gram", "--tile", "100", "--workers", "2",
    ),
    "decode": ("decode", "{given}/problems.jsonl", "-o", "answers.jsonl"),
    "experiment --cache": (
        "experiment", "reranking", "--data", "{given}", "--tables", "bllip", "--cache", "cache",
        "--json", "tables.json",
    ),
}  # fmt: skip

KEEPING = ("experiment --cache",)
"""Commands that keep what they have finished and are killed here; ``jobs.py`` has the others."""


@cache
def _given() -> Path:
    """A folder with all that the commands read."""
    from sapwood import corpora
    from sapwood.corpora import nursery
    from sapwood.learn import KernelSVC
    from sapwood.parse import PCFGParser

    folder = Path(tempfile.mkdtemp(prefix="sapwood-shell-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    corpus = nursery.generate(size=500)
    trees = [one.tree for one in corpus.sentences]
    lines = [f"{'ab'[number % 2]}\t{tree}\n" for number, tree in enumerate(trees)]
    (folder / "trees.mrg").write_text("".join(f"{tree}\n" for tree in trees))
    (folder / "labeled.tsv").write_text("".join(lines))
    (folder / "text.txt").write_text("".join(f"{' '.join(one.words)}\n" for one in corpus.sentences))
    sw.save(
        KernelSVC(sw.kernels.PartialTree()).fit(trees[:150], ["ab"[at % 2] for at in range(150)]),
        folder / "classifier.sap",
    )
    sw.save(PCFGParser().fit(trees), folder / "parser.sap")
    sw.save(specimens.specimen("RoleLabeler"), folder / "roles.sap")
    corpora.role_lines.write(specimens.role_sentences() * 3, folder / "roles.jsonl")
    rng = np.random.default_rng(0)
    spans = [[-1, -1], *([a, b] for a in range(20) for b in range(a, min(a + 8, 20)))]
    with open(folder / "problems.jsonl", "w") as stream:
        for _ in range(60):
            print(json.dumps({"scores": rng.normal(size=(8, len(spans))).tolist(), "spans": spans}), file=stream)
    lists = nursery.generate(size=24).forests(limit=4)
    (folder / "nbest-wsj-sample").mkdir()
    corpora.nbest.write(
        [replace(one, fold=number % _FOLDS) for number, one in enumerate(lists)],
        folder / "nbest-wsj-sample" / "lists.jsonl",
    )
    return folder


def left(folder: Path) -> dict[str, Any]:
    """What a command has left in its folder under final names, without what differs from run to run."""
    found: dict[str, Any] = {}
    for name, data in content(folder).items():
        if Path(name).name.startswith("."):
            # Drafts, notes and locks: the next run takes them over.
            continue
        if name == "tables.json":
            # Without the time that it took.
            found[name] = [table["rows"] for table in json.loads(data)["tables"]]
        elif name.startswith("cache/"):
            for part, result in json.loads(data)["results"].items():
                found[f"{name}, {part}"] = {key: result[key] for key in ("chosen", "settings")}
        else:
            found[name] = data
    return found


def _start(name: str, folder: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a command as the leader of a group of processes; also returns the file of what it says."""
    said = folder.with_suffix(".said")
    arguments = [one.format(given=_given()) for one in COMMANDS[name]]
    environment = {key: value for key, value in os.environ.items() if key != "SAPWOOD_DATA"}
    with open(said, "wb") as stream:
        process = subprocess.Popen(
            [*_PROGRAM, *arguments, "-q", "--threads", "1"],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream,
            start_new_session=True,
        )  # fmt: skip
    return process, said


def _alive(group: int) -> Iterator[int]:
    """The processes of a group that run; one that has ended and that nobody waits for does not count."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, its = (place / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(its) == group and state not in "ZX":
            yield int(place.name)


def undisturbed_command(name: str, folder: Path) -> tuple[dict[str, Any], float]:
    """Return what a command leaves when nobody disturbs it, and how long it takes."""
    _given()
    begin = time.monotonic()
    process, said = _start(name, folder)
    assert process.wait() == 0, said.read_text()
    return left(folder), time.monotonic() - begin


def stop_command(name: str, number: int, wait: float, folder: Path) -> Stopped:
    """Start a command, send it a signal after so many seconds, and wait for the end of all of its processes."""
    process, said = _start(name, folder)
    time.sleep(wait)
    begin = time.monotonic()
    if number == signal.SIGINT:
        # As a terminal does: everybody in the foreground gets it.
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    try:
        code = process.wait(_PATIENCE)
        while list(_alive(process.pid)):
            if time.monotonic() - begin > _PATIENCE:
                raise subprocess.TimeoutExpired(name, _PATIENCE)
            time.sleep(0.01)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return Stopped("did not end", _PATIENCE)
    seconds = time.monotonic() - begin
    told = said.read_text()
    if "Traceback" in told:
        # Until Python has come to our first line, Ctrl-C is its own matter.
        ours = re.search(r'sapwood/cli/__init__.py", line \d+, in main', told)
        early = number == signal.SIGINT and told.rstrip().endswith("KeyboardInterrupt") and not ours
        return Stopped("stopped" if early else f"a traceback: {told}", seconds)
    if code == 0:
        return Stopped("finished", seconds)
    # Before Python has begun, Ctrl-C ends a process as any other signal does.
    by_signal = code == -number or (number == signal.SIGINT and code == 130 and told.endswith("sapwood: interrupted\n"))
    return Stopped("stopped" if by_signal else f"ended with {code}: {told}", seconds)


@dataclass(frozen=True)
class Killed:
    """How a command fared in many rounds: what became of each, how often, and the slowest return."""

    stopped: int
    finished: int
    slowest: float


def kill_command(name: str, number: int, rounds: int, folder: Path, expected: dict[str, Any], seconds: float) -> Killed:
    """Stop a command so many times within so many seconds, looking after each what is left, and then let it finish.

    A command that was faster than the signal begins anew. Raises AssertionError for whatever is not as it should be.
    """
    dice = random.Random(f"{name} {number}")
    before: dict[str, Any] = {}
    finished, times = 0, [0.0]
    for _ in range(rounds):
        ended = stop_command(name, number, dice.uniform(0.0, seconds), folder)
        now = left(folder)
        assert ended.outcome in ("stopped", "finished"), f"{name}: {ended.outcome}"
        assert all(now[key] == expected.get(key) for key in now), f"{name}: a file is there that is not whole"
        assert before.keys() <= now.keys(), f"{name}: something that was finished is lost"
        before = now
        if ended.outcome == "finished":
            assert now == expected, f"{name}: the result differs"
            finished += 1
            empty(folder)
            before = {}
        else:
            times.append(ended.seconds)
    process, said = _start(name, folder)
    assert process.wait() == 0, said.read_text()
    assert left(folder) == expected, f"{name}: the result differs"
    return Killed(rounds - finished, finished, max(times))


def kill_command_often(name: str, numbers: list[int], rounds: int) -> tuple[float, list[Killed]]:
    """Stop a command so many times with each signal; return how long it takes undisturbed, and how it fared."""
    with tempfile.TemporaryDirectory() as place:
        first = Path(place, "first")
        first.mkdir()
        expected, seconds = undisturbed_command(name, first)
        fared = []
        for number in numbers:
            folder = Path(place, str(int(number)))
            folder.mkdir()
            fared.append(kill_command(name, number, rounds, folder, expected, seconds))
        return seconds, fared

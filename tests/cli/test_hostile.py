"""Every command with arguments made from its own parser, most of which make no sense, and files that are no use."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

import sapwood as sw
import specimens
from sapwood.cli import main
from sapwood.cli.running import _COMMANDS, build_parser

# These go on until somebody stops them if nothing is wrong with what they are given.
LASTING = ("bench", "demo", "experiment", "serve")
SECONDS = 20.0
WORDS = (
    "", " ", "-", "--", "x", "0", "1", "2", "-1", "1e999", "nan", "inf", "0.5", "99999999999999999999", "1_0", "٣",
    "\x00",
    "é" * 50, "a" * 5000, "SubsetTree()", "SubsetTree(", "(a b)", "((((", "/dev/null", "/dev/full", "/nowhere/x",
    "{}", "[]", "ST", "lambda: 0", "../../x", "%s", "*", "a=b", "=",
)  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files good and bad, of every kind that some command reads."""
    folder = tmp_path_factory.mktemp("hostile")
    contents = {
        "trees.mrg": "\n".join(specimens.TREES).encode(),
        "labelled.tsv": "".join(f"{y}\t{x}\n" for x, y in zip(specimens.TREES, specimens.LABELS, strict=True)).encode(),
        "questions.label": b"DESC:def What is rain ?\nNUM:date When did it rain ?\n",
        "empty.txt": b"",
        "zeros.bin": bytes(5000),
        "bytes.bin": bytes(range(256)) * 20,
        "deep.json": b"[" * 50_000,
        "deep.mrg": b"(a " * 20_000,
        "half.mrg": b"(S (NP (DT the) (NN dog",
        "wide.txt": b"x" * 1_000_000,
        "lines.jsonl": b'{"scores": [[1]]}\n{"scores": "x"}\nnull\n',
        "bad.gz": b"\x1f\x8b\x08\x00" + bytes(50),
        "bad.zip": b"PK\x03\x04" + bytes(50),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    for name in ("KernelSVC", "TreeArray", "PCFGParser", "RoleLabeler"):
        sw.save(specimens.specimen(name), folder / f"{name}.sap")
    whole = (folder / "KernelSVC.sap").read_bytes()
    (folder / "cut.sap").write_bytes(whole[: len(whole) // 2])
    (folder / "out").mkdir()
    return [str(path) for path in sorted(folder.iterdir())] + [str(folder / "missing"), str(folder)]


def _arguments(parser: argparse.ArgumentParser, dice: random.Random, files: list[str]) -> list[str]:
    """Arguments as the parser wants them, or nearly."""
    made: list[str] = []

    def value(action: argparse.Action) -> str:
        if action.choices is not None and dice.random() < 0.8:
            return str(dice.choice(list(action.choices)))
        if dice.random() < 0.5:
            return dice.choice(files)
        return dice.choice(WORDS)

    def values(action: argparse.Action) -> list[str]:
        if isinstance(action.nargs, int):
            return [value(action) for _ in range(action.nargs)]
        if action.nargs in ("*", "+"):
            return [value(action) for _ in range(dice.choice((1, 1, 2, 3)))]
        return [value(action)]

    places: list[str] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            name = dice.choice(list(action.choices))
            return [*made, name, *_arguments(action.choices[name], dice, files)]
        if isinstance(action, argparse._HelpAction | argparse._VersionAction):
            continue
        if not action.option_strings:
            places += values(action) if action.nargs not in ("*", "?") or dice.random() < 0.5 else []
        elif action.required or dice.random() < 0.25:
            made.append(action.option_strings[-1])
            if action.nargs != 0:
                made += values(action)
    return [*places, *made] if dice.random() < 0.95 else made


def _command(arguments: list[str], folder: Path, said: Path) -> Any:
    """Run a command, write what it prints to a file, and return its code."""
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    stream = io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"(a b)\n\xff"))
    code: Any = 99
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            code = main(arguments)
    except SystemExit as stopped:
        code = stopped.code
    except BaseException:
        stream.write(traceback.format_exc())
    said.write_text(stream.getvalue()[-5000:], errors="backslashreplace")
    return code


def _run(arguments: list[str], folder: Path, seconds: float) -> tuple[str, str]:
    """What becomes of a command in a process of its own, and what it has printed."""
    said = folder / "said.txt"
    process = os.fork()
    if process == 0:
        code: Any = 99
        # A child that came back from here would go on with the tests of its parent.
        try:
            code = _command(arguments, folder, said)
        finally:
            os._exit(code if isinstance(code, int) else 99)
    begin = time.monotonic()
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            break
        if time.monotonic() - begin > seconds:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return "still running", ""
        time.sleep(0.01)
    text = said.read_text(errors="replace") if said.exists() else ""
    return (f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"code {os.WEXITSTATUS(status)}"), text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("command", _COMMANDS)
def test_arguments_that_make_no_sense(command: str, files: list[str], tmp_path: Path) -> None:
    """A command ends with 0, 1 or 2, prints no traceback, and says something where it fails."""
    dice = random.Random(command)
    (parsers,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    rounds = int(os.environ.get("SAPWOOD_CLI_ROUNDS", "6"))
    for _ in range(2 if command in LASTING else rounds):
        arguments = [command, *_arguments(parsers.choices[command], dice, files)]
        outcome, said = _run(arguments, tmp_path, 3.0 if command in LASTING else 6 * SECONDS)
        shown = f"{[word[:60] for word in arguments]}: {outcome}\n{said[-2000:]}"
        if command in LASTING and outcome == "still running":
            continue
        assert outcome in ("code 0", "code 1", "code 2"), shown
        assert "Traceback" not in said, shown
        assert outcome == "code 0" or said.strip(), shown

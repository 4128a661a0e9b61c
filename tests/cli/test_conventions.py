"""What holds for every command: options with one name and one meaning, notes, advice, locks."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

from sapwood.cli import main
from sapwood.cli.running import build_parser

SHARED = {
    "output": ["-o", "--output"],
    "json": ["--json"],
    "seed": ["--seed"],
    "threads": ["--threads"],
    "encoding": ["--encoding"],
    "parser": ["--parser"],
    "memory_limit": ["--memory-limit"],
    "quiet": ["-q", "--quiet"],
    "verbose": ["-v", "--verbose"],
}


def leaves(parser):
    """Every parser that runs something."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        return [parser]
    return [leaf for action in below for one in action.choices.values() for leaf in leaves(one)]


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text("(S (N he) (V runs))\n(S (N she) (V ran))\n")
    return str(path)


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("a\t(S (N he) (V runs))\nb\t(S (V run) (N it))\n")
    return str(path)


def test_options_have_one_name_and_one_meaning():
    commands = leaves(build_parser())
    assert len(commands) > 20
    for parser in commands:
        actions = {action.dest: action for action in parser._actions}
        assert {"quiet", "verbose"} <= set(actions)
        for name, strings in SHARED.items():
            if name in actions:
                assert actions[name].option_strings == strings, parser.prog
        for action in actions.values():
            taken = [name for name, strings in SHARED.items() if set(action.option_strings) & set(strings)]
            assert taken in ([], [action.dest]), parser.prog
        if "json" in actions:
            assert actions["json"].metavar == "FILE", parser.prog
        assert not {"out", "random_state", "memory"} & set(actions), parser.prog


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], "sapwood: unknown command 'trian'; did you mean train?"),
        (["train", "tree", "x"], "sapwood train: unknown task 'tree'; did you mean trees?"),
        (["train", "trees", "x", "--out", "y"], "sapwood train trees: unknown option --out; did you mean --output?"),
        (["predict", "m", "x", "--ouput=y"], "sapwood predict: unknown option --ouput; did you mean --output?"),
        (["kernel", "x", "--qwertz"], "sapwood kernel: unknown option --qwertz\nSee sapwood kernel --help.\n"),
        (["show", "x", "--threads", "2"], "sapwood show: unknown option --threads\n"),
        (["show", "x", "y"], "sapwood show: unexpected 'y'"),
        (["gram", "x", "-o", "y", "--kernel", "Subtree()", "--dtype", "float46"], "unknown value 'float46'"),
        (["show", "x", "-q", "-v"], "not allowed with argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistyped_names_are_refused_with_advice(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_what_looks_like_an_option_can_be_a_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--trees").write_text("(S x)")
    assert main(["show", "--", "--trees"]) == 0
    assert "# 1 of 1" in capsys.readouterr().out


def test_json_goes_to_a_file_beside_the_text_or_takes_its_place(tmp_path, capsys):
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb\n")
    found = tmp_path / "scores.json"
    assert main(["score", "labels", str(labels), str(labels), "--json", str(found)]) == 0
    assert "accuracy 100.00" in capsys.readouterr().out
    assert main(["score", "labels", str(labels), str(labels), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(found.read_text())


def test_quiet_leaves_results_and_verbose_adds_what_happens(labelled, tmp_path, capsys):
    model, out = str(tmp_path / "m.sap"), str(tmp_path / "labels.txt")
    assert main(["train", "trees", labelled, "-o", model, "-q"]) == 0
    assert main(["predict", model, labelled, "-o", out, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["predict", model, labelled, "-q"]) == 0
    assert capsys.readouterr() == ("a\nb\n", "")
    assert main(["predict", model, labelled, "-o", out]) == 0
    assert capsys.readouterr() == ("", f"sapwood: {out}: 2 answered\n")
    assert main(["predict", model, labelled, "-v"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "a\nb\n"
    assert f"loading {model}" in captured.err
    assert f"reading {labelled}" in captured.err
    assert "numpy" in captured.err
    assert " s of CPU" in captured.err


def test_warnings_are_told_even_to_the_quiet(labelled, tmp_path, capsys, monkeypatch):
    import warnings

    from sapwood.learn import KernelSVC

    fit = KernelSVC.fit
    monkeypatch.setattr(KernelSVC, "fit", lambda *given: (warnings.warn("look here", stacklevel=1), fit(*given))[1])
    assert main(["train", "trees", labelled, "-o", str(tmp_path / "m.sap"), "-q"]) == 0
    assert capsys.readouterr() == ("", "sapwood: look here\n")


def test_text_in_place_of_trees_is_told_of_parsers(tmp_path, trees, labelled, capsys):
    text, model = tmp_path / "text.txt", str(tmp_path / "m.sap")
    text.write_text("The dog runs.\n")
    assert main(["train", "trees", labelled, "-o", model]) == 0
    for command in (["show", str(text)], ["kernel", str(text), "--kernel", "Subtree()"], ["predict", model, str(text)]):
        assert main(command) == 1
        assert "If this is text and not trees, name a parser: --parser MODEL" in capsys.readouterr().err
    assert main(["show", labelled]) == 1
    assert "If its lines are label<TAB>tree, leave the labels out: cut -f2 FILE" in capsys.readouterr().err
    broken = tmp_path / "broken.mrg"
    broken.write_text("(S (N x)")
    assert main(["show", str(broken)]) == 1
    assert "--parser" not in capsys.readouterr().err


def test_one_file_cannot_be_written_twice(trees, tmp_path, capsys):
    page = str(tmp_path / "x")
    assert main(["experiment", "questions", "--data", str(tmp_path), "--json", page, "--html", page]) == 2
    assert "by two options" in capsys.readouterr().err
    assert main(["kernel", trees, "--kernel", "Subtree()", "-o", "-"]) == 2
    assert "--output: name a file" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
class TestLocks:
    COMMAND = (sys.executable, "-m", "sapwood.cli", "kernel", "-", "--kernel", "Subtree()", "-o")

    def waiting(self, out):
        """Start a run that holds its lock until its input ends."""
        run = subprocess.Popen([*self.COMMAND, out], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        lock = os.path.join(os.path.dirname(out), f".{os.path.basename(out)}.lock")
        deadline = time.monotonic() + 60
        while not (os.path.exists(lock) and os.path.getsize(lock)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return run

    def test_the_second_run_is_refused_and_told_of_the_first(self, trees, tmp_path, capsys):
        out = str(tmp_path / "gram.tsv")
        first = self.waiting(out)
        try:
            assert main(["kernel", trees, "--kernel", "Subtree()", "-o", out]) == 1
            message = f"sapwood: {out}: another run is writing it (process {first.pid}); wait for its end"
            assert message in capsys.readouterr().err
        finally:
            first.communicate(b"(S x)\n")
        assert first.returncode == 0
        assert main(["kernel", trees, "--kernel", "Subtree()", "-o", out]) == 0
        assert sorted(os.listdir(tmp_path)) == ["gram.tsv", "trees.mrg"]

    def test_a_run_that_was_killed_locks_nothing(self, trees, tmp_path):
        out = str(tmp_path / "gram.tsv")
        first = self.waiting(out)
        first.kill()
        first.communicate()
        assert os.path.exists(tmp_path / ".gram.tsv.lock")
        assert main(["kernel", trees, "--kernel", "Subtree()", "-o", out]) == 0
        assert not os.path.exists(tmp_path / ".gram.tsv.lock")


def test_messages_are_broken_between_words_on_a_terminal(tmp_path, monkeypatch, capsys):
    text = tmp_path / "text.txt"
    text.write_text("The dog runs over the hills and far away, and it never comes back to where it was before.\n")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["show", str(text)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert "    ^" in lines
    assert lines[-2:] == ["If this is text and not trees, name a parser: --parser", "MODEL, of sapwood train parser."]


def test_a_margin_of_nothing_has_no_sign():
    from sapwood.cli.inference.labels import answer_lines

    def read(block):
        return block, None, [False] * len(block)

    options = argparse.Namespace(margins=True)
    lines = answer_lines(options, Counter(), ["x"], read, ["a", "b"], lambda examples: np.zeros(len(examples)))
    assert list(lines) == ["a\ta=0\tb=0\n"]

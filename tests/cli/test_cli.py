"""The command line as a user meets it: output, exit codes, messages."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import sapwood as sw
from sapwood.cli import main
from sapwood.cli.training import TASKS

LINES = [
    "ask\t(S (WH who) (V runs))",
    "tell\t(S (N he) (V runs))",
    "ask\t(S (WH what) (V ran))",
    "tell\t(S (N she) (V ran))",
]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text("\n".join(line.split("\t")[1] for line in LINES))
    return path


@pytest.fixture
def model(data, tmp_path, capsys):
    path = tmp_path / "model.sap"
    assert main(["train", "trees", str(data), "-o", str(path)]) == 0
    assert "2 classes" in capsys.readouterr().out
    return path


def test_train_predict_evaluate(model, data, capsys):
    assert main(["predict", str(model), str(data)]) == 0
    assert capsys.readouterr().out.split() == ["ask", "tell", "ask", "tell"]
    assert main(["predict", str(model), str(data), "--margins"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split("\t")[1].startswith("ask=")
    assert main(["evaluate", str(model), str(data)]) == 0
    assert "accuracy 100.00 on 4 items" in capsys.readouterr().out
    assert main(["evaluate", str(model), str(data), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0


def test_predict_takes_bare_trees_and_writes_files(model, treebank, tmp_path):
    out = tmp_path / "labels.txt"
    assert main(["predict", str(model), str(treebank), "--output", str(out)]) == 0
    assert out.read_text().split() == ["ask", "tell", "ask", "tell"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("suffix", ["npz", "tsv"])
def test_kernel_writes_matrices(treebank, tmp_path, suffix):
    out = tmp_path / f"gram.{suffix}"
    expression = "0.5 * SubsetTree(decay=0.3).normalized() + PartialTree(decay=0.4)"
    assert main(["kernel", str(treebank), "--kernel", expression, "--output", str(out)]) == 0
    expected = sw.kernels.parse_kernel(expression)(sw.read_trees(treebank))
    found = np.load(out)["gram"] if suffix == "npz" else np.loadtxt(out)
    np.testing.assert_array_equal(found, expected)


def test_kernel_of_two_files_on_standard_output(treebank, capsys):
    assert main(["kernel", str(treebank), str(treebank), "--kernel", "Subtree()"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert np.array(rows, dtype=float).shape == (4, 4)


def test_show_trees_models_and_svg(treebank, model, tmp_path, capsys):
    assert main(["show", str(treebank), "--first", "2", "--count", "1"]) == 0
    out = capsys.readouterr().out
    assert "# 2 of 4" in out
    assert "├─ N he" in out
    assert main(["show", str(model)]) == 0
    out = capsys.readouterr().out
    assert "KernelSVC" in out
    assert "sha256" in out
    svg = tmp_path / "tree.svg"
    assert main(["show", str(treebank), "--svg", str(svg)]) == 0
    assert svg.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["kernel", "{trees}", "--kernel", "SubsetTree(decay=2)"], 2, "decay must be a number in (0, 1]"),
        (["kernel", "{trees}", "--kernel", "__import__('os')"], 2, "no kernel called __import__"),
        (["kernel", "{trees}", "--kernel", "Subtree() +"], 2, "broken at column"),
        (["kernel", "{trees}", "--kernel", "Subtree()", "--output", "gram.csv"], 2, "must end in .npz or .tsv"),
        (["kernel", "{missing}", "--kernel", "Subtree()"], 1, "no such file"),
        (["kernel", "{broken}", "--kernel", "Subtree()"], 1, "broken.mrg:1:1: this bracket is never closed"),
        (["predict", "{data}", "{trees}"], 1, "is not a Sapwood file"),
        (["predict", "{missing}", "{trees}"], 1, "no such file"),
        (["evaluate", "{model}", "{trees}"], 1, "expected label<TAB>tree"),
        (["train", "trees", "{broken}", "-o", "{out}"], 1, "expected label<TAB>tree"),
        (["train", "trees", "{one}", "-o", "{out}"], 1, "only the class"),
        (["train", "trees", "{data}", "-o", "{nowhere}"], 1, "there is no folder"),
        (["find", "NP < (", "{trees}"], 2, "pattern, column 7: a node is missing here"),
        (["find", "NP", "{trees}.nowhere"], 1, "nowhere"),
        (["show", "{trees}", "--first", "9"], 1, "there is no tree number 9"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_are_explained(arguments, code, message, model, data, treebank, tmp_path, capsys):
    (tmp_path / "broken.mrg").write_text("(S (NP dog)")
    (tmp_path / "one.tsv").write_text("a\t(S x)\na\t(S y)\n")
    names = {
        "trees": treebank,
        "data": data,
        "model": model,
        "missing": tmp_path / "missing",
        "broken": tmp_path / "broken.mrg",
        "one": tmp_path / "one.tsv",
        "out": tmp_path / "out.sap",
        "nowhere": tmp_path / "no" / "folder" / "m.sap",
    }
    assert main([argument.format(**names) for argument in arguments]) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""
    assert not (tmp_path / "out.sap").exists()


@pytest.mark.parametrize("task", TASKS)
def test_models_that_cannot_be_written_are_refused_before_anything_is_read(task, tmp_path, capsys):
    more = ["--parses", str(tmp_path / "missing")] if task == "frames" else []
    for place, code, message in unwritable_places(tmp_path):
        assert main(["train", task, str(tmp_path / "missing"), "-o", place, *more]) == code
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def unwritable_places(folder):
    """Names of files that cannot be written, with the exit code and the message."""
    return [
        (str(folder / "no" / "m.tsv"), 1, "m.tsv: there is no folder"),
        (str(folder), 1, "cannot be written, since it is a folder; name a file in it."),
        ("", 2, "the name of the file to write is empty; name a file."),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "{missing}", "{missing}", "--output"],
        ["kernel", "{missing}", "--kernel", "Subtree()", "--output"],
        ["show", "{missing}", "--svg"],
        ["show", "{missing}.sap", "--svg"],
        ["explain", "{missing}", "{missing}", "--html"],
        ["explain", "{missing}", "{missing}", "--kernel", "Subtree()", "--html"],
        ["parse", "{missing}", "--output"],
        ["decode", "{missing}", "--output"],
        ["experiment", "questions", "--data", "{missing}", "--json"],
        ["experiment", "questions", "--data", "{missing}", "--html"],
        ["demo", "-o"],
        ["bench", "scale", "--json"],
        ["bench", "scale", "--svg"],
    ],
    ids=" ".join,
)
def test_files_that_cannot_be_written_are_refused_before_the_work(arguments, tmp_path, monkeypatch, capsys):
    arguments = [argument.format(missing=tmp_path / "missing") for argument in arguments]
    for place, code, message in unwritable_places(tmp_path):
        assert main([*arguments, place]) == code
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.out == ""
    protected = tmp_path / "old.tsv"
    protected.write_text("old")
    ask = os.access
    monkeypatch.setattr(os, "access", lambda name, mode: str(name) != str(protected) and ask(name, mode))
    assert main([*arguments, str(protected)]) == 1
    captured = capsys.readouterr()
    assert "old.tsv: the file is write-protected; make it writable" in captured.err
    assert captured.out == ""
    assert protected.read_text() == "old"


def test_devices_are_no_files_to_protect(model, data, capsys):
    assert main(["predict", str(model), str(data), "--output", os.devnull]) == 0
    assert capsys.readouterr().err == f"sapwood: {os.devnull}: 4 answered\n"
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


def test_usage_errors_exit_with_2(capsys):
    for arguments in (["kernel"], ["train", "trees", "x"], ["predict"], ["nonsense"], ["show", "x", "--count", "0"]):
        with pytest.raises(SystemExit) as exit_info:
            main(arguments)
        assert exit_info.value.code == 2
    assert main([]) == 2


HELP = """
    import sys, time
    start = time.process_time()
    from sapwood.cli import main
    try:
        main(["--help"])
    except SystemExit:
        pass
"""


def test_help_imports_nothing_heavy(fresh):
    heavy = {"numpy", "scipy", "sklearn", "nltk", "importlib.metadata", "email", "socket", "tempfile", "hashlib"}
    out = fresh(HELP + f"    print(sorted({heavy} & set(sys.modules)))").stdout
    assert out.splitlines()[-1] == "[]"


@pytest.mark.timing
def test_help_is_quick(fresh):
    assert float(fresh(HELP + "    print(time.process_time() - start)").stdout.splitlines()[-1]) < 0.3


def test_a_closed_pipe_is_no_error(treebank):
    command = f"{sys.executable} -m sapwood.cli kernel {treebank} --kernel 'Subtree()' | head -c 1"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert result.stderr == ""


def test_reads_standard_input(treebank):
    command = [sys.executable, "-m", "sapwood.cli", "kernel", "-", "--kernel", "Subtree()"]
    result = subprocess.run(command, input=treebank.read_text(), capture_output=True, text=True, check=True)
    assert len(result.stdout.splitlines()) == 4
    assert result.stderr == ""


LATIN = "(S (N caf\xe9) (V ouvre))"


def test_trees_in_other_encodings(tmp_path, capsys):
    trees, labelled = tmp_path / "latin.mrg", tmp_path / "latin.tsv"
    trees.write_bytes(LATIN.encode("latin-1"))
    labelled.write_bytes(f"a\t{LATIN}\nb\t(S x)\n".encode("latin-1"))
    out = str(tmp_path / "m.sap")
    commands = [
        ["show", str(trees)],
        ["kernel", str(trees), "--kernel", "Subtree()"],
        ["explain", str(trees), str(trees), "--kernel", "Subtree()"],
        ["train", "trees", str(labelled), "-o", out],
        ["predict", out, str(labelled)],
        ["evaluate", out, str(labelled)],
        ["explain", out, str(labelled)],
    ]
    for command in commands:
        assert main(command) == 1
        assert "or pass --encoding, such as --encoding latin-1" in capsys.readouterr().err
        assert main([*command, "--encoding", "latin-1"]) == 0
        assert capsys.readouterr().err == ""


def test_where_there_is_no_option_for_it_files_are_converted(tmp_path, capsys):
    labels = tmp_path / "labels.txt"
    labels.write_bytes("caf\xe9\n".encode("latin-1"))
    assert main(["score", "roles", str(labels), str(labels)]) == 1
    assert "convert it with iconv -f latin1 -t utf8" in capsys.readouterr().err


def test_show_and_explain_read_as_kernels_do(tmp_path, capsys):
    path = tmp_path / "traces.mrg"
    path.write_text("(S (NP-SBJ (-NONE- *)) (VP-X (V run)))")
    for flags in ([], ["--drop-traces", "--drop-function-tags"]):
        assert main(["show", str(path), *flags]) == 0
        shown = capsys.readouterr().out
        assert ("-NONE-" in shown, "VP-X" in shown) == (not flags, not flags)
        assert main(["explain", str(path), str(path), "--kernel", "SubsetTree()", *flags]) == 0
        assert ("-NONE-" in capsys.readouterr().out) == (not flags)


def test_folders_have_names(treebank, capsys):
    assert main(["gram", str(treebank), "--kernel", "Subtree()", "-o", ""]) == 2
    assert "the name of the folder to write is empty; name a folder." in capsys.readouterr().err


def test_standard_input_can_be_read_only_once(capsys):
    for command in (["kernel", "-", "-"], ["explain", "-", "-"], ["gram", "-", "-", "-o", "x"]):
        assert main([*command, "--kernel", "Subtree()"]) == 2
        assert "standard input can be read only once; name a file" in capsys.readouterr().err


def test_models_are_known_by_their_content(model, tmp_path, capsys):
    other = tmp_path / "m.txt"
    other.write_bytes(model.read_bytes())
    assert main(["show", str(other)]) == 0
    assert "KernelSVC" in capsys.readouterr().out
    for name in (str(model), str(other)):
        for command in (["kernel", name, "--kernel", "Subtree()"], ["predict", str(model), name]):
            assert main(command) == 1
            assert f"{name}: is a Sapwood model, not data; sapwood show" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--format", "html"], "--format: a KernelSVC writes its answers in one way only"),
        (["--resume"], "--resume goes on with a file; name it with --output"),
    ],
)
def test_options_that_a_model_has_no_use_for_are_refused(more, message, model, data, capsys):
    assert main(["predict", str(model), str(data), *more]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_labels_that_were_not_there_in_training_are_told(model, data, tmp_path, capsys):
    assert main(["evaluate", str(model), str(data)]) == 0
    assert "not there in training" not in capsys.readouterr().out
    more = tmp_path / "more.tsv"
    more.write_text("\n".join([*LINES, "shout\t(S (N he) (V ran))"]))
    assert main(["evaluate", str(model), str(more)]) == 0
    told = "1 have a label that was not there in training, and count as wrong: shout"
    assert told in capsys.readouterr().out


@pytest.mark.parametrize("kernel", ["", "  "])
def test_an_empty_kernel_is_a_usage_error(kernel, treebank, capsys):
    for command in (
        ["kernel", "x"],
        ["explain", "x", "x"],
        ["gram", "x", "-o", "y"],
        ["train", "trees", "x", "-o", "y"],
    ):
        with pytest.raises(SystemExit) as exit_info:
            main([*command, "--kernel", kernel])
        assert exit_info.value.code == 2
        assert "expected a kernel such as 'SubsetTree(decay=0.4)', got nothing" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="streams are closed by a shell")
def test_closed_streams_are_told(model, data, treebank, tmp_path):
    def run(command, streams):
        line = f"{sys.executable} -m sapwood.cli {command} {streams}"
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)

    for command in (f"predict {model} {data}", f"show {treebank}", f"kernel {treebank} --kernel 'Subtree()'"):
        done = run(command, ">&-")
        assert (done.returncode, done.stderr) == (
            1,
            "sapwood: standard output is closed; leave it open, or send it to a file with > FILE.\n",
        )
    assert run(f"predict {model} {data} --output {tmp_path / 'out.txt'}", ">&-").returncode == 0
    assert (tmp_path / "out.txt").read_text().split() == ["ask", "tell", "ask", "tell"]
    for command in (
        "kernel - --kernel 'Subtree()'",
        f"predict {model} -",
        "decode -",
        f"train parser - -o {tmp_path / 'p.sap'}",
        "train questions - -o x.sap",
    ):
        assert run(command, "<&-").stderr == "sapwood: standard input is closed; name a file instead of -.\n"
    assert not (tmp_path / "p.sap").exists()
    assert run(f"kernel {tmp_path / 'none'} --kernel 'Subtree()'", "2>&-").returncode == 1


def test_interrupts_in_bodies_of_classes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped(arguments: object) -> int:
        class Descriptor:
            def __set_name__(self, owner: type, name: str) -> None:
                raise KeyboardInterrupt

        type("Some", (), {"one": Descriptor()})
        return 0

    def failed(arguments: object) -> int:
        raise RuntimeError("another") from ValueError("of something else")

    monkeypatch.setattr("sapwood.cli.running.run", stopped)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "sapwood: interrupted\n"
    monkeypatch.setattr("sapwood.cli.running.run", failed)
    with pytest.raises(RuntimeError, match="another"):
        main(["doctor"])

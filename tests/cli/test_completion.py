"""Completion: the scripts are valid where the shell is installed, and complete what the commands have."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from sapwood.cli import main
from sapwood.cli.color import color_labels, color_scores, colored


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_named(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for name in ("roles", "doctor", "train", "completion", "allennlp"):
        assert name in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("sapwood doc", "doctor", "roles"),
        ("sapwood train par", "parser", "doctor"),
        ("sapwood roles --form", "--format", "--kernel"),
        ("sapwood roles --format al", "allennlp", "--format"),
    ],
)
def test_bash_completes(line, offered, not_offered, capsys, tmp_path):
    main(["completion", "bash"])
    script = capsys.readouterr().out
    words = line.split()
    test = f"{script}\nCOMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\n_sapwood\n"
    test += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", test], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert offered in done.stdout.split()
    assert not_offered not in done.stdout.split()


class _Terminal:
    def isatty(self) -> bool:
        return True


def test_color_is_for_terminals_that_want_it(monkeypatch):
    text = "Giving\n    A0  Kim\n    *   gave"
    score = "+0.5000 +++  NP\n-0.2500 ---  VP"
    assert color_labels(text) == text
    assert color_scores(score) == score
    monkeypatch.setattr("sys.stdout", _Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert color_labels(text).count("\x1b[0m") == 2
    assert color_scores(score).count("\x1b[0m") == 2
    assert colored("ok", "good").startswith("\x1b[32m")
    monkeypatch.setenv("NO_COLOR", "1")
    assert color_labels(text) == text
    assert colored("ok", "good") == "ok"

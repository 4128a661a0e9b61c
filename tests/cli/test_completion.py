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


ASK = {
    "bash": """source {script}
COMP_WORDS=({line})
[[ "{line}" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_sapwood
printf "%s\\n" "${{COMPREPLY[@]}}"
""",
    # Outside of a line that is being edited zsh offers nothing, so that its own commands are stood in for.
    "zsh": """compdef() {{ }}
_files() {{ print -l *(N) }}
compadd() {{ shift; print -l -- ${{(M)@:#$words[CURRENT]*}} }}
source {script}
words=({line})
[[ "{line}" == *" " ]] && words+=("")
CURRENT=$#words
_sapwood
""",
    "fish": """source {script}
complete -C "{line}"
""",
}


@pytest.mark.parametrize("shell", sorted(ASK))
@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("sapwood doc", "doctor", "roles"),
        ("sapwood train ", "parser", "doctor"),
        ("sapwood train par", "parser", "doctor"),
        ("sapwood roles --form", "--format", "--kernel"),
        ("sapwood roles --format al", "allennlp", "--format"),
        ("sapwood predict -q nov", "novel.txt", "doctor"),
        ("sapwood score roles --", "--json", "--model"),
    ],
)
def test_shells_complete(shell, line, offered, not_offered, capsys, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    main(["completion", shell])
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "novel.txt").write_text("")
    asked = ASK[shell].format(script=script, line=line)
    done = subprocess.run([shell, "-c", asked], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
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

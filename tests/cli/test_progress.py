"""Bars and clocks on a terminal: they are there while a command works, and nothing of them is left."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no terminals of one's own"),
]

TREES = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n" * 3
# A command that takes its time to read, which has no steps to count.
SLOW = """
import sys, time
import sapwood.trees
from sapwood.cli import main

read = sapwood.trees.read_trees

def slowly(*given, **named):
    time.sleep(2.5)
    return read(*given, **named)

sapwood.trees.read_trees = slowly
sys.exit(main(sys.argv[1:]))
"""
# Bars, clocks and prints of all sorts, one after the other and within each other.
MIXED = """
import argparse, sys, time
from sapwood import settings
from sapwood.cli.command import Command
from sapwood.cli.terminal import working

with settings.options(progress=True), working(argparse.Namespace(command=Command("x", "", ""), called="clock")):
    time.sleep(1.3)
    print("first")
    with settings.progress_bar(4, "Counting", "sheep") as progress:
        for number in range(4):
            time.sleep(0.6)
            progress(number + 1)
            print(f"sheep {number}")
    with settings.stage("Sleeping"), settings.progress_bar(9, "Not moving", "stones"):
        time.sleep(2.3)
    print("half a line,", end=" ")
    time.sleep(1.3)
    print("the other half")
    time.sleep(1.3)
"""


def at_a_terminal(code: str, *arguments: str, typed: str = "") -> bytes:
    """Run Python with a terminal for its input and output, and return all that was written there, what is typed too."""
    import fcntl
    import termios

    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    if typed:
        os.write(master, (typed + 4 * "\x04").encode())
    written = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        written += part
    os.close(master)
    assert process.wait() == 0, written
    return written


def screen(written: bytes) -> list[str]:
    """Return the lines that a terminal shows in the end."""
    lines, row, column = [""], 0, 0
    for part in re.findall(r"\x1b\[(\d*)A|(\r)|(\n)|([^\r\n\x1b]+)", written.decode()):
        up, back, down, text = part
        if up:
            row -= int(up)
        elif back:
            column = 0
        elif down:
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        else:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]


def test_a_silent_command_shows_for_how_long_it_has_worked(tmp_path: Path) -> None:
    (tmp_path / "trees.mrg").write_text(TREES)
    asked = ["show", str(tmp_path / "trees.mrg")]
    piped = subprocess.run([sys.executable, "-c", SLOW, *asked], capture_output=True, text=True, check=True)
    assert piped.stderr == ""
    written = at_a_terminal(SLOW, *asked)
    assert re.search(rb"\rsapwood show: 00:0\d", written)
    shown = re.sub(rb"\x1b\[[0-9;]*m", b"", written)
    assert [line for line in screen(shown) if line] == [line.rstrip() for line in piped.stdout.splitlines() if line]


def test_quiet_commands_show_nothing(tmp_path: Path) -> None:
    (tmp_path / "trees.mrg").write_text(TREES)
    assert b"sapwood show" not in at_a_terminal(SLOW, "show", "-q", str(tmp_path / "trees.mrg"))


def test_nothing_is_shown_to_someone_who_types() -> None:
    written = at_a_terminal(SLOW, "show", "-", typed=TREES)
    assert b"barks" in written
    assert b"sapwood show" not in written


def test_bars_give_way_to_what_is_printed_and_leave_nothing_behind() -> None:
    written = at_a_terminal(MIXED)
    for seen in (rb"clock: 00:0", rb"Counting: .*/4 \[.* sheep", rb"Not moving: .*0/9 \[.* stones"):
        assert re.search(seen, written), seen
    lines = [line for line in screen(written) if line]
    assert lines == ["first", *(f"sheep {number}" for number in range(4)), "half a line, the other half"]

"""Commands of the shell that are stopped or killed: no file is there in part, and nothing finished is lost."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults.shell import kill_command, undisturbed_command
from sapwood.cli import main
from sapwood.cli.running import _no_interrupt_lost

# ``make faults`` has more patience.
ROUNDS = 20 if os.environ.get("SAPWOOD_FAULTS") == "long" else 2


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
@pytest.mark.parametrize(
    ("name", "number"),
    [("train trees", signal.SIGINT), ("experiment --cache", signal.SIGKILL)],
)
def test_commands_end_and_leave_whole_files(name: str, number: int, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    expected, seconds = undisturbed_command(name, tmp_path / "first")
    kill_command(name, number, ROUNDS, tmp_path / "second", expected, seconds)


def test_ctrl_c_while_the_program_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sapwood.cli.running.build_parser", press)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "sapwood: interrupted\n"


def test_ctrl_c_leaves_without_taking_libraries_down(fresh: Callable[..., Any]) -> None:
    """What was registered for the end is done, what was printed arrives, and destructors of modules do not run."""
    code = """
        import atexit, signal, sys
        import sapwood.cli.running
        from sapwood.cli import main

        class Slow:
            def __del__(self):
                print("taken down", flush=True)

        def press(*_):
            raise KeyboardInterrupt

        kept = Slow()
        atexit.register(print, "at exit")
        print("printed")
        sapwood.cli.running.build_parser = press
        sys.exit(main())
    """
    done = fresh(code)
    assert (done.stdout, done.stderr, done.returncode) == ("printed\nat exit\n", "sapwood: interrupted\n", 130)


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_ctrl_c_when_output_has_no_place_to_go(fresh: Callable[..., Any]) -> None:
    code = """
        import sys
        import sapwood.cli.running

        def press(*_):
            raise KeyboardInterrupt

        sapwood.cli.running.build_parser = press
        sys.stdout = open("/dev/full", "w")
        print("lost")
        sys.exit(sapwood.cli.main())
    """
    done = fresh(code)
    assert (done.stderr, done.returncode) == ("sapwood: interrupted\n", 130)


def test_ctrl_c_in_a_destructor_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    class Upset:
        def __del__(self) -> None:
            raise AssertionError

    def work() -> None:
        Interrupted()
        time.sleep(10.0)

    begin = time.monotonic()
    with _no_interrupt_lost():
        with pytest.raises(KeyboardInterrupt):
            work()
        # It was interrupted in the middle of something, and says so.
        Upset()
    assert time.monotonic() - begin < 5.0
    assert capsys.readouterr().err == ""

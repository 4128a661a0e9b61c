"""Bars on a terminal: how far work is, or for how long it has gone on where it has no steps to count.

Whether they are shown at all is a matter of ``settings``, which is what others ask for bars.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["count", "hidden", "stage"]

# Seconds before a bar is drawn: what is over sooner needs none.
_DELAY = 1.0


class _Count:
    """A bar of steps, from its second second on."""

    def __init__(self, bar: Any) -> None:
        self._bar, self._due, self._drawn = bar, time.monotonic() + _DELAY, False

    def advance(self, done: int) -> None:
        """Say how many steps are done."""
        self._bar.update(done - self._bar.n)

    def refresh(self) -> bool:
        """Draw the bar anew, and return whether it was time for that."""
        if time.monotonic() < self._due:
            return False
        self._drawn = True
        return bool(self._bar.refresh())

    def hide(self) -> None:
        """Take the bar off the terminal."""
        self._bar.clear()

    def close(self) -> None:
        """End it: a bar that no step has drawn does not know that it is to be taken off."""
        if self._drawn:
            self._bar.clear()


class _Stage:
    """A line that says what is being done and for how long."""

    def __init__(self, what: str) -> None:
        self._what, self._began, self._width = what, time.monotonic(), 0

    def refresh(self) -> bool:
        """Draw the line anew, and return whether it was time for that."""
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        text = f"{self._what}: {minutes:02}:{seconds:02}"
        self._width = len(text)
        self._write(f"\r{text}")
        return True

    def hide(self) -> None:
        """Take the line off the terminal."""
        if self._width:
            self._write(f"\r{' ' * self._width}\r")
            self._width = 0

    close = hide

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


class _Bars:
    """The bars and stages that are open, innermost last; once a second one is drawn, so that its clock goes on."""

    def __init__(self) -> None:
        self.open: list[_Count | _Stage] = []
        # Whether somebody else is within a line of the terminal, and must not be interrupted.
        self.held = False
        self.lock = threading.RLock()
        self._ticker: threading.Thread | None = None

    @contextmanager
    def showing(self, bar: _Count | _Stage) -> Iterator[None]:
        """Count a bar among the open ones, and end it."""
        with self.lock:
            self.open.append(bar)
            if self._ticker is None:
                self._ticker = threading.Thread(target=self._tick, name="sapwood-progress", daemon=True)
                self._ticker.start()
        try:
            yield
        finally:
            with self.lock:
                self.open.remove(bar)
                bar.close()

    def _tick(self) -> None:
        while True:
            time.sleep(1.0)
            with self.lock:
                if not self.open:
                    self._ticker = None
                    return
                if not self.held:
                    for bar in self.open:
                        if isinstance(bar, _Stage):
                            bar.hide()
                    any(bar.refresh() for bar in reversed(self.open))


_bars = _Bars()


@contextmanager
def count(total: int, what: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Show a bar, and yield a callable that takes the number of finished steps; a total of 0 is not known."""
    from tqdm.auto import tqdm

    with tqdm(total=total or None, desc=what, unit=f" {unit}", delay=_DELAY, leave=False, dynamic_ncols=True) as bar:
        shown = _Count(bar)
        with _bars.showing(shown):
            yield shown.advance


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Show for how long work has gone on while no bar within is shown."""
    with _bars.showing(_Stage(what)):
        yield


@contextmanager
def hidden(*, line_goes_on: bool = False) -> Iterator[None]:
    """Take all bars off the terminal while something else is written there; they come back by themselves.

    Parameters
    ----------
    line_goes_on : bool
        Whether what is written ends within a line: bars then stay away until a line has ended.
    """
    with _bars.lock:
        if not _bars.held:
            for bar in _bars.open:
                bar.hide()
        yield
        _bars.held = line_goes_on

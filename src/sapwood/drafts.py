"""Long runs that write one answer after the other: the file appears whole or not at all, and a stopped run can go on.

While a run lasts, its answers collect in a draft beside the target, with a note of how far it is. Only a finished draft
takes the target's name. What the answers say belongs to whoever makes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sapwood import settings
from sapwood.errors import DataError, ModelFileError, OutputError
from sapwood.resuming import CheckpointFile, fingerprint
from sapwood.writing import check_writable, is_stream, unwritable

__all__ = ["beside", "write_answers"]

Item = TypeVar("Item")

# Often enough that little is lost, seldom enough that noting costs nothing.
_STEP = 100
# Bytes that the name of a file may have on any common file system.
_LONGEST_NAME = 255


def write_answers(
    path: str | os.PathLike[str],
    items: Iterable[Item],
    answer: Callable[[Iterator[Item]], Iterable[str]],
    *,
    run: Mapping[str, Any],
    resume: bool = False,
    what: str = "sentences",
) -> int:
    """Write what is answered to each item into a file.

    Parameters
    ----------
    path : path
        The file to write; it appears when everything is done. A pipe or a device is written into as answers come.
    items : iterable
        What is asked, read as the answers are made. A run goes on only where the items that are done are the same, by
        what ``repr`` says of them.
    answer : callable
        Takes an iterator of items and yields one text for each, in their order.
    run : mapping
        What makes two runs the same: model, format. A run goes on only where its fingerprint is the same.
    resume : bool
        Whether to go on where a stopped run ended. Without it, a run starts anew.
    what : str
        What the items are called while progress is shown.

    Returns
    -------
    int
        How many answers the file holds.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "upper.txt")
    >>> write_answers(path, ["a", "b"], lambda words: (f"{word.upper()}\\n" for word in words), run={"job": "upper"})
    2
    >>> path.read_text()
    'A\\nB\\n'
    """
    check_writable(path)
    target = Path(path)
    if is_stream(target):
        return _send(items, answer, target)
    draft, note = beside(target, ".draft"), beside(target, ".note")
    checkpoint = CheckpointFile(note, fingerprint(run))
    start = _read_progress(checkpoint, note) if resume and draft.exists() else _Progress()
    if start.size and draft.stat().st_size < start.size:
        raise DataError(f"{draft}: is shorter than {note} says; start without resume.")
    source = _Checked(items)
    skipped = sum(1 for _ in islice(source, start.done))
    if skipped < start.done:
        raise DataError(
            f"{note}: {start.done:,} {what} are done, but there are only {skipped:,}; start without resume."
        )
    if source.answered(start.done) != start.checksum:
        raise DataError(f"{note}: belongs to a run over another input; start without resume.")
    try:
        done = _collect(source, answer, draft, checkpoint, start, what)
        os.replace(draft, target)
    except OSError as error:
        raise error if isinstance(error, OutputError) else unwritable(target, error) from None
    checkpoint.remove()
    return done


class _Progress(NamedTuple):
    """How far a run is: answers, bytes of the draft, and a checksum of the items that are answered."""

    done: int = 0
    size: int = 0
    checksum: int = 0


def _read_progress(checkpoint: CheckpointFile, note: Path) -> _Progress:
    try:
        found = checkpoint.read()
        progress = _Progress() if found is None else _Progress(**found.values)
        if not all(isinstance(value, int) and value >= 0 for value in progress):
            raise TypeError
        return progress
    except (ModelFileError, TypeError):
        raise DataError(
            f"{note}: is damaged, or belongs to a run with another model, input or format; start without resume."
        ) from None


def beside(target: Path, ending: str) -> Path:
    """Return the hidden companion of a file, the same for every run."""
    name = f".{target.name}{ending}"
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:32]}{ending}"
    return target.with_name(name)


class _Checked(Iterator[Item]):
    """Items with a checksum of those that are answered; more of them may have been read."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items, self._read, self._done = iter(items), 0, 0
        self._ahead: deque[int] = deque()

    def __next__(self) -> Item:
        item = next(self._items)
        self._read = zlib.crc32(repr(item).encode("utf-8", "surrogatepass"), self._read)
        self._ahead.append(self._read)
        return item

    def answered(self, count: int = 1) -> int:
        """Say that so many more of the items are answered; return the checksum of all that are."""
        for _ in range(count):
            self._done = self._ahead.popleft()
        return self._done


def _send(items: Iterable[Item], answer: Callable[[Iterator[Item]], Iterable[str]], target: Path) -> int:
    """Write into a pipe or a device, which has no draft: taking its name would break it for others."""
    done = 0
    try:
        with open(target, "wb") as stream:
            for text in answer(iter(items)):
                stream.write(text.encode())
                done += 1
    except OSError as error:
        raise error if isinstance(error, OutputError) else unwritable(target, error) from None
    return done


def _collect(
    source: _Checked[Item],
    answer: Callable[[Iterator[Item]], Iterable[str]],
    draft: Path,
    checkpoint: CheckpointFile,
    start: _Progress,
    what: str,
) -> int:
    """Write what is left to the draft, and note from time to time how much of it is done."""
    done, size, checksum = start
    with open(draft, "r+b" if size else "wb") as stream, settings.progress_bar(0, what.capitalize(), what) as progress:
        stream.truncate(size)
        stream.seek(size)

        def remember() -> None:
            stream.flush()
            os.fsync(stream.fileno())
            checkpoint.write(_Progress(done, size, checksum)._asdict(), {})

        try:
            for text in answer(source):
                data = text.encode()
                stream.write(data)
                done, size, checksum = done + 1, size + len(data), source.answered()
                if done % _STEP == 0:
                    remember()
                    if progress is not None:
                        progress(done)
        except BaseException:
            # Whatever stopped the run, what is finished is kept for the next one: all of it if the disk takes it,
            # otherwise what was noted before.
            if done:
                with contextlib.suppress(OSError):
                    remember()
            else:
                draft.unlink()
                checkpoint.remove()
            raise
        stream.flush()
        os.fsync(stream.fileno())
    return done

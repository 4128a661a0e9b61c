"""What a long run is about and which of its pieces are finished, as small files in the folder of its results.

``run.json`` says what the run is, with a fingerprint of everything its results depend on; ``done/KEY.json`` says that a
piece is finished, and its checksums. Both appear whole or not at all. A piece's note is written by whoever computed it,
after the piece itself, so that neither a killed worker nor a killed client loses anything finished. What pieces are is
the business of the caller.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sapwood.errors import DataError, ModelFileError
from sapwood.writing import atomic_write

__all__ = ["Ledger", "safely"]

FORMAT_VERSION = 1


class Ledger:
    """The notes of one run.

    Parameters
    ----------
    folder : path
        Where the results and the notes are.
    kind : str
        What kind of run it is, such as ``"gram"``.
    about : dict
        What the run is about, in JSON; must hold ``"fingerprint"``.

    Attributes
    ----------
    folder : Path
    about : dict
        As on disk.
    """

    def __init__(self, folder: Path, kind: str, about: dict[str, Any]) -> None:
        self.folder, self.kind, self.about = folder, kind, about

    @classmethod
    def begin(cls, folder: str | os.PathLike[str], kind: str, about: dict[str, Any]) -> Ledger:
        """Open the ledger of a run, or start one in a folder that is new or empty.

        Raises
        ------
        DataError
            If the folder holds something else: another run, other data, other parameters.
        """
        place = Path(folder).absolute()
        if (place / "run.json").exists():
            ledger = cls.open(place, kind)
            wrong = [key for key in about if key != "fingerprint" and ledger.about.get(key) != about[key]]
            if wrong:
                raise DataError(
                    f"{place}: holds a run with {wrong[0]} {_short(ledger.about.get(wrong[0]))}, not "
                    f"{_short(about[wrong[0]])}; name another folder, or remove this one to start anew."
                )
            if ledger.about.get("fingerprint") != about["fingerprint"]:
                raise DataError(
                    f"{place}: holds a run over other data; name another folder, or remove this one to start anew."
                )
            with safely(place):
                (place / "done").mkdir(exist_ok=True)
            return ledger
        with safely(place):
            place.mkdir(parents=True, exist_ok=True)
            if next(place.iterdir(), None) is not None:
                raise DataError(f"{place}: is not empty and holds no run of Sapwood's; name a new or empty folder.")
            document = {"format": FORMAT_VERSION, "kind": kind, **about}
            atomic_write(place / "run.json", (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode())
            (place / "done").mkdir()
        return cls(place, kind, about)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], kind: str) -> Ledger:
        """Open the ledger of a run that exists."""
        place = Path(folder).absolute()
        try:
            about = json.loads((place / "run.json").read_bytes())
            version, found = about.pop("format"), about.pop("kind")
        except FileNotFoundError:
            raise ModelFileError(f"{place}: holds no run of Sapwood's, since there is no run.json.") from None
        except OSError as error:
            raise ModelFileError(f"{place}: run.json cannot be read ({error.strerror}).") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ModelFileError(f"{place}: run.json is damaged; remove the folder to start anew.") from None
        if not isinstance(version, int) or version > FORMAT_VERSION:
            raise ModelFileError(f"{place}: was written by a newer version (format {version!r}). Update Sapwood.")
        if found != kind:
            raise ModelFileError(f"{place}: holds a run of the kind {found!r}, not {kind!r}; name another folder.")
        return cls(place, kind, about)

    def finished(self) -> dict[str, dict[str, Any]]:
        """Return the note of every finished piece by its key; a note that cannot be read counts as none."""
        notes: dict[str, dict[str, Any]] = {}
        if not (self.folder / "done").is_dir():
            return notes
        with os.scandir(self.folder / "done") as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.name.endswith(".json"):
                    continue
                try:
                    note = json.loads(Path(entry.path).read_bytes())
                except (OSError, ValueError, RecursionError):
                    continue
                if isinstance(note, dict):
                    notes[entry.name.removesuffix(".json")] = note
        return notes

    def note(self, key: str, record: dict[str, Any]) -> None:
        """Say that a piece is finished."""
        # Not flushed: were it lost with the power, the piece would be computed again; were the piece lost, its
        # checksum would tell.
        atomic_write(self.folder / "done" / f"{key}.json", json.dumps(record).encode(), flush=False)

    def forget(self, key: str) -> None:
        """Say that a piece must be computed again."""
        (self.folder / "done" / f"{key}.json").unlink(missing_ok=True)


class safely:  # noqa: N801 - reads as a statement
    """Turn the system's complaints about a folder into an error that says what to do.

    Parameters
    ----------
    folder : path
        What is being written.
    finished : callable, optional
        Says, for the message, what is kept.
    """

    def __init__(self, folder: Path, finished: Callable[[], str] | None = None) -> None:
        self._folder, self._finished = folder, finished

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, OSError):
            return
        kept = "" if self._finished is None else f" {self._finished()}"
        raise DataError(
            f"{self._folder}: cannot be used ({error.strerror or error}). Make room, or name a folder that can be "
            f"written.{kept}"
        ) from error


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

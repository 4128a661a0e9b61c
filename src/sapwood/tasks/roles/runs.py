"""Labelling runs over many sentences: the result appears whole or not at all, and a stopped run can go on.

While a run lasts, its lines collect in a draft beside the target, with a note of how far it is. Only a finished draft
takes the target's name.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from sapwood import settings
from sapwood.corpora.conll09 import conll09_text
from sapwood.corpora.props import props_text
from sapwood.corpora.role_lines import role_line
from sapwood.draw.roles import roles_text
from sapwood.errors import DataError, OutputError, ParameterError
from sapwood.files import atomic_write, check_writable, is_stream, unwritable
from sapwood.tasks.roles.exact import KernelRoles
from sapwood.tasks.roles.linear import LinearRoles
from sapwood.trees.propositions import RoleSentence

__all__ = ["FORMATS", "label_to_file"]

FORMATS: dict[str, Callable[[RoleSentence], str]] = {
    "jsonl": role_line,
    "props": props_text,
    "conll09": conll09_text,
    "text": lambda sentence: f"{roles_text(sentence)}\n",
}
"""What a sentence can be written as."""

# Often enough that little is lost, seldom enough that noting costs nothing.
_STEP = 100


class Labels(Protocol):
    """What a run needs of a labeller: ``RoleLabeler``, or something that stands in for one."""

    identifier_: LinearRoles
    classifier_: LinearRoles | KernelRoles

    def label_sentences(
        self, sentences: Iterable[RoleSentence], *, given_predicates: bool = True
    ) -> Iterator[RoleSentence]:
        """Yield sentences with predicted propositions."""
        ...


def label_to_file(
    labeler: Labels,
    sentences: Iterable[RoleSentence],
    path: str | os.PathLike[str],
    *,
    form: str = "jsonl",
    resume: bool = False,
    given_predicates: bool = False,
) -> int:
    """Label sentences into a file.

    Parameters
    ----------
    labeler : RoleLabeler
        A fitted labeller, or a ``sapwood.scale.ClusterLabeler``.
    sentences : iterable of RoleSentence
        With trees, or words alone if the labeller has a parser.
    path : path
        The file to write; it appears when everything is done. A pipe or a device is written into as lines come.
    form : {"jsonl", "props", "conll09", "text"}
        What to write.
    resume : bool
        Whether to go on where a stopped run of the same model over the same sentences ended.
    given_predicates : bool
        Whether the sentences' own predicates are used.

    Returns
    -------
    int
        How many sentences the file holds.
    """
    if form not in FORMATS:
        raise ParameterError(f"form must be one of {', '.join(FORMATS)}, got {form!r}.")
    check_writable(path)
    target = Path(path)
    if is_stream(target):
        return _send(labeler, sentences, target, FORMATS[form], given_predicates)
    draft, note = target.with_name(f".{target.name}.draft"), target.with_name(f".{target.name}.note")
    state: dict[str, Any] = {
        "model": _fingerprint(labeler),
        "form": form,
        "given": given_predicates,
        "done": 0,
        "bytes": 0,
    }
    if resume and note.exists() and draft.exists():
        state = _resumed(note, state)
        if draft.stat().st_size < int(state["bytes"]):
            raise DataError(f"{draft}: is shorter than {note} says; start without resume.")
    write = FORMATS[form]
    done = int(state["done"])
    source = iter(sentences)
    skipped = sum(1 for _ in islice(source, done))
    if skipped < done:
        raise DataError(f"{note}: {done} sentences are done, but there are only {skipped}; start without resume.")
    try:
        done = _collect(labeler, source, draft, note, state, write, given_predicates)
        os.replace(draft, target)
    except OSError as error:
        raise error if isinstance(error, OutputError) else unwritable(target, error) from None
    note.unlink(missing_ok=True)
    return done


def _send(
    labeler: Labels,
    source: Iterable[RoleSentence],
    target: Path,
    write: Callable[[RoleSentence], str],
    given_predicates: bool,
) -> int:
    """Write into a pipe or a device, which has no draft: taking its name would break it for others."""
    done = 0
    try:
        with open(target, "wb") as stream:
            for labelled in labeler.label_sentences(source, given_predicates=given_predicates):
                stream.write(write(labelled).encode())
                done += 1
    except OSError as error:
        raise error if isinstance(error, OutputError) else unwritable(target, error) from None
    return done


def _collect(
    labeler: Labels,
    source: Iterator[RoleSentence],
    draft: Path,
    note: Path,
    state: dict[str, Any],
    write: Callable[[RoleSentence], str],
    given_predicates: bool,
) -> int:
    """Write what is left to the draft, and note from time to time how much of it is done."""
    done, size = int(state["done"]), int(state["bytes"])
    with open(draft, "r+b" if size else "wb") as stream, settings.progress_bar(0, "Sentences") as progress:
        stream.truncate(size)
        stream.seek(size)

        def remember() -> None:
            stream.flush()
            os.fsync(stream.fileno())
            atomic_write(note, json.dumps(state | {"done": done, "bytes": size}).encode())

        try:
            for labelled in labeler.label_sentences(source, given_predicates=given_predicates):
                text = write(labelled).encode()
                stream.write(text)
                done, size = done + 1, size + len(text)
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
                note.unlink(missing_ok=True)
            raise
        stream.flush()
        os.fsync(stream.fileno())
    return done


def _fingerprint(labeler: Labels) -> int:
    last = labeler.classifier_
    weights = last.weights if isinstance(last, LinearRoles) else last.classifier.machine_.dual_coef_
    return int(zlib.crc32(weights.tobytes(), zlib.crc32(labeler.identifier_.weights.tobytes())))


def _resumed(note: Path, fresh: dict[str, Any]) -> dict[str, Any]:
    try:
        state = json.loads(note.read_bytes())
        same = all(state[key] == fresh[key] for key in ("model", "form", "given"))
        ends = isinstance(state["done"], int) and isinstance(state["bytes"], int)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{note}: cannot be read; start without resume.") from None
    if not same or not ends:
        raise DataError(f"{note}: belongs to a run with another model or format; start without resume.")
    return dict(state)

"""Files on disk: writing them whole or not at all, and model files.

A model file is one safetensors file. Its arrays are plain numbers; its header carries one JSON document that says
which class each part is and what its parameters are. Classes register themselves here under a name, and only
registered names can be read back, so that reading a file never runs code from it. This module imports none of them:
the table below says which room to load for a name.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import DataError, ModelFileError, ParameterError

__all__ = ["Reader", "Writer", "atomic_write", "describe", "load", "register", "save"]

FORMAT_VERSION = 1
_KEY = "sapwood"
# A header lists a few dozen arrays; anything near this size is damage or malice.
_LARGEST_HEADER = 100_000_000

# Which module registers a name: loading a file imports what it needs and nothing else.
_HOMES = {
    "AttachmentRanker": "sapwood.tasks.attachment.store",
    "Checkpoint": "sapwood.learn.checkpoints",
    "ConnectionPaths": "sapwood.parse.paths_store",
    "Examples": "sapwood.trees.store",
    "FragmentMap": "sapwood.kernels.map_store",
    "FrameIdentifier": "sapwood.tasks.frames.identifier",
    "FrameLabeler": "sapwood.tasks.frames.labeler",
    "FrameParser": "sapwood.tasks.frames.parser",
    "Grammar": "sapwood.trees.grammar_store",
    "HashedFragmentMap": "sapwood.kernels.map_store",
    "Kernel": "sapwood.kernels.store",
    "KernelRanker": "sapwood.learn.ranking",
    "KernelSVC": "sapwood.learn.svm",
    "KernelSVR": "sapwood.learn.svm",
    "LandmarkMap": "sapwood.kernels.map_store",
    "LogLinear": "sapwood.learn.loglinear",
    "PCFGParser": "sapwood.parse.store",
    "PairClassifier": "sapwood.tasks.pairs.store",
    "PairFeatures": "sapwood.tasks.pairs.store",
    "ParseReranker": "sapwood.tasks.reranking_store",
    "QuestionClassifier": "sapwood.tasks.questions.classifier",
    "RecursiveClassifier": "sapwood.learn.recursive_store",
    "RecursiveRanker": "sapwood.learn.recursive_store",
    "RecursiveRegressor": "sapwood.learn.recursive_store",
    "RoleClassifier": "sapwood.tasks.roles.classifier",
    "RoleLabeler": "sapwood.tasks.roles.labeler",
    "ShardClassifier": "sapwood.scale.linear",
    "SubtreeMap": "sapwood.kernels.map_store",
    "TreeArray": "sapwood.trees.store",
    "VotedPerceptron": "sapwood.learn.perceptron",
    "WordSimilarity": "sapwood.words.store",
}


@dataclass
class _Entry:
    kind: type
    write: Callable[[Any, Writer], dict[str, Any]]
    read: Callable[[dict[str, Any], Reader], Any]


_registry: dict[str, _Entry] = {}


def register(
    name: str,
    kind: type[Any],
    write: Callable[[Any, Writer], dict[str, Any]],
    read: Callable[[dict[str, Any], Reader], Any],
) -> None:
    """Make a class storable.

    Parameters
    ----------
    name : str
        What the class is called in files; never changes once released.
    kind : type
        The class; instances of subclasses are stored under the same name.
    write : callable
        Takes an object and a ``Writer``; returns JSON data in which ``writer.array`` and ``writer.part`` stand for
        arrays and other stored objects.
    read : callable
        The inverse: takes that data and a ``Reader``. Must check whatever it relies on.
    """
    if _HOMES.get(name) is None:
        raise ParameterError(f"{name!r} has no home in sapwood.files, so files that hold it could not be read back.")
    _registry[name] = _Entry(kind, write, read)


class Writer:
    """Collects the arrays of the objects that are being saved."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def array(self, values: NDArray[Any]) -> str:
        """Store an array and return the name under which the reader finds it."""
        name = f"a{len(self.arrays)}"
        self.arrays[name] = np.ascontiguousarray(values)
        return name

    def part(self, value: Any) -> dict[str, Any]:
        """Describe an object of a registered class."""
        for home in set(_HOMES.values()):
            if type(value).__module__.split(".")[:2] == home.split(".")[:2]:
                import_module(home)
        for name, entry in _registry.items():
            if isinstance(value, entry.kind):
                return {"class": name, **entry.write(value, self)}
        raise ParameterError(
            f"{type(value).__name__} objects cannot be saved; sapwood.save takes {', '.join(sorted(_HOMES))}."
        )


class Reader:
    """Gives back arrays and objects from a file, checking each."""

    def __init__(self, name: str, arrays: dict[str, NDArray[Any]]) -> None:
        self._name, self._arrays = name, arrays

    def fail(self, reason: str) -> ModelFileError:
        """Make the error to raise when the content is not what it should be."""
        return ModelFileError(f"{self._name}: the file is damaged: {reason}. Save the model again.")

    def array(self, name: Any, dtype: Any, ndim: int) -> NDArray[Any]:
        """Return an array by the name the writer gave it, with the type it must have."""
        values = self._arrays.get(name) if isinstance(name, str) else None
        if values is None:
            raise self.fail(f"the array {name!r} is missing")
        if values.dtype != np.dtype(dtype) or values.ndim != ndim:
            raise self.fail(f"the array {name!r} has type {values.dtype} and {values.ndim} dimensions")
        return values

    def part(self, data: Any) -> Any:
        """Rebuild an object from its description."""
        name = data.get("class") if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in _HOMES:
            raise ModelFileError(
                f"{self._name}: holds an object of the unknown class {name!r}; it was written by another program or by "
                "a newer Sapwood. Update Sapwood or save the model again."
            )
        import_module(_HOMES[name])
        try:
            return _registry[name].read(data, self)
        except ModelFileError:
            raise
        except Exception as error:
            # A damaged description can go wrong in any way at all.
            raise self.fail(f"the part {name!r} cannot be rebuilt ({error})") from None


def save(value: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted estimator, a kernel, trees or examples to one file.

    The file appears whole or not at all, and holds numbers and JSON only.

    Examples
    --------
    >>> import sapwood as sw, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "trees.sap")
    >>> sw.save(sw.TreeArray(["(NP (NN dog))"]), path)
    >>> print(sw.load(path)[0])
    (NP (NN dog))
    """
    from safetensors.numpy import save as serialize

    import sapwood

    writer = Writer()
    document = {
        "format": FORMAT_VERSION,
        "written_by": f"sapwood {sapwood.__version__}",
        "object": writer.part(value),
    }
    try:
        # Keys stay in their order: that of views is the user's.
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ParameterError("a dictionary of features holds NaN or infinity; fill or drop it before saving.") from None
    atomic_write(path, serialize(writer.arrays, metadata={_KEY: text}))


def load(path: str | os.PathLike[str]) -> Any:
    """Load what ``save`` wrote.

    Raises
    ------
    ModelFileError
        If the file is missing, truncated, damaged, from another program or from a newer Sapwood.
    """
    document, arrays = _open(path)
    return Reader(os.fspath(path), arrays).part(document.get("object"))


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON document of a file without rebuilding anything."""
    return _open(path)[0]


def _open(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as deserialize

    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"{name}: no such file (looked from {os.getcwd()}).") from None
    except OSError as error:
        raise ModelFileError(f"{name}: cannot be read ({error.strerror}).") from None
    length = int.from_bytes(data[:8], "little") if len(data) >= 8 else _LARGEST_HEADER
    if length >= _LARGEST_HEADER or data[8:9] != b"{":
        raise ModelFileError(f"{name}: is not a Sapwood file. Load files that sapwood.save has written.")
    if 8 + length > len(data):
        raise ModelFileError(f"{name}: the file is truncated; copy or save it again.")
    try:
        text = json.loads(data[8 : 8 + length])["__metadata__"][_KEY]
        document = json.loads(text)
        version = document["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelFileError(f"{name}: is not a Sapwood file. Load files that sapwood.save has written.") from None
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ModelFileError(
            f"{name}: was written by a newer version ({document.get('written_by')}, format {version!r}); this one "
            f"reads formats up to {FORMAT_VERSION}. Update Sapwood."
        )
    try:
        arrays = deserialize(data)
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{name}: the file is truncated or damaged ({error}); copy or save it again.") from None
    return document, arrays


def atomic_write(path: str | os.PathLike[str], data: bytes, *, flush: bool = True) -> None:
    """Write a file so that it appears whole or not at all, even if the process is killed halfway.

    Without ``flush`` a machine that loses power may lose the content; for files that are checked before they are used.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(draft, "xb") as stream:
            stream.write(data)
            if flush:
                stream.flush()
                os.fsync(stream.fileno())
        os.replace(draft, target)
    except FileNotFoundError:
        raise DataError(f"{target}: there is no folder {str(target.parent)!r}; make it first.") from None
    except BaseException:
        draft.unlink(missing_ok=True)
        raise

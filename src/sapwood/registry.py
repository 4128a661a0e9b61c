"""The classes that model files can hold, and how objects become JSON and arrays and are checked on the way back.

Classes register themselves here under a name, and only registered names can be read back, so that reading a file never
runs code from it. This module imports none of them: ``homes`` says which module to load for a name. A class is
registered by a pair of functions; ``layouts`` makes that pair for estimators from a list of what they hold.
"""

from __future__ import annotations

import inspect
import math
import os
import re
import reprlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from sapwood.errors import ModelFileError, ParameterError, TooLargeError
from sapwood.homes import HOMES, WRAPPERS
from sapwood.memory import available
from sapwood.packing import Grid, pack, pack_rounded, unpack, unpack_sparse

__all__ = ["Reader", "Writer", "plain_value", "register"]

# The version of the format of model files: a newer major one cannot be read; a newer minor one has only things that may
# be passed over.
FORMAT_VERSION = 1
FORMAT_MINOR = 4


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
    if HOMES.get(name) is None:
        raise ParameterError(f"{name!r} has no home in sapwood.registry, so files that hold it could not be read back.")
    _registry[name] = _Entry(kind, write, read)


class Writer:
    """Collects the arrays of the objects that are being saved; in a compact file they are packed, and described."""

    def __init__(self, *, compact: bool = False) -> None:
        self.compact = compact
        self.arrays: dict[str, NDArray[Any]] = {}
        self.packed: dict[str, dict[str, Any]] = {}
        self._count = 0

    def array(self, values: NDArray[Any]) -> str:
        """Store an array and return the name under which the reader finds it."""
        parts, about = pack(values) if self.compact else ({"": np.ascontiguousarray(values)}, None)
        return self._store(parts, about)

    def weights(self, values: NDArray[np.float32], grid: Grid) -> str:
        """Store weights, which a compact file holds rounded to a grid; see ``array``."""
        return self._store(*pack_rounded(values, grid)) if self.compact else self.array(values)

    def rounded(self, values: NDArray[np.float32], grid: Grid) -> NDArray[np.float32]:
        """Return weights as ``weights`` stores them: where they become 0, more can be left out of a file."""
        return grid.rounded(values) if self.compact else values

    def _store(self, parts: dict[str, NDArray[Any]], about: dict[str, Any] | None) -> str:
        name = f"a{self._count}"
        self._count += 1
        self.arrays |= {f"{name}{ending}": part for ending, part in parts.items()}
        if about is not None:
            self.packed[name] = about
        return name

    def part(self, value: Any) -> dict[str, Any]:
        """Describe an object of a registered class."""
        for home in set(HOMES.values()):
            if type(value).__module__.split(".")[:2] == home.split(".")[:2]:
                import_module(home)
        if type(value).__name__ in WRAPPERS and type(value).__module__.startswith("sklearn."):
            import_module(HOMES[type(value).__name__])
        for name, entry in _registry.items():
            if isinstance(value, entry.kind):
                return {"class": name, **entry.write(value, self)}
        if hasattr(value, "best_estimator_"):
            raise ParameterError(f"a {type(value).__name__} cannot be saved; save its best_estimator_.")
        if hasattr(value, "get_params") and not type(value).__module__.startswith("sapwood."):
            raise ParameterError(
                f"{type(value).__name__} is no class of Sapwood's, and its files hold no other estimators than "
                f"{', '.join(WRAPPERS)} around Sapwood's; use joblib.dump(model, path) instead."
            )
        raise ParameterError(
            f"{type(value).__name__} objects cannot be saved; sapwood.save takes {', '.join(sorted(HOMES))}."
        )

    def parameters(self, model: Any, without: Collection[str] = ()) -> dict[str, Any]:
        """Describe the parameters of an estimator, but for those that are stored in another way."""
        found = {}
        for name, value in model.get_params(deep=False).items():
            if name in without:
                continue
            # JSON would turn every label into text, so the pairs are listed.
            pairs = name == "class_weight" and isinstance(value, Mapping)
            found[name] = plain_value(list(value.items()) if pairs else value, name)
        return found

    def labels(self, classes: NDArray[Any]) -> dict[str, Any]:
        """Describe the labels of a classifier, text or numbers."""
        if classes.dtype.kind not in _LABELS:
            raise ParameterError(f"labels of type {classes.dtype} cannot be saved; use text or numbers.")
        letter = classes.dtype.kind
        if letter == "U" and classes.nbytes > 4 * _LONGEST_LABELS:
            raise ParameterError("the labels are too long to be saved; use shorter names for the classes.")
        kind = letter if letter in "UO" else classes.dtype.str
        return {"classes": [plain_value(label) for label in classes.tolist()], "classes_kind": kind}


def plain_value(value: Any, name: str = "") -> Any:
    """Return a parameter of this name or a label as JSON holds it, or raise for what a file cannot.

    >>> from pathlib import Path
    >>> plain_value({"path": Path("state"), "seed": np.random.RandomState(0), "decays": (np.float64(0.5), 1)})
    {'path': 'state', 'seed': None, 'decays': [0.5, 1]}
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.random.RandomState):
        # The generator has been used; what it gave is in the weights.
        return None
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, (list, tuple)):
        return [plain_value(item, name) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain_value(item, name) for key, item in value.items()}
    if not name:
        raise ParameterError(f"{value!r} cannot be saved; use text, numbers or None.")
    raise ParameterError(
        f"{name}={value!r} cannot be saved, since files hold no code; call set_params({name}=...) with text, numbers "
        "or None before saving."
    )


# What parameters are called since format 1.3.
_RENAMED = {
    "batch": "batch_size",
    "block": "batch_size",
    "cache_size": "memory_limit",
    "l2": "alpha",
    "machine": "svm_params",
    "rate": "learning_rate",
}


def _renamed(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that a file of a format before 1.3 holds under their names and in their units of today."""
    given = dict(values)
    if kind == "KernelSVC" and "memory" in given:
        # Gigabytes for one solver, and megabytes for the other, whose default was 200.
        gigabytes, megabytes = given.pop("memory"), given.pop("cache_size", 200.0)
        given["memory_limit"] = (None if megabytes == 200.0 else megabytes) if gigabytes is None else 1000 * gigabytes
    elif kind == "PCFGParser" and "memory_limit" in given:
        given["memory_limit"] /= 1e6  # they were bytes
    elif kind == "RoleClassifier" and isinstance(given.get("machine"), Mapping):
        given["machine"] = _renamed("KernelSVC", given["machine"])
    return {_RENAMED.get(name, name): value for name, value in given.items()}


# Kinds of arrays of labels, and what JSON holds for each.
_LABELS: dict[str, tuple[type, ...]] = {
    "O": (str, bool, int, float, type(None)),
    "U": (str,),
    "b": (bool,),
    "f": (int, float),
    "i": (int,),
    "u": (int,),
}
# What JSON holds for parameters of these types; a whole number does for a truth value.
_TYPES: dict[str, tuple[type, ...]] = {
    "None": (type(None),),
    "bool": (bool, int),
    "float": (int, float),
    "int": (int,),
    "str": (str,),
}
# Characters of all labels together, filled up to the longest; an array takes four bytes for each.
_LONGEST_LABELS = 8_000_000


Value = TypeVar("Value")


def _is_moderate(value: Any) -> bool:
    """Whether a number is finite and would be as a float."""
    try:
        return not isinstance(value, (int, float)) or math.isfinite(value)
    except OverflowError:
        return False


class Reader:
    """Gives back arrays and objects from a file, checking each."""

    def __init__(
        self,
        name: str,
        arrays: dict[str, NDArray[Any]],
        minor: int = FORMAT_MINOR,
        packed: Mapping[str, Any] | None = None,
    ) -> None:
        self._name, self._arrays, self._minor, self._packed = name, arrays, minor, packed or {}

    def fail(self, reason: str) -> ModelFileError:
        """Make the error to raise when the content is not what it should be."""
        return ModelFileError(f"{self._name}: the file is damaged: {reason}. Save the model again.")

    def array(self, name: Any, dtype: Any, ndim: int) -> NDArray[Any]:
        """Return an array by the name the writer gave it, with the type (or one of the types) it must have."""
        values = self._arrays.get(name) if isinstance(name, str) else None
        if values is None:
            raise self.fail(f"the array {name!r} is missing")
        if name in self._packed:
            try:
                values = unpack(name, self._arrays, self._packed[name], self._check_room)
            except ValueError as error:
                raise self.fail(f"the array {name!r} cannot be unpacked: {error}") from None
        if values.dtype not in [np.dtype(kind) for kind in (dtype if isinstance(dtype, tuple) else (dtype,))]:
            raise self.fail(f"the array {name!r} has type {values.dtype}")
        if values.ndim != ndim:
            raise self.fail(f"the array {name!r} has {values.ndim} dimensions")
        return values

    def finite(self, name: Any, shape: tuple[int | None, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """Return an array of finite numbers of this shape, in which None stands for any length."""
        values = self.array(name, dtype, len(shape))
        if any(wanted not in (None, found) for wanted, found in zip(shape, values.shape, strict=True)):
            raise self.fail(f"the array {name!r} has shape {values.shape}, which does not fit the rest")
        if not np.isfinite(values).all():
            raise self.fail(f"the array {name!r} holds a number that is not finite")
        return values

    def weights(self, name: Any, shape: tuple[int, int]) -> NDArray[np.float32] | sparse.csr_array:
        """Return a matrix of finite weights of this shape; a sparse one where the file leaves out those that are 0."""
        if isinstance(name, str) and name in self._packed:
            try:
                found = unpack_sparse(name, self._arrays, self._packed[name])
            except ValueError as error:
                raise self.fail(f"the array {name!r} cannot be unpacked: {error}") from None
            if found is not None and found.shape == shape:
                return found
        return self.finite(name, shape, np.float32)

    def indices(self, name: Any, below: int, dtype: Any = np.uint32, *, count: int | None = None) -> NDArray[Any]:
        """Return positions in something of a known length, ``count`` of them."""
        values = self.array(name, dtype, 1)
        if count not in (None, len(values)):
            raise self.fail(f"the array {name!r} has {len(values)} numbers instead of {count}")
        if len(values) and not (int(values.min()) >= 0 and int(values.max()) < below):
            raise self.fail(f"the array {name!r} points outside of what is there")
        return values

    def offsets(
        self, name: Any, total: int, dtype: Any = np.uint64, *, count: int | None = None, empty: bool = True
    ) -> NDArray[Any]:
        """Return the ends of consecutive pieces that make up a sequence of a known length, ``count`` of them.

        Without ``empty`` every piece has at least one element.
        """
        ends = self.array(name, dtype, 1)
        # Compared as they are: differences of large numbers would wrap.
        apart = (ends[1:] >= ends[:-1]) if empty else (ends[1:] > ends[:-1])
        if count not in (None, len(ends)) or (len(ends) and not apart.all()):
            raise self.fail(f"the pieces that the array {name!r} divides something into are out of order")
        if (ends[0] < (0 if empty else 1) or int(ends[-1]) != total) if len(ends) else total:
            raise self.fail(f"the pieces that the array {name!r} divides something into do not add up")
        return ends

    def texts(self, values: Any) -> list[str]:
        """Return a list of text, none of it empty."""
        if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
            raise self.fail("a list of names holds something else")
        return values

    def table(self, values: Any, each: Callable[[Any], Value]) -> dict[str, Value]:
        """Return a mapping from text to what a function makes of each value; it must check them."""
        if not isinstance(values, dict):
            raise self.fail(f"{reprlib.repr(values)} stands where a table should")
        return {name: each(value) for name, value in values.items()}

    def text(self, value: Any) -> str:
        """Return text, which may be empty."""
        if not isinstance(value, str):
            raise self.fail(f"{reprlib.repr(value)} stands where text should")
        return value

    def count(self, value: Any) -> int:
        """Return a whole number of at least 0 that arrays can hold, also with another one added to it."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62:
            raise self.fail(f"{value!r} stands where a count should")
        return value

    def number(self, value: Any) -> float:
        """Return a finite number."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_moderate(value):
            raise self.fail(f"{value!r} stands where a finite number should")
        return float(value)

    def zeros(self, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """Return zeros for what a file holds only where it is not 0, if memory has room for them."""
        self._check_room(math.prod(shape) * np.dtype(dtype).itemsize)
        return np.zeros(shape, dtype)

    def _check_room(self, size: int) -> None:
        free = available()
        if free is not None and size > 1 << 26 and size > 0.5 * free:
            raise TooLargeError(
                f"{self._name}: its weights take {size / 1e9:,.1f} GB, but only {free / 1e9:,.1f} GB are free; load it "
                "on a larger machine."
            )

    def labels(self, data: dict[str, Any], least: int = 2) -> NDArray[Any]:
        """Return the labels that ``Writer.labels`` has described, at least so many."""
        values, kind = data["classes"], data["classes_kind"]
        found = re.fullmatch(r"[<>=|]?([OUbfiu])\d*", kind) if isinstance(kind, str) else None
        if found is None or not isinstance(values, list):
            raise self.fail("its labels are of an unknown kind")
        letter = found[1]
        truths = letter in "Ob"
        whole = all(isinstance(value, _LABELS[letter]) and (truths or type(value) is not bool) for value in values)
        if not whole or len(set(values)) != len(values):
            raise self.fail("its labels are no labels, or one occurs twice")
        if len(values) < least:
            raise self.fail(f"it has fewer than {least} classes")
        # Text is as wide as the longest label, whatever the file says, and every label is stored that wide.
        if letter == "U" and len(values) * max(map(len, values), default=0) > _LONGEST_LABELS:
            raise self.fail("its labels are too long")
        return np.array(values, dtype=letter if letter in "UO" else np.dtype(kind))

    def make(self, kind: type[Any], data: dict[str, Any], **others: Any) -> Any:
        """Make an object from the parameters that ``Writer.parameters`` has described and others; it checks them.

        Parameters of a newer version, which this class does not have, are refused.
        """
        # Some classes had another name for it in the beginning.
        values = data["parameters"] if "parameters" in data else data["params"]
        if self._minor < 3 and isinstance(values, dict):
            values = _renamed(kind.__name__, values)
        values = self.arguments(kind, values)
        known = inspect.signature(kind).parameters
        given = dict(values)
        for name, value in values.items():
            if isinstance(value, list) and name == "class_weight":
                given[name] = dict(value)
            elif isinstance(value, list) and isinstance(known[name].default, tuple):
                given[name] = tuple(value)
        model = kind(**given, **others)
        if hasattr(model, "_check"):
            model._check()
        return model

    def arguments(self, kind: type[Any], values: Any) -> dict[str, Any]:
        """Return arguments of a class by name, if it has them and they are of the types that its signature says.

        Types beyond text, numbers and truth values are for the class to check.
        """
        known = inspect.signature(kind).parameters
        if not isinstance(values, dict) or not set(values) <= set(known):
            raise ParameterError(f"its parameters are not those of {kind.__name__}")
        for name, value in values.items():
            names = str(known[name].annotation).split(" | ")
            if not set(names) <= set(_TYPES):
                continue
            right = isinstance(value, tuple(each for key in names for each in _TYPES[key]))
            # A truth value is no number, though Python takes it for one.
            if not right or (isinstance(value, bool) and "bool" not in names) or not _is_moderate(value):
                raise self.fail(f"the parameter {name} of {kind.__name__} is {reprlib.repr(value)}")
        return values

    def part(self, data: Any, *kinds: type[Any]) -> Any:
        """Rebuild an object from its description; if classes are given, it must be of one of them."""
        name = data.get("class") if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in HOMES:
            raise ModelFileError(
                f"{self._name}: holds an object of the unknown class {name!r}; it was written by another program or by "
                "a newer Sapwood. Update Sapwood or save the model again."
            )
        import_module(HOMES[name])
        try:
            made = _registry[name].read(data, self)
        except (ModelFileError, TooLargeError):
            raise
        except Exception as error:
            # A damaged description can go wrong in any way at all.
            raise self.fail(f"the part {name!r} cannot be rebuilt ({error})") from None
        if kinds and not isinstance(made, kinds):
            raise self.fail(f"it holds a {name} where {' or '.join(kind.__name__ for kind in kinds)} should be")
        return made

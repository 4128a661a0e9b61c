"""Model files.

A model file is one safetensors file. Its arrays are plain numbers; its header carries one JSON document that says
which class each part is and what its parameters are; ``sapwood.registry`` makes these of objects and the reverse. The
rules of the format are in ``docs/model-files.md``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import operator
import os
import stat
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError, ParameterError, TooLargeError
from sapwood.memory import available
from sapwood.packages import model_file, model_language
from sapwood.registry import FORMAT_MINOR, FORMAT_VERSION, Reader, Writer
from sapwood.writing import atomic_write, path_name

__all__ = ["MAPPED_INDEX", "class_in", "describe", "is_model_file", "load", "read_document", "save"]

_LOGGER = logging.getLogger(__name__)

_KEY = "sapwood"
# safetensors writes its metadata before the arrays.
_FIRST = (b'"__metadata__"', f'"{_KEY}"'.encode())
# What a file says it holds whose arrays are not to be read into memory; see ``search/mapped.py``.
MAPPED_INDEX = "MappedTreeIndex"
# The largest header that safetensors reads.
_LARGEST_HEADER = 100_000_000
# Numbers, texts, lists and objects in a header. In memory each takes up to 25 times its bytes, so they are counted
# before they are made; word vectors of three million words stay below.
_MOST_VALUES = 5_000_000
# Characters of JSON that compact files hold as a packed array.
_LONG = 2_000


def save(value: Any, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Save a fitted estimator, a kernel, trees or examples to one file.

    The file appears whole or not at all, and holds numbers and JSON only.

    Parameters
    ----------
    value : object
        What to save.
    path : path
        The file.
    compact : bool
        Whether the file is to be small: arrays are squeezed, and the weights of parsers, role labelers, frame labelers
        and the networks in them are rounded to a few bits, which costs a little accuracy; see ``docs/model-files.md``.
        What is loaded from it is as quick as ever.

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

    path = path_name(path)
    writer = Writer(compact=compact)
    document = {
        "format": FORMAT_VERSION,
        "minor": FORMAT_MINOR,
        "written_by": f"sapwood {sapwood.__version__}",
        "object": writer.part(value),
    }
    try:
        text = _text(document)
    except ValueError:
        raise ParameterError("a dictionary of features holds NaN or infinity; fill or drop it before saving.") from None
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(
            f"{_invalid_text(document)!r} holds half of a surrogate pair and is not valid Unicode text, which no file "
            "can hold; rename that class, feature or view before saving."
        ) from None
    values = _count_values(text)
    if compact:
        document = _fold(document, writer)
    document["sha256"] = _digest(document, writer.arrays)
    data = serialize(writer.arrays, metadata={_KEY: _text(document)})
    if int.from_bytes(data[:8], "little") >= _LARGEST_HEADER or values > _MOST_VALUES:
        raise TooLargeError(
            f"{path}: a model file holds at most {_MOST_VALUES:,} words, features and other values beside its arrays, "
            f"in at most {_LARGEST_HEADER / 1e6:,.0f} MB; save features as a matrix instead of dictionaries, or fewer "
            "of them."
        )
    atomic_write(path, data)


def load(path: str | os.PathLike[str]) -> Any:
    """Load what ``save`` wrote.

    Parameters
    ----------
    path : path
        The file; or the name of a model that is installed as a package, such as ``"en/parser"``.

    Raises
    ------
    ModelFileError
        If the file is missing, truncated, damaged, from another program or from a newer Sapwood.
    TooLargeError
        If the file is larger than the memory that is free.
    """
    document, reader = read_document(path)
    try:
        found = reader.part(document.get("object"))
    except ModelFileError as error:
        raise _explained(error, document) from None
    if (language := model_language(path)) is not None and hasattr(found, "language"):
        found.language = language
    return found


def read_document(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Reader]:
    """Read a file and check that it is whole; return its document, and what rebuilds the objects in it."""
    name = model_file(path_name(path))
    _LOGGER.debug("loading %s", name)
    with _opened(name) as stream:
        header, document = _header(stream, name)
        if class_in(document) == MAPPED_INDEX:
            raise ModelFileError(f"{name}: holds a mapped index; open it with TreeIndex.load_mapped.")
        arrays = _arrays(stream, name, header)
    if not _is_whole(document, arrays):
        raise ModelFileError(f"{name}: the file is damaged: its content is not what was saved; copy or save it again.")
    minor, packed = document.get("minor", 0), document.get("packed", {})
    if isinstance(minor, bool) or not isinstance(minor, int):
        raise ModelFileError(f"{name}: the file is damaged: its minor version is {minor!r}; copy or save it again.")
    reader = Reader(name, arrays, minor, packed if isinstance(packed, dict) else {})
    try:
        _unfold(document, reader)
    except ModelFileError as error:
        raise _explained(error, document) from None
    return document, reader


def _explained(error: ModelFileError, document: dict[str, Any]) -> ModelFileError:
    """Add that a file comes from a newer version, if it does."""
    if document.get("minor", 0) <= FORMAT_MINOR:
        return error
    return ModelFileError(
        f"{error} It was written by a newer version ({document.get('written_by')}); updating Sapwood may help."
    )


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON document of a file without reading its arrays or rebuilding anything."""
    name = model_file(path_name(path))
    with _opened(name) as stream:
        return _header(stream, name)[1]


def class_in(document: dict[str, Any]) -> str | None:
    """Return the name of the class of what a file holds, from its document."""
    held = document.get("object")
    return held.get("class") if isinstance(held, dict) else None


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Tell by its first bytes whether a file is one that ``save`` wrote; what is no plain file is not read from."""
    name = path_name(path)
    try:
        if not os.path.isfile(name):
            return False
        with open(name, "rb") as stream:
            start = stream.read(256)
            size = os.fstat(stream.fileno()).st_size
    except (OSError, ValueError):
        return False
    length = int.from_bytes(start[:8], "little")
    return 8 + length <= size and start[8:9] == b"{" and all(name in start for name in _FIRST)


def _opened(name: str) -> IO[bytes]:
    try:
        return open(name, "rb")
    except FileNotFoundError:
        raise ModelFileError(f"{name}: no such file (looked from {os.getcwd()}).") from None
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None


def _taken(stream: IO[bytes], size: int, name: str) -> bytes:
    try:
        return stream.read(size)
    except OSError as error:
        raise ModelFileError(f"{name}: cannot be read ({error.strerror}).") from None


def _header(stream: IO[bytes], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the header, and the JSON document in it; nothing is taken on trust, least of all a length."""
    start = _taken(stream, 9, name)
    length = int.from_bytes(start[:8], "little") if len(start) == 9 else _LARGEST_HEADER
    if length >= _LARGEST_HEADER or start[8:] != b"{":
        raise ModelFileError(f"{name}: is not a Sapwood file. Load files that sapwood.save has written.")
    data = start[8:] + _taken(stream, length - 1, name) if length else b""
    if len(data) < length:
        raise ModelFileError(f"{name}: the file is truncated; copy or save it again.")
    try:
        header = _parsed(data.decode(), name)
        document = _parsed(header["__metadata__"][_KEY], name)
        version = document["format"]
    except ModelFileError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ModelFileError(f"{name}: is not a Sapwood file. Load files that sapwood.save has written.") from None
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= FORMAT_VERSION:
        raise ModelFileError(
            f"{name}: was written by a newer version ({document.get('written_by')}, format {version!r}); this one "
            f"reads formats up to {FORMAT_VERSION}. Update Sapwood."
        )
    return header, document


def _parsed(text: str, name: str) -> Any:
    """Read JSON that does not grow out of proportion in memory."""
    if _count_values(text) > _MOST_VALUES:
        raise ModelFileError(
            f"{name}: the header holds more than {_MOST_VALUES:,} values, which no file of sapwood.save does."
        )
    return json.loads(text)


def _count_values(text: str) -> int:
    """Return at least as many as there are values in JSON: each is followed by a comma or stands last in its list."""
    return text.count(",") + text.count("[") + text.count("{")


def _fold(document: dict[str, Any], writer: Writer) -> dict[str, Any]:
    """Return the document of a compact file: its long lists and tables are arrays, and arrays are described."""
    folded: list[list[Any]] = []
    names: dict[str, str] = {}

    def is_long(value: Any) -> bool:
        return isinstance(value, (dict, list)) and len(_text(value)) > _LONG

    def look(holder: dict[str, Any], at: list[str]) -> None:
        for key, value in holder.items():
            if not is_long(value):
                continue
            # Names of classes stay readable, and so does whatever leads to them.
            if isinstance(value, dict) and ("class" in value or any(map(is_long, value.values()))):
                look(value, [*at, key])
                continue
            text = _text(value)
            if text not in names:
                names[text] = writer.array(np.frombuffer(text.encode(), np.uint8))
            folded.append([[*at, key], names[text]])
            holder[key] = None

    # A copy, since what a model describes may be its own; in it, all keys are text.
    made: dict[str, Any] = json.loads(_text(document))
    look(made, [])
    return {**made, "folded": folded, "packed": writer.packed}


def _unfold(document: dict[str, Any], reader: Reader) -> None:
    """Put back what ``_fold`` has moved."""
    count = 0
    try:
        for (*places, last), array in document.get("folded", []):
            text = reader.array(array, np.uint8, 1).tobytes().decode()
            count += _count_values(text)
            if count > _MOST_VALUES:
                break
            holder = document
            for place in places:
                holder = holder[place]
            if holder[last] is not None:
                raise KeyError(last)
            holder[last] = json.loads(text)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        if isinstance(error, (ModelFileError, TooLargeError)):
            raise
        raise reader.fail("a long list of it is no JSON, or has no place") from None
    if count > _MOST_VALUES:
        raise reader.fail(f"it holds more than {_MOST_VALUES:,} values beside its arrays")


def _arrays(stream: IO[bytes], name: str, header: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Read as many bytes as the header promises, if there are so many and memory holds them."""
    from safetensors import SafetensorError
    from safetensors.numpy import load as deserialize

    ends = [
        entry.get("data_offsets") for key, entry in header.items() if key != "__metadata__" and isinstance(entry, dict)
    ]
    try:
        promised = max((operator.index(pair[1]) for pair in ends if pair is not None), default=0)
    except (TypeError, IndexError, KeyError):
        raise ModelFileError(f"{name}: the file is damaged: an array has no place; copy or save it again.") from None
    begin = stream.tell() if stream.seekable() else 0
    found = os.fstat(stream.fileno())
    if promised < 0 or (stat.S_ISREG(found.st_mode) and begin + promised != found.st_size):
        raise ModelFileError(f"{name}: the file is truncated or damaged; copy or save it again.")
    free = available()
    # The bytes, and the arrays that are made of them.
    if free is not None and promised > 1 << 26 and 2 * promised > 0.95 * free:
        raise TooLargeError(
            f"{name}: holds {promised / 1e9:,.1f} GB of numbers, and reading them takes twice as much, but only "
            f"{free / 1e9:,.1f} GB are free; load it on a larger machine."
        )
    data = _taken(stream, promised, name)
    if len(data) < promised or _taken(stream, 1, name):
        raise ModelFileError(f"{name}: the file is truncated or damaged; copy or save it again.")
    # What is read again is what was checked: the header goes back to bytes.
    text = json.dumps(header).encode()
    try:
        return deserialize(len(text).to_bytes(8, "little") + text + data)
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{name}: the file is truncated or damaged ({error}); copy or save it again.") from None


def _text(document: dict[str, Any] | list[Any]) -> str:
    # Keys stay in their order: that of views is the user's.
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def _invalid_text(document: dict[str, Any]) -> str:
    """Find the text of a document that holds half of a surrogate pair."""
    stack: list[Any] = [document]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += [*item.values(), *item]
        elif isinstance(item, (list, tuple)):
            stack += item
        elif isinstance(item, str) and any("\ud800" <= character <= "\udfff" for character in item):
            return item
    return ""


def _digest(document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """Return a digest of everything that a file says."""
    digest = hashlib.sha256(_text(document).encode("utf-8", "surrogatepass"))
    for key in sorted(arrays):
        values = arrays[key]
        digest.update(f"\n{key} {values.dtype.str} {values.shape}\n".encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _is_whole(document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bool:
    # Files of the first version have no digest. A later one that has none has lost it.
    if "sha256" not in document:
        return "minor" not in document
    rest = {key: value for key, value in document.items() if key != "sha256"}
    try:
        return bool(document["sha256"] == _digest(rest, arrays))
    except (ValueError, RecursionError):
        return False

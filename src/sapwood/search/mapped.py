"""Indexes in files that are mapped: what is prepared for the search stays in the file, and is read where it lies.

Such a file looks like a model file, but its arrays are those of the native core, byte by byte, and so are not checked
as those of model files are. What is searched in them, and how, is in ``segments``.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import _core
from sapwood.errors import ModelFileError, ParameterError
from sapwood.files import MAPPED_INDEX, class_in, describe
from sapwood.kernels import Kernel
from sapwood.registry import FORMAT_MINOR, FORMAT_VERSION, Reader, Writer
from sapwood.search.segments import Segment, searchable
from sapwood.trees.array import TreeArray
from sapwood.writing import atomic_write, path_name

__all__ = ["read_mapped", "write_mapped"]

# Arrays begin at multiples of this, so that numbers of any size can be read where they are.
_ALIGNMENT = 64
_CHUNK = 1 << 24


def write_mapped(path: str | os.PathLike[str], kernel: Kernel, segment: Segment | None, after: int) -> None:
    """Write a segment, none of whose trees is removed, and the number that comes next."""
    import sapwood

    path = path_name(path)
    terms = searchable(kernel)[1]
    if not terms:
        raise ParameterError(
            f"{kernel!r} is computed for every tree, so that nothing is prepared that a file could hold; use "
            "sapwood.save, or --portable on the command line."
        )
    writer = Writer()
    arrays: dict[str, NDArray[Any]] = {}
    held: dict[str, Any] = {"class": MAPPED_INDEX, "kernel": writer.part(kernel), "next": after, "order": sys.byteorder}
    if segment is not None:
        trees = segment.trees
        parts = {"trees": trees._arena.parts()}
        parts |= {f"term {place}": tables for place, tables in enumerate(segment.tables())}
        arrays = {"numbers": segment.numbers, "roots": trees._roots}
        if trees._ends is not None:
            arrays["ends"] = trees._ends
        for name, (found, _) in parts.items():
            arrays |= {f"{name} {place}": array for place, array in enumerate(found)}
        held["parts"] = {name: [len(found), numbers] for name, (found, numbers) in parts.items()}
    bytes_of = {name: np.ascontiguousarray(array).view(np.uint8) for name, array in arrays.items()}
    held["sizes"] = {name: len(array) for name, array in bytes_of.items()}
    document = {
        "format": FORMAT_VERSION,
        "minor": FORMAT_MINOR,
        "written_by": f"sapwood {sapwood.__version__}",
        "object": held,
    }
    digest = _digest(document)
    for piece in _pieces(bytes_of):
        digest.update(piece)
    document["sha256"] = digest.hexdigest()
    header: dict[str, Any] = {"__metadata__": {"sapwood": json.dumps(document)}}
    begin = 0
    for name, array in bytes_of.items():
        end = begin + _padded(len(array))
        header[name] = {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    text += b" " * (_padded(len(text) + 8) - len(text) - 8)

    def content() -> Iterator[bytes]:
        yield len(text).to_bytes(8, "little") + text
        yield from _pieces(bytes_of)

    atomic_write(path, content())


def read_mapped(path: str | os.PathLike[str], *, check: bool) -> tuple[Kernel, Segment | None, int]:
    """Map a file that ``write_mapped`` wrote."""
    path = path_name(path)
    document = describe(path)
    if class_in(document) != MAPPED_INDEX:
        raise ModelFileError(f"{path}: holds no mapped index; load it with sapwood.load.")
    held = document["object"]
    reader = Reader(path, {})
    try:
        kernel, after = reader.part(held["kernel"], Kernel), reader.count(held["next"])
        if held["order"] != sys.byteorder:
            raise ModelFileError(f"{path}: was written on a machine whose numbers have another order of bytes.")
        sizes = {name: reader.count(size) for name, size in held["sizes"].items()}
        arrays = _mapped(path, document, sizes, check)
        if "parts" not in held:
            return kernel, None, after
        parts = {
            name: ([arrays[f"{name} {place}"] for place in range(count)], numbers)
            for name, (count, numbers) in held["parts"].items()
        }
        arena = _core.trees.Arena.placed(*parts.pop("trees"))
        ends = arrays["ends"].view(np.uint64) if "ends" in arrays else None
        trees = TreeArray._from_arena(arena, arrays["roots"].view(np.uint32), ends)
        segment = Segment(searchable(kernel), trees, arrays["numbers"].view(np.int64), list(parts.values()))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise reader.fail(f"its parts do not fit ({error})") from None
    return kernel, segment, after


def _mapped(path: str, document: dict[str, Any], sizes: dict[str, int], check: bool) -> dict[str, NDArray[np.uint8]]:
    """Return the arrays as they lie in the file."""
    with open(path, "rb") as stream:
        begin = 8 + int.from_bytes(stream.read(8), "little")
        if begin + sum(map(_padded, sizes.values())) != os.fstat(stream.fileno()).st_size:
            raise ModelFileError(f"{path}: the file is truncated or damaged; copy or save it again.")
        if check:
            digest = _digest({key: value for key, value in document.items() if key != "sha256"})
            stream.seek(begin)
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
            if digest.hexdigest() != document.get("sha256"):
                raise ModelFileError(
                    f"{path}: the file is damaged: its content is not what was saved; copy or save it again."
                )
        view = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    arrays = {}
    for name, size in sizes.items():
        arrays[name] = np.frombuffer(view[begin : begin + size], np.uint8)
        begin += _padded(size)
    return arrays


def _digest(document: dict[str, Any]) -> Any:
    return hashlib.sha256(json.dumps(document).encode())


def _padded(size: int) -> int:
    return -size % _ALIGNMENT + size


def _pieces(arrays: dict[str, NDArray[np.uint8]]) -> Iterator[bytes]:
    for array in arrays.values():
        for start in range(0, len(array), _CHUNK):
            yield array[start : start + _CHUNK].tobytes()
        yield b"\0" * (_padded(len(array)) - len(array))

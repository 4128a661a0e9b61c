"""How connection paths are written to model files and read back."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.parse.incremental import ConnectionPath, ConnectionPaths
from sapwood.registry import Reader, Writer, register


def _write_paths(paths: ConnectionPaths, writer: Writer) -> dict[str, Any]:
    labels: dict[str, int] = {}
    numbers: list[int] = []
    ends: list[int] = []
    for path in paths:
        # Per path its anchor, what is above and what is below; the two ends say which is which.
        for part in ((path.anchor, *path.up), path.down):
            numbers.extend(labels.setdefault(label, len(labels)) for label in part)
            ends.append(len(numbers))
    return {
        "root": paths.root,
        "labels": list(labels),
        "numbers": writer.array(np.array(numbers, dtype=np.uint32)),
        "ends": writer.array(np.array(ends, dtype=np.uint64)),
        "counts": writer.array(paths.counts),
    }


def _read_paths(data: dict[str, Any], reader: Reader) -> ConnectionPaths:
    labels = data["labels"]
    if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
        raise reader.fail("the labels of the paths are not a list of text")
    numbers = reader.array(data["numbers"], np.uint32, 1)
    ends = reader.array(data["ends"], np.uint64, 1).tolist()
    counts = reader.array(data["counts"], np.float64, 1)
    if len(ends) != 2 * len(counts) or (len(numbers) and int(numbers.max()) >= len(labels)):
        raise reader.fail("the connection paths do not add up")
    bounds = [0, *ends]
    if any(begin >= end for begin, end in zip(bounds, ends, strict=False)) or bounds[-1] != len(numbers):
        raise reader.fail("the connection paths do not add up")
    if not np.all(np.isfinite(counts) & (counts > 0)):
        raise reader.fail("a connection path has a count that is not above 0")
    names = [labels[number] for number in numbers.tolist()]
    found: dict[ConnectionPath, float] = {}
    for k, count in enumerate(counts.tolist()):
        anchor, *up = names[bounds[2 * k] : bounds[2 * k + 1]]
        found[ConnectionPath(tuple(up), anchor, tuple(names[bounds[2 * k + 1] : bounds[2 * k + 2]]))] = count
    return ConnectionPaths(found, root=data["root"])


register("ConnectionPaths", ConnectionPaths, _write_paths, _read_paths)

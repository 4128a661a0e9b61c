"""How kernels are written to model files: class names from the closed list, and their parameters."""

from __future__ import annotations

from typing import Any

from sapwood.errors import ParameterError
from sapwood.kernels.base import Kernel
from sapwood.kernels.names import COMBINATIONS, KERNELS, find
from sapwood.registry import Reader, Writer, register

# Reading back goes one call deeper per level, and Python allows about a thousand.
_DEEPEST = 100


def _write(kernel: Kernel, writer: Writer) -> dict[str, Any]:
    name = type(kernel).__name__
    # A file that cannot be read back is worse than none.
    if (name not in KERNELS and name not in COMBINATIONS) or find(name) is not type(kernel):
        raise ParameterError(f"a kernel of the class {name} cannot be saved, since Sapwood does not know it.")
    if _depth(kernel) > _DEEPEST:
        raise ParameterError(f"the kernel cannot be saved: it is nested more than {_DEEPEST} deep.")
    params = kernel.get_params(deep=False)
    return {"kind": name, "params": {name: _encode(value, writer) for name, value in params.items()}}


def _depth(kernel: Kernel) -> int:
    depth, level = 0, [kernel]
    while level and depth <= _DEEPEST:
        depth += 1
        level = [part for one in level for part in one.get_params(deep=False).values() if isinstance(part, Kernel)]
    return depth


def _encode(value: Any, writer: Writer) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [_encode(item, writer) for item in value]}
    return {"part": writer.part(value)}


def _read(data: dict[str, Any], reader: Reader) -> Kernel:
    kind = data["kind"]
    if kind not in KERNELS and kind not in COMBINATIONS:
        raise reader.fail(f"there is no kernel called {kind!r}")
    kernel: Kernel = find(kind)(**{name: _decode(value, reader) for name, value in data["params"].items()})
    return kernel


def _decode(value: Any, reader: Reader) -> Any:
    if not isinstance(value, dict):
        return value
    if "list" in value:
        return [_decode(item, reader) for item in value["list"]]
    if "tuple" in value:
        return tuple(_decode(item, reader) for item in value["tuple"])
    return reader.part(value["part"])


register("Kernel", Kernel, _write, _read)

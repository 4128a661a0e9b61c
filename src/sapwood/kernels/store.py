"""How kernels are written to model files: as the expression that their ``repr`` gives."""

from __future__ import annotations

from typing import Any

from sapwood.files import Reader, Writer, register
from sapwood.kernels.base import Kernel
from sapwood.kernels.expression import parse_kernel


def _write(kernel: Kernel, writer: Writer) -> dict[str, Any]:
    return {"expression": repr(kernel)}


def _read(data: dict[str, Any], reader: Reader) -> Kernel:
    return parse_kernel(data["expression"])


register("Kernel", Kernel, _write, _read)

"""How kernels are written to model files: as the expression that their ``repr`` gives."""

from __future__ import annotations

from typing import Any

from sapwood.errors import ParameterError
from sapwood.files import Reader, Writer, register
from sapwood.kernels.base import Kernel
from sapwood.kernels.expression import parse_kernel


def _write(kernel: Kernel, writer: Writer) -> dict[str, Any]:
    # A file that cannot be read back is worse than none.
    try:
        expression = repr(kernel)
        same = parse_kernel(expression) == kernel
    except (ParameterError, RecursionError) as error:
        raise ParameterError(f"the kernel cannot be saved: {error}") from None
    if not same:
        raise ParameterError(f"the kernel cannot be saved, since its repr does not read back: {expression}")
    return {"expression": expression}


def _read(data: dict[str, Any], reader: Reader) -> Kernel:
    return parse_kernel(data["expression"])


register("Kernel", Kernel, _write, _read)

"""Short names for the parameters of kernels that are made of others: ``tree__decay`` for ``k1__kernel__kernel__decay``.

Each simple kernel in a sum or product has a name: the one that ``kernel.named`` gave it, else its view, else its class
in small letters; names that occur twice get numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.kernels.base import Kernel

__all__ = ["RESERVED", "Part", "named_parts", "spelled_out"]

RESERVED = frozenset({"k1", "k2", "kernel", "weight", "view", "exponent", "name"})
"""Names that parameters of combinations have."""


@dataclass
class Part:
    """A simple kernel within another one.

    Attributes
    ----------
    kernel : Kernel
    path : str
        The name of the parameter that it is.
    name : str
    around : dict of str to str
        Parameters of what it alone is wrapped in, by their own names: a weight, an exponent.
    """

    kernel: Kernel
    path: str
    name: str = ""
    around: dict[str, str] = field(default_factory=dict)


def named_parts(kernel: Kernel) -> dict[str, Part]:
    """Return the simple kernels that a kernel is made of, by name; none for one that is simple itself.

    >>> from sapwood.kernels import Linear, SubsetTree
    >>> kernel = 0.5 * SubsetTree().normalized().named("tree") + Linear().on("words")
    >>> {name: part.path for name, part in named_parts(kernel).items()}
    {'tree': 'k1__kernel__kernel__kernel', 'words': 'k2__kernel'}
    """
    parts = [part for part in _parts(kernel, "") if part.path]
    for part in parts:
        part.name = part.name or type(part.kernel).__name__.lower()
    often = Counter(part.name for part in parts)
    seen: Counter[str] = Counter()
    for part in parts:
        if often[part.name] > 1:
            seen[part.name] += 1
            part.name = f"{part.name}_{seen[part.name]}"
    return {part.name: part for part in parts if part.name not in RESERVED and "__" not in part.name}


def spelled_out(kernel: Kernel, key: str) -> str:
    """Return the full name of a parameter that may be given by a short one.

    >>> from sapwood.kernels import SubsetTree
    >>> spelled_out((0.5 * SubsetTree().normalized()), "decay")  # no name is needed where there is one simple kernel
    'kernel__kernel__decay'
    """
    head, _, rest = key.partition("__")
    if head in kernel._names():
        return key
    parts = named_parts(kernel)
    part = parts.get(head)
    if part is None:
        only = next(iter(parts.values())) if len(parts) == 1 else None
        return f"{only.path}__{key}" if only is not None and head in only.kernel._names() else key
    return part.around.get(rest) or (f"{part.path}__{rest}" if rest else part.path)


def _parts(kernel: Any, path: str) -> list[Part]:
    from sapwood.kernels.algebra import Named, Normalized, OnView, Power, Product, Scaled, Sum

    below = f"{path}__" if path else ""
    if isinstance(kernel, (Sum, Product)):
        return _parts(kernel.k1, f"{below}k1") + _parts(kernel.k2, f"{below}k2")
    if not isinstance(kernel, (Named, Normalized, OnView, Power, Scaled)):
        return [Part(kernel, path)]
    parts = _parts(kernel.kernel, f"{below}kernel")
    if len(parts) == 1:
        if isinstance(kernel, Named):
            parts[0].name = kernel.name
        elif isinstance(kernel, OnView):
            parts[0].name = parts[0].name or kernel.view
        elif isinstance(kernel, (Scaled, Power)):
            own = "weight" if isinstance(kernel, Scaled) else "exponent"
            parts[0].around[own] = f"{below}{own}"
    return parts

"""What PropBank's rolesets and their roles mean, from its frame files as JSON lines: one roleset per line.

A line holds ``id``, ``name`` and ``roles``, each with its number ``n`` and its description ``descr``, as the XML of the
frame files does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sapwood.lazy import public_names
from sapwood.sources import Sources
from sapwood.text_files import Line, lines

__all__ = ["read"]

__dir__ = public_names(__name__)


@dataclass(frozen=True)
class Roleset:
    """One sense of a predicate.

    Attributes
    ----------
    name : str
        Its name, such as ``chase.01``.
    meaning : str
        What it means, such as "follow, pursue".
    roles : dict of str to str
        What its numbered roles mean: ``{"A0": "follower", "A1": "thing followed"}``.
    """

    name: str
    meaning: str
    roles: dict[str, str]


def read(source: Sources, *, encoding: str = "utf-8") -> Iterator[Roleset]:
    """Yield rolesets.

    Examples
    --------
    >>> import io
    >>> text = '{"id": "chase.01", "name": "follow, pursue", "roles": [{"n": "1", "descr": "thing followed"}]}'
    >>> next(read(io.StringIO(text))).roles
    {'A1': 'thing followed'}
    """
    for line in lines(source, encoding=encoding):
        if line.text.strip():
            yield _roleset(line)


def _roleset(line: Line) -> Roleset:
    record = line.json()
    try:
        name, meaning = record["id"], record["name"]
        pairs = [(role["n"], role["descr"]) for role in record["roles"]]
        if not all(isinstance(value, str) for value in (name, meaning, *(text for pair in pairs for text in pair))):
            raise TypeError("not text")
    except (KeyError, TypeError) as error:
        raise line.fault(f"expected id, name, and roles with n and descr, all text ({error})") from None
    # Modifiers, M, mean the same with every predicate.
    return Roleset(name, meaning, {f"A{number}": described for number, described in pairs if number.isdigit()})

"""How inputs are damaged: byte by byte, and model files part by part.

A model file that is damaged anywhere at random is refused at its first check. To get behind that check, the file is
taken apart, one number, name or array is changed, and it is put together again.
"""

from __future__ import annotations

import copy
import json
import operator
import random
from typing import Any

import numpy as np

__all__ = ["damaged", "damaged_model"]

_WORDS = (
    b"(",
    b")",
    b"\t",
    b"\n",
    b"\0",
    b"\xff",
    b"*",
    b"-",
    b":",
    b'"',
    b"[",
    b"{",
    b"]]",
    b"1e999",
    b"-1",
    b"99999999999999999999",
    b"nan",
    b"\xe2\x80\xa8",
    b"<",
    b"&",
    b"=",
    b"_",
    b"\r\n",
    b",",
    b"null",
    b"\\u0000",
    b"\xed\xa0\x80",
)
_VALUES: tuple[Any, ...] = (
    None,
    0,
    1,
    -1,
    2**31,
    2**32 - 1,
    2**40,
    2**63,
    2**70,
    0.5,
    1e308,
    "",
    "a0",
    "a1",
    "x",
    [],
    ["x"],
    {},
    True,
    [[1]],
    "KernelSVC",
    "Linear()",
    "../../x",
    "\ud800",
)
_NUMBERS = (0, 1, 2, 3, 7, 255, 2**16, 2**31 - 1, 2**32 - 1, 2**62)


def damaged(data: bytes, dice: random.Random) -> bytes:
    """Change some bytes: flip, insert, delete, repeat or swap."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 8))):
        at = dice.randrange(len(changed) + 1)
        match dice.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << dice.randrange(8)
            case 1:
                changed[at:at] = dice.choice(_WORDS)
            case 2:
                del changed[at : at + dice.choice((1, 1, 3, 20))]
            case 3:
                changed[at:at] = changed[at : at + dice.choice((1, 5, 40))] * dice.choice((1, 2, 30))
            case 4:
                other = dice.randrange(len(changed) + 1)
                changed[at : at + 4] = changed[other : other + 4]
            case _:
                del changed[at:]
    return bytes(changed)


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, part in inner for place in _places(part, (*at, key)))]


def damaged_model(data: bytes, dice: random.Random) -> bytes:
    """Change one part of a model file and put it together again, or the bytes if that cannot be done."""
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        document = json.loads(header["__metadata__"]["sapwood"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return damaged(data, dice)
    if not isinstance(header, dict):
        return damaged(data, dice)
    body = bytearray(data[8 + length :])
    for _ in range(dice.choice((1, 1, 2, 3))):
        kind = dice.randrange(10)
        if kind < 5:
            _change(document, dice)
        elif kind < 9:
            _change_array(header, body, dice)
        else:
            _change(header, dice)
    # Otherwise the digest would give every change away, and nothing behind it would be reached.
    if isinstance(document, dict):
        document.pop("sha256", None), document.pop("minor", None)
    if isinstance(header.get("__metadata__"), dict):
        header["__metadata__"]["sapwood"] = json.dumps(document)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(body)


def _change(document: Any, dice: random.Random) -> None:
    places = [place for place in _places(document) if place]
    if not places:
        return
    target, *keys = (document, *dice.choice(places))
    for key in keys[:-1]:
        target = target[key]
    old = target[keys[-1]]
    if isinstance(old, (int, float)) and not isinstance(old, bool) and dice.random() < 0.5:
        target[keys[-1]] = dice.choice((old + 1, old - 1, -old, old * 2, old * 1000, 0))
    elif dice.random() < 0.1 and isinstance(target, (dict, list)):
        del target[keys[-1]]
    else:
        # A copy: the same list put into itself would be no JSON.
        target[keys[-1]] = copy.deepcopy(dice.choice(_VALUES))


def _change_array(header: dict[str, Any], body: bytearray, dice: random.Random) -> None:
    names = [name for name, entry in header.items() if name != "__metadata__" and isinstance(entry, dict)]
    if not names:
        return
    entry = header[dice.choice(names)]
    try:
        begin, end = map(operator.index, entry["data_offsets"])
        kind = np.dtype({"F": "f", "U": "u", "I": "i"}[entry["dtype"][0]] + str(int(entry["dtype"][1:]) // 8))
    except (KeyError, ValueError, TypeError, IndexError):
        return
    if end - begin < kind.itemsize or not 0 <= begin < end <= len(body):
        return
    at = begin + dice.randrange((end - begin) // kind.itemsize) * kind.itemsize
    with np.errstate(all="ignore"):
        number = (
            dice.choice((*_NUMBERS, float("nan"), float("inf"), -1.0)) if kind.kind == "f" else dice.choice(_NUMBERS)
        )
        if kind.kind != "f":
            number &= (1 << (8 * kind.itemsize - (kind.kind == "i"))) - 1
        body[at : at + kind.itemsize] = np.array([number]).astype(kind).tobytes()

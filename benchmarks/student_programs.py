"""Programs with known copies, for measuring how well copies are found.

``generate`` draws functions from a small grammar of Python and copies some of them: as they are but for layout and
comments, with other names and literals, and restructured, with statements inserted, removed, swapped or changed.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

__all__ = ["Programs", "generate"]

_NAMES = [
    *("alpha", "beta", "gamma", "delta", "count", "total", "value", "item"),
    *("index", "left", "right", "first", "last", "result", "buffer", "limit"),
]
_CALLS = ["load", "store", "check", "merge", "split", "append", "update", "find", "close", "start"]


@dataclass
class Programs:
    """Files by name, and which functions are copies: their names with the kind of copy."""

    files: dict[str, str] = field(default_factory=dict)
    copies: dict[tuple[str, str], str] = field(default_factory=dict)


def generate(functions: int, copies: int, *, seed: int = 0) -> Programs:
    """Draw functions, and make so many copies of each kind."""
    draw = random.Random(seed)
    made = [_body(draw) for _ in range(functions)]
    programs = Programs()
    texts = [_text(f"work_{number}", body) for number, body in enumerate(made)]
    for kind in ("exact", "renamed", "restructured"):
        for copy in range(copies):
            number = draw.randrange(functions)
            name = f"{kind}_{copy}"
            body = list(made[number])
            if kind == "restructured":
                body = _restructured(draw, body)
            # An exact copy has the name, too; it is in another file.
            text = _text(f"work_{number}" if kind == "exact" else name, body)
            if kind != "exact":
                text = _renamed(draw, text)
            else:
                text = text.replace("\n    ", "\n        ").replace(":\n", ":  # copied\n", 1)
            programs.copies[f"work_{number}", name] = kind
            programs.files[f"{name}.py"] = text
    for start in range(0, functions, 10):
        programs.files[f"module_{start // 10}.py"] = "\n\n".join(texts[start : start + 10])
    return programs


def _text(name: str, body: list[str]) -> str:
    return (
        f"def {name}(alpha, beta, gamma=1):\n" + "\n".join(f"    {line}" for line in "\n".join(body).split("\n")) + "\n"
    )


def _body(draw: random.Random) -> list[str]:
    return [_statement(draw, 2) for _ in range(draw.randint(6, 12))] + [f"return {_expression(draw, 2)}"]


def _statement(draw: random.Random, depth: int) -> str:
    kind = draw.random()
    if depth == 0 or kind < 0.35:
        return f"{draw.choice(_NAMES)} {draw.choice(('=', '=', '+=', '-='))} {_expression(draw, 2)}"
    if kind < 0.5:
        return f"{draw.choice(_NAMES)}.{draw.choice(_CALLS)}({_expression(draw, 1)}, {_expression(draw, 1)})"
    below = "\n".join(
        f"    {line}" for _ in range(draw.randint(1, 3)) for line in _statement(draw, depth - 1).split("\n")
    )
    if kind < 0.7:
        return f"if {_condition(draw)}:\n{below}"
    if kind < 0.85:
        return f"for {draw.choice(_NAMES)} in {_expression(draw, 1)}:\n{below}"
    if kind < 0.93:
        return f"while {_condition(draw)}:\n{below}"
    return f"try:\n{below}\nexcept {draw.choice(('ValueError', 'KeyError', 'OSError'))}:\n    pass"


def _condition(draw: random.Random) -> str:
    return f"{_expression(draw, 1)} {draw.choice(('<', '>', '==', '!=', 'in', 'is not'))} {_expression(draw, 1)}"


def _expression(draw: random.Random, depth: int) -> str:
    kind = draw.random()
    if depth == 0 or kind < 0.3:
        return draw.choice((draw.choice(_NAMES), str(draw.randint(0, 99)), repr(draw.choice(_CALLS))))
    if kind < 0.55:
        return f"{_expression(draw, depth - 1)} {draw.choice('+-*/%')} {_expression(draw, depth - 1)}"
    if kind < 0.75:
        return f"{draw.choice(_CALLS)}({_expression(draw, depth - 1)})"
    if kind < 0.85:
        return f"{draw.choice(_NAMES)}[{_expression(draw, depth - 1)}]"
    if kind < 0.93:
        return f"[{_expression(draw, depth - 1)}, {_expression(draw, depth - 1)}]"
    return f"{draw.choice(_NAMES)}.{draw.choice(_NAMES)}"


def _restructured(draw: random.Random, body: list[str]) -> list[str]:
    """Change one to three statements: insert, remove, swap with the next, replace, or wrap in a condition."""
    body = list(body)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(body) - 1)
        change = draw.choice(("insert", "remove", "swap", "replace", "wrap"))
        if change == "insert":
            body.insert(at, _statement(draw, 1))
        elif change == "remove" and len(body) > 5:
            del body[at]
        elif change == "swap" and at + 2 < len(body):
            body[at], body[at + 1] = body[at + 1], body[at]
        elif change == "replace":
            body[at] = _statement(draw, 1)
        else:
            body[at] = f"if {_condition(draw)}:\n" + "\n".join(f"    {line}" for line in body[at].split("\n"))
    return body


def _renamed(draw: random.Random, text: str) -> str:
    """Give every name another one, and numbers other values."""
    renames = {name: f"{draw.choice('abcdefgh')}{number}" for number, name in enumerate([*_NAMES, *_CALLS])}
    text = re.sub(r"\b[a-z]+\b", lambda found: renames.get(found[0], found[0]), text)
    return re.sub(r"(?<![\w'])\d+\b", lambda found: str(int(found[0]) + 1), text)

"""Kernels from text: reads what ``repr`` of a kernel writes.

The text is parsed as a Python expression and checked against a whitelist of names, operators and methods; nothing is
ever evaluated.
"""

from __future__ import annotations

import ast
import inspect
from difflib import get_close_matches
from typing import Any

from sapwood.errors import ParameterError
from sapwood.kernels.base import Kernel
from sapwood.kernels.names import INGREDIENTS, KERNELS, find

__all__ = ["parse_kernel"]

_LONGEST = 10_000


def parse_kernel(text: str) -> Kernel:
    """Read a kernel expression.

    Parameters
    ----------
    text : str
        Kernels by name with literal arguments, combined with ``+``, ``*``, ``**``, numbers, ``.normalized()``,
        ``.on("view")`` and ``.named("name")``.

    Raises
    ------
    ParameterError
        With the column of the fault and what is allowed there.

    Examples
    --------
    >>> parse_kernel("0.5 * SubsetTree(decay=0.3).normalized() + Subtree(decay=0.4)")
    0.5 * SubsetTree(decay=0.3).normalized() + Subtree(decay=0.4)
    """
    if not isinstance(text, str):
        raise ParameterError(f"a kernel expression must be a str, got {type(text).__name__}.")
    if len(text) > _LONGEST:
        raise ParameterError(f"the kernel expression has {len(text)} characters; at most {_LONGEST} are read.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        result = _read(tree.body, text)
    except SyntaxError as error:
        raise ParameterError(
            f"the kernel expression {text!r} is broken at column {error.offset}: {error.msg}. "
            "Write it like SubsetTree(decay=0.4).normalized()."
        ) from None
    except (RecursionError, MemoryError, ValueError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"the kernel expression cannot be read: {error or 'it is nested too deeply'}.") from None
    if not isinstance(result, Kernel):
        raise ParameterError(f"{text!r} is a number, not a kernel; name one of {', '.join(sorted(KERNELS))}.")
    return result


def _read(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Tuple(elts=items):
            return tuple(_read(item, text) for item in items)
        case ast.List(elts=items):
            return [_read(item, text) for item in items]
        case ast.Dict(keys=keys, values=values) if all(key is not None for key in keys):
            try:
                return {_read(key, text): _read(value, text) for key, value in zip(keys, values, strict=True) if key}
            except TypeError:
                raise _refused(node, text, "a key of a dictionary must be text or a number") from None
        case ast.BinOp(op=ast.Add() | ast.Mult() | ast.Pow()):
            left, right = _read(node.left, text), _read(node.right, text)
            if not isinstance(left, Kernel) and not isinstance(right, Kernel):
                raise _refused(node, text, "one side of the operator must be a kernel")
            try:
                if isinstance(node.op, ast.Add):
                    return left + right
                return left * right if isinstance(node.op, ast.Mult) else left**right
            except TypeError:
                raise _refused(node, text, "these cannot be combined") from None
        case ast.Call(func=ast.Name(id=name)):
            if name not in KERNELS and name not in INGREDIENTS:
                raise _unknown(node, text, name)
            arguments, keywords = _arguments(node, text)
            try:
                return find(name)(*arguments, **keywords)
            except TypeError as error:
                takes = ", ".join(inspect.signature(find(name)).parameters) or "nothing"
                reason = str(error).removeprefix(f"{name}.__init__() ")
                raise _refused(node, text, f"{name} {reason}; it takes {takes}") from None
        case ast.Name(id=name) if name in KERNELS or name in INGREDIENTS:
            raise _refused(node, text, f"{name} needs parentheses: write {name}()")
        case ast.Name(id=name):
            raise _unknown(node, text, name)
        case ast.Call(func=ast.Attribute(value=inner, attr="normalized"), args=[], keywords=[]):
            return _kernel(inner, text).normalized()
        case ast.Call(
            func=ast.Attribute(value=inner, attr="on" | "named" as method),
            args=[ast.Constant(value=str() as word)],
            keywords=[],
        ):
            kernel = _kernel(inner, text)
            return kernel.on(word) if method == "on" else kernel.named(word)
    raise _refused(
        node, text, "only kernels, numbers, +, *, **, .normalized(), .on('view') and .named('name') are allowed"
    )


def _arguments(call: ast.Call, text: str) -> tuple[list[Any], dict[str, Any]]:
    keywords: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise _refused(call, text, "** is not allowed")
        # Python itself notices only when it compiles, which never happens here.
        if keyword.arg in keywords:
            raise _refused(keyword.value, text, f"{keyword.arg} is given twice; keep one")
        keywords[keyword.arg] = _read(keyword.value, text)
    return [_read(argument, text) for argument in call.args], keywords


def _kernel(node: ast.expr, text: str) -> Kernel:
    value = _read(node, text)
    if not isinstance(value, Kernel):
        raise _refused(node, text, "expected a kernel here")
    return value


def _unknown(node: ast.expr, text: str, name: str) -> ParameterError:
    known = [*sorted(KERNELS), *sorted(INGREDIENTS)]
    small = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), small, n=1)
    hint = f"did you mean {small[close[0]]}()? There" if close else "there"
    return _refused(node, text, f"there is no kernel called {name}; {hint} are {', '.join(known)}")


def _refused(node: ast.expr, text: str, reason: str) -> ParameterError:
    return ParameterError(f"in the kernel expression, column {node.col_offset + 1}: {reason}.\n    {text.strip()}")

"""Training that fails or is stopped leaves an estimator as it was."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

__all__ = ["all_or_nothing"]

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Let a method that sets attributes set all of them or, if it raises, none.

    Otherwise a training that fails half-way leaves the classes of one training with the weights of another. What an
    attribute held before comes back as the same object, so the method must not change it in place.
    """

    @functools.wraps(method)
    def attempt(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(Method, attempt)

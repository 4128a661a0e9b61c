"""What estimators share: training that leaves them as they were if it fails, and what scikit-learn is told of input."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

__all__ = ["SequenceInput", "all_or_nothing"]

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


class SequenceInput:
    """Mixin of estimators whose examples are trees or other objects, one after the other, and no rows of a matrix."""

    # Attributes that are native: they are no part of a pickle, and quickly made again where they are None.
    _compiled_names: ClassVar[tuple[str, ...]] = ()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {**state, **dict.fromkeys(self._compiled_names)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

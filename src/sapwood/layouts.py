"""What model files hold of estimators, declared: which parameters and attributes, and how each is written and read.

``register_estimator`` beside a class is all that it needs to be saved. What is no estimator is registered by a pair of
functions, in ``sapwood.registry``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sapwood.registry import Reader, Writer, register

__all__ = ["COUNT", "LABELS", "NUMBERS", "Field", "Layout", "array_of", "part_of", "register_estimator"]

_REQUIRED: Any = object()


@dataclass(frozen=True)
class Field:
    """How one attribute of an object is written to a file and read back.

    Parameters
    ----------
    write : callable
        Takes the value and a ``Writer``; returns JSON data.
    read : callable
        Takes that data and a ``Reader``; returns the value, checked.
    key : str
        Its name in files; by default that of the attribute without the underscores at its ends.
    absent : object
        The value in files of older versions, which do not have it; by default such files are refused.
    spread : bool
        Whether it takes several keys: ``write`` returns them all, and ``read`` takes all data of the object.
    """

    write: Callable[[Any, Writer], Any]
    read: Callable[[Any, Reader], Any]
    key: str = ""
    absent: Any = _REQUIRED
    spread: bool = False

    def at(self, key: str) -> Field:
        """Return the same field with another name in files."""
        return replace(self, key=key)


COUNT = Field(lambda value, writer: int(value), lambda data, reader: reader.count(data))
NUMBERS = Field(
    lambda values, writer: [float(value) for value in values],
    lambda data, reader: [reader.number(value) for value in data],
)
LABELS = Field(lambda value, writer: writer.labels(value), lambda data, reader: reader.labels(data), spread=True)


def part_of(*kinds: type[Any], optional: bool = False) -> Field:
    """Hold an object of one of these classes, or of any; None too if it is optional."""
    return Field(
        lambda value, writer: None if optional and value is None else writer.part(value),
        lambda data, reader: None if optional and data is None else reader.part(data, *kinds),
    )


def array_of(dtype: Any, ndim: int = 1) -> Field:
    """Hold an array of this type; all its numbers are finite."""
    return Field(
        lambda value, writer: writer.array(value.astype(dtype)),
        lambda data, reader: reader.finite(data, (None,) * ndim, dtype),
    )


@dataclass(frozen=True)
class Layout:
    """What a file holds of an estimator.

    Parameters
    ----------
    kind : type
        The class.
    parameters : mapping of str to Field
        Parameters that are more than text, numbers, truth values, None and lists of these.
    without : sequence of str
        Parameters that are not kept, such as places on this computer; they have their defaults after loading.
    fitted : mapping of str to Field
        Attributes that make it fitted.
    finish : callable, optional
        Takes the estimator and the ``Reader``: checks that its parts fit together, and sets what follows from them.
    """

    kind: type[Any]
    parameters: Mapping[str, Field] = field(default_factory=dict)
    without: Sequence[str] = ()
    fitted: Mapping[str, Field] = field(default_factory=dict)
    finish: Callable[[Any, Reader], None] | None = None

    def write(self, model: Any, writer: Writer) -> dict[str, Any]:
        """Describe an estimator."""
        # A file that cannot be read back is worse than none.
        if hasattr(model, "_check"):
            model._check()
        if self.fitted:
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(model, list(self.fitted)[:1])
        data = {"params": writer.parameters(model, [*self.parameters, *self.without])}
        for name, each in {**self.parameters, **self.fitted}.items():
            written = each.write(getattr(model, name), writer)
            data |= written if each.spread else {each.key or name.strip("_"): written}
        return data

    def read(self, data: dict[str, Any], reader: Reader) -> Any:
        """Rebuild and check what ``write`` has described."""

        def value(name: str, each: Field) -> Any:
            key = each.key or name.strip("_")
            if each.absent is not _REQUIRED and key not in data:
                return each.absent
            return each.read(data if each.spread else data[key], reader)

        others = {name: value(name, each) for name, each in self.parameters.items()}
        model = reader.make(self.kind, data, **others)
        for name, each in self.fitted.items():
            setattr(model, name, value(name, each))
        if self.finish is not None:
            self.finish(model, reader)
        return model


def register_estimator(kind: type[Any], **holds: Any) -> None:
    """Make an estimator storable, under the name of its class, by what it holds; see ``Layout`` for the keywords."""
    layout = Layout(kind, **holds)
    register(kind.__name__, kind, layout.write, layout.read)

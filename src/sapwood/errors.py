"""The errors Sapwood raises: one type per kind of mistake, each message ending with what to do.

Every type also derives from the built-in exception that people already catch for that kind of mistake, so
``except ValueError`` keeps working. Nothing else belongs here: a message is written where it is raised.
"""

__all__ = [
    "BracketError",
    "DataError",
    "FormatError",
    "KernelError",
    "ModelFileError",
    "OutputError",
    "ParameterError",
    "SapwoodError",
    "TooLargeError",
    "TreeError",
]


class SapwoodError(Exception):
    """Base of every error that Sapwood raises on purpose."""


class ParameterError(SapwoodError, ValueError):
    """A parameter has a value outside what its docstring allows."""


class DataError(SapwoodError, ValueError):
    """The data passed in has the wrong shape, length or content."""


class FormatError(DataError):
    """A corpus file breaks the rules of its format; says where and why.

    Attributes
    ----------
    source : str
        File name, or ``<stream>``; ``archive.zip/member`` for a member of an archive.
    line, column : int
        Position of the fault, both counted from 1.
    reason : str
        What is wrong there, without position.
    """

    def __init__(self, source: str, line: int, column: int, reason: str) -> None:
        self.source, self.line, self.column, self.reason = source, line, column, reason
        super().__init__(f"{source}:{line}:{column}: {reason}")

    def __reduce__(self) -> tuple["type[FormatError]", tuple[str, int, int, str]]:
        return type(self), (self.source, self.line, self.column, self.reason)


class TreeError(SapwoodError, ValueError):
    """A tree cannot be built, converted or written as asked."""


class BracketError(TreeError):
    """Bracketed text is broken; says where, shows the place and what was expected.

    Attributes
    ----------
    source : str
        File name, or ``<string>``.
    line, column : int
        Position of the fault, both counted from 1; the column counts characters.
    reason : str
        What is wrong there, without position.
    """

    def __init__(self, source: str, line: int, column: int, reason: str, context: str = "") -> None:
        self.source, self.line, self.column, self.reason, self.context = source, line, column, reason, context
        text = f"{source}:{line}:{column}: {reason}"
        super().__init__(f"{text}\n{context}" if context else text)

    def __reduce__(self) -> tuple["type[BracketError]", tuple[str, int, int, str, str]]:
        return type(self), (self.source, self.line, self.column, self.reason, self.context)


class KernelError(SapwoodError, ArithmeticError):
    """A kernel value cannot be represented, for example because it overflows."""


# MemoryError comes first because it makes its objects in a way of its own: otherwise ``TooLargeError.__new__``, by
# which Dask brings errors back from its workers, would be refused.
class TooLargeError(MemoryError, SapwoodError):
    """A result would not fit in memory; raised before anything is allocated, with alternatives."""


class ModelFileError(SapwoodError, ValueError):
    """A model file is truncated, foreign, damaged or newer than this version of Sapwood."""


class OutputError(SapwoodError, OSError):
    """A file cannot be written: no folder, no permission, no room."""

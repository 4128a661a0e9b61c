"""Which columns of a matrix stand for texts."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class TextColumns:
    def __init__(self, texts: bytes, ends: Sequence[int], groups: Sequence[Sequence[int]]) -> None: ...

    def find(self, rows: list[list[str]]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]: ...

    def __getstate__(self) -> tuple[bytes, list[int], list[list[int]]]: ...

    def __setstate__(self, arg: tuple[bytes, Sequence[int], Sequence[Sequence[int]]], /) -> None: ...

    @property
    def texts(self) -> bytes: ...

    @property
    def ends(self) -> list[int]: ...

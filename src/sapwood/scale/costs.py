"""What a run will take, on paper: tiles or shards, bytes moved, seconds.

The model is a sum: every piece has its preparation, its values and its bytes, and pieces are dealt to the workers.
``docs/scale.md`` holds it against measurements. Rates are the caller's, taken from a small run of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from sapwood.checks import check_count
from sapwood.errors import ParameterError

__all__ = ["Cost", "gram_cost", "map_cost"]

# What passes through the scheduler for one piece, as measured: its arguments, its result, and the talk about it.
_BYTES_PER_PIECE = 3_400


@dataclass(frozen=True)
class Cost:
    """What a run will take.

    Attributes
    ----------
    pieces : int
        Tiles or shards.
    values : int
        Kernel values computed, or trees mapped.
    stored : int
        Bytes of the result.
    read : int
        Bytes of examples that all workers together read.
    messages : int
        Bytes that pass through the scheduler.
    seconds : float
        Wall-clock time with all workers.
    """

    pieces: int
    values: int
    stored: int
    read: int
    messages: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.pieces:,} pieces, {self.values:.3g} values, {_bytes(self.stored)} stored, "
            f"{_bytes(self.read)} read, {_bytes(self.messages)} through the scheduler, {_time(self.seconds)}"
        )


def gram_cost(
    n: int,
    *,
    rate: float,
    workers: int = 1,
    tile: int = 2000,
    value_bytes: int = 8,
    tree_bytes: float = 300.0,
    write_rate: float = 5e8,
    piece_seconds: float = 0.05,
    start_seconds: float = 2.0,
) -> Cost:
    """Say what the Gram matrix of n examples will take.

    Parameters
    ----------
    n : int
        How many examples.
    rate : float
        Kernel values per second of one worker, without writing them.
    workers : int
        How many workers of one thread.
    tile : int
        Rows and columns of a tile.
    value_bytes : int
        8 for float64, 4 for float32.
    tree_bytes : float
        What an example takes in ``rows.sap``; every worker reads all.
    write_rate : float
        Bytes per second that one worker mirrors, checksums and writes.
    piece_seconds : float
        What a tile takes besides: its examples, and Dask.
    start_seconds : float
        Until every worker has read the examples.

    Examples
    --------
    >>> print(gram_cost(20_000, rate=3e6, workers=2, tile=1000))
    210 pieces, 2e+08 values, 3.2 GB stored, 12 MB read, 714 kB through the scheduler, 44 s
    """
    for value, name in ((n, "n"), (workers, "workers"), (tile, "tile")):
        check_count(value, name)
    for number, name in ((rate, "rate"), (write_rate, "write_rate")):
        if not number > 0:
            raise ParameterError(f"{name} must be above 0, got {number!r}.")
    across = -(-n // tile)
    pieces = across * (across + 1) // 2
    values = n * (n + 1) // 2
    stored = n * n * value_bytes
    work = values / rate + stored / write_rate + pieces * piece_seconds
    # The last round is rarely full: a worker may wait for another one's tile, half of one on average.
    seconds = start_seconds + work / workers + (0.5 * work / pieces if workers > 1 else 0.0)
    read = int(workers * n * tree_bytes)
    return Cost(pieces, values, stored, read, pieces * _BYTES_PER_PIECE, seconds)


def map_cost(
    n: int,
    *,
    rate: float,
    row_bytes: float,
    workers: int = 1,
    part: int = 10_000,
    tree_bytes: float = 0.0,
    piece_seconds: float = 0.05,
    start_seconds: float = 2.0,
) -> Cost:
    """Say what mapping n trees into shards will take.

    Parameters
    ----------
    n : int
        How many trees.
    rate : float
        Trees per second that one worker reads, maps and writes.
    row_bytes : float
        What a row takes in a shard: 12 per entry in float64, 8 in float32.
    workers, part
        How many workers of one thread, and trees per shard.
    tree_bytes : float
        What a tree takes on its way to the worker; 0 where workers read their parts themselves.
    piece_seconds, start_seconds : float
        As for ``gram_cost``.

    Examples
    --------
    >>> print(map_cost(10**6, rate=2000, row_bytes=1200, workers=2))
    100 pieces, 1e+06 values, 1.2 GB stored, 0 B read, 340 kB through the scheduler, 4.3 min
    """
    for value, name in ((n, "n"), (workers, "workers"), (part, "part")):
        check_count(value, name)
    if not rate > 0:
        raise ParameterError(f"rate must be above 0, got {rate!r}.")
    pieces = -(-n // part)
    work = n / rate + pieces * piece_seconds
    seconds = start_seconds + work / workers + (0.5 * work / pieces if workers > 1 else 0.0)
    sent = int(n * tree_bytes)
    return Cost(pieces, n, int(n * row_bytes), sent, pieces * _BYTES_PER_PIECE + sent, seconds)


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} PB"


def _time(seconds: float) -> str:
    for unit, length in (("years", 365.25 * 86400), ("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.2g} {unit}"
    return f"{seconds:.2g} s"

"""How the cost of training grows with the number of trees, for each way to do it, on one machine.

Every point is measured in a process of its own, so that memory is its own and a point that does not fit stops nothing
else. Exponents are slopes of straight lines through logarithms.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sapwood.checks import check_count
from sapwood.errors import DataError, ParameterError, SapwoodError

__all__ = ["PATHS", "Growth", "Point", "crossing", "fit_power", "measure"]

PATHS = {
    "gram": "exact Gram matrix, libsvm",
    "rows": "rows on demand, native solver",
    "maps": "hashed fragments in shards, linear",
}
"""The ways to train, by name."""

_TESTED = 1000
_KERNEL_DECAY = 0.4


@dataclass(frozen=True)
class Point:
    """What training on so many trees took.

    Attributes
    ----------
    path : str
        One of ``PATHS``.
    n : int
        Training trees.
    seconds : float
        CPU seconds of all threads for kernel values or features, and training; without making the trees.
    memory : float
        Peak bytes above what the trees and the libraries take.
    accuracy : float
        On 1,000 other trees.
    """

    path: str
    n: int
    seconds: float
    memory: float
    accuracy: float

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return asdict(self)


@dataclass(frozen=True)
class Growth:
    """Seconds as a power of n: ``factor * n ** exponent``."""

    factor: float
    exponent: float

    def seconds(self, n: float) -> float:
        """Return the seconds for n trees."""
        return float(self.factor * n**self.exponent)


def fit_power(points: Sequence[Point]) -> Growth | None:
    """Fit a power to the seconds of at least two sizes, by least squares on logarithms.

    >>> points = [Point("gram", n, 1e-6 * n**2, 0, 0.9) for n in (100, 200, 400)]
    >>> growth = fit_power(points)
    >>> round(growth.exponent, 6), round(growth.seconds(1000), 6)
    (2.0, 1.0)
    """
    if len({point.n for point in points}) < 2:
        return None
    xs = [math.log(point.n) for point in points]
    ys = [math.log(max(point.seconds, 1e-6)) for point in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
    return Growth(math.exp(y - slope * x), slope)


def crossing(first: Growth, second: Growth) -> float | None:
    """Return the number of trees from which the second is the cheaper one, or None if it never is.

    >>> round(crossing(Growth(1e-6, 2.0), Growth(1e-3, 1.0)))
    1000
    """
    if second.exponent >= first.exponent:
        return None
    return math.exp((math.log(second.factor) - math.log(first.factor)) / (first.exponent - second.exponent))


def measure(
    sizes: Sequence[int],
    *,
    paths: Sequence[str] = tuple(PATHS),
    seed: int = 0,
    limit: float = 120.0,
    memory_limit: float = 500.0,
    threads: int = 1,
) -> Iterator[Point | str]:
    """Yield a point per size and path, or a line of text that says why there is none.

    Parameters
    ----------
    sizes : sequence of int
        How many trees; measured from the smallest on.
    paths : sequence of str
        Which of ``PATHS``.
    seed : int
        Seed of the trees (``sapwood.corpora.sampled``, four classes) and of training.
    limit : float
        A size for which a path is expected to take more CPU seconds than this is left out.
    memory_limit : float
        Megabytes that the native solver may take for rows.
    threads : int
        Native threads.
    """
    for path in paths:
        if path not in PATHS:
            raise ParameterError(f"there is no path {path!r}; the paths are {', '.join(PATHS)}.")
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 20 for n in sizes):
        raise ParameterError(f"sizes must be integers of at least 20, got {list(sizes)}.")
    check_count(seed, "seed", 0, None)
    done: dict[str, list[Point]] = {path: [] for path in paths}
    for n in sorted(set(sizes)):
        for path in paths:
            expected = _expected(done[path], n)
            if expected > limit:
                yield f"{path} with {n:,} trees is left out: about {expected:,.0f} s, and the limit is {limit:g}"
                continue
            found = _measure_apart(path, n, seed, memory_limit, threads)
            if isinstance(found, Point):
                done[path].append(found)
            yield found


def _expected(points: Sequence[Point], n: int) -> float:
    if not points:
        return 0.0
    # The last two say most about what comes next; with one, suppose the worst that is common.
    growth = fit_power(points[-2:]) or Growth(points[-1].seconds / points[-1].n ** 2, 2.0)
    return growth.seconds(n)


def _measure_apart(path: str, n: int, seed: int, memory_limit: float, threads: int) -> Point | str:
    command = [sys.executable, "-m", "sapwood.scale.growth", path, str(n), str(seed), str(memory_limit), str(threads)]
    # The process ends with this one: an interrupt reaches both, and run() waits for it or kills it.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or [f"its process ended with {done.returncode}"]
        return f"{path} with {n:,} trees could not be measured: {reason[0]}"
    try:
        found = json.loads(done.stdout)
        return Point(path, n, float(found["seconds"]), float(found["memory"]), float(found["accuracy"]))
    except (ValueError, KeyError, TypeError):
        raise DataError(f"the process that measures wrote {done.stdout!r}; expected JSON.") from None


# In the process that measures.


def _measure_here(path: str, n: int, seed: int, memory_limit: float) -> dict[str, float]:
    from sapwood.corpora.sampled import sample_labeled
    from sapwood.kernels import HashedFragmentMap, SubsetTree
    from sapwood.learn import KernelSVC
    from sapwood.scale.linear import ShardClassifier
    from sapwood.scale.parts import in_parts
    from sapwood.scale.shards import map_to_shards

    X, y = sample_labeled(n, seed=2 * seed)
    tested, expected = sample_labeled(_TESTED, seed=2 * seed + 1)
    model: Any
    before = _peak()
    start = time.process_time()
    if path == "maps":
        with tempfile.TemporaryDirectory() as folder:
            mapping = HashedFragmentMap(_KERNEL_DECAY, max_size=3)
            shards = map_to_shards(mapping, in_parts(X, y, size=2000), folder)
            model = ShardClassifier(random_state=seed).fit(shards)
    else:
        solver = {"gram": "sklearn", "rows": "native"}[path]
        model = KernelSVC(SubsetTree(_KERNEL_DECAY).normalized(), solver=solver, memory_limit=memory_limit).fit(X, y)
    seconds = time.process_time() - start
    grown = _peak() - before
    return {"seconds": seconds, "memory": float(max(0, grown)), "accuracy": float(model.score(tested, expected))}


def _peak() -> int:
    if sys.platform == "win32":
        return 0  # there is no such module; nothing of this was tried there
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _main(arguments: Sequence[str]) -> int:
    from sapwood import settings

    path, n, seed, memory_limit, threads = arguments
    with settings.options(threads=int(threads)):
        try:
            print(json.dumps(_measure_here(path, int(n), int(seed), float(memory_limit))))
        except SapwoodError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))

"""Training a kernel machine on role arguments: the native solver beside scikit-learn's, and its cost over more of them.

``python benchmarks/solver.py`` compares both at 2,000, 5,000 and 10,000 arguments. With ``--sizes`` it trains natively
on as many as asked and prints how cost grows; 0 means all:

    python benchmarks/solver.py --sizes 5000 10000 20000 45000 100000 0 --memory-limit 11000

Needs the CoNLL-2005 release without words in a data folder (``SAPWOOD_DATA``; see ``arguments``).
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from dataclasses import dataclass

import numpy as np

import arguments
import sapwood as sw
from sapwood.kernels import SubsetTree
from sapwood.learn import KernelSVC
from sapwood.learn.solver import smo
from table import Row, show

SEED = 0
TESTED = 6000
KERNEL = 0.6 * SubsetTree(decay=0.4).normalized().on("path") + 0.4 * SubsetTree(decay=0.4).normalized().on(
    "constituent"
)


@dataclass
class Data:
    """Training and test arguments."""

    paths: list[str]
    constituents: list[str]
    roles: list[str]
    test: sw.Examples
    expected: np.ndarray

    def sample(self, size: int) -> tuple[sw.Examples, np.ndarray]:
        """Draw arguments without replacement, in their order; all of them for 0."""
        count = len(self.roles)
        chosen = np.arange(count)
        if 0 < size < count:
            chosen = np.sort(np.random.default_rng(SEED).choice(count, size, replace=False))
        paths = sw.TreeArray([self.paths[i] for i in chosen])
        constituents = sw.TreeArray([self.constituents[i] for i in chosen])
        return sw.Examples(path=paths, constituent=constituents), np.array([self.roles[i] for i in chosen])


@dataclass
class Run:
    """What training on one sample took."""

    size: int
    points: int
    support: int
    tables: float  # CPU seconds for kernel values
    solver: float  # CPU seconds for everything else
    wall: float
    peak: float
    accuracy: float
    predicted: np.ndarray


def load() -> Data | None:
    archive = arguments.find()
    if archive is None:
        print("solver: there is no CoNLL-2005 release in the data folder, so nothing is measured; set SAPWOOD_DATA.")
        return None
    train = arguments.read(archive, arguments.TRAIN)
    paths, constituents, roles = arguments.read(archive, arguments.TEST)
    test = sw.Examples(path=paths[:TESTED], constituent=constituents[:TESTED])
    return Data(*train, test, np.array(roles[:TESTED]))


def run(data: Data, size: int, solver: str, memory_limit: float | None = None) -> Run:
    X, y = data.sample(size)
    spent = {"tables": 0.0, "points": 0.0}
    prepare = smo.prepare

    def timed(*given: object) -> object:
        start = time.process_time()
        prepared = prepare(*given)
        spent.update(tables=time.process_time() - start, points=len(prepared.native))
        return prepared

    smo.prepare = timed
    try:
        start, clock = time.process_time(), time.perf_counter()
        model = KernelSVC(KERNEL, C=2.4, solver=solver, memory_limit=memory_limit).fit(X, y)
        seconds, wall = time.process_time() - start, time.perf_counter() - clock
    finally:
        smo.prepare = prepare
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    predicted = model.predict(data.test)
    accuracy = float((predicted == data.expected).mean())
    points = int(spent["points"]) or len(y)
    return Run(
        len(y), points, len(model.support_), spent["tables"], seconds - spent["tables"], wall, peak, accuracy, predicted
    )


def main() -> list[Row]:
    """Compare both solvers on small samples."""
    data = load()
    rows = []
    for size in (2000, 5000, 10000) if data else ():
        ours, theirs = run(data, size, "native"), run(data, size, "sklearn")
        equal = float((ours.predicted == theirs.predicted).mean())
        seconds, against = ours.tables + ours.solver, theirs.solver
        rows.append(
            Row(
                f"SVM training {size:,}",
                "scikit-learn on a Gram",
                against / seconds,
                size / seconds,
                size / against,
                "arguments",
                target=2.0 if size >= 10000 else None,
                note="plain hybrid on CoNLL-2005 arguments, 36 roles, CPU time with kernel values; predictions on "
                f"{TESTED:,} test arguments equal to {min(equal, 1.0):.2%}",
            )
        )
    return rows


def grow(data: Data, sizes: list[int], memory_limit: float | None) -> None:
    """Train on larger and larger samples, print what each took, and fit the exponent of the cost."""
    print(f"{KERNEL!r}, C=2.4, {len(set(data.roles))} roles, seed {SEED}")
    print("arguments   points  support  tables CPU s  solver CPU s  all CPU s   wall s  peak GiB  accuracy", flush=True)
    done: list[Run] = []
    for size in sizes:
        one = run(data, size, "native", memory_limit)
        done.append(one)
        total = one.tables + one.solver
        print(
            f"{one.size:9,} {one.points:8,} {one.support:8,} {one.tables:13.1f} {one.solver:13.1f} {total:10.1f} "
            f"{one.wall:8.1f} {one.peak:9.2f} {one.accuracy:9.4f}",
            flush=True,
        )
    if len(done) > 1:
        sizes_log = np.log([one.size for one in done])
        for name in ("tables", "solver"):
            slope = np.polyfit(sizes_log, np.log([max(getattr(one, name), 1e-3) for one in done]), 1)[0]
            print(f"{name}: CPU seconds grow with arguments to the power of {slope:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", help="train natively on so many arguments; 0 for all")
    parser.add_argument("--memory-limit", type=float, help="limit for the native solver in megabytes")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    if options.threads:
        sw.options(threads=options.threads)
    if options.sizes:
        found = load()
        if found is None:
            sys.exit(1)
        grow(found, options.sizes, options.memory_limit)
    else:
        print(show(main()))

"""How close explicit maps come to the exact kernel: question classification with more and more fragments or landmarks.

Run ``python benchmarks/maps.py``. Needs TREC questions with constituency trees as ``train.tsv.gz`` and ``test.tsv.gz``
(coarse class, fine class, tokens, tree per line), looked for in ``trec-qc-trees`` among the corpora; name another
folder with ``--data``.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

import sapwood as sw
from places import corpus
from sapwood.kernels import FragmentMap, LandmarkMap, SubsetTree
from sapwood.learn import KernelSVC

HOME = corpus("trec-qc-trees")


def read(path: Path) -> tuple[sw.TreeArray, np.ndarray]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream]
    return sw.TreeArray([row[3] for row in rows]), np.array([row[0] for row in rows])


def relative_error(V: object, exact: np.ndarray) -> float:
    """Frobenius norm of the difference between approximate and exact Gram matrix, relative to the exact one's."""
    approximate = V @ V.T
    approximate = approximate.toarray() if hasattr(approximate, "toarray") else np.asarray(approximate)
    return float(np.linalg.norm(approximate - exact) / np.linalg.norm(exact))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=HOME)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not options.data.exists():
        print(f"{options.data}: not there, so nothing is measured; name a folder with --data.")
        return 0
    X, y = read(options.data / "train.tsv.gz")
    X_test, y_test = read(options.data / "test.tsv.gz")
    kernel = SubsetTree(decay=0.4).normalized()
    sample = X[:1000]
    exact = kernel(sample)
    print(
        f"{len(X):,} training and {len(X_test):,} test questions, {len(set(y))} classes, {kernel!r}, "
        f"seed {options.seed}"
    )
    print("map                                 columns   error  accuracy  seconds")

    def row(name: str, columns: object, error: float, accuracy: float, seconds: float) -> None:
        print(f"{name:<35} {columns:>7}  {error:6.3f}  {accuracy:8.3f}  {seconds:7.1f}")

    start = time.perf_counter()
    accuracy = KernelSVC(kernel=kernel, C=10.0).fit(X, y).score(X_test, y_test)
    row("none: KernelSVC(C=10)", "-", 0.0, accuracy, time.perf_counter() - start)
    maps: list[tuple[str, object]] = [
        ("FragmentMap, chi2", FragmentMap(min_df=2, max_size=4, select="chi2", n_fragments=count))
        for count in (100, 1_000, 10_000)
    ]
    maps += [
        ("FragmentMap, most frequent", FragmentMap(min_df=2, max_size=6, n_fragments=count))
        for count in (100, 1_000, 10_000, 100_000)
    ]
    maps += [
        ("LandmarkMap", LandmarkMap(kernel, n_components=count, random_state=options.seed))
        for count in (100, 500, 2_000)
    ]
    for name, mapped in maps:
        start = time.perf_counter()
        steps = [mapped] if isinstance(mapped, LandmarkMap) else [mapped, Normalizer()]
        pipeline = make_pipeline(*steps, LinearSVC(random_state=options.seed)).fit(X, y)
        accuracy = pipeline.score(X_test, y_test)
        seconds = time.perf_counter() - start
        V = pipeline[:-1].transform(sample)
        row(name, f"{V.shape[1]:,}", relative_error(V, exact), accuracy, seconds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

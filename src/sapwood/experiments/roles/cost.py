"""What training costs, by the number of arguments: the plain hybrid and the grammar-driven one in the same run."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np

from sapwood.errors import TooLargeError
from sapwood.experiments.measuring import Stopwatch, growth, peak_memory
from sapwood.experiments.roles.data import CORPORA, all_arguments, grammar_of, read_parts
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Cell, Table
from sapwood.learn import KernelSVC
from sapwood.tasks.roles.classifier import default_c, role_kernel, views_of
from sapwood.trees import Examples

__all__ = ["training_cost"]

SIZES = (5_000, 10_000, 20_000, 45_000, 100_000, 1_000_000)
MEMORY_LIMIT = 9000.0  # megabytes for tables and rows; trees and features come on top
KERNELS = ("truncated", "both")


def training_cost(setting: Setting, name: str) -> Iterator[Table]:
    """Make Table 4 again: processor time of training by the number of arguments; the table grows by one size."""
    arguments = all_arguments(setting, name, "train")
    grammar = grammar_of(setting, name)
    read_parts.cache_clear()
    with Stopwatch() as portions:
        examples = arguments.examples(sorted({view for kernel in KERNELS for view in views_of(kernel)}))
    labels = arguments.labels
    # Parses have been turned into portions, and all memory is wanted.
    del arguments
    gc.collect()
    rows: list[tuple[Cell, ...]] = []
    for size in SIZES:
        train = np.arange(len(labels))
        if size < len(labels):
            train = np.sort(np.random.default_rng(setting.seed).choice(len(labels), size, replace=False))
        cells: list[Cell] = [len(train)]
        for kernel in KERNELS:
            svm = KernelSVC(
                role_kernel(kernel, grammar), C=default_c(kernel), solver="native", memory_limit=MEMORY_LIMIT
            )
            try:
                with Stopwatch() as spent:
                    svm.fit(Examples(**{view: examples[view][train] for view in views_of(kernel)}), labels[train])
                cells += [spent.cpu, len(svm.support_)]
            except TooLargeError:
                cells += [None, None]
        cells.append(peak_memory() * 1e6 / 2**30)
        rows.append(tuple(cells))
        yield _table(
            name, rows, f"Portions of all {len(labels):,} arguments, made once: {portions.cpu:.0f} CPU seconds."
        )
        if len(train) == len(labels):
            break


def _table(name: str, rows: list[tuple[Cell, ...]], note: str) -> Table:
    exponents = []
    for kernel, column in zip(KERNELS, (1, 3), strict=True):
        measured = [(row[0], row[column]) for row in rows]
        known = [(float(x), float(y)) for x, y in measured if isinstance(x, int) and isinstance(y, float)]
        if len(known) > 1:
            power = growth(*zip(*known, strict=True))
            exponents.append(f"{kernel}: CPU seconds grow with arguments to the power of {power:.2f}.")
    return Table(
        "cost",
        f"Training by the number of arguments: {CORPORA[name]}",
        ("arguments", "truncated CPU s", "support", "grammar-driven CPU s", "support ", "peak GiB so far"),
        list(rows),
        {"truncated CPU s": 1, "grammar-driven CPU s": 1},
        notes=["From portions of trees to trained SVMs, all roles one against the rest.", note, *exponents],
    )

"""Builds and runs the per-pair rival of ``rival.cpp``."""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-O3", "-march=native"]


@dataclass(frozen=True)
class Result:
    """Evaluations per second and the upper triangle of the Gram matrix, row by row."""

    rate: float
    triangle: NDArray[np.float64]


def compiler() -> str:
    """Return the first line of what the compiler says of itself."""
    command = [os.environ.get("CXX", "g++"), "--version"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]


def build() -> Path:
    """Compile the rival for this machine unless that has been done since its source changed."""
    source, program = HERE / "rival.cpp", HERE.parent / "build" / "bench" / "rival"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([os.environ.get("CXX", "g++"), *FLAGS, str(source), "-o", str(program)], check=True)
    return program


def run(lines: list[str], kernel: str, *, decay: float, depth_decay: float, repeat: int) -> Result:
    """Compute the Gram matrix of the trees with one kernel: ``sst``, ``st`` or ``ptk``."""
    program = build()
    with tempfile.TemporaryDirectory() as folder:
        trees, out = Path(folder) / "trees.txt", Path(folder) / "gram"
        trees.write_text("\n".join(lines) + "\n", encoding="utf-8")
        options = {"kernels": kernel, "decay": decay, "depth-decay": depth_decay, "repeat": repeat, "out": out}
        command = [str(program), str(trees), *[str(part) for key in options for part in (f"--{key}", options[key])]]
        name, evaluations, seconds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        assert name == kernel
        return Result(int(evaluations) / float(seconds), np.fromfile(f"{out}.{kernel}"))

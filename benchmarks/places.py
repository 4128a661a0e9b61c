"""Where the benchmarks find corpora: in the folders of SAPWOOD_DATA, else in ``shared/data`` beside the clone."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["corpus"]


def corpus(name: str) -> Path:
    """Return the path of a file or folder of a corpus, which may be missing."""
    folders = [Path(folder) for folder in os.environ.get("SAPWOOD_DATA", "").split(os.pathsep) if folder]
    folders.append(Path(__file__).resolve().parents[2] / "shared" / "data")
    return next((folder / name for folder in folders if (folder / name).exists()), folders[0] / name)

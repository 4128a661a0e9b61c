"""How a table was made, so that it can be made again: command, revision, data by digest, machine, date and time.

Every table carries its own record, so that one table of an experiment can be renewed while the others stay as they are.
"""

from __future__ import annotations

import datetime
import glob
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sapwood.errors import DataError
from sapwood.experiments.setting import Setting
from sapwood.experiments.tables import Table
from sapwood.words.wordnet_files import find_wordnet

__all__ = ["digest", "made", "read_results", "results_text"]

_ARCHIVES = (".zip/", ".tar.xz/", ".tar/")


def read_results(path: str | os.PathLike[str]) -> dict[str, tuple[Table, dict[str, Any]]]:
    """Read a file of ``sapwood experiment --json``: each table by its name, with the record of how it was made.

    Raises
    ------
    DataError
        If the file holds something else.
    """
    try:
        tables = json.loads(Path(path).read_text(encoding="utf-8"))["tables"]
        return {one["name"]: (Table.from_json(one), one["made"]) for one in tables}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{os.fspath(path)}: this is no file of sapwood experiment --json ({type(error).__name__}: {error})."
        ) from None


def results_text(experiment: str, names: Sequence[str], tables: Mapping[str, tuple[Table, dict[str, Any]]]) -> str:
    """Write the tables of an experiment as JSON, in the order of ``names``, with one line per row.

    Examples
    --------
    >>> table = Table("toy", "A toy", ("a", "b"), [("x", 1), ("y", 2)])
    >>> print(results_text("toys", ["toy"], {"toy": (table, {"revision": None})}), end="")
    {
     "experiment": "toys",
     "tables": [
      {
       "name": "toy",
       "title": "A toy",
       "columns": ["a", "b"],
       "rows": [
        ["x", 1],
        ["y", 2]
       ],
       "decimals": {},
       "notes": [],
       "made": {
        "revision": null
       }
      }
     ]
    }
    """

    def place(name: str) -> tuple[int, str]:
        # Some experiments make a table per corpus, "kernels conll05" for "kernels".
        known = [at for at, one in enumerate(names) if name.split()[0] == one]
        return (known[0] if known else len(names), name)

    found = [{**tables[name][0].to_json(), "made": tables[name][1]} for name in sorted(tables, key=place)]
    return _written({"experiment": experiment, "tables": found}, "\n") + "\n"


def _written(value: Any, start: str) -> str:
    """Write JSON so that what changes in a table changes few lines: lists of numbers and words take one line."""
    inner = start + " "
    if isinstance(value, dict) and value:
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_written(one, inner)}" for key, one in value.items()]
        return f"{{{inner}{(',' + inner).join(parts)}{start}}}"
    if isinstance(value, list) and any(isinstance(one, list | dict) for one in value):
        return f"[{inner}{(',' + inner).join(_written(one, inner) for one in value)}{start}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def made(setting: Setting, experiment: str, seconds: float) -> dict[str, Any]:
    """Say how a table was made that is complete now, so many seconds after the one before."""
    from sapwood import __version__, settings

    command = ["sapwood", "experiment", experiment, "--seed", str(setting.seed)]
    # Folders are left out: they differ between machines, and the data is told by its digest.
    command += ["--cache", "DIR"] if setting.cache else []
    command += ["--tables", *setting.tables] if setting.tables else []
    return {
        "command": " ".join([*command, "--threads", str(settings.threads())]),
        "sapwood": __version__,
        **_revision(),
        "data": {name: digest(path) for name, path in sorted(setting.read.items())} | _wordnet(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seconds": round(seconds, 1),
    }


@cache
def digest(path: str) -> str:
    """Return the SHA-256 of a corpus: of the names and contents of its files, wherever they lie.

    Parameters
    ----------
    path : str
        A file, a folder, a pattern, or any of these in an archive, which then counts as a whole.
    """
    for kind in _ARCHIVES:
        if kind in path:
            path = path[: path.index(kind) + len(kind) - 1]
    files: dict[str, str] = {}
    for name in [path] if os.path.exists(path) else glob.glob(path):
        inside = [one for one in Path(name).rglob("*") if one.is_file()] if os.path.isdir(name) else [Path(name)]
        root = Path(name) if os.path.isdir(name) else Path(name).parent
        files |= {one.relative_to(root).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest() for one in inside}
    if not files:
        raise DataError(f"{path}: there is no such file.")
    if len(files) == 1:
        return next(iter(files.values()))
    return hashlib.sha256("".join(f"{files[name]}  {name}\n" for name in sorted(files)).encode()).hexdigest()


@cache
def _wordnet() -> dict[str, str | None]:
    """Return the digest of WordNet's nouns: where it is missing, most experiments go on without, to other figures."""
    try:
        place = find_wordnet()
    except DataError:
        return {"wordnet": None}
    return {"wordnet": digest(place if os.path.isfile(place) else os.path.join(place, "*.noun"))}


@cache
def _revision() -> dict[str, Any]:
    """Return the commit of the checkout that this package is run from, and whether its code differs from the commit."""
    folder = Path(__file__).parents[3]

    def git(*arguments: str) -> str:
        run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
        return run.stdout.strip()

    try:
        # A package that was installed may lie in somebody else's repository.
        git("ls-files", "--error-unmatch", str(Path(__file__).relative_to(folder)))
        changed = git("status", "--porcelain", "--", "src", "native", "CMakeLists.txt")
        return {"revision": git("rev-parse", "HEAD"), "modified": bool(changed)}
    except (OSError, subprocess.CalledProcessError):
        return {"revision": None, "modified": None}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{platform.machine()}, {names[0]}" if names else platform.machine()

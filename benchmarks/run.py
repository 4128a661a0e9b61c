"""Runs every benchmark beside this file that has a ``main`` and prints one table.

    python benchmarks/run.py [--json FILE] [--history FILE] [NAME ...]

With ``--history``, a line of JSON with the ratios is appended to FILE, and what has changed since the last line by more
than both spreads is listed; ``make bench`` keeps ``history.jsonl`` here.

A benchmark is a module whose ``main()`` returns rows (see ``table``), or prints by itself and returns nothing. The exit
code is 1 if one of them failed; a missed target is reported, but machines differ, so it is no failure.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from measure import busy  # noqa: E402
from sapwood.writing import atomic_write  # noqa: E402
from table import Row, show  # noqa: E402 - this folder is no package


def benchmarks() -> list[str]:
    """Return the names of the modules here that define ``main``, without importing any."""
    names = []
    for path in sorted(HERE.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        has_main = any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body)
        if has_main and path.stem != "run":
            names.append(path.stem)
    return names


def machine() -> dict[str, Any]:
    """Describe what the figures depend on."""
    import rival
    import treebank

    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    versions = {"Python": platform.python_version()}
    for package in ("sapwood", "numpy", "scipy", "scikit-learn", "nltk"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "missing"
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load": [round(value, 2) for value in os.getloadavg()],
        "system": platform.platform(),
        "compiler of the rival": f"{rival.compiler()} {' '.join(rival.FLAGS)}",
        "versions": versions,
        "data": treebank.load(2000).origin,
        "seed": treebank.SEED,
    }


def revision() -> str:
    """Return the commit that is measured, with a mark if files have been changed since."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=HERE, capture_output=True, text=True
    )
    return described.stdout.strip() or "unknown"


def remember(path: Path, facts: dict[str, Any], rows: list[Row]) -> list[str]:
    """Append the ratios to a history and return what has changed, as lines of text.

    Compared is the last run of the same row on the same kind of machine.
    """
    former: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        entry = json.loads(line)
        if entry["cpu"] == facts["cpu"]:
            former |= {(row["what"], row["versus"]): (entry["revision"], row) for row in entry["rows"]}
    kept = ("what", "versus", "ratio", "spread", "instructions", "target", "at_most", "verdict", "busy")
    found = [{name: value for name, value in row.as_dict().items() if name in kept} for row in rows]
    changes = []
    for row in found:
        since, old = former.get((row["what"], row["versus"]), ("", None))
        if old is None or not old["ratio"]:
            continue
        change = row["ratio"] / old["ratio"] - 1
        if abs(change) > max(0.1, (row["spread"] or 0) + (old["spread"] or 0)):
            changes.append(f"{row['what']}, {row['versus']}: {old['ratio']:.2f}x -> {row['ratio']:.2f}x since {since}")
    entry = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": revision(),
        "cpu": facts["cpu"],
        "cores": facts["cores"],
        "load": facts["load"][0],
        "rows": found,
    }
    with path.open("a", encoding="utf-8") as history:
        history.write(json.dumps(entry) + "\n")
    return changes


def main() -> int:
    """Run, print, and return the exit code."""
    parser = argparse.ArgumentParser(description="Run the benchmarks and print one table.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE as well")
    parser.add_argument("--history", type=Path, metavar="FILE", help="append the ratios to FILE")
    arguments = parser.parse_args()
    known = benchmarks()
    for name in arguments.names:
        if name not in known:
            parser.error(f"no benchmark is called {name!r}; there are {', '.join(known)}")
    facts = machine()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load'][0]} at the start; {facts['system']}")
    print(", ".join(f"{name} {number}" for name, number in facts["versions"].items()))
    print(f"rival: {facts['compiler of the rival']}")
    print(f"{facts['data']}; seed {facts['seed']}\n", flush=True)
    rows: list[Row] = []
    failed: list[str] = []
    start = time.perf_counter()
    # Benchmarks may look at the command line; ours is not meant for them.
    sys.argv = sys.argv[:1]
    for name in arguments.names or known:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        watch = busy()
        try:
            found = importlib.import_module(name).main() or []
            note = watch.note()
            rows += [row if row.busy else replace(row, busy=note) for row in found if isinstance(row, Row)]
        except SystemExit as stop:
            if stop.code not in (None, 0):
                print(f"{name} failed: {stop.code}", file=sys.stderr)
                failed.append(name)
        except Exception:
            traceback.print_exc()
            failed.append(name)
    seconds = time.perf_counter() - start
    print(show(rows))
    verdicts = [row.verdict for row in rows if row.verdict]
    print(f"\n{verdicts.count('met')} of {len(verdicts)} targets met; {seconds:.0f} s in all")
    if arguments.history and rows:
        changes = remember(arguments.history, facts, rows)
        print("\n".join(changes) if changes else "no ratio has changed by more than its spread since the last run")
    if arguments.json:
        results = {"machine": facts, "rows": [row.as_dict() for row in rows], "failed": failed}
        atomic_write(arguments.json, (json.dumps(results, indent=2) + "\n").encode())
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

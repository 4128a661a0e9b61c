"""Builds two revisions and measures them side by side.

    python benchmarks/compare.py REV [--with REV] [--repeat 5] [NAME ...]

``make bench-compare REV=...`` does the same. Each revision is checked out into ``build/compare`` (a git worktree) with
an environment of its own, which takes some minutes the first time and is kept; without ``--with``, the other side is
this checkout as it is. Then both run the pieces of ``workloads`` in turns, one process each, and a table says how the
time of this side relates to that of REV: below 1 is quicker.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

from measure import Measured, busy  # noqa: E402 - this folder is no package

# Differences within the spread of either side, or smaller than this, say nothing.
NOISE = 0.03


def commit_of(revision: str) -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        raise SystemExit(f"{revision}: git knows no such revision.")
    return found.stdout.strip()


def build(revision: str) -> Path:
    """Return the Python of a revision, built if it has not been before."""
    commit = commit_of(revision)
    place = ROOT / "build" / "compare" / commit[:12]
    if not (place / ".venv" / "installed").exists():
        if not place.exists():
            subprocess.run(["git", "worktree", "add", "--detach", str(place), commit], cwd=ROOT, check=True)
        print(f"building {commit[:12]} in {place} ...", file=sys.stderr, flush=True)
        log = place.with_suffix(".log")
        with log.open("w") as output:
            done = subprocess.run(["make", ".venv/installed"], cwd=place, stdout=output, stderr=subprocess.STDOUT)
        if done.returncode:
            raise SystemExit(f"{commit[:12]} could not be built; see {log}")
    return place / ".venv" / "bin" / "python"


def names() -> list[str]:
    """Return the pieces of work, without importing anything that a revision may lack."""
    from workloads import WORKLOADS

    return list(WORKLOADS)


def run(python: Path, name: str) -> dict[str, float | None] | None:
    """Do one piece of work in a process of its own; None if that revision cannot."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [python, HERE / "workloads.py", name], cwd=HERE, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        print(f"{python}: {name} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    found: dict[str, float | None] = json.loads(done.stdout.splitlines()[-1])
    return found


def side_by_side(sides: dict[str, Path], name: str, repeat: int) -> dict[str, Measured] | None:
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    counts: dict[str, list[int]] = {side: [] for side in sides}
    for _ in range(repeat):
        for side, python in sides.items():
            found = run(python, name)
            if found is None or found["seconds"] is None:
                return None
            seconds[side].append(found["seconds"])
            if found["instructions"] is not None:
                counts[side].append(int(found["instructions"]))
    return {side: Measured(tuple(seconds[side]), tuple(counts[side])) for side in sides}


def verdict(before: Measured, after: Measured) -> str:
    """Say what the ratio means, given how much either side varies."""
    ratio = after.over(before)  # how many times longer the other revision took
    if abs(ratio - 1) <= max(NOISE, after.ratio_spread(before)):
        return "same"
    return "quicker" if ratio > 1 else "SLOWER"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", help="the revision to compare with")
    parser.add_argument("names", nargs="*", metavar="NAME", help="pieces of work (default: all)")
    parser.add_argument("--with", dest="other", metavar="REV", help="the other revision (default: this checkout)")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_intermixed_args()
    known = names()
    for name in options.names:
        if name not in known:
            parser.error(f"no piece of work is called {name!r}; there are {', '.join(map(repr, known))}")
    before = build(options.revision)
    after = build(options.other) if options.other else Path(sys.executable)
    watch = busy()
    print(f"{'':28} {options.revision[:12]:>12} {(options.other or 'here')[:12]:>12}  time  ±    instr.")
    slower = 0
    for name in options.names or known:
        found = side_by_side({"before": before, "after": after}, name, options.repeat)
        if found is None:
            print(f"{name:28} one of the two cannot do this")
            continue
        old, new = found["before"], found["after"]
        said = verdict(old, new)
        slower += said == "SLOWER"
        counted = "" if not old.counted or new.counted is None else f"{new.counted / old.counted:.3f}"
        print(
            f"{name:28} {old.median:10.3f} s {new.median:10.3f} s  {1 / new.over(old):.2f}  "
            f"{new.ratio_spread(old):3.0%}  {counted:>6}  {said}",
            flush=True,
        )
    if watch.note():
        print(watch.note())
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

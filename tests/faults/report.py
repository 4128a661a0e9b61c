"""The figures of ``docs/reliability.md``, made anew: ``python tests/faults/report.py [--rounds 20] [--kills 50]``.

Calls are stopped by signals, jobs are killed, and so are the workers of a cluster.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults.calls import CALLS, LONGEST, stop
from faults.jobs import JOBS
from faults.kills import content, kill, prepare, undisturbed
from faults.workers import PATHS, Team, kill_workers


def interrupts(names: list[str], rounds: int, long_rounds: int) -> int:
    """Print how calls end when they are stopped; return how many did not end as they should."""
    print("| call | SIGINT: stopped, finished | slowest s | SIGTERM: stopped, finished | slowest s |")
    print("|---|---|---|---|---|")
    wrong, slowest, total = 0, 0.0, 0
    for name in names:
        call, cells = CALLS[name](), []
        times = long_rounds if name in LONGEST else rounds
        for number in (signal.SIGINT, signal.SIGTERM):
            dice = random.Random(f"{name} {number}")
            found = [stop(call, number, dice) for _ in range(times)]
            outcomes = Counter(one.outcome for one in found)
            longest = max(one.seconds for one in found if one.outcome != "finished") if outcomes["stopped"] else 0.0
            cells.append(f"{outcomes.pop('stopped', 0)}, {outcomes.pop('finished', 0)} | {longest:.2f}")
            wrong += sum(outcomes.values())
            slowest, total = max(slowest, longest), total + times
            for outcome, count in outcomes.items():
                print(f"{name}: {count}x {outcome}", file=sys.stderr)
        print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)
    print(f"\n{total:,} signals, the slowest return took {slowest:.2f} s, {wrong} ended in another way.\n")
    return wrong


def kills(names: list[str], rounds: int) -> int:
    """Print how jobs go on after kills; return how many lost something."""
    prepare()
    wrong = total = 0
    print("| job | kills | hit it at work | seconds undisturbed | afterwards |")
    print("|---|---|---|---|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            expected, seconds = undisturbed(name, Path(first))
            try:
                hits = kill(name, Path(second), rounds, seconds)
                same = content(Path(second)) == expected
            except AssertionError as error:
                hits, same = 0, False
                print(f"{name}: {error}", file=sys.stderr)
        wrong, total = wrong + (not same), total + rounds
        print(f"| {name} | {rounds} | {hits} | {seconds:.1f} | {'the same bytes' if same else 'LOST'} |", flush=True)
    print(f"\n{total:,} kills, {wrong} jobs lost something.\n")
    return wrong


def workers(names: list[str], rounds: int) -> int:
    """Print how work goes on when workers of a cluster are killed; return how many results differ."""
    wrong = total = 0
    print("| path | workers killed | runs | calls made again | result |")
    print("|---|---|---|---|---|")
    with Team() as team:
        for name in names:
            try:
                runs, repeated = kill_workers(team, name, rounds)
                result = "the same"
            except AssertionError:
                runs, repeated, result = 0, 0, "DIFFERS"
            wrong, total = wrong + (result != "the same"), total + rounds
            print(f"| {name} | {rounds} | {runs} | {repeated} | {result} |", flush=True)
    print(f"\n{total:,} workers killed, {wrong} paths with another result.\n")
    return wrong


def main() -> int:
    """Stop and kill everything, and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="calls and jobs (default: all)")
    parser.add_argument("--rounds", type=int, default=20, help="signals of each kind for each call (default: 20)")
    parser.add_argument("--longest", type=int, default=100, help="the same for the ten longest calls (default: 100)")
    parser.add_argument("--kills", type=int, default=50, help="kills of each job (default: 50)")
    parser.add_argument("--workers", type=int, default=50, help="workers killed on each path (default: 50)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    calls = [name for name in CALLS if not options.names or name in options.names]
    chosen = [name for name in JOBS if not options.names or name in options.names]
    paths = [name for name in PATHS if not options.names or name in options.names]
    wrong = interrupts(calls, options.rounds, options.longest) if calls and options.rounds else 0
    wrong += kills(chosen, options.kills) if chosen and options.kills else 0
    wrong += workers(paths, options.workers) if paths and options.workers else 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""The figures of ``docs/reliability.md``, made anew: ``python tests/faults/report.py [--rounds 20] [--kills 50]``.

Calls and commands are stopped by signals, jobs and commands are killed, and so are the workers of a cluster. Two are
at work at a time, each in a process of its own that has imported everything, and forks for every signal.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults.calls import CALLS, LONGEST, stop_often
from faults.jobs import JOBS
from faults.kills import kill_often
from faults.shell import COMMANDS, KEEPING, kill_command_often
from faults.workers import PATHS, Team, kill_workers


def _two_at_a_time(work: Callable[..., Any], names: list[str], *arguments: list[Any]) -> Iterator[tuple[str, Any]]:
    """Call a function for each name in a new process; give each result, or its AssertionError, in turn.

    A process that forks must not have threads, and what one call has loaded is no matter of the next: so none is used
    twice. They come from a server that has imported this module and nothing else, so that they cost next to nothing.
    """
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver"), max_tasks_per_child=1) as pool:
        futures: list[Future[Any]] = [pool.submit(work, *given) for given in zip(names, *arguments, strict=True)]
        for name, future in zip(names, futures, strict=True):
            try:
                yield name, future.result()
            except AssertionError as error:
                print(f"{name}: {error}", file=sys.stderr)
                yield name, None


def interrupts(names: list[str], rounds: int, long_rounds: int) -> int:
    """Print how calls end when they are stopped; return how many did not end as they should."""
    print("| call | SIGINT: stopped, finished | slowest s | SIGTERM: stopped, finished | slowest s |")
    print("|---|---|---|---|---|")
    wrong, slowest, total = 0, 0.0, 0
    times = [long_rounds if name in LONGEST else rounds for name in names]
    for name, found in _two_at_a_time(stop_often, names, times):
        cells = []
        for ended in found.values():
            outcomes = Counter(one.outcome for one in ended)
            longest = max((one.seconds for one in ended if one.outcome != "finished"), default=0.0)
            cells.append(f"{outcomes.pop('stopped', 0)}, {outcomes.pop('finished', 0)} | {longest:.2f}")
            wrong += sum(outcomes.values())
            slowest, total = max(slowest, longest), total + len(ended)
            for outcome, count in outcomes.items():
                print(f"{name}: {count}x {outcome}", file=sys.stderr)
        print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)
    print(f"\n{total:,} signals, the slowest return took {slowest:.2f} s, {wrong} ended in another way.\n")
    return wrong


def shell(names: list[str], rounds: int) -> int:
    """Print how commands of the shell end when they are stopped; return how many did not end as they should."""
    print("| command | seconds | SIGINT: stopped, finished | slowest s | SIGTERM: stopped, finished | slowest s |")
    print("|---|---|---|---|---|---|")
    wrong, slowest = 0, 0.0
    signals = [signal.SIGINT, signal.SIGTERM]
    for name, found in _two_at_a_time(kill_command_often, names, [signals] * len(names), [rounds] * len(names)):
        if found is None:
            wrong += 1
            print(f"| {name} | WRONG |", flush=True)
            continue
        seconds, ended = found
        cells = [f"{one.stopped}, {one.finished} | {one.slowest:.2f}" for one in ended]
        slowest = max([slowest, *(one.slowest for one in ended)])
        print(f"| `{name}` | {seconds:.1f} | {cells[0]} | {cells[1]} |", flush=True)
    total = 2 * rounds * len(names)
    print(f"\n{total:,} signals, the slowest return took {slowest:.2f} s, {wrong} commands ended in another way.\n")
    return wrong


def kills(names: list[str], commands: list[str], rounds: int) -> int:
    """Print how jobs and commands go on after kills; return how many lost something."""
    wrong = 0
    print("| job | kills | hit it at work | seconds undisturbed | afterwards |")
    print("|---|---|---|---|---|")
    for name, found in _two_at_a_time(kill_often, names, [rounds] * len(names)):
        hits, seconds, same = found or (0, 0.0, False)
        wrong += not same
        print(f"| {name} | {rounds} | {hits} | {seconds:.1f} | {'the same bytes' if same else 'LOST'} |", flush=True)
    once = [signal.SIGKILL], rounds
    for name, found in _two_at_a_time(kill_command_often, commands, *([one] * len(commands) for one in once)):
        seconds, (ended,) = found or (0.0, [None])
        wrong += found is None
        hits, result = (ended.stopped, "the same tables") if ended else (0, "LOST")
        print(f"| `sapwood {name}` | {rounds} | {hits} | {seconds:.1f} | {result} |", flush=True)
    total = rounds * (len(names) + len(commands))
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
    parser.add_argument("names", nargs="*", metavar="NAME", help="calls, commands, jobs and paths (default: all)")
    parser.add_argument("--rounds", type=int, default=20, help="signals of each kind for each call (default: 20)")
    parser.add_argument("--longest", type=int, default=100, help="the same for the ten longest calls (default: 100)")
    parser.add_argument("--shell", type=int, default=20, help="signals of each kind for each command (default: 20)")
    parser.add_argument("--kills", type=int, default=50, help="kills of each job (default: 50)")
    parser.add_argument("--workers", type=int, default=50, help="workers killed on each path (default: 50)")
    options = parser.parse_args()
    # What a shell runs in the background ignores Ctrl-C, and so would everything that is started from here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    calls, commands, jobs, keeping, paths = (
        [name for name in known if not options.names or name in options.names]
        for known in (CALLS, COMMANDS, JOBS, KEEPING, PATHS)
    )
    # Made first, since it goes last.
    get_temp_dir()
    with tempfile.TemporaryDirectory(prefix="sapwood-faults-", ignore_cleanup_errors=True) as folder:
        # All files of all processes, however they end, are there and go with it.
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        wrong = interrupts(calls, options.rounds, options.longest) if calls and options.rounds else 0
        wrong += shell(commands, options.shell) if commands and options.shell else 0
        wrong += kills(jobs, keeping, options.kills) if (jobs or keeping) and options.kills else 0
        wrong += workers(paths, options.workers) if paths and options.workers else 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

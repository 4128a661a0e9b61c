"""``sapwood experiment``: make the tables of a paper again."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_threads
from sapwood.experiments import EXPERIMENTS

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "experiment",
        help="make the tables of a paper again",
        description="Run a published experiment on corpora that you have, and print each table when it is complete.",
    )
    names = parser.add_subparsers(title="experiments", metavar="NAME", required=True)
    for name, experiment in EXPERIMENTS.items():
        one = names.add_parser(name, help=experiment.summary, description=experiment.summary)
        one.add_argument("--data", metavar="DIR", help="folder with one folder per corpus (default: see sapwood data)")
        one.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
        one.add_argument("--cache", metavar="DIR", help="keep intermediate results here, and use those that are there")
        one.add_argument(
            "--tables", nargs="+", default=[], metavar="TABLE", help=f"of {', '.join(experiment.tables)} (default: all)"
        )
        one.add_argument("--json", metavar="FILE", help="write the tables there too, after each one")
        add_threads(one)
        one.set_defaults(run=run, experiment=name)


def run(options: argparse.Namespace) -> int:
    """Print each table as it becomes complete; the JSON file always holds what is complete."""
    import json
    import os
    import platform
    import time
    from pathlib import Path

    import sapwood
    from sapwood.experiments import Setting
    from sapwood.experiments import run as run_experiment
    from sapwood.files import atomic_write

    setting = Setting(
        data=Path(options.data) if options.data else None,
        seed=options.seed,
        cache=Path(options.cache) if options.cache else None,
        tables=tuple(options.tables),
    )
    start = time.perf_counter()
    done = []
    for table in run_experiment(options.experiment, setting):
        print(f"{table}\n", flush=True)
        done.append(table.to_json())
        if options.json:
            record = {
                "experiment": options.experiment,
                "seed": options.seed,
                "sapwood": sapwood.__version__,
                "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
                "seconds": round(time.perf_counter() - start, 1),
                "tables": done,
            }
            atomic_write(options.json, (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode())
    return 0

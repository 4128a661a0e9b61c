"""``sapwood experiment``: make the tables of a paper again."""

from __future__ import annotations

import argparse

from sapwood.cli.arguments import Subparsers, add_threads, check_outputs
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
        one.add_argument("--html", metavar="FILE", help="write a page of the tables with charts, after each one")
        add_threads(one)
        one.set_defaults(run=run, experiment=name)


def run(options: argparse.Namespace) -> int:
    """Print each table as it becomes complete; the files always hold what is complete."""
    import json
    import os
    import platform
    import time
    from pathlib import Path

    import sapwood
    from sapwood.experiments import Setting, Table
    from sapwood.experiments import run as run_experiment
    from sapwood.files import atomic_write
    from sapwood.report import Section, report_page

    check_outputs(options.json, options.html)
    setting = Setting(
        data=Path(options.data) if options.data else None,
        seed=options.seed,
        cache=Path(options.cache) if options.cache else None,
        tables=tuple(options.tables),
    )
    facts = {
        "experiment": options.experiment,
        "seed": options.seed,
        "sapwood": sapwood.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    start = time.perf_counter()
    done: list[Table] = []
    for table in run_experiment(options.experiment, setting):
        print(f"{table}\n", flush=True)
        done.append(table)
        facts["seconds"] = round(time.perf_counter() - start, 1)
        if options.json:
            record = {**facts, "tables": [one.to_json() for one in done]}
            atomic_write(options.json, (json.dumps(record, ensure_ascii=False, indent=2) + "\n").encode())
        if options.html:
            section = Section("Tables", parts=list(done))
            lead = f"{EXPERIMENTS[options.experiment].summary}."
            shown = {key: str(value) for key, value in facts.items()}
            page = report_page(f"Experiment: {options.experiment}", [section], lead=lead, facts=shown)
            atomic_write(options.html, page.encode())
    return 0

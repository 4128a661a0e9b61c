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
        one.add_argument("--merge", action="store_true", help="keep the tables of that file that are not made again")
        one.add_argument("--html", metavar="FILE", help="write a page of the tables with charts, after each one")
        add_threads(one)
        one.set_defaults(run=run, experiment=name)


def run(options: argparse.Namespace) -> int:
    """Print each table as it becomes complete; the files always hold what is complete."""
    import time
    from pathlib import Path

    from sapwood.errors import ParameterError
    from sapwood.experiments import Setting
    from sapwood.experiments import run as run_experiment
    from sapwood.experiments.record import made, read_results, results_text
    from sapwood.experiments.tables import Table
    from sapwood.report import Section, report_page
    from sapwood.writing import atomic_write

    check_outputs(options.json, options.html)
    if options.merge and not options.json:
        raise ParameterError("--merge keeps the tables of a file; name it with --json.")
    setting = Setting(
        data=Path(options.data) if options.data else None,
        seed=options.seed,
        cache=Path(options.cache) if options.cache else None,
        tables=tuple(options.tables),
    )
    kept = read_results(options.json) if options.merge and options.json and Path(options.json).exists() else {}
    done: dict[str, Table] = {}
    began = ended = time.perf_counter()
    for table in run_experiment(options.experiment, setting):
        print(f"{table}\n", flush=True)
        # A long table is given again and again while it grows; the last one is the whole.
        began = began if table.name in done else ended
        ended = time.perf_counter()
        record = made(setting, options.experiment, ended - began)
        done[table.name] = table
        kept[table.name] = (table, record)
        if options.json:
            text = results_text(options.experiment, EXPERIMENTS[options.experiment].tables, kept)
            atomic_write(options.json, text.encode())
        if options.html:
            section = Section("Tables", parts=list(done.values()))
            lead = f"{EXPERIMENTS[options.experiment].summary}."
            shown = {key: str(value) for key, value in record.items()}
            page = report_page(f"Experiment: {options.experiment}", [section], lead=lead, facts=shown)
            atomic_write(options.html, page.encode())
    return 0

"""``sapwood experiment``: make the tables of a paper again."""

from __future__ import annotations

import argparse
from functools import partial

from sapwood.cli.command import Command, argument
from sapwood.cli.options import HTML, JSON, SEED, THREADS, flag
from sapwood.cli.output import show
from sapwood.experiments import EXPERIMENTS

__all__ = ["COMMAND"]


def _run(name: str, options: argparse.Namespace) -> None:
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

    if options.merge and options.json in (None, "-"):
        raise ParameterError("--merge keeps the tables of a file; name it with --json.")
    setting = Setting(
        data=Path(options.data) if options.data else None,
        seed=options.seed,
        cache=Path(options.cache) if options.cache else None,
        tables=tuple(options.tables),
    )
    kept = read_results(options.json) if options.merge and Path(options.json).exists() else {}
    done: dict[str, Table] = {}
    text = ""
    began = ended = time.perf_counter()
    for table in run_experiment(name, setting):
        show(options, f"{table}\n")
        # A long table is given again and again while it grows; the last one is the whole.
        began = began if table.name in done else ended
        ended = time.perf_counter()
        record = made(setting, name, ended - began)
        done[table.name] = table
        kept[table.name] = (table, record)
        text = results_text(name, EXPERIMENTS[name].tables, kept)
        if options.json not in (None, "-"):
            atomic_write(options.json, text.encode())
        if options.html:
            section = Section("Tables", parts=list(done.values()))
            lead = f"{EXPERIMENTS[name].summary}."
            shown = {key: str(value) for key, value in record.items()}
            page = report_page(f"Experiment: {name}", [section], lead=lead, facts=shown)
            atomic_write(options.html, page.encode())
    if options.json == "-":
        print(text, end="")


COMMAND = Command(
    "experiment",
    "make the tables of a paper again",
    "Run a published experiment on corpora that you have, and print each table when it is complete.",
    commands=lambda: [
        Command(
            name,
            experiment.summary,
            f"{experiment.summary}.",
            (
                argument("--data", metavar="DIR", help="folder with one folder per corpus (default: see sapwood data)"),
                SEED,
                argument("--cache", metavar="DIR", help="keep intermediate results here, and use those that are there"),
                argument(
                    "--tables",
                    nargs="+",
                    default=[],
                    metavar="TABLE",
                    help=f"of {', '.join(experiment.tables)} (default: all)",
                ),
                JSON.but(help="write the tables as JSON, after each one; - prints them so at the end"),
                flag("--merge", "keep the tables of that file that are not made again"),
                HTML.but(help="write a page of the tables with charts, after each one"),
                THREADS,
            ),
            partial(_run, name),
        )
        for name, experiment in EXPERIMENTS.items()
    ],
    kind="experiment",
)

"""``sapwood demo``: Sapwood at work on its built-in corpus, in a minute and without any data."""

from __future__ import annotations

import argparse

from sapwood.cli.command import Command, argument
from sapwood.cli.options import OUTPUT, THREADS
from sapwood.cli.output import summary
from sapwood.experiments.demo import SECTIONS

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    import os
    import platform
    import time
    from importlib import import_module

    from sapwood import __version__, settings
    from sapwood.corpora import nursery
    from sapwood.errors import ParameterError
    from sapwood.report import Section, report_page
    from sapwood.writing import atomic_write

    for task in options.tasks:
        if task not in SECTIONS:
            raise ParameterError(f"there is no task {task!r}; there are {', '.join(SECTIONS)}.")
    start = time.perf_counter()
    print("The nursery: sentences made by a grammar. Synthetic, not a benchmark.", flush=True)
    corpus = nursery.generate()
    chosen = [name for name in SECTIONS if not options.tasks or name in options.tasks]
    sections = []
    for number, name in enumerate(chosen, 1):
        module = import_module(f"sapwood.experiments.demo.{name}")
        title = f"[{number}/{len(chosen)}] {module.TITLE}"
        print(f"\n{title}\n{'=' * len(title)}", flush=True)
        section = Section(module.TITLE, module.ABOUT)
        begin = time.perf_counter()
        for part in module.run(corpus):
            section.parts.append(part)
            if str(part):
                print(f"\n{part}", flush=True)
        section.seconds = time.perf_counter() - begin
        sections.append(section)
        summary(options, f"\nTook {section.seconds:.1f} s.")
    facts = {
        "Sapwood": __version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_counted(settings.threads(), 'thread')}",
        "Python": platform.python_version(),
        "data": f"the nursery, seed {corpus.seed}, {len(corpus.sentences):,} sentences",
    }
    lead = (
        "What Sapwood does, task by task, mostly on the nursery, a synthetic corpus that it generates from a grammar. "
        "The nursery is not a benchmark: its figures show that things work, not how well they do on real language."
    )
    atomic_write(options.output, report_page("Sapwood at work", sections, lead=lead, facts=facts).encode())
    total = time.perf_counter() - start
    summary(options, f"\n{total:.1f} s in all. All of it, with pictures, is in\n{options.output}")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


COMMAND = Command(
    "demo",
    "show every task on the built-in corpus, and write a report",
    "Run every task on the nursery, a corpus that Sapwood generates from a grammar, print a table for each, and write "
    "all of it with pictures to one HTML file. The nursery is synthetic and not a benchmark: the figures show that "
    "things work, not how well they do on real language.",
    (
        argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(SECTIONS)} (default: all)", default=[]),
        OUTPUT.but(default="report.html", help="the page to write (default: %(default)s)"),
        THREADS,
    ),
    _run,
)

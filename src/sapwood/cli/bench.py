"""``sapwood bench``: what things cost on this machine."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.command import Command, argument
from sapwood.cli.options import JSON, MEMORY_LIMIT, SEED, SVG, THREADS, integer, number
from sapwood.cli.output import show, write_json

__all__ = ["COMMAND"]


def _run(options: argparse.Namespace) -> None:
    """Print each point as it is measured, then the fits and from which size which way is the cheaper one."""
    from sapwood import settings
    from sapwood.draw import Series, line_chart
    from sapwood.scale.growth import PATHS, Point, crossing, measure

    points: list[Point] = []
    show(options, "path    trees  CPU seconds  peak MB  accuracy")
    total = len(options.paths) * len(set(options.sizes))
    with settings.progress_bar(total, "Measuring", "runs") as progress:
        found = measure(
            options.sizes,
            paths=options.paths,
            seed=options.seed,
            limit=options.limit,
            memory_limit=options.memory_limit,
            threads=settings.threads(),
        )
        for number, one in enumerate(found, 1):
            if isinstance(one, Point):
                points.append(one)
                show(
                    options, f"{one.path:5} {one.n:7,} {one.seconds:12.2f} {one.memory / 1e6:8,.0f} {one.accuracy:9.3f}"
                )
                if options.json != "-":
                    write_json(options, _record(options, points))
            else:
                show(options, one)
            if progress is not None:
                progress(number)
    fits = _fits(options, points)
    for path, growth in fits.items():
        if growth is not None:
            show(options, f"{path}: seconds grow with trees to the power of {growth.exponent:.2f} ({PATHS[path]})")
    maps = fits.get("maps")
    for path, growth in fits.items():
        if path != "maps" and growth is not None and maps is not None:
            at = crossing(growth, maps)
            # Nobody should believe a line far beyond its points.
            if at is None or at > 100 * max(options.sizes):
                text = f"as far as these points tell, maps do not become cheaper than {path}; measure larger sizes"
            else:
                text = f"maps are cheaper than {path} from about {float(f'{at:.2g}'):,.0f} trees on"
            show(options, text)
    if options.json == "-":
        write_json(options, _record(options, points))
    if options.svg and points:
        curves = []
        for path, growth in fits.items():
            name = PATHS[path] if growth is None else f"{PATHS[path]}: n^{growth.exponent:.2f}"
            measured = [one for one in points if one.path == path]
            curves.append(Series(name, [one.n for one in measured], [max(one.seconds, 1e-3) for one in measured]))
        chart = line_chart("Cost of training", curves, x_label="trees", y_label="CPU seconds", x_log=True, y_log=True)
        chart.save(options.svg)


def _fits(options: argparse.Namespace, points: list[Any]) -> dict[str, Any]:
    from sapwood.scale.growth import fit_power

    return {path: fit_power([one for one in points if one.path == path]) for path in options.paths}


def _record(options: argparse.Namespace, points: list[Any]) -> dict[str, Any]:
    import os
    import platform

    import sapwood

    fits = _fits(options, points)
    return {
        "sapwood": sapwood.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "seed": options.seed,
        "points": [one.to_json() for one in points],
        "exponents": {path: None if fit is None else round(fit.exponent, 4) for path, fit in fits.items()},
    }


_SCALE = Command(
    "scale",
    "how training time grows with the number of trees",
    "Train on more and more synthetic trees in three ways (exact Gram matrix, rows on demand, explicit maps with a "
    "linear model), print what each took, and fit how cost grows.",
    (
        integer("--sizes", "numbers of trees").but(nargs="+", default=[500, 1000, 2000, 4000]),
        argument(
            "--paths",
            nargs="+",
            default=["gram", "rows", "maps"],
            metavar="PATH",
            help="what to measure, of gram, rows, maps",
        ),
        number("--limit", "seconds per point at most", 120.0, metavar="S"),
        MEMORY_LIMIT.but(default=500.0, help="memory for rows on demand, in megabytes (default: %(default)g)"),
        SEED,
        JSON.but(help="write points and fits as JSON, after each point; - prints them so at the end"),
        SVG.but(help="write the figure"),
        THREADS,
    ),
    _run,
)

COMMAND = Command(
    "bench",
    "measure what things cost on this machine",
    "Measure costs on this machine.",
    commands=lambda: [_SCALE],
    kind="benchmark",
)

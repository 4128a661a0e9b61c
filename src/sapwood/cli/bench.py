"""``sapwood bench``: what things cost on this machine."""

from __future__ import annotations

import argparse
from typing import Any

from sapwood.cli.arguments import Subparsers, add_threads, check_outputs, positive_float, positive_int

__all__ = ["add_parser", "run"]


def add_parser(subparsers: Subparsers[argparse.ArgumentParser]) -> None:
    """Describe the command."""
    parser = subparsers.add_parser(
        "bench", help="measure what things cost on this machine", description="Measure costs on this machine."
    )
    names = parser.add_subparsers(title="benchmarks", metavar="NAME", required=True)
    scale = names.add_parser(
        "scale",
        help="how training time grows with the number of trees",
        description="Train on more and more drawn trees in three ways (exact Gram matrix, rows on demand, explicit "
        "maps with a linear model), print what each took, and fit how cost grows.",
    )
    scale.add_argument(
        "--sizes",
        type=positive_int,
        nargs="+",
        default=[500, 1000, 2000, 4000],
        metavar="N",
        help="numbers of trees (default: 500 1000 2000 4000)",
    )
    scale.add_argument(
        "--paths", nargs="+", default=["gram", "rows", "maps"], metavar="PATH", help="of gram, rows, maps"
    )
    scale.add_argument("--limit", type=positive_float, default=120.0, metavar="S", help="most seconds per point (120)")
    scale.add_argument(
        "--memory-limit", type=positive_float, default=500.0, metavar="MB", help="for rows on demand (500)"
    )
    scale.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    scale.add_argument("--json", metavar="FILE", help="write the points and fits there, after each point")
    scale.add_argument("--svg", metavar="FILE", help="write the figure there")
    add_threads(scale)
    scale.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print each point as it is measured, then the fits and from which size which way is the cheaper one."""
    from sapwood import settings
    from sapwood.draw.curves import Curve, curves_svg
    from sapwood.scale.growth import PATHS, Point, crossing, fit_power, measure
    from sapwood.writing import atomic_write

    check_outputs(options.json, options.svg)
    points: list[Point] = []
    print("path    trees  CPU seconds  peak MB  accuracy", flush=True)
    total = len(options.paths) * len(set(options.sizes))
    with settings.progress_bar(total, "Measuring") as progress:
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
                print(
                    f"{one.path:5} {one.n:7,} {one.seconds:12.2f} {one.memory / 1e6:8,.0f} {one.accuracy:9.3f}",
                    flush=True,
                )
                if options.json:
                    atomic_write(options.json, _document(options, points))
            else:
                print(one, flush=True)
            if progress is not None:
                progress(number)
    fits = {path: fit_power([one for one in points if one.path == path]) for path in options.paths}
    for path, growth in fits.items():
        if growth is not None:
            print(f"{path}: seconds grow with trees to the power of {growth.exponent:.2f} ({PATHS[path]})")
    maps = fits.get("maps")
    for path, growth in fits.items():
        if path != "maps" and growth is not None and maps is not None:
            at = crossing(growth, maps)
            # Nobody should believe a line far beyond its points.
            if at is None or at > 100 * max(options.sizes):
                print(f"as far as these points tell, maps do not become cheaper than {path}; measure larger sizes")
            else:
                print(f"maps are cheaper than {path} from about {float(f'{at:.2g}'):,.0f} trees on")
    if options.svg and points:
        curves = []
        for path in options.paths:
            fitted = fits[path]
            places = [(float(one.n), max(one.seconds, 1e-3)) for one in points if one.path == path]
            curves.append(Curve(PATHS[path], places, None if fitted is None else (fitted.factor, fitted.exponent)))
        picture = curves_svg(curves, title="Cost of training", across="trees", up="CPU seconds")
        atomic_write(options.svg, f"{picture}\n".encode())
    return 0


def _document(options: argparse.Namespace, points: list[Any]) -> bytes:
    import json
    import os
    import platform

    import sapwood
    from sapwood.scale.growth import fit_power

    fits = {path: fit_power([one for one in points if one.path == path]) for path in options.paths}
    document = {
        "sapwood": sapwood.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "seed": options.seed,
        "points": [one.to_json() for one in points],
        "exponents": {path: None if fit is None else round(fit.exponent, 4) for path, fit in fits.items()},
    }
    return (json.dumps(document, indent=2) + "\n").encode()

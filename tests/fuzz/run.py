"""Fuzz the targets: ``python tests/fuzz/run.py --seconds 60 [TARGET ...]``, one process each.

Atheris chooses the inputs by coverage. With ``--plain`` they are seeds with random damage instead, which works where
atheris does not, such as with a native core under a sanitizer (``SAPWOOD_CORE`` names its file).

Every target runs for the given time under limits of time and memory; a table of executions, coverage and findings
comes at the end, and inputs that broke a promise are kept in ``build/fuzz/python/found/TARGET``. Coverage counts
edges of Sapwood's Python code; the native core has its own fuzzers in ``native/fuzz``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

# A small input that takes this long, or this much memory, is a finding.
_SECONDS, _MEGABYTES = 30, 2048


def main() -> int:
    """Run the targets one after the other and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="which (default: all)")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    parser.add_argument("--plain", action="store_true", help="without atheris: seeds with random damage")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz" / "python", help="where findings go")
    options = parser.parse_args()
    if options.one:
        (_damage if options.plain else _fuzz)(options.one, options.seconds, options.folder)
        return 0
    from fuzz.targets import TARGETS

    unknown = sorted(set(options.targets) - set(TARGETS))
    if unknown:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(TARGETS)}")
    rows = []
    for name in options.targets or TARGETS:
        rows.append(_run(name, options.seconds, options.folder, options.plain))
        print(
            f"{rows[-1][0]:16} {rows[-1][1]:>10,} executions {rows[-1][2]:>6,} edges {rows[-1][3]:>3} findings",
            flush=True,
        )
    total, found = sum(row[1] for row in rows), sum(row[3] for row in rows)
    print(f"{'all':16} {total:>10,} executions {'':>12} {found:>3} findings")
    return 1 if found else 0


def _run(name: str, seconds: int, folder: Path, plain: bool) -> tuple[str, int, int, int]:
    """Fuzz in processes of their own, since a finding ends one; whatever time is left goes to the next."""
    found = folder / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    end, executions, edges = time.monotonic() + seconds, 0, 0
    while (left := end - time.monotonic()) > 1:
        command = [
            sys.executable,
            __file__,
            "--one",
            name,
            "--seconds",
            str(max(1, round(left))),
            "--folder",
            str(folder),
            *(["--plain"] if plain else []),
        ]
        known = len(set(found.iterdir()) - before)
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=ROOT)
        log = done.stderr
        (folder / f"{name}.log").write_text(log)
        executions += max((int(n) for n in re.findall(r"^#(\d+)\s", log, re.MULTILINE)), default=0)
        edges = max([edges, *(int(n) for n in re.findall(r"cov: (\d+)", log))])
        if done.returncode == 0 or len(set(found.iterdir()) - before) >= 5:
            break
        fault = re.findall(r"^(?:\w+(?:\.\w+)*(?:Error|Exception|Interrupt)\b.*|SUMMARY: .*)$", log, re.MULTILINE)
        print(f"  {name}: {fault[-1] if fault else f'ended with {done.returncode}'}", flush=True)
        if len(set(found.iterdir()) - before) == known:
            # The same again, or a process that could not even begin.
            print(log[-2000:] if not known else "", flush=True)
            break
    for case in {*found.glob("timeout-*"), *found.glob("slow-unit-*")} - before:
        # A machine with other work to do is slow, and that is no finding.
        code = f"from fuzz.targets import attempt; attempt({name!r}, open({str(case)!r}, 'rb').read())"
        begin = _processor_seconds()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tests", capture_output=True, timeout=600)
        if _processor_seconds() - begin < _SECONDS:
            case.unlink()
    return name, executions, edges, len(set(found.iterdir()) - before)


def _processor_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _import_past_the_editable_loader(core: str | None) -> None:
    """Make ``import sapwood`` read the files of this checkout, and the native core from a given file."""
    spec = importlib.util.find_spec("sapwood._core")
    core = core or str(spec.origin if spec else None)
    for name in [found for found in sys.modules if found.split(".")[0] == "sapwood"]:
        del sys.modules[name]
    # Atheris sees nothing of modules that an editable installation's own loader brings in: go past it.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    sys.path.insert(0, str(ROOT / "src"))
    _use_core(core)


def _damage(name: str, seconds: int, folder: Path) -> None:
    if os.environ.get("SAPWOOD_CORE"):
        _import_past_the_editable_loader(os.environ["SAPWOOD_CORE"])
    from fuzz.damage import damaged, damaged_model
    from fuzz.targets import TARGETS, attempt

    target = TARGETS[name]
    seeds = [*target.seeds, *_real(target.real)]
    number = int.from_bytes(os.urandom(4), "little")
    dice = random.Random(number)
    kept = folder / "found" / name / f"plain-{number}"
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = dice.choice(seeds)
        for _ in range(dice.choice((1, 1, 2, 3))):
            data = (damaged_model if target.structured else damaged)(data, dice)
        # Whatever ends the process, its input is on disk by then.
        kept.write_bytes(data)
        begin = time.process_time()
        attempt(name, data)
        assert time.process_time() - begin < _SECONDS, "an input took too long"
        count += 1
        if count % 50 == 0:
            print(f"#{count} ", file=sys.stderr, flush=True)
    print(f"#{count} ", file=sys.stderr)
    kept.unlink()


def _fuzz(name: str, seconds: int, folder: Path) -> None:
    import atheris

    with atheris.instrument_imports(include=["sapwood"]):
        _import_past_the_editable_loader(os.environ.get("SAPWOOD_CORE"))
        from fuzz.targets import TARGETS, attempt

        # Rooms load when they are first used: the seeds bring in what the target needs, instrumented.
        seeds = [*TARGETS[name].seeds, *_real(TARGETS[name].real)]
        for seed in seeds:
            # What is wrong with a seed is found again in a moment, and then kept.
            with contextlib.suppress(Exception):
                attempt(name, seed)
    from fuzz.damage import damaged_model

    corpus = folder / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    target = TARGETS[name]

    def one(data: bytes) -> None:
        attempt(name, data)

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if dice.random() < 0.1:
            return bytes(atheris.Mutate(data, longest))
        changed = damaged_model(dice.choice(seeds) if dice.random() < 0.3 else data, dice)
        return changed if len(changed) <= longest else data

    arguments = [
        sys.argv[0],
        str(corpus),
        f"-max_total_time={seconds}",
        f"-timeout={_SECONDS}",
        f"-rss_limit_mb={_MEGABYTES}",
        f"-max_len={target.longest}",
        f"-artifact_prefix={folder / 'found' / name}/",
        "-print_final_stats=1",
    ]
    atheris.Setup(arguments, one, **({"custom_mutator": mutate} if target.structured else {}))
    atheris.Fuzz()


def _use_core(path: str) -> None:
    """Load the native core from a file, which may be one built with a sanitizer."""
    import sapwood

    spec = importlib.util.spec_from_file_location("sapwood._core", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sapwood._core"] = module
    spec.loader.exec_module(module)
    sapwood._core = module


def _real(names: tuple[str, ...]) -> list[bytes]:
    """The first kilobyte or two of corpora on this machine, cut at the end of a line."""
    from sapwood.corpora.catalog import data_folders, find
    from sapwood.sources import open_all

    found = []
    for one in find(data_folders(), names=names) if names else ():
        if one.path is not None:
            with contextlib.closing(open_all(one.path)) as streams:
                data = next(streams).read(3000)
            found.append(data[: data.rfind(b"\n\n") + 2] if b"\n\n" in data else data[: data.rfind(b"\n") + 1])
    return found


if __name__ == "__main__":
    sys.exit(main())

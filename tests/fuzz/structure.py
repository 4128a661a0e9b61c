"""Model files that are whole but wrong: ``python tests/fuzz/structure.py --count 100000``.

A valid file of every storable class is taken apart, one element, shape or type of an array or one field of its JSON is
changed, and it is put together again with the right digest. What comes out is loaded, used, explained and saved, in
processes of their own, under limits of time and memory. Every change follows from the name of the file, a seed and a
number, so that a finding can be made again. A class is covered as soon as it has a specimen.

With ``SAPWOOD_CORE`` the native core is loaded from that file, which may be one built with sanitizers; memory is not
measured then.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import json
import os
import random
import resource
import select
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 10.0
"""What a step may take of the processor."""
ROOM = 64 << 20
"""What loading and using may take beyond what the file explains."""
COMPACT = ", compact"
"""The end of the names of compact files."""
_COMPACT = ("FrameLabeler", "KernelSVC", "LogLinear", "RoleLabeler", "SpanParser", "WordSenses")
_STEPS = ("load", "use", "explain", "save")
# A child is replaced after this many files, so that what one has left behind does not add up.
_PER_CHILD = 400


@dataclass
class Stored:
    """A model file, taken apart."""

    document: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, value: Any, *, compact: bool = False) -> Stored:
        """Take apart what ``save`` writes of an object."""
        from sapwood.files import FORMAT_MINOR, FORMAT_VERSION, _fold
        from sapwood.registry import Writer

        writer = Writer(compact=compact)
        # Through JSON, as it is in a file.
        part = json.loads(json.dumps(writer.part(value)))
        document = {"format": FORMAT_VERSION, "minor": FORMAT_MINOR, "written_by": "a fuzzer", "object": part}
        return cls(_fold(document, writer) if compact else document, writer.arrays)

    @classmethod
    def named(cls, name: str) -> Stored:
        """Take apart the file of a specimen, compact if its name ends so."""
        import specimens

        return cls.of(specimens.specimen(name.removesuffix(COMPACT)), compact=name.endswith(COMPACT))

    def copy(self) -> Stored:
        """Return one that can be changed."""
        return Stored(copy.deepcopy(self.document), dict(self.arrays))

    def bytes(self) -> bytes:
        """Put the file together, with the digest of what it holds."""
        from safetensors.numpy import save

        from sapwood.files import _digest

        document = dict(self.document)
        # NaN is no JSON: such a file has no digest, and is refused for that.
        with suppress(ValueError):
            document["sha256"] = _digest(document, self.arrays)
        text = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace").decode()
        return save(self.arrays, metadata={"sapwood": text})


_INTEGERS = (0, 1, 2, 7, 255, 256, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**63))
_FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-308, 1e-30, 1e30, 1e300, 1.7976931348623157e308, np.nan, np.inf, -np.inf
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, 0.0, -0.5,
    0.5, 1e-300, 1e300, 5e-324, "", "a0", "a1", "x", "-inf", "\x00", "é" * 40, "x" * 5000, "<U400000000", "O", "<f8",
    [], [[]], ["x"], ["x", "x"], [0], {}, {"class": "TreeArray"}, {"a": 1}, "KernelSVC", "TreeArray", "Linear",
    "SubsetTree", "/etc/passwd", "/dev/zero", "../../x", "http://127.0.0.1:9/",
)  # fmt: skip
_TYPES = (np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, np.bool_)


def mutant(name: str, seed: int, number: int, stored: dict[str, Stored]) -> tuple[Stored, str]:
    """Return a changed file of this name, and what was changed."""
    dice = random.Random(f"{name}:{seed}:{number}")
    changed = stored[name].copy()
    said = [_change(changed, dice, stored) for _ in range(dice.choice((1, 1, 1, 1, 2, 3)))]
    return changed, "; ".join(said)


def _change(one: Stored, dice: random.Random, stored: dict[str, Stored]) -> str:
    if one.arrays and dice.random() < 0.55:
        name = dice.choice(list(one.arrays))
        way = dice.choice((_element, _element, _element, _shape, _type, _swap, _pattern))
        return f"{name}: {way(one, name, dice, stored)}"
    return _field(one, dice, stored)


def _element(one: Stored, name: str, dice: random.Random, stored: dict[str, Stored]) -> str:
    old = one.arrays[name]
    if not old.size:
        return "has no element"
    new = one.arrays[name] = old.copy()
    flat = new.reshape(-1)
    at, other = dice.randrange(flat.size), dice.randrange(flat.size)
    before = flat[at].item()
    if old.dtype.kind == "f":
        value = dice.choice((*_FLOATS, -before, before * 1e6, flat[other].item()))
    elif old.dtype.kind == "b":
        value = not before
    else:
        lengths = [len(array) + step for array in one.arrays.values() for step in (-1, 0, 1) if array.ndim]
        value = dice.choice((*_INTEGERS, before + 1, before - 1, before * 2, flat[other].item(), dice.choice(lengths)))
        # What does not fit is the nearest that wraps to it.
        bits = 8 * old.dtype.itemsize
        value &= (1 << bits) - 1
        value -= (1 << bits) if old.dtype.kind == "i" and value >> (bits - 1) else 0
    if dice.random() < 0.2:
        flat[at], flat[other] = flat[other].item(), flat[at].item()
        return f"elements {at} and {other} swapped"
    with np.errstate(all="ignore"):
        flat[at] = value
    return f"element {at} from {before} to {value}"


def _shape(one: Stored, name: str, dice: random.Random, stored: dict[str, Stored]) -> str:
    old = one.arrays[name]
    match dice.randrange(8):
        case 0 if old.ndim:
            new = old[:-1]
        case 1 if old.ndim and old.size:
            new = np.concatenate([old, old[-1:]])
        case 2 if old.ndim:
            new = old[:0]
        case 3:
            new = old.reshape(-1, 1)
        case 4:
            new = old.reshape(1, -1)
        case 5:
            new = old.T
        case 6 if old.ndim:
            new = np.concatenate([old] * dice.choice((2, 50)))
        case _:
            new = old.reshape(-1)
    one.arrays[name] = np.ascontiguousarray(new)
    return f"shape from {old.shape} to {new.shape}"


def _type(one: Stored, name: str, dice: random.Random, stored: dict[str, Stored]) -> str:
    old = one.arrays[name]
    kind = dice.choice(_TYPES)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The same numbers, or the same bytes, in another type.
        if dice.random() < 0.5 or old.nbytes % np.dtype(kind).itemsize or old.ndim != 1:
            one.arrays[name] = old.astype(kind)
        else:
            one.arrays[name] = old.view(kind).copy()
    return f"type from {old.dtype} to {np.dtype(kind)}"


def _swap(one: Stored, name: str, dice: random.Random, stored: dict[str, Stored]) -> str:
    others = one if dice.random() < 0.5 else stored[dice.choice([key for key in stored if stored[key].arrays])]
    same = [key for key, array in others.arrays.items() if array.dtype == one.arrays[name].dtype]
    other = dice.choice(same or list(others.arrays))
    one.arrays[name] = others.arrays[other].copy()
    return f"replaced by {other} of {'the same file' if others is one else 'another file'}"


def _pattern(one: Stored, name: str, dice: random.Random, stored: dict[str, Stored]) -> str:
    """Numbers that say something together: everything the same, rising, falling, each pointing at the one before."""
    old = one.arrays[name]
    count = np.arange(old.size)
    ways = {
        "rising": count,
        "falling": count[::-1],
        "in pairs": np.maximum(count // 2 - 1, 0),
        "from one": count + 1,
        "all 0": count * 0,
        "all alike": np.full(old.size, old.reshape(-1)[0].item() if old.size else 0),
        "all largest": np.full(old.size, np.iinfo(old.dtype).max if old.dtype.kind in "iu" else 1e308),
    }
    way = dice.choice(list(ways))
    with np.errstate(all="ignore"):
        one.arrays[name] = ways[way].astype(old.dtype).reshape(old.shape)
    return way


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*at, key)
        yield from _places(part, (*at, key))


def _at(document: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        document = document[key]
    return document


def _field(one: Stored, dice: random.Random, stored: dict[str, Stored]) -> str:
    places = list(_places(one.document))
    # Lists of words are long; a field is as likely as all elements of a list together.
    fields = [place for place in places if not isinstance(place[-1], int)]
    place = dice.choice(fields if dice.random() < 0.6 else places)
    holder, key = _at(one.document, place[:-1]), place[-1]
    old = holder[key]
    way = dice.randrange(8)
    if way == 0:
        del holder[key]
        return f"{place} removed"
    if way == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(old))
        return f"{place} twice"
    if way == 2:
        other = dice.choice(places)
        holder[key] = copy.deepcopy(_at(one.document, other))
        return f"{place} replaced by {other}"
    if way == 3:
        source = dice.choice(list(stored))
        places = list(_places(stored[source].document))
        alike = [other for other in places if other[-1] == key] or places
        other = dice.choice(alike)
        holder[key] = copy.deepcopy(_at(stored[source].document, other))
        return f"{place} replaced by {other} of {source}"
    if way == 4 and isinstance(old, dict):
        holder[key] = {**old, "further": dice.choice(_VALUES)}
        return f"{place} with a further field"
    if way == 4 and isinstance(old, list):
        dice.shuffle(old)
        return f"{place} shuffled"
    if way in (5, 6) and isinstance(old, (int, float)) and not isinstance(old, bool):
        holder[key] = dice.choice((old + 1, old - 1, -old, old * 2, old * 1000, old * 10**9, 0, old / 2))
        return f"{place} from {old} to {holder[key]}"
    holder[key] = copy.deepcopy(dice.choice(_VALUES))
    return f"{place} to {str(holder[key])[:60]!r}"


@dataclass
class Report:
    """What became of files."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[str, str, str]] = field(default_factory=list)
    """For each the file, what was changed, and what happened."""


class Fuzzer:
    """Valid files of every kind, what they need, and a way to try changed ones.

    Parameters
    ----------
    names : list of str, optional
        Specimens; all by default.
    measured : bool
        Whether memory is looked at, which says nothing under a sanitizer.
    """

    def __init__(self, names: list[str] | None = None, *, measured: bool = True) -> None:
        import specimens

        every = [*specimens.SPECIMENS, *(f"{name}{COMPACT}" for name in _COMPACT)]
        self.names = names or every
        self.stored = {name: Stored.named(name) for name in every}
        self.folder = tempfile.mkdtemp(prefix="sapwood-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.needs: dict[str, dict[str, int]] = {}
        self.measured = measured
        for name in self.names:
            # Once for what is loaded and kept on the way, once to see what it needs.
            for _ in range(2):
                found = _attempt(self.stored[name].bytes(), self.folder, {}, lambda step: None, measured)
            if found.problem:
                raise AssertionError(f"the valid file of {name} does not work: {found.problem}")
            self.needs[name] = found.peaks

    def run(self, count: int, seed: int, *, begin: int = 0, until: float | None = None) -> Report:
        """Try so many changed files, spread over the kinds; until a time of ``time.monotonic`` if one is given."""
        report = Report()
        number = begin
        # What was found until Ctrl-C is told.
        with suppress(KeyboardInterrupt):
            while number < begin + count and (until is None or time.monotonic() < until):
                number = self._child(number, min(number + _PER_CHILD, begin + count), seed, report, until)
        return report

    def close(self) -> None:
        """Remove what was written."""
        import shutil

        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self, number: int, seed: int) -> tuple[str, Stored, str]:
        """Return the name, the changed file and what was changed of this number."""
        name = self.names[number % len(self.names)]
        return name, *mutant(name, seed, number, self.stored)

    def _child(self, number: int, end: int, seed: int, report: Report, until: float | None) -> int:
        """Try files in a process of their own until one of them ends it; return the number of the next."""
        receiving, sending = os.pipe()
        process = os.fork()
        if process == 0:
            # A child that came back from here would go on with the work of its parent.
            try:
                os.close(receiving)
                self._work(number, end, seed, sending, until)
            finally:
                os._exit(1)
        os.close(sending)
        last = ("", "", "start")
        began = 0.0
        ended = ""
        with open(receiving, "rb") as stream:
            while True:
                ready, _, _ = select.select([stream], [], [], 1.0)
                if not ready:
                    if last[2] != "start" and _processor(process) - began > SECONDS:
                        ended = f"took more than {SECONDS:.0f} s"
                        os.kill(process, 9)
                        break
                    continue
                line = stream.readline()
                if not line:
                    break
                message = json.loads(line)
                if message["step"] == "over":
                    report.counts[message["outcome"]] += 1
                    if message["problem"]:
                        report.findings.append((message["name"], message["change"], message["problem"]))
                    number = message["number"] + 1
                    last = ("", "", "start")
                else:
                    last = (message["name"], message["change"], message["step"])
                    began = _processor(process)
        _, status = os.waitpid(process, 0)
        if last[2] == "start" and not ended:
            # It has come to its end, or has run out of time.
            return number if status == 0 and until is not None and time.monotonic() >= until else max(number, end)
        if os.WIFSIGNALED(status) and not ended:
            ended = f"ended the process with signal {os.WTERMSIG(status)}"
        report.counts["ended the process"] += 1
        report.findings.append((last[0], last[1], f"{last[2]}: {ended or f'ended the process ({status})'}"))
        return number + 1

    def _work(self, number: int, end: int, seed: int, sending: int, until: float | None) -> None:
        """Try files and say before each step what comes, so that whoever waits knows what ended the process."""
        # A crash is reported by who waits; Python's own report of it would only fill the screen.
        faulthandler.disable()
        with open(sending, "w", buffering=1) as out:
            if self.measured:
                soft = _status("VmSize") + (4 << 30)
                resource.setrlimit(resource.RLIMIT_AS, (soft, soft))
            for each in range(number, end):
                if until is not None and time.monotonic() >= until:
                    break
                name, changed, change = self.make(each, seed)
                try:
                    data = changed.bytes()
                except (ValueError, TypeError, OverflowError):
                    # Numbers that cannot be written into a header.
                    data = b""

                def say(step: str, **more: Any) -> None:
                    print(json.dumps({"step": step, "name": name, "change": change, **more}), file=out)  # noqa: B023

                found = _attempt(data, self.folder, self.needs[name], say, self.measured)
                say("over", number=each, outcome=found.outcome, problem=found.problem)
        os._exit(0)


@dataclass
class _Found:
    outcome: str
    problem: str = ""
    peaks: dict[str, int] = field(default_factory=dict)


def _attempt(data: bytes, folder: str, needs: dict[str, int], say: Any, measured: bool) -> _Found:
    """Load, use, explain and save; what goes wrong in another way than by a Sapwood error is a problem."""
    import sapwood as sw
    import specimens

    path = os.path.join(folder, f"{os.getpid()}.sap")
    with open(path, "wb") as stream:
        stream.write(data)
    value: Any = None
    found = _Found("used")
    for step in _STEPS:
        say(step)
        before = _reset_peak() if measured else 0
        begin = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                match step:
                    case "load":
                        value = sw.load(path)
                    case "use":
                        repr(specimens.use(value))
                    case "explain":
                        repr(specimens.explain(value))
                    case _:
                        sw.save(value, path)
        except sw.SapwoodError as error:
            str(error).encode("utf-8", "backslashreplace")
            if step == "load" and path not in str(error):
                found.problem = f"load: the error does not name the file: {error}"
            found.outcome = f"refused by {step}"
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            found.problem = (
                f"{step}: {type(error).__name__}: {str(error)[:200]} ({place.filename.split('/')[-1]}:{place.lineno})"
            )
            found.outcome = "bare exception"
        if measured:
            found.peaks[step] = peak = _status("VmHWM") - before
            most = 4 * len(data) + ROOM if step == "load" else 2 * needs.get(step, 0) + ROOM
            if peak > most and not found.problem:
                found.problem = f"{step}: took {peak >> 20} MB, {most >> 20} MB are allowed"
                found.outcome = "too much memory"
        if time.process_time() - begin > SECONDS and not found.problem:
            found.problem = f"{step}: took {time.process_time() - begin:.0f} s"
            found.outcome = "too slow"
        if found.outcome != "used":
            break
    return found


def _status(key: str) -> int:
    with open("/proc/self/status") as stream:
        for line in stream:
            if line.startswith(key):
                return int(line.split()[1]) << 10
    return 0


def _reset_peak() -> int:
    """Forget the largest size so far; return the present one."""
    with open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")
    return _status("VmRSS")


def _processor(process: int) -> float:
    with open(f"/proc/{process}/stat") as stream:
        fields = stream.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Try changed files and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="specimens (default: all)")
    parser.add_argument("--count", type=int, default=20_000, help="changed files in all (default: 20,000)")
    parser.add_argument("--seconds", type=float, help="stop after so long (default: when all are done)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--begin", type=int, default=0, help="number of the first")
    parser.add_argument("--show", type=int, default=40, help="how many findings are listed (default: 40)")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    core = os.environ.get("SAPWOOD_CORE")
    if core:
        from fuzz.run import _import_past_the_editable_loader

        _import_past_the_editable_loader(core)
    fuzzer = Fuzzer(options.names, measured=not core)
    begin = time.monotonic()
    until = None if options.seconds is None else begin + options.seconds
    report = fuzzer.run(options.count, options.seed, begin=options.begin, until=until)
    fuzzer.close()
    total = sum(report.counts.values())
    alike: dict[str, list[tuple[str, str, str]]] = {}
    for finding in report.findings:
        alike.setdefault(f"{finding[0]} {finding[2]}"[:110], []).append(finding)
    for group in list(alike.values())[: options.show]:
        name, change, problem = group[0]
        print(f"{len(group)}x {name}: {problem}\n    after {change}")
    print(f"{total:,} files of {len(fuzzer.names)} kinds in {time.monotonic() - begin:,.0f} s: ", end="")
    print(", ".join(f"{count:,} {outcome}" for outcome, count in sorted(report.counts.items())), end="; ")
    print(f"{len(report.findings)} findings")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())

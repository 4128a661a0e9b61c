"""``sapwood doctor``: what is installed, what works, which data is found, and how to get what is missing.

Only looks; it installs nothing and changes nothing. Missing extras and corpora are no fault: the exit code is 1 only if
something that Sapwood cannot do without is missing or does not work.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass

from sapwood.cli.color import colored
from sapwood.cli.command import Command
from sapwood.cli.options import DATA_FOLDERS, JSON
from sapwood.cli.output import report

__all__ = ["COMMAND"]

# Extras that are for people who work on Sapwood itself.
_INTERNAL = ("dev", "docs")


@dataclass(frozen=True)
class _Finding:
    """One line of the report: what was looked at, whether it is well, what was found, and what to do if not."""

    group: str
    name: str
    state: str  # "ok", "missing" (nothing depends on it) or "broken"
    found: str
    advice: str = ""


def _run(options: argparse.Namespace) -> int:
    findings = [*_basics(), *_models(), *_packages(), *_encoders(), *_data(options.data)]
    report(options, [asdict(finding) for finding in findings], _text(findings) if options.verbose else _short(findings))
    return 1 if any(finding.state == "broken" for finding in findings) else 0


def _basics() -> list[_Finding]:
    import os
    import platform

    from sapwood import __version__

    return [
        _Finding("Sapwood", "version", "ok", __version__),
        _Finding("Sapwood", "Python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        _Finding("Sapwood", "cores", "ok", str(os.cpu_count())),
        _check("kernels", _check_kernels),
        _check("decoding", _check_decoding),
        _check("model files", _check_files),
    ]


def _check(name: str, check: object) -> _Finding:
    assert callable(check)
    try:
        found: str = check()
    # Whatever goes wrong is what this command is there to report.
    except Exception as error:
        return _Finding(
            "Sapwood", name, "broken", f"{type(error).__name__}: {error}", "pip install --force-reinstall ."
        )
    return _Finding("Sapwood", name, "ok", found)


def _check_kernels() -> str:
    import sapwood as sw

    # The trees share (DT a), (NP DT NN) and (NP (DT a) NN): three fragments, each once.
    value = sw.kernels.SubsetTree(decay=1.0)("(NP (DT a) (NN dog))", "(NP (DT a) (NN cat))")
    if value != 3.0:
        raise RuntimeError(f"a kernel value is {value}; 3 is right")
    return "checked"


def _check_decoding() -> str:
    from sapwood.decode import decode_roles

    result = decode_roles([[2.0, 0.5, 0.0], [3.0, 2.5, 0.0]], [(0, 1), (2, 2), (-1, -1)])
    if result.value != 4.5 or result.status != "optimal":
        raise RuntimeError(f"a decoded value is {result.value} ({result.status}); 4.5 is right")
    return "checked"


def _check_files() -> str:
    import os
    import tempfile

    import sapwood as sw

    trees = sw.TreeArray(["(NP (DT a) (NN dog))"])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trees.sap")
        sw.save(trees, path)
        if sw.load(path).to_strings() != trees.to_strings():
            raise RuntimeError("what was read is not what was written")
    return "checked"


def _packages() -> list[_Finding]:
    from importlib import metadata

    try:
        needed = metadata.requires("sapwood") or []
    except metadata.PackageNotFoundError:
        return [_Finding("Packages", "sapwood", "broken", "not installed as a package", "pip install .")]
    findings = []
    for line in needed:
        requirement, _, condition = line.partition(";")
        name, least = _requirement(requirement)
        extra = condition.partition("extra ==")[2].strip().strip("'\"")
        if extra in _INTERNAL:
            continue
        advice = f'pip install "sapwood[{extra}]"' if extra else f'pip install "{name}>={least}"'
        bad = "missing" if extra else "broken"
        what = f"for sapwood[{extra}]" if extra else "needed"
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            findings.append(_Finding("Packages", name, bad, f"not installed; {what}", advice))
            continue
        if _numbers(version) < _numbers(least):
            findings.append(_Finding("Packages", name, bad, f"{version} is older than {least}; {what}", advice))
        else:
            findings.append(_Finding("Packages", name, "ok", version))
    return findings


def _models() -> list[_Finding]:
    from sapwood.errors import ModelFileError
    from sapwood.packages import find_package

    advice = "pip install ./models/en, in a checkout of Sapwood"
    try:
        found = find_package("en")
    except ModelFileError as error:
        return [_Finding("Models", "sapwood-en", "missing", str(error), advice)]
    if found is None:
        return [_Finding("Models", "sapwood-en", "missing", "not installed", advice)]
    names = ", ".join(f"en/{name}" for name in found.models)
    return [_Finding("Models", "sapwood-en", "ok", f"{found.version}: {names}")]


def _encoders() -> list[_Finding]:
    from sapwood.words.encoder.places import KNOWN, digest, found_encoders, weights_file

    found = found_encoders()
    findings = []
    for name, known in KNOWN.items():
        place = next((found.pop(one) for one in (name, known.hub.split("/")[-1], known.hub) if one in found), None)
        if place is None:
            findings.append(_Finding("Encoders", name, "missing", "not found", f"sapwood data get {name}"))
        elif digest(weights_file(place)) != known.sha256:
            other = f"{place}, but its weights are not those of {known.hub}"
            findings.append(_Finding("Encoders", name, "missing", other, f"sapwood data get {name}"))
        else:
            findings.append(_Finding("Encoders", name, "ok", str(place)))
    return findings + [_Finding("Encoders", name, "ok", str(place)) for name, place in found.items()]


def _data(folders: list[str]) -> list[_Finding]:
    from sapwood.corpora.catalog import data_folders, find
    from sapwood.errors import DataError
    from sapwood.words.wordnet_files import find_wordnet

    findings = []
    try:
        findings.append(_Finding("Data", "WordNet", "ok", find_wordnet()))
    except DataError:
        findings.append(_Finding("Data", "WordNet", "missing", "not found", "apt-get install wordnet-base"))
    findings.append(_Finding("Data", "nursery", "ok", "built in"))
    for one in find(data_folders(folders)):
        if one.path is None:
            findings.append(_Finding("Data", one.corpus.name, "missing", "not found", one.corpus.obtain))
        else:
            findings.append(_Finding("Data", one.corpus.name, "ok", one.path))
    return findings


def _requirement(text: str) -> tuple[str, str]:
    """Take ``name>=version`` apart."""
    name, _, least = text.strip().partition(">=")
    return name.rstrip(" ("), least.strip().rstrip(")") or "0"


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, as many as are plain."""
    numbers = []
    for part in version.split("."):
        digits = part[: next((at for at, letter in enumerate(part) if not letter.isdigit()), len(part))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)


def _short(findings: list[_Finding]) -> str:
    """Say on one screen what is there and what is not; what is broken in full."""
    from textwrap import wrap

    lines: list[str] = []
    for group in dict.fromkeys(finding.group for finding in findings):
        lines.append(colored(group, "strong"))
        members = [finding for finding in findings if finding.group == group]
        for state, sign, style in (("ok", "ok", "good"), ("missing", "--", "odd"), ("broken", "NO", "bad")):
            these = [finding for finding in members if finding.state == state]
            if state == "broken":
                texts = [f"{one.name}: {one.found}. Mend it: {one.advice}" for one in these]
            else:
                told = group in ("Sapwood", "Packages") and state == "ok"
                names = [f"{one.name} {one.found}" if told else one.name for one in these]
                # A package that several extras want is named once.
                texts = [", ".join(dict.fromkeys(names))] if these else []
            for text in texts:
                rows = wrap(text, 74, break_long_words=False, break_on_hyphens=False)
                lines += [f"  {colored(sign if not at else '  ', style)}  {row}" for at, row in enumerate(rows)]
    return "\n".join([*lines, "", *_count(findings)])


def _count(findings: list[_Finding]) -> list[str]:
    count = {state: sum(finding.state == state for finding in findings) for state in ("ok", "missing", "broken")}
    lines = [f"{count['ok']} found, {count['missing']} optional things missing, {count['broken']} broken."]
    if count["missing"]:
        lines.append("sapwood doctor -v says where everything is and how to get what is missing.")
    if count["broken"]:
        lines.append("Sapwood will not work well before what is marked NO is mended.")
    return lines


def _text(findings: list[_Finding]) -> str:
    from textwrap import wrap

    signs = {"ok": "ok", "missing": "--", "broken": "NO"}
    width = max(len(finding.name) for finding in findings)
    lines: list[str] = []
    group = None
    for finding in findings:
        if finding.group != group:
            group = finding.group
            lines += ["", group] if lines else [group]
        lead = f"  {signs[finding.state]}  {finding.name:<{width}}  "
        texts = [finding.found, f"get it: {finding.advice}" if finding.advice and finding.state != "ok" else ""]
        # Paths are not broken: a path in two pieces cannot be copied.
        wrapped = [
            line
            for text in texts
            for line in wrap(text, 80 - len(lead), break_long_words=False, break_on_hyphens=False)
        ]
        lines.append(lead + f"\n{' ' * len(lead)}".join(wrapped))
    return "\n".join([*lines, "", *_count(findings)])


COMMAND = Command(
    "doctor",
    "say what is installed, found and missing, and how to get it",
    "Check the installation: versions, a calculation by the native core, optional packages, encoders, WordNet and "
    "corpora. With -v, where each is and how to get it. Exit code 1 if something that is needed is missing or broken; "
    "optional things may be missing.",
    (DATA_FOLDERS, JSON),
    _run,
)

"""``sapwood gram`` and ``sapwood bench scale``: what they print, write and refuse; fits and figures."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora.sampled import sample_brackets, sample_labeled
from sapwood.errors import ParameterError
from sapwood.kernels import SubsetTree
from sapwood.scale import GramStore
from sapwood.scale.growth import Growth, Point, crossing, fit_power, measure


def test_gram_command(client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, _ = sample_labeled(40, seed=1)
    trees, folder = tmp_path / "trees.mrg", tmp_path / "gram"
    sw.write_trees(X, trees)
    command = ["gram", str(trees), "--kernel", "SubsetTree(decay=0.5)", "-o", str(folder), "--tile", "15"]
    assert main([*command, "--scheduler", client.scheduler.address]) == 0
    assert capsys.readouterr().out == f"{folder}: 40 x 40, 6 tiles, 6 new\n"
    assert main(command) == 0
    assert capsys.readouterr().out == f"{folder}: 40 x 40, 6 tiles, 0 new\n"
    np.testing.assert_array_equal(GramStore(folder)[:], SubsetTree(decay=0.5)(X))
    assert main([*command[:3], "SubsetTree()", *command[4:]]) == 1
    assert "holds a run with kernel SubsetTree(decay=0.5), not SubsetTree(decay=0.4)" in capsys.readouterr().err
    other = ["gram", str(trees), str(trees), "--kernel", "SubsetTree()", "-o", str(tmp_path / "two"), "--tile", "30"]
    assert main([*other, "--dtype", "float32", "--compress"]) == 0
    assert capsys.readouterr().out.endswith("40 x 40, 4 tiles, 4 new\n")


def test_gram_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees = tmp_path / "trees.mrg"
    trees.write_text("(a b)\n")
    command = ["gram", str(trees), "-o", str(tmp_path / "gram"), "--kernel"]
    assert main([*command, "SubsetTree("]) == 2
    with pytest.raises(SystemExit):
        main([*command, "SubsetTree()", "--tile", "0"])
    with pytest.raises(SystemExit):
        main([*command, "SubsetTree()", "--workers", "2", "--scheduler", "tcp://x:1"])
    assert main([*command, "SubsetTree()", "--scheduler", "nonsense://"]) == 2
    assert "--scheduler nonsense://: cannot be reached" in capsys.readouterr().err


def test_bench_scale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "points.json", tmp_path / "figure.svg"]
    command = ["bench", "scale", "--sizes", "60", "20", "--threads", "1", "--paths", "gram"]
    assert main([*command, "--json", str(paths[0]), "--svg", str(paths[1])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["path", "trees", "CPU", "seconds", "peak", "MB", "accuracy"]
    assert [line.split()[:2] for line in lines[1:3]] == [["gram", "20"], ["gram", "60"]]
    assert lines[3].startswith("gram: seconds grow with trees to the power of")
    document = json.loads(paths[0].read_text())
    assert [(one["path"], one["n"]) for one in document["points"]] == [("gram", 20), ("gram", 60)]
    assert all(one["seconds"] > 0 and 0.1 < one["accuracy"] <= 1 for one in document["points"])
    assert set(document["exponents"]) == {"gram"}
    figure = ET.fromstring(paths[1].read_text())
    assert len(figure.findall("{http://www.w3.org/2000/svg}circle")) == 2
    assert "http" not in paths[1].read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert main(["bench", "scale", "--paths", "magic"]) == 2
    assert "there is no path 'magic'; the paths are gram, rows, maps" in capsys.readouterr().err
    assert main(["bench", "scale", "--sizes", "5"]) == 2


def test_every_path_learns() -> None:
    from sapwood.scale.growth import PATHS, _measure_here

    found = {path: _measure_here(path, 150, 0, 500.0) for path in PATHS}
    assert found["gram"]["accuracy"] == found["rows"]["accuracy"]
    # Chance is a quarter.
    assert all(one["accuracy"] > 0.4 and one["seconds"] > 0 for one in found.values())


def test_points_that_take_too_long_or_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    from sapwood.scale import growth

    def slow(path: str, n: int, seed: int, memory: float, threads: int) -> Point | str:
        if path == "rows":
            return f"{path} with {n} trees could not be measured: too large"
        return Point(path, n, 1e-6 * n**2, 0.0, 0.5)

    monkeypatch.setattr(growth, "_measure_apart", slow)
    found = list(measure([1000, 2000, 20_000], paths=["gram", "rows"], limit=10.0))
    assert [one.n for one in found if isinstance(one, Point)] == [1000, 2000]
    assert "gram with 20,000 trees is left out: about 400 s, and the limit is 10" in found
    assert sum("could not be measured" in str(one) for one in found) == 3


def test_a_process_that_fails_says_why() -> None:
    from sapwood.scale.growth import _measure_apart

    # The native solver cannot do with a kilobyte.
    found = _measure_apart("rows", 300, 0, 1e-6, 1)
    assert isinstance(found, str)
    assert found.startswith("rows with 300 trees could not be measured: the kernel values of 300 distinct items need")


def test_fits() -> None:
    points = [Point("maps", n, 3e-4 * n**1.25, 0.0, 0.5) for n in (100, 300, 900)]
    growth = fit_power(points)
    assert growth is not None
    assert growth.exponent == pytest.approx(1.25)
    assert growth.factor == pytest.approx(3e-4)
    assert fit_power(points[:1]) is None
    assert crossing(Growth(1.0, 1.0), Growth(1.0, 2.0)) is None
    at = crossing(Growth(2e-7, 2.0), Growth(3e-4, 1.1))
    assert at is not None
    assert Growth(2e-7, 2.0).seconds(at) == pytest.approx(Growth(3e-4, 1.1).seconds(at))


def test_drawn_trees() -> None:
    assert sample_brackets(3, seed=1) == sample_brackets(3, seed=1) != sample_brackets(3, seed=2)
    X, y = sample_labeled(200, seed=1, classes=26)
    assert len(X) == len(y) == 200
    assert len(set(y.tolist())) > 20
    again, labels = sample_labeled(200, seed=1, classes=26)
    assert list(X) == list(again)
    assert y.tolist() == labels.tolist()
    with pytest.raises(ParameterError, match="classes must be an integer of at least 1 and at most 26"):
        sample_labeled(3, classes=27)
    with pytest.raises(ParameterError, match="count must be an integer of at least 0"):
        sample_brackets(-1)

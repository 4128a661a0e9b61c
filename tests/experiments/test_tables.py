import json

import pytest

from sapwood.cli import main
from sapwood.errors import ParameterError
from sapwood.experiments import EXPERIMENTS, Experiment, Setting, Table, run


def test_a_row_of_the_wrong_length_is_named():
    with pytest.raises(ParameterError, match="'toy': row 1 has 1 cells; there are 2"):
        Table("toy", "A toy", ("a", "b"), [("x", 1), ("y",)])


def test_numbers_are_right_and_names_left():
    rows = [("x", 12345, 0.5), ("long", 1, float("nan"))]
    table = Table("toy", "A toy", ("name", "n", "share"), rows, {"share": 1})
    assert str(table).splitlines()[1:] == [
        "name       n  share",
        "-" * 19,
        "x     12,345    0.5",
        "long       1      –",
    ]


def test_json_has_no_nan():
    json.dumps(Table("toy", "A toy", ("a",), [(float("nan"),)]).to_json(), allow_nan=False)


def test_unknown_names_are_refused_with_the_known_ones(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "toy", Experiment("A toy", ("one", "two")))
    with pytest.raises(ParameterError, match=r"no experiment 'tow'; there are .*toy"):
        run("tow", Setting())
    with pytest.raises(ParameterError, match="no table 'three'; it has one, two"):
        run("toy", Setting(tables=("three",)))


def test_what_is_complete_survives_a_failure(tmp_path, monkeypatch):
    def broken(name, setting):
        yield Table("one", "First", ("a",), [(1,)])
        raise ParameterError("the second table failed.")

    monkeypatch.setitem(EXPERIMENTS, "toy", Experiment("A toy", ("one", "two")))
    monkeypatch.setattr("sapwood.experiments.run", broken)
    out = tmp_path / "out.json"
    assert main(["experiment", "toy", "--json", str(out)]) == 2
    assert [table["name"] for table in json.loads(out.read_text())["tables"]] == ["one"]

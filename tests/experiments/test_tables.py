import json

import pytest

from sapwood.cli import main
from sapwood.draw import Series, line_chart
from sapwood.errors import ParameterError
from sapwood.experiments import EXPERIMENTS, Experiment, Setting, run
from sapwood.experiments.tables import Table


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


def test_wide_tables_are_shown_in_blocks_that_fit_a_terminal():
    columns = ("name", *(f"column {k}" for k in range(12)))
    table = Table("toy", "A toy " * 30, columns, [("x" * 20, *range(12)), ("y", *range(12))], notes=["A note " * 20])
    lines = str(table).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("name") for line in lines) == 3
    words = " ".join(lines).split()
    assert all(words.count(str(k)) >= 2 for k in range(12))
    # Rows that only two columns tell apart have both in every block.
    two = Table("toy", "A toy", columns, [("kernel", 100, *range(11)), ("kernel", 500, *range(11))])
    assert sum("column 0" in line for line in str(two).splitlines()) == 2
    # A name that leaves no room for anything is still shown with one column at a time.
    narrow = Table("toy", "A toy", ("name", "a", "b"), [("x" * 100, 1, 2)])
    assert [line[100:].split() for line in str(narrow).splitlines() if line.startswith("x")] == [["1"], ["2"]]


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
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    assert main(["experiment", "toy", "--json", str(out), "--html", str(page)]) == 2
    assert [table["name"] for table in json.loads(out.read_text())["tables"]] == ["one"]
    assert "First" in page.read_text()


def test_the_page_has_the_charts(tmp_path, monkeypatch):
    chart = line_chart("Growth", [Series("trees", [1, 2], [3, 4])], x_label="x", y_label="y")
    tables = [Table("one", "First <b>", ("a",), [(1,)], chart=chart), Table("two", "Second", ("a",), [(2,)])]
    monkeypatch.setitem(EXPERIMENTS, "toy", Experiment("A toy", ("one", "two")))
    monkeypatch.setattr("sapwood.experiments.run", lambda name, setting: iter(tables))
    page = tmp_path / "out.html"
    assert main(["experiment", "toy", "--html", str(page)]) == 0
    text = page.read_text()
    assert text.count(chart) == 1
    assert "First &lt;b&gt;" in text
    assert "Second" in text


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(option, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(EXPERIMENTS, "toy", Experiment("A toy", ("one",)))
    monkeypatch.setattr("sapwood.experiments.run", lambda name, setting: pytest.fail("worked"))
    assert main(["experiment", "toy", option, str(tmp_path / "no" / "x")]) == 1
    assert "there is no folder" in capsys.readouterr().err

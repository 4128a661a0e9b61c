"""The figures of the pages are those of ``results/``: pages are rendered again, and must not change."""

from __future__ import annotations

import difflib
import importlib.util
import json
import re
import subprocess

import pytest

from paths import ROOT
from sapwood.cli import main
from sapwood.errors import DataError
from sapwood.experiments import EXPERIMENTS, Experiment, Setting
from sapwood.experiments.record import digest, made, read_results, results_text
from sapwood.experiments.tables import Table

FILES = sorted((ROOT / "results").glob("*.json"))
SPEC = importlib.util.spec_from_file_location("render", ROOT / "results" / "render.py")
assert SPEC is not None
assert SPEC.loader is not None
render = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(render)

# Tables that come along with others and that no page shows: scores role by role.
ALONGSIDE = re.compile(r"(end-to-end )?roles ")


@pytest.mark.parametrize("page", render.PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_the_results_say(page):
    text = page.read_text(encoding="utf-8")
    made_again = render.Results().page(text)
    lines = difflib.unified_diff(text.splitlines(), made_again.splitlines(), "the page", "results/", lineterm="", n=0)
    assert made_again == text, "\n".join(["run `make tables`:", *lines])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_results_are_of_known_tables_with_their_origin(path):
    known = EXPERIMENTS[path.stem].tables
    assert json.loads(path.read_text())["experiment"] == path.stem
    found = read_results(path)
    assert path.read_text() == results_text(path.stem, known, found), "was edited by hand, or is in another order"
    for name, (_, record) in found.items():
        assert name.split()[0] in known or ALONGSIDE.match(name), name
        assert re.fullmatch("[0-9a-f]{40}", record["revision"]), name
        assert record["modified"] is False, f"{name}: was made by code that is in no commit"
        assert record["command"].startswith(f"sapwood experiment {path.stem} "), name
        assert not re.search(r"/\w", record["command"]), f"{name}: names a folder of one machine"
        assert record["data"], name
        assert {"machine", "date", "seconds"} <= set(record), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_results_come_from_commits_of_this_history(path):
    revisions = {record["revision"] for _, record in read_results(path).values()}
    shallow = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False
    )
    if shallow.stdout.strip() != "false":
        pytest.skip("this is no clone with its whole history")
    for revision in revisions:
        subprocess.run(["git", "-C", ROOT, "merge-base", "--is-ancestor", revision, "HEAD"], check=True)


def test_every_table_is_shown_somewhere():
    results = render.Results()
    for page in render.PAGES:
        results.page(page.read_text(encoding="utf-8"))
    hidden = {name for name in results.tables if not ALONGSIDE.match(name.partition("/")[2])} - results.shown
    assert not hidden


@pytest.mark.parametrize("name", [*EXPERIMENTS, "results"])
def test_no_table_of_figures_is_written_by_hand(name):
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    rest = re.sub(r"<!--=.*?<!--/-->", "", text, flags=re.DOTALL)
    assert not re.findall(r"^\|.*\| *[−-]?[0-9,]+\.[0-9]+(?: ±.*)? *\|.*$", rest, flags=re.MULTILINE)


class TestRendering:
    @pytest.fixture
    def results(self, tmp_path):
        rows = [("SST", 100, 0.98765, None), ("SST", 500, -2.0, 0.00001), ("PTK", 100, 7.25, 0.004)]
        toy = Table("toy", "A toy, 3 rows", ("kernel", "size", "F1", "p "), rows, {"F1": 1}, ["It took 12 s."])
        text = results_text("toys", ["toy"], {"toy": (toy, {})})
        (tmp_path / "toys.json").write_text(text, encoding="utf-8")
        return render.Results(tmp_path)

    @pytest.mark.parametrize(
        ("template", "expected"),
        [
            ("{toys/toy|PTK|F1}", "7.2"),
            ("{toys/toy|PTK|F1:2}", "7.25"),
            ("{toys/toy|SST; 500|size; F1; p␣:p}", "500 | −2.0 | < 0.0001"),
            ("{toys/toy|SST; 100|p␣}", "–"),
            ("{toys/toy|PTK|p␣:p}", "0.004"),
            ("{toys/toy~took ([0-9]+) s}", "12"),
            ("{toys/toy~, (.) rows}", "3"),
            ("no figures", "no figures"),
        ],
    )
    def test_figures(self, results, template, expected):
        assert (
            results.page(f"It is <!--= {template} -->old<!--/-->.") == f"It is <!--= {template} -->{expected}<!--/-->."
        )

    def test_tables(self, results):
        template = "\n{toys/toy|**|kernel; F1}\n| the paper | 9.9 |\n"
        lines = ["", "| kernel | F1 |", "|---|---|", "| SST | 1.0 |", "| SST | −2.0 |", "| PTK | 7.2 |"]
        rendered = "\n".join([*lines, "| the paper | 9.9 |", "", ""])
        page = f"Before\n\n<!--={template}-->\n<!--/-->\nAfter\n"
        once = results.page(page)
        assert once == f"Before\n\n<!--={template}-->{rendered}<!--/-->\nAfter\n"
        assert results.page(once) == once
        assert results.shown == {"toys/toy"}

    def test_a_table_as_it_is_printed(self, results):
        template = "\n```text\n{toys/toy}\n```\n"
        assert str(results.tables["toys/toy"]) in results.page(f"<!--={template}-->\n<!--/-->\n")

    def test_a_figure_that_was_changed_by_hand_is_put_right(self, results):
        page = "It is <!--= {toys/toy|PTK|F1} -->7.3<!--/-->."
        assert results.page(page) != page

    @pytest.mark.parametrize(
        ("page", "message"),
        [
            ("x <!--= {toys/tow|a|b} --><!--/-->", "no table toys/tow"),
            ("x <!--= {toys/toy|GTK|F1} --><!--/-->", "0 rows are called 'GTK'"),
            ("x <!--= {toys/toy|SST|F1} --><!--/-->", "2 rows are called 'SST'"),
            ("x <!--= {toys/toy|PTK|F2} --><!--/-->", "no column 'F2', only kernel, size, F1, p␣"),
            ("x <!--= {toys/toy~(x)} --><!--/-->", "found 0 times"),
            ("x <!--= {toys/toy|PTK} --><!--/-->", "expected {experiment/table|row|columns}"),
            ("x\n<!--= {toys/toy|PTK|F1} --><!--/-->", "must not begin a line"),
            ("x <!--= {toys/toy|PTK|F1} -->7.2", "without its end"),
            ("x 7.2<!--/-->", "without its end"),
        ],
    )
    def test_faults_are_named(self, results, page, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            results.page(page)


class TestRecord:
    def test_tables_that_are_not_made_again_stay(self, tmp_path, monkeypatch):
        monkeypatch.setitem(EXPERIMENTS, "toy", Experiment("A toy", ("one", "two")))
        out = tmp_path / "out.json"

        def make(name, value, *options):
            tables = iter([Table(name, "Unfinished", ("a",), []), Table(name, "A toy", ("a",), [(value,)])])
            monkeypatch.setattr("sapwood.experiments.run", lambda experiment, setting: tables)
            return main(["experiment", "toy", "--json", str(out), *options])

        assert [make("two", 2), make("one", 1, "--merge"), make("two", 3, "--merge")] == [0, 0, 0]
        # In the order of the experiment, whatever was made first.
        assert [(name, table.rows) for name, (table, _) in read_results(out).items()] == [
            ("one", [[1]]),
            ("two", [[3]]),
        ]
        assert make("two", 4) == 0
        assert list(read_results(out)) == ["two"]

    def test_a_file_of_something_else_is_refused_before_the_work(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setitem(EXPERIMENTS, "toy", Experiment("A toy", ("one",)))
        monkeypatch.setattr("sapwood.experiments.run", lambda name, setting: pytest.fail("worked"))
        out = tmp_path / "out.json"
        out.write_text('{"trees": []}')
        assert main(["experiment", "toy", "--json", str(out), "--merge"]) == 1
        assert "no file of sapwood experiment --json" in capsys.readouterr().err
        assert main(["experiment", "toy", "--merge"]) == 2
        assert "name it with --json" in capsys.readouterr().err

    def test_a_table_is_the_same_after_a_file(self, tmp_path):
        table = Table("toy", "A toy", ("a", "b"), [("x", float("nan")), ("y", 1234.5)], {"b": 0}, ["Note."])
        (tmp_path / "toy.json").write_text(results_text("toys", [], {"toy": (table, {})}), encoding="utf-8")
        ((again, _),) = read_results(tmp_path / "toy.json").values()
        assert str(again) == str(table)

    def test_data_is_told_by_names_and_contents_wherever_it_lies(self, tmp_path):
        for name, text in (("one/a.txt", "A"), ("one/b.txt", "B"), ("two/a.txt", "A"), ("two/b.txt", "B")):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        first = digest(str(tmp_path / "one" / "*.txt"))
        assert first == digest(str(tmp_path / "two" / "*.txt")) == digest(str(tmp_path / "one"))
        (tmp_path / "three").mkdir()
        (tmp_path / "three" / "a.txt").write_text("B")
        (tmp_path / "three" / "b.txt").write_text("A")
        assert digest(str(tmp_path / "three")) != first
        # What sha256sum says of a file; an archive counts as a whole.
        known = "559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd"
        assert digest(str(tmp_path / "one" / "a.txt")) == known
        (tmp_path / "one" / "a.zip").write_text("A")
        assert digest(str(tmp_path / "one" / "a.zip/inside/*.txt")) == known
        with pytest.raises(DataError, match="there is no such file"):
            digest(str(tmp_path / "four"))

    def test_a_record_names_what_was_read_and_no_folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr("sapwood.corpora.catalog.nltk_search_path", list)
        monkeypatch.delenv("SAPWOOD_DATA", raising=False)
        (tmp_path / "questionbank").mkdir()
        (tmp_path / "questionbank" / "4000qs.txt").write_text("(SBARQ (WP Why))\n")
        setting = Setting(data=tmp_path, cache=tmp_path / "cache", tables=("one",))
        setting.path("questionbank")
        assert setting.find("brown") is None
        record = made(setting, "toy", 1.25)
        assert set(record["data"]) == {"questionbank", "wordnet"}
        assert record["data"]["questionbank"] == digest(str(tmp_path / "questionbank" / "4000qs.txt"))
        assert record["command"].startswith("sapwood experiment toy --seed 0 --cache DIR --tables one --threads ")
        assert str(tmp_path) not in json.dumps(record)

"""The demonstration from end to end: every section, the report it writes, and what it refuses."""

from __future__ import annotations

import re

import pytest

from sapwood.cli import main
from sapwood.experiments.demo import SECTIONS


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The whole demonstration, once: what it prints and what it writes."""
    import contextlib
    import io

    target = tmp_path_factory.mktemp("demo") / "page.html"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["demo", "--output", str(target)]) == 0
    return out.getvalue(), target.read_text()


def test_every_task_has_a_progress_line_a_table_and_a_time(shown):
    text, _ = shown
    assert re.findall(r"^\[(\d)/7\]", text, flags=re.MULTILINE) == list("1234567")
    assert text.count("\nTook ") == len(SECTIONS)
    assert len(re.findall(r"^-{20,}$", text, flags=re.MULTILINE)) >= len(SECTIONS) - 1


def test_it_fits_a_terminal(shown):
    text, _ = shown
    # The last line is the path of the page, which is as long as it is.
    assert [line for line in text.splitlines()[:-1] if len(line) > 80] == []


def test_the_report_has_what_the_tasks_have_to_show(shown):
    _, page = shown
    for heading in (
        "Learning curves",
        "Why ",
        "what their trees share",
        "Roles over sentences",
        "Frames before and after exact decoding",
        "How AD3 converges",
        "on two principal components",
        "Before and after reranking",
        "Timings",
    ):
        assert heading in page, heading
    assert page.count("<figure") >= 12
    assert page.count("<table") >= 8
    assert page.count("<polyline") >= 10


def test_the_report_stands_alone(shown):
    _, page = shown
    assert not re.search(r"<script|<link|<img|url\(|@import|https?://(?!www\.w3\.org/)", page)
    assert len(page) < 1_000_000


def test_one_task_alone_and_wrong_names(tmp_path, capsys):
    target = tmp_path / "one.html"
    assert main(["demo", "reranking", "-o", str(target)]) == 0
    assert "[1/1] Parse reranking" in capsys.readouterr().out
    assert "Frame-semantic parsing" not in target.read_text()
    assert main(["demo", "gardening"]) == 2
    assert "there is no task 'gardening'" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_refused_before_the_work(tmp_path, capsys):
    for place, message in ((tmp_path, "it is a folder"), (tmp_path / "missing" / "page.html", "there is no folder")):
        assert main(["demo", "-o", str(place)]) == 1
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.out == ""

"""Charts: well-formed, complete, inside their frame, readable aloud, safe with hostile names."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood.explorer
from sapwood.draw import Bar, Series, bar_chart, line_chart
from sapwood.draw.charts import Point, _ticks, scatter_chart
from sapwood.errors import DataError
from sapwood.palette import COLOURS, paint, paints, palette_css

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(-1e9, 1e9).map(lambda value: round(value, 6))


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


@given(
    lines=st.lists(st.lists(st.tuples(st.floats(0.001, 1e6), NUMBERS), max_size=8), max_size=4),
    log=st.booleans(),
)
def test_every_point_lies_inside_the_picture(lines, log):
    series = [Series(f"s{n}", [x for x, _ in line], [y for _, y in line]) for n, line in enumerate(lines)]
    picture = line_chart("t", series, x_label="x", y_label="y", x_log=log)
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width")), float(root.get("height"))
    circles = list(root.iter(f"{SVG}circle"))
    assert len(circles) == sum(map(len, lines))
    for circle in circles:
        assert -0.1 <= float(circle.get("cx")) <= width + 0.1
        assert -0.1 <= float(circle.get("cy")) <= height + 0.1


@given(low=NUMBERS, share=st.floats(1e-6, 1e6))
def test_ticks_cover_the_range_with_round_steps(low, share):
    size = share * max(1.0, abs(low))
    ticks = _ticks(low, low + size, 5)
    step = ticks[1] - ticks[0]
    assert ticks[0] <= low + 1e-4 * step
    assert ticks[-1] >= low + size - 1e-4 * step
    assert 2 <= len(ticks) <= 12


def test_higher_values_are_drawn_higher_and_to_the_right():
    picture = line_chart("t", [Series("a", [1, 2], [0.2, 0.9])], x_label="n", y_label="share")
    first, second = list(ElementTree.fromstring(picture).iter(f"{SVG}circle"))
    assert float(first.get("cx")) < float(second.get("cx"))
    assert float(first.get("cy")) > float(second.get("cy"))


def test_axes_legend_and_title_say_what_is_shown():
    picture = line_chart("Learning", [Series("SST", [1], [2]), Series("PTK", [1], [3])], x_label="s", y_label="F1, %")
    assert {"SST", "PTK", "s", "F1, %"} <= set(texts(picture))
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "Learning"


def test_bars_are_as_long_as_their_values():
    picture = bar_chart("t", [Bar("a", 1.0), Bar("b", 3.0), Bar("c", -1.0)], label="seconds", decimals=1)
    long = [float(rect.get("width")) for rect in ElementTree.fromstring(picture).iter(f"{SVG}rect")]
    assert long[1] == pytest.approx(3 * long[0], abs=0.2)
    assert long[2] == pytest.approx(long[0], abs=0.2)
    assert {"1.0", "3.0", "-1.0", "seconds"} <= set(texts(picture))
    assert "seconds, from 90" in texts(bar_chart("t", [Bar("a", 95.0)], label="seconds", start=90))


def test_points_of_small_groups_are_drawn_last_and_say_what_they_are():
    points = [Point(0, 0, "one", "the <tree>"), *(Point(n, n, "many") for n in range(1, 9))]
    picture = scatter_chart("t", points, x_label="x", y_label="y")
    titles = [element.text for element in ElementTree.fromstring(picture).iter(f"{SVG}title")]
    assert titles[-1] == "the <tree>"
    assert len(titles) == 1 + len(points)


def test_nothing_to_show_is_said_and_bad_numbers_are_left_out():
    for picture in (
        line_chart("t", [], x_label="x", y_label="y"),
        line_chart("t", [Series("a", [1.0], [math.nan])], x_label="x", y_label="y"),
        scatter_chart("t", [], x_label="x", y_label="y"),
        bar_chart("t", [Bar("a", math.inf)], label="s"),
    ):
        assert "nothing to show" in texts(picture)
    picture = line_chart("t", [Series("a", [1, 2, 3], [1.0, math.inf, 2.0])], x_label="x", y_label="y")
    assert len(list(ElementTree.fromstring(picture).iter(f"{SVG}circle"))) == 2


def test_series_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="'a' has 2 x and 1 y"):
        line_chart("t", [Series("a", [1, 2], [1])], x_label="x", y_label="y")
    with pytest.raises(DataError, match="has y not above 0, which y_log cannot show"):
        line_chart("t", [Series("a", [1, 2], [0, 2])], x_label="x", y_label="y", y_log=True)
    with pytest.raises(DataError, match="x_log"):
        line_chart("t", [Series("a", [0, 2], [1, 2])], x_label="x", y_label="y", x_log=True)


def test_names_are_escaped():
    name = "<script>alert(1)</script>&"
    for picture in (
        line_chart(name, [Series(name, [1], [1])], x_label=name, y_label=name),
        bar_chart(name, [Bar(name, 1, name)], label=name),
        scatter_chart(name, [Point(1, 1, name, name)], x_label=name, y_label=name),
    ):
        assert "<script" not in picture
        ElementTree.fromstring(picture)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
def test_text_and_lines_stand_out_from_the_background(side):
    # As the web's accessibility guidelines ask: 4.5 for text, 3 for graphics.
    for ground in ("paper", "card"):
        back = _luminance(COLOURS[ground][side])
        for role, values in COLOURS.items():
            if role in ("paper", "card", "shade", "line"):
                continue
            front = _luminance(values[side])
            contrast = (max(front, back) + 0.05) / (min(front, back) + 0.05)
            assert contrast >= (4.5 if role in ("ink", "muted", "accent") else 3.0), (role, contrast)


def test_colors_of_pictures_alone_are_seen_on_white_and_on_black():
    for role, (_, _, alone) in COLOURS.items():
        if re.fullmatch("#[0-9a-f]{6}", alone):
            front = _luminance(alone)
            assert 1.05 / (front + 0.05) >= 3 <= (front + 0.05) / (_luminance("#1e1e1e") + 0.05), role


def test_a_label_has_one_color_everywhere():
    assert len({paint(f"A{number}") for number in range(5)} | {paint("AM-TMP"), paint("AM-LOC"), paint("V")}) == 8
    assert paint("ARGM-TMP") == paint("R-AM-TMP") == paint("AM-TMP")
    names = [f"class {number}" for number in range(10)]
    assert len(set(paints(names).values())) == 10
    assert len(paints(names * 3)) == 10
    css = Path(sapwood.explorer.__file__).with_name("page").joinpath("explorer.css").read_text(encoding="utf-8")
    for side, rules in enumerate(css.split("prefers-color-scheme: dark")[:2]):
        shown = dict(re.findall(r"--c(\d+): (#[0-9a-f]{6})", rules))
        assert shown == {name: values[side] for name, values in COLOURS.items() if name.isdigit()}


def test_the_palette_prints_light():
    rules = palette_css()
    assert re.search(r"@media screen and \(prefers-color-scheme:dark\)", rules)
    assert "print" not in rules.split("@media")[0]


def test_equal_ratios_are_equal_distances_on_logarithmic_axes():
    series = [Series("a", [10, 100, 1000], [1, 10, 100]), Series("b", [100], [10])]
    picture = ElementTree.fromstring(line_chart("t", series, x_label="n", y_label="s", x_log=True, y_log=True))
    places = [(float(one.get("cx")), float(one.get("cy"))) for one in picture.iter(f"{SVG}circle")]
    assert places[1][0] - places[0][0] == pytest.approx(places[2][0] - places[1][0], abs=0.2)
    assert places[0][1] - places[1][1] == pytest.approx(places[1][1] - places[2][1], abs=0.2)
    assert places[1] == places[3]
    texts = [one.text for one in picture.iter(f"{SVG}text")]
    assert texts.count("10") == texts.count("100") == 2

"""TEDS and TSED on what their authors have published, and tables that are not whole."""

from __future__ import annotations

import pytest

from sapwood import Tree
from sapwood.errors import DataError
from sapwood.search import EditDistance, teds, tsed

# The example of the notebook that the authors of TEDS have published, and its score there.
_PAGE = "<html><body><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></body></html>"
_ROWS = (
    ("MACS [23]", "Uses both a control library and local statistics to minimize bias"),
    ("SICER [{}]", "Designed for detecting diffusely enriched regions; for example, histone modification"),
    ("Peak{} [24]", "Corrects for reference genome mappability and local statistics"),
    ("SISSRs [25]", "High resolution, precise identification of binding-site location"),
    ("F-seq [26]", "Uses kernel density estimation"),
)
PUBLISHED = 0.9781765018607124


def page(name: str, features: str, number: str, program: str) -> str:
    rows = [[first, second] for first, second in _ROWS]
    rows[1][0], rows[2][0] = rows[1][0].format(number), rows[2][0].format(program)
    body = "".join(f"<tr><td>{first}</td><td>{second}</td></tr>" for first, second in rows)
    return _PAGE.format(f"<td><b>{name}</b></td><td><b>{features}</b></td>", body)


PREDICTED = page("Name of algori", "Notablefeatures", "15", "SEQ")
EXPECTED = page("Name of algorithm", "Notable features", "14", "Seq")


def test_teds_of_the_published_example() -> None:
    assert teds(PREDICTED, EXPECTED) == pytest.approx(PUBLISHED, abs=1e-15)
    assert teds(EXPECTED, EXPECTED) == 1.0
    assert teds(PREDICTED, EXPECTED, structure_only=True) == 1.0


def test_teds_counts_spans_rows_and_missing_tables() -> None:
    one = "<table><tr><td>a</td><td>b</td></tr></table>"
    assert teds("<table><tr><td colspan='2'>a</td><td>b</td></tr></table>", one) == pytest.approx(1 - 1 / 3)
    assert teds("<table><tr><td>a</td></tr></table>", one) == pytest.approx(1 - 1 / 3)
    assert teds("", one) == teds("no table", one) == 0.0
    assert teds("<table></table>", "<table></table>") == 1.0
    with pytest.raises(DataError, match="expected has no <table>"):
        teds(one, "")
    with pytest.raises(DataError, match="colspan='two'"):
        teds(one, "<table><tr><td colspan='two'>a</td></tr></table>")
    with pytest.raises(DataError, match="predicted must be HTML"):
        teds(None, one)  # type: ignore[arg-type]


def test_tags_that_are_left_open() -> None:
    whole = "<table><tr><td>a</td><td>b<br>c</td></tr><tr><td>d</td></tr></table>"
    for text in (
        "<table><tr><td>a<td>b<br>c<tr><td>d",
        "<TABLE><tr><td>a</td><td>b<br/>c</td></tr><tr><td>d</table><p>after",
        "<p>before<table><!-- a comment --><tr><td>a</td><td>b<br>c</td></tr></b><tr><td>d</td></tr></table>",
    ):
        assert teds(text, whole) == 1.0, text


def test_tsed_is_the_formula_of_the_paper() -> None:
    one, other = Tree.fromstring("(module (if a b) (call c))"), Tree.fromstring("(module (while a b c))")
    distance = EditDistance(insert=0.8)(one, other)
    assert tsed(one, other) == pytest.approx(1 - distance / 6)
    assert tsed("(a b)", "(c d e f g h i j)", rename=9, delete=9, insert=9) == 0.0
    with pytest.raises(DataError, match="source must be one tree"):
        tsed(["(a b)"], "(a b)")


def test_tsed_as_the_program_of_its_authors() -> None:
    """Values that their program (0.1.0 on PyPI) gives with tree-sitter-python."""
    pytest.importorskip("tree_sitter")
    language = pytest.importorskip("tree_sitter_python")
    from tree_sitter import Language, Parser

    parser = Parser(Language(language.language()))

    def parsed(text: str) -> object:
        return parser.parse(text.encode())

    one = "def add(a, b):\n    return a + b\n"
    two = "def add(x, y):\n    total = x + y\n    return total\n"
    three = "for i in range(3):\n    print(i)\n"
    found = [tsed(parsed(a), parsed(b)) for a, b in ((one, one), (one, two), (two, one), (one, three), (three, two))]
    assert found == pytest.approx(TSED, abs=1e-12)


TSED = [1.0, 0.72, 0.6666666666666666, 0.5692307692307692, 0.5066666666666666]

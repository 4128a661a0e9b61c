"""The scorer of roles against what the official script printed, and its rules one by one."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.cli import main
from sapwood.errors import DataError
from sapwood.metrics import RoleScores, score_roles


def scored(gold: str, predicted: str) -> RoleScores:
    def sentences(text: str) -> str:
        cells = text.split()
        rows = [["see" if at == cells.index("V") else "-" for at in range(len(cells))]]
        column, last = [], ""
        for at, cell in enumerate(cells):
            begins = cell not in (".", last) or cell.endswith("'")
            ends = at + 1 == len(cells) or cells[at + 1] != cell
            label = cell.rstrip("'")
            column.append("*" if cell == "." else f"{f'({label}' if begins else ''}*{')' if ends else ''}")
            last = cell
        rows.append(column)
        return "".join(" ".join(row) + "\n" for row in zip(*rows, strict=True)) + "\n"

    return score_roles(
        list(corpora.conll05.read(io.StringIO(sentences(gold)))),
        list(corpora.conll05.read(io.StringIO(sentences(predicted)))),
    )


def counts(scores: RoleScores) -> tuple[int, int, int]:
    overall = scores.overall
    return overall.correct, overall.predicted - overall.correct, overall.gold - overall.correct


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ("A1 V C-A1", "A1 V C-A1", (1, 0, 0)),
        ("A1 V C-A1", "A1 V A1", (0, 2, 1)),
        ("A1 V C-A1", "A1 V .", (0, 1, 1)),
        ("V A1 A1", "V C-A1 C-A1", (1, 0, 0)),
        ("A0 R-A0 V", "A0 A0' V", (1, 1, 1)),
        ("A1 A1' V C-A1", "A1 A1' V C-A1", (2, 0, 0)),
        ("A0 V V", "A0 V .", (1, 0, 0)),
        ("A0 V .", ". V .", (0, 0, 1)),
    ],
)
def test_rules(gold: str, predicted: str, expected: tuple[int, int, int]) -> None:
    assert counts(scored(gold, predicted)) == expected


def test_predicates_of_another_form_lose_their_arguments() -> None:
    gold = list(corpora.conll05.read(io.StringIO("- (A0*)\nsee (V*)\n\n")))
    scores = score_roles(gold, list(corpora.conll05.read(io.StringIO("- (A0*)\nsaw (V*)\n\n"))))
    assert counts(scores) == (0, 0, 1)
    assert "predicted as 'saw'" in scores.warnings[0]
    # Predicates that are missing lose them too; those that are too many cost nothing.
    assert counts(score_roles(gold, corpora.conll05.read(io.StringIO("-\n-\n\n")))) == (0, 0, 1)
    scores = score_roles(
        gold, list(corpora.conll05.read(io.StringIO("be * (V*)\nsee (V*) *\n\n".replace("* (V*)", "(A0*) (V*)", 1))))
    )
    assert scores.propositions == 1


def test_wrong_predicate_spans_do_not_spoil_a_proposition() -> None:
    scores = scored("A0 V V", "A0 V .")
    assert scores.perfect == 1
    assert scores.roles["V"].correct == 0


def test_labels_spans_and_kinds_are_scored_apart() -> None:
    scores = scored("A0 V A1 AM-TMP", "A1 V A1' AM-TMP")
    assert counts(scores) == (2, 1, 1)
    assert scores.unlabeled.f1 == 1.0
    assert scores.label_accuracy == pytest.approx(2 / 3)
    assert (scores.core.correct, scores.core.gold) == (1, 2)
    assert scores.adjuncts.f1 == 1.0
    assert scores.confusions["A0", "A1"] == 1
    assert scores.sentence_counts == ((2, 3, 3),)


def test_files_that_are_not_aligned_are_refused() -> None:
    one, two = (list(corpora.conll05.read(io.StringIO(text))) for text in ("-\n\n", "-\n-\n\n"))
    with pytest.raises(DataError, match="sentence 0: 1 words in the gold standard but 2"):
        score_roles(one, two)
    with pytest.raises(DataError, match="1 gold sentences but 2"):
        score_roles(one, one + one)


def test_the_table_is_what_the_official_scorer_printed(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = data / "conll05" / "scorer-fixture"
    printed = (folder / "srl-eval.out").read_text().rstrip()
    gold, predicted = (
        list(corpora.conll05.read(folder / "gold.props.gz")),
        list(corpora.conll05.read(folder / "pred.props.gz")),
    )
    assert str(score_roles(gold, predicted)) == printed
    # What is written reads the same, on the command line too.
    corpora.conll05.write(predicted, tmp_path / "again.props")
    assert main(["score", "roles", str(folder / "gold.props.gz"), str(tmp_path / "again.props")]) == 0
    assert capsys.readouterr().out.rstrip() == printed

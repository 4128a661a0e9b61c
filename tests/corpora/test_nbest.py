from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from sapwood import corpora
from sapwood.corpora.nbest import NBest
from sapwood.errors import BracketError, DataError, FormatError
from sapwood.trees import Tree, TreeArray

RECORD = {
    "fold": 2,
    "gold": "(S (NP a))",
    "gold_brackets": 2,
    "parses": [[-1.5, 1.0, 2, 2, "(S (NP a))"], [-2.25, 0.5, 1, 2, "(S (VP a))"]],
}
BLLIP = "2\tdoc-1\n-1.5\n(S1 (NP (NN a)))\n-2.0\n(S1 (VP (NN a)))\n\n1\tdoc-2\n-0.5\n(S1 (UH no))\n"


def same(one: NBest, other: NBest) -> bool:
    return json.dumps(_plain(one)) == json.dumps(_plain(other))


def _plain(one: NBest) -> list[object]:
    arrays = [None if values is None else values.tolist() for values in (one.scores, one.f1, one.matched, one.brackets)]
    return [one.parses.to_strings(), str(one.gold), one.name, one.fold, one.gold_brackets, *arrays]


def test_json_lines() -> None:
    (one,) = list(corpora.nbest.read(io.StringIO(json.dumps(RECORD))))
    assert len(one) == 2
    assert one.gold == Tree.fromstring("(S (NP a))")
    assert one.scores.tolist() == [-1.5, -2.25]
    assert one.f1 is not None
    assert one.f1.tolist() == [1.0, 0.5]
    assert (one.fold, one.gold_brackets) == (2, 2)


def test_text_of_bllip() -> None:
    first, second = list(corpora.nbest.read(io.StringIO(BLLIP)))
    assert (first.name, len(first), second.name) == ("doc-1", 2, "doc-2")
    assert str(second.parses[0]) == "(S1 (UH no))"


def test_round_trips(tmp_path: Path) -> None:
    lists = list(
        corpora.nbest.read([io.StringIO(json.dumps(RECORD) + '\n{"parses": [[0.1, "(A b)"]]}'), io.StringIO(BLLIP)])
    )
    for name in ("n.jsonl", "n.jsonl.xz"):
        corpora.nbest.write(lists, tmp_path / name)
        assert all(map(same, lists, list(corpora.nbest.read(tmp_path / name))))
    corpora.nbest.write(lists[2:], tmp_path / "n.txt", format="bllip")
    assert all(map(same, lists[2:], list(corpora.nbest.read(tmp_path / "n.txt"))))


def test_unequal_lengths_and_infinite_scores_are_refused(tmp_path: Path) -> None:
    for scores in ([1.0, 2.0], [np.inf]):
        with pytest.raises(DataError, match="list 0"):
            corpora.nbest.write([NBest(TreeArray(["(A b)"]), np.array(scores))], tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", 'expected an object with a list "parses"'),
        ('{"parses": []}', 'expected an object with a list "parses"'),
        ('{"parses": [[1, "(A b)"], [1, 1, 1, 1, "(A b)"]]}', "every parse must be"),
        ('{"parses": [[1]]}', "every parse must be"),
        ('{"parses": [[1, 2]]}', "the tree of a parse must be text"),
        ('{"parses": [[NaN, "(A b)"]]}', "expected a finite number as the score"),
        ('{"parses": [["x", "(A b)"]]}', "expected a finite number as the score"),
        ('{"parses": [[1, 1, -2, 1, "(A b)"]]}', "matched must be a number of at least 0"),
        ('{"parses": [[1, "(A b) (C d)"]]}', "expected one tree here, found 2"),
        ('{"gold": 3, "parses": [[1, "(A b)"]]}', "the gold tree must be text"),
    ],
)
def test_faults_in_json(text: str, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(corpora.nbest.read(io.StringIO(json.dumps(RECORD) + "\n" + text), format="json"))
    assert reason in caught.value.reason
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("two\tx\n", 1, "expected the number of parses"),
        ("2\tx\n-1\n(A b)\n", 1, "its parse 2 has no score; it is cut off"),
        ("1\tx\n-1\n\n", 3, "its parse 1 has no tree"),
        ("1\tx\nbad\n(A b)\n", 2, "expected a finite number as the score"),
        ("0\tx\n", 1, "a list of no parses"),
    ],
)
def test_faults_in_bllip(text: str, line: int, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(corpora.nbest.read(io.StringIO(text)))
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_a_broken_tree_is_named() -> None:
    with pytest.raises(BracketError, match="<stream>:2:"):
        list(corpora.nbest.read(io.StringIO(json.dumps(RECORD) + '\n{"parses": [[1, "(A b"]]}')))


@pytest.mark.slow
def test_counts(data: Path) -> None:
    sizes = [len(one) for one in corpora.nbest.read(data / "nbest-wsj-sample/wsj_sample_30best.jsonl.xz")]
    assert (len(sizes), sum(sizes)) == (3629, 108534)

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.corpora.pairs import SentencePair
from sapwood.errors import DataError, FormatError, ParameterError

SHORT = "is_duplicate\tquestion1\tquestion2\n"
FULL = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
MSR = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"


def test_quotes_in_the_short_table_stay_within_a_line() -> None:
    first, second = list(corpora.pairs.read(io.StringIO(SHORT + '1\t"a, ""b"" c"\td\r\n0\t"open\tit "is" so\n')))
    assert first == SentencePair('a, "b" c', "d", True)
    assert second == SentencePair('"open', 'it "is" so', False)


def test_quoted_fields_of_the_full_table_may_go_over_lines() -> None:
    (pair,) = list(corpora.pairs.read(io.StringIO(FULL + '7\t1\t2\t"first\tline\nsecond ""line"""\tother\t1\n')))
    assert pair == SentencePair('first\tline\nsecond "line"', "other", True, ("7", "1", "2"))


def test_round_trips(tmp_path: Path) -> None:
    short = [
        SentencePair('"quoted" start', "b", True),
        SentencePair("a\u2028b", 'he said "no"', False),
    ]
    full = [
        SentencePair("tab\there\nand line", '"', True, ("1", "2", "3")),
        SentencePair("c", "d", False, ("4", "5", "6")),
    ]
    msr = [SentencePair('"Rain", he said', "b", True, ("1", "2"))]
    for pairs, format in ((short, "quora"), (full, "quora"), (msr, "msr")):
        for name in ("p.tsv", "p.tsv.gz"):
            corpora.pairs.write(pairs, tmp_path / name, format=format)
            assert list(corpora.pairs.read(tmp_path / name)) == pairs
    assert (tmp_path / "p.tsv").read_bytes().startswith(b"\xef\xbb\xbfQuality\t")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot hold"):
        corpora.pairs.write([SentencePair("a\tb", "c", True)], tmp_path / "x")
    with pytest.raises(DataError, match="cannot hold"):
        corpora.pairs.write([SentencePair("a", "b", True)], tmp_path / "x", format="msr")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (SHORT + "1\ta\tb\n1\ta\n", 3, "expected 3 columns with a tab between them, found 2"),
        (SHORT + "2\ta\tb\n", 2, "expected 0 or 1 as is_duplicate, found '2'"),
        (SHORT + "1\ta\t \n", 2, "one of the two texts is empty"),
        ("question1\tquestion2\n", 1, "expected the header"),
        (FULL + '1\t2\t3\t"a\tb\t1\n', 2, "a quoted field is never closed"),
        (FULL + '1\t2\t3\t"a"b\tc\t1\n', 2, "text after the closing quote"),
    ],
)
def test_faults_in_quora(text: str, line: int, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(corpora.pairs.read(io.StringIO(text)))
    assert reason in caught.value.reason
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (MSR + "1\t1\t2\ta\n", 2, "expected 5 columns"),
        (MSR + "x\t1\t2\ta\tb\n", 2, "expected 0 or 1"),
        (MSR + "1\t1\t2\ta\t\n", 2, "one of the two texts is empty"),
        ("1\t1\t2\ta\tb\n", 1, "expected the header"),
    ],
)
def test_faults_in_msr(text: str, line: int, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(corpora.pairs.read(io.StringIO(text)))
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_faulty_rows_can_be_left_out_but_not_in_silence() -> None:
    text = SHORT + "1\ta\tb\n1\ta\n0\tc\td\n"
    with pytest.warns(UserWarning, match="left out 1 faulty rows: <stream>:3: expected 3 columns"):
        assert len(list(corpora.pairs.read(io.StringIO(text), faulty="skip"))) == 2
    with pytest.raises(ParameterError, match="faulty must be"):
        list(corpora.pairs.read(io.StringIO(text), faulty="ignore"))  # type: ignore[arg-type]


def test_quora_counts(data: Path) -> None:
    with pytest.warns(UserWarning, match="left out 3 faulty rows"):
        train = list(corpora.pairs.read(data / "quora/quora_train.txt.gz", faulty="skip"))
    test = list(corpora.pairs.read(data / "quora/quora_test.txt.gz"))
    assert (len(train), sum(pair.same for pair in train)) == (7993, 2958)
    assert (len(test), sum(pair.same for pair in test)) == (1999, 777)
    with pytest.raises(FormatError, match=r"quora_train\.txt\.gz:1055:1: expected 3 columns"):
        list(corpora.pairs.read(data / "quora/quora_train.txt.gz"))


def test_msr_counts(data: Path) -> None:
    train = list(corpora.pairs.read(data / "msr-paraphrase/msr_paraphrase_train.txt.gz"))
    assert (len(train), sum(pair.same for pair in train)) == (4076, 2753)
    assert len(list(corpora.pairs.read(data / "msr-paraphrase/msr_paraphrase_test.txt.gz"))) == 1725

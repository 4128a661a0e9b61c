from __future__ import annotations

import io
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.errors import DataError, FormatError
from sapwood.trees.dependency_sentence import DependencySentence, Row

TEXT = """# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\tCase=Acc|Person=1\t1\tobj\t1:obj\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\tSpaceAfter=No
5.1\tya\tya\tADV\t_\t_\t_\t_\t1:advmod\t_

1\tSí\tsí\tINTJ\tUH\t_\t0\troot\t_\t_

"""


WORD = TEXT.splitlines()[3]


def edited(old: str, new: str) -> io.StringIO:
    assert old in TEXT
    return io.StringIO(TEXT.replace(old, new, 1))


def test_words_heads_and_metadata() -> None:
    first, second = list(corpora.conllu.read(io.StringIO(TEXT)))
    assert first.words == ("vamos", "nos", "a", "el", "mar")
    assert first.heads == (0, 1, 5, 5, 1)
    assert first.root == 1
    assert first.metadata == {"sent_id": "1", "text": "vámonos al mar"}
    assert len(first.rows) == 8
    assert second.tokens[0].xpos == "UH"


def test_round_trip_to_the_byte(tmp_path: Path) -> None:
    for name in ("a.conllu", "a.conllu.gz", "a.conllu.xz"):
        path = tmp_path / name
        corpora.conllu.write(list(corpora.conllu.read(io.StringIO(TEXT))), path)
        assert list(corpora.conllu.read(path)) == list(corpora.conllu.read(io.StringIO(TEXT)))
    assert (tmp_path / "a.conllu").read_text(encoding="utf-8") == TEXT


def test_unwritable_fields_are_refused(tmp_path: Path) -> None:
    for form in ("a\tb", "a\nb", ""):
        with pytest.raises(DataError, match="CoNLL-U cannot hold"):
            corpora.conllu.write([DependencySentence((Row("1", form, head="0"),))], tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("1\tvamos\tir", "1\tvamos", 4, "expected 10 columns with a tab between them, found 9"),
        (WORD, WORD.replace("\t", " "), 4, "found 1; here blanks stand between them: put tabs there"),
        ("2\tnos", "7\tnos", 5, "expected word number 2, found 7"),
        ("\t5\tcase", "\t9\tcase", 7, "the head is word 9, but the sentence has 5 words"),
        ("\t5\tcase", "\tx\tcase", 7, "as the number of the head, found 'x'"),
        ("\t1\tobl", "\t3\tobl", 7, "word 3 is its own ancestor"),
        ("\t0\troot", "\t2\troot", 4, "exactly one word with head 0, this one has 0"),
        ("3-4", "4-5", 6, "the range 4-5 must start at the next word, 3"),
        ("5.1", "4.1", 10, "'4.1' is no word number"),
        ("SpaceAfter=No", "", 9, "column 10 is empty"),
        ("5\tmar", "# late\n5\tmar", 9, "a comment inside a sentence"),
        ("\n\n1\tSí", "\n\n\n# c\n\n1\tSí", 13, "a sentence without words"),
    ],
)
def test_faults_have_line_and_reason(old: str, new: str, line: int, reason: str) -> None:
    with pytest.raises(FormatError, match="<stream>:") as caught:
        list(corpora.conllu.read(edited(old, new)))
    assert reason in caught.value.reason
    assert caught.value.line == line


@pytest.mark.parametrize("missing", [1, 2])
def test_the_last_blank_line_may_be_missing(missing: int, tmp_path: Path) -> None:
    assert TEXT.endswith("\n\n")
    expected = list(corpora.conllu.read(io.StringIO(TEXT)))
    assert list(corpora.conllu.read(io.StringIO(TEXT[:-missing]))) == expected
    for name in ("a.conllu", "b.conllu"):
        (tmp_path / name).write_text(TEXT[:-missing], encoding="utf-8")
    assert list(corpora.conllu.read(tmp_path / "*.conllu")) == expected * 2


def test_a_file_cut_off_inside_a_sentence_is_an_error(tmp_path: Path) -> None:
    """After the fourth word, of which one has the fifth for its head, and within a row."""
    text = TEXT[: TEXT.index("5\tmar")]
    with pytest.raises(FormatError, match=r":7:.*head is word 5, .* 4 words; the file ends inside this sentence"):
        list(corpora.conllu.read(io.StringIO(text)))
    with pytest.raises(FormatError, match="expected 10 columns"):
        list(corpora.conllu.read(io.StringIO(text + "5\tmar")))
    with pytest.raises(FormatError, match="without words; the file ends inside this sentence"):
        list(corpora.conllu.read(io.StringIO(TEXT + "# sent_id = 3")))
    (tmp_path / "a").write_text(text, encoding="utf-8")
    (tmp_path / "b").write_text(TEXT, encoding="utf-8")
    with pytest.raises(FormatError, match=r"a:7:.*the file ends inside this sentence"):
        list(corpora.conllu.read([tmp_path / "a", tmp_path / "b"]))


@pytest.mark.slow
def test_gum(data: Path) -> None:
    archive = data / "gum" / "gum-dep-conllu.tar.xz"
    counts: Counter[str] = Counter()
    for sentence in corpora.conllu.read(archive / "dep/*.conllu"):
        name = sentence.metadata["sent_id"]
        counts["reddit" if "_reddit_" in name else name.split("_")[0]] += 1
    assert counts == {"GUM": 13263, "GENTLE": 1334, "reddit": 895}


def test_real_sentences_come_out_as_they_went_in(data: Path, tmp_path: Path) -> None:
    with tarfile.open(data / "gum" / "gum-dep-conllu.tar.xz") as tape:
        member = next(one for one in tape if one.name.endswith(".conllu"))
        content = tape.extractfile(member)
        assert content is not None
        raw = content.read()
    corpora.conllu.write(list(corpora.conllu.read(io.BytesIO(raw))), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == raw

"""What every reader must do with files that are broken in the same ways."""

from __future__ import annotations

import gzip
import io
import lzma
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sapwood import corpora, text_files
from sapwood.errors import BracketError, DataError, FormatError, ParameterError, SapwoodError
from sapwood.trees import iter_tree_blocks, read_trees

READERS: dict[str, tuple[Callable[[Any], Iterator[Any]], str]] = {
    "penn": (iter_tree_blocks, "(S (NP (NN rain)))\n"),
    "corenlp": (corpora.corenlp.read, "(ROOT\n  (NP (NN rain)))\n\n"),
    "corenlp_json": (corpora.corenlp.read, '{"sentences": [{"parse": "(ROOT (NN rain))"}]}\n'),
    "allennlp": (corpora.allennlp.read, '{"verbs": [], "words": ["rain"]}\n'),
    "conllu": (corpora.conllu.read, "1\train\train\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"),
    "kelp": (corpora.kelp.read, "A |BT:t| (NP(NN(rain))) |ET|\n"),
    "questions": (corpora.questions.read, "DESC:def What is rain ?\n"),
    "questions_trees": (corpora.questions.read, "DESC\tdef\tWhy rain ?\t(S (WRB Why) (NN rain) (. ?))\t\n"),
    "quora": (corpora.pairs.read, "is_duplicate\tquestion1\tquestion2\n1\train\tmore rain\n"),
    "msr": (corpora.pairs.read, "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\train\tmore rain\n"),
    "nbest": (corpora.nbest.read, '{"parses": [[-1.0, "(S (NN rain))"]]}\n'),
    "props": (corpora.conll05.read, "rain (V*)\n\n"),
    "conll09": (corpora.conll09.read, "1\train" + "\t_" * 12 + "\n\n"),
    "skeletons": (partial(corpora.propbank_columns.read, format="skeleton"), "f 0 0 rain NN (S(NP*)) - -\n\n"),
    "joined": (corpora.propbank_columns.read, "1\train" + "\t_" * 6 + "\t(S(NP*))\t-\t-\n\n"),
    "prop_instances": (corpora.propbank.read, "rain 0 1 gold rain.01 ----- 0:0-rel\n"),
    "rolesets": (corpora.rolesets.read, '{"id": "bark.01", "name": "rain", "roles": []}\n'),
    "role_lines": (corpora.role_lines.read, '{"words": ["rain"], "propositions": []}\n'),
    "nbest_bllip": (corpora.nbest.read, "1\tx\n-1.0\n(S (NN rain))\n\n"),
}
everyone = pytest.mark.parametrize(("read", "text"), READERS.values(), ids=READERS)


@everyone
def test_good_files_of_all_kinds_are_read(read: Any, text: str, tmp_path: Path) -> None:
    files = {"x.txt": text.encode(), "x.gz": gzip.compress(text.encode()), "x.xz": lzma.compress(text.encode())}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        assert sum(len(one) if hasattr(one, "shape") else 1 for one in read(tmp_path / name)) == 1
    assert len(list(read(str(tmp_path / "x.[gt]*")))) == 2
    assert len(list(read(io.BytesIO(b"\xef\xbb\xbf" + text.encode())))) == 1


@everyone
def test_wrong_encodings_are_placed(read: Any, text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(text.replace("rain", "caf\xe9").encode("latin-1"))
    with pytest.raises(SapwoodError, match=r"x\.txt:\d+:\d+: .*not valid"):
        list(read(path))
    with pytest.raises((DataError, ParameterError), match="unknown encoding"):
        list(read(path, encoding="no-such-encoding"))


@everyone
def test_binary_files_are_refused(read: Any, text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(text.replace("rain", "a\0b").encode())
    with pytest.raises(SapwoodError, match=r"x\.txt:\d+:\d+: "):
        list(read(path))
    path.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(SapwoodError, match=r"x\.txt"):
        list(read(path))


@everyone
def test_empty_and_missing_files_are_errors(read: Any, text: str, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        list(read(tmp_path / "empty"))
    (tmp_path / "full").write_text(text)
    # An empty file among others is no reason to go on as if it were not there.
    with pytest.raises(DataError, match="empty"):
        list(read([tmp_path / "full", tmp_path / "empty"]))
    with pytest.raises(DataError, match="no such file"):
        list(read(tmp_path / "none"))
    with pytest.raises(DataError, match="no file matches"):
        list(read(str(tmp_path / "*.nothing")))
    with pytest.raises(DataError):
        list(read([]))
    with pytest.raises(DataError):
        list(read(3))


@pytest.mark.slow
@everyone
def test_truncated_compressed_files_are_errors(read: Any, text: str, tmp_path: Path) -> None:
    body = text if text.startswith(("is_dup", "Quality")) else text * 3000
    for name, pack in (("x.gz", gzip.compress), ("x.xz", lzma.compress)):
        packed = pack(body.encode())
        (tmp_path / name).write_bytes(packed[: len(packed) - 9])
        with pytest.raises(DataError, match=rf"{name}.*not (a )?whole"):
            list(read(tmp_path / name))
        (tmp_path / name).write_bytes(b"this is not compressed")
        with pytest.raises(DataError, match=rf"{name}"):
            list(read(tmp_path / name))


@everyone
def test_cut_files_never_pass_as_whole(read: Any, text: str) -> None:
    """Cut a file of two items anywhere: an error, or exactly the items that are complete before the cut."""
    header = text[: text.index("\n") + 1] if text.startswith(("is_dup", "Quality")) else ""
    item = text.removeprefix(header)
    whole = header + item * 2
    for cut in range(1, len(whole)):
        complete = max(0, cut - len(header)) // len(item)
        outcome = _outcome(read, whole[:cut])
        # A line may miss its end, or a text its last words, which no reader can know; a whole item is never lost.
        assert outcome in (complete, complete + 1) or re.search(r":\d+:\d+: |<stream>: |empty", str(outcome))


def _outcome(read: Any, text: str) -> int | str:
    try:
        return sum(len(one) if hasattr(one, "shape") else 1 for one in read(io.StringIO(text)))
    except (DataError, BracketError) as error:
        return str(error)


@pytest.mark.slow
@everyone
def test_deep_nesting_does_not_break_the_reader(read: Any, text: str) -> None:
    if text.startswith("DESC\t"):
        text = text.replace("Why rain ?", "Why x ?")
    deep = "(A " * 50_000 + "x" + ")" * 50_000
    if "NN rain" in text:
        text = text.replace("(NN rain)", deep)
    elif "(NN(rain))" in text:
        text = text.replace("(NN(rain))", deep)
    assert list(read(io.StringIO(text)))


def test_lines_without_end_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LONGEST_LINE", 1 << 20)
    with pytest.raises(FormatError, match=":1:1: a line of more than 1 MB"):
        list(corpora.kelp.read(io.StringIO("A" * (1 << 21))))


def test_trees_without_end_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sapwood.trees.treebank._LONGEST_TREE", 1 << 21)
    with pytest.raises(BracketError, match=":2:2: this bracket is not closed within 2 MB"):
        list(iter_tree_blocks(io.StringIO("(A b)\n (A " + "(B c)" * (1 << 20))))


def test_archives(tmp_path: Path) -> None:
    import tarfile
    import zipfile

    (tmp_path / "a.mrg").write_text("(A b)")
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as packed:
        packed.write(tmp_path / "a.mrg", "d/a.mrg")
    with tarfile.open(tmp_path / "t.tar.xz", "w:xz") as tape:
        tape.add(tmp_path / "a.mrg", "d/a.mrg")
    for name in ("z.zip", "t.tar.xz"):
        assert len(read_trees(tmp_path / name / "d/*.mrg")) == 1
        with pytest.raises(DataError, match=r"holds no file that matches"):
            read_trees(tmp_path / name / "d/*.ptb")
        with pytest.raises(DataError, match="is an archive; name the files in it"):
            read_trees(tmp_path / name)
        raw = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(raw[: len(raw) // 2])
        with pytest.raises(DataError, match=rf"{name}.*(not a whole archive|not whole)"):
            read_trees(tmp_path / name / "d/*.mrg")
    with pytest.raises(DataError, match="is a folder"):
        list(corpora.kelp.read(tmp_path))
    with pytest.raises(ParameterError, match="convert them to UTF-8"):
        list(corpora.kelp.read(tmp_path / "a.mrg", encoding="utf-16"))


LONG = "9" * 5000
ROW = "\train\train\tNOUN\tNN\t_\t{head}\troot\t_\t_\n\n"


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("conllu", LONG + ROW.format(head=0)),
        ("conllu", "1" + ROW.format(head=LONG)),
        ("conllu", f"1-{LONG}" + ROW.format(head="_")),
        ("conllu", f"{LONG}.1" + ROW.format(head="_")),
        ("corenlp", f"Sentence #1 ({LONG} tokens):\n"),
        ("corenlp", f'{{"sentences": [{{"index": {LONG}}}]}}\n'),
        ("nbest", f"{LONG}\tx\n-1.0\n(S (NN rain))\n\n"),
        ("nbest", f'{{"parses": [[{LONG}, "(S (NN rain))"]]}}\n'),
        ("propbank", f"rain {LONG} 1 gold rain.01 ----- 0:0-rel\n"),
        ("propbank", f"rain 0 {LONG} gold rain.01 ----- 0:0-rel\n"),
        ("propbank", f"rain 0 1 gold rain.01 ----- 0:{LONG}-rel\n"),
        ("role_lines", f'{{"words": ["rain"], "propositions": [{{"predicate": {LONG}}}]}}\n'),
    ],
)
def test_numbers_without_end_are_placed_like_other_faults(format: str, text: str) -> None:
    with pytest.raises(FormatError, match=r"<stream>:1:\d+: .*digits"):
        list(getattr(corpora, format).read(io.StringIO(text)))

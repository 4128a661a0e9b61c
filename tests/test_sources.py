"""Opening files: what is decoded, where faults are placed, and what names say."""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import types
from pathlib import Path

import pytest

from sapwood import corpora
from sapwood.cli.inputs import is_text
from sapwood.errors import DataError, FormatError, ParameterError
from sapwood.sources import bare_name, open_all
from sapwood.text_files import check_encoding, lines, texts

TEXT = "Zoë saw\nthe 雨 falling\non a roof"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "shift_jis", "utf-7"])
@pytest.mark.parametrize("size", [-1, 1, 2, 7])
def test_text_is_the_same_in_pieces_of_any_size(encoding: str, size: int) -> None:
    text = TEXT.replace("ë", "e")
    (stream,) = open_all(io.BytesIO(text.encode(encoding)))
    assert "".join(texts(stream, encoding, size)) == text


@pytest.mark.parametrize("size", [-1, 1, 3, 1000])
def test_a_byte_that_is_not_valid_is_placed_whatever_the_size_of_pieces(size: int) -> None:
    data = TEXT.encode()
    for at in range(len(data) + 1):
        broken = data[:at] + b"\xff" + data[at:]
        try:
            broken.decode()
        except UnicodeDecodeError as error:
            before = broken[: error.start].decode()
        (stream,) = open_all(io.BytesIO(broken))
        with pytest.raises(FormatError) as caught:
            list(texts(stream, "utf-8", size))
        expected = (before.count("\n") + 1, len(before.split("\n")[-1]) + 1)
        assert (caught.value.line, caught.value.column) == expected
        with pytest.raises(FormatError) as caught:
            list(lines(io.BytesIO(broken)))
        assert (caught.value.line, caught.value.column) == expected


def test_empty_files_only_where_they_are_allowed() -> None:
    assert list(lines(io.BytesIO(b""), allow_empty=True)) == []
    with pytest.raises(DataError, match="<stream>: is empty"):
        list(lines(io.BytesIO(b"")))


def test_encodings() -> None:
    check_encoding("utf-16")
    for encoding in ("klingon", "hex", "idna", None):
        with pytest.raises(ParameterError, match="encoding"):
            check_encoding(encoding)


@pytest.mark.parametrize("name", ["a.mrg", "A.MRG.GZ", "a.mrg.xz", "a.mrg.Bz2", "a.mrg.lzma"])
def test_bare_names(name: str) -> None:
    assert bare_name(Path(name)) == "a.mrg"


def test_what_is_written_under_the_name_of_a_compressed_file_is_compressed(tmp_path: Path) -> None:
    questions = list(corpora.questions.read(io.StringIO("NUM:dist How far is it ?\n")))
    corpora.questions.write(questions, tmp_path / "q.txt.bz2")
    assert b"How far is it ?" in bz2.decompress((tmp_path / "q.txt.bz2").read_bytes())
    assert list(corpora.questions.read(tmp_path / "q.txt.bz2")) == questions


def test_compressed_text_is_text(tmp_path: Path) -> None:
    model = types.SimpleNamespace(parser=object())
    for name, content, expected in (
        ("t.txt.gz", b"It rains.", True),
        ("t.mrg.gz", b"(S (NN rain))", False),
        ("t.conll.gz", b"1 rain", False),
    ):
        (tmp_path / name).write_bytes(gzip.compress(content))
        assert is_text(model, argparse.Namespace(parser=None, lines=False, data=str(tmp_path / name))) is expected

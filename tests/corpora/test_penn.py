from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

import sapwood as sw
from sapwood import corpora
from sapwood.errors import BracketError, DataError
from sapwood.nltk_data import nltk_search_path
from sapwood.text_files import lines
from sapwood.trees import Tree, iter_tree_blocks, read_trees, write_trees


@pytest.mark.slow
def test_search_path_is_that_of_nltk_without_importing_it(tmp_path: Path) -> None:
    code = (
        "import sys; from sapwood.nltk_data import nltk_search_path; ours = nltk_search_path();"
        "assert not any(name.split('.')[0] == 'nltk' for name in sys.modules);"
        "import nltk.data; assert ours[:-1] == nltk.data.path, (ours, nltk.data.path); assert 'sapwood' in ours[-1];"
        "nltk.data.path.insert(0, '/own'); assert nltk_search_path()[0] == '/own'"
    )
    environment = {"NLTK_DATA": f"{tmp_path}:/second", "HOME": str(tmp_path), "PATH": "/usr/bin"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.fixture
def nltk_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delitem(sys.modules, "nltk.data", raising=False)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert nltk_search_path()[0] == str(tmp_path)
    return tmp_path


def test_the_sample_is_found_in_a_folder_and_in_a_zip(nltk_data: Path) -> None:
    folder = nltk_data / "corpora" / "treebank" / "combined"
    folder.mkdir(parents=True)
    (folder / "wsj_0001.mrg").write_text("( (S (NP-SBJ (NN rain))) )\n( (S (NP (NN snow))) )")
    (folder / "wsj_0002.mrg").write_text("( (FRAG (UH no)) )")
    (folder / "README").write_text("no trees")
    assert corpora.find_nltk("treebank") == str(folder.parent)
    assert read_trees(corpora.find_nltk("treebank")).to_strings()[2] == "(FRAG (UH no))"
    with zipfile.ZipFile(nltk_data / "corpora" / "treebank.zip", "w") as packed:
        for name in ("wsj_0001.mrg", "wsj_0002.mrg"):
            packed.write(folder / name, f"treebank/combined/{name}")
            (folder / name).unlink()
    (folder / "README").unlink()
    folder.rmdir()
    folder.parent.rmdir()
    assert len(read_trees(corpora.find_nltk("treebank") + "/combined/*.mrg")) == 3


def test_a_missing_sample_says_how_to_get_it(nltk_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sapwood.nltk_data.nltk_search_path", lambda: [str(nltk_data)])
    with pytest.raises(DataError, match=r"nltk\.downloader treebank"):
        corpora.find_nltk("treebank")


def test_folders_are_searched_for_treebank_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.mrg").write_text("(A b)")
    (tmp_path / "a.ptb").write_text("(A a)")
    (tmp_path / "notes.txt").write_text("not a tree")
    assert [str(tree) for tree in read_trees(tmp_path)] == ["(A a)", "(A b)"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no file under this folder ends in \.mrg, .*; name the files with a pattern"):
        read_trees(tmp_path / "empty")


def test_a_fault_in_one_of_many_files_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("(A a)\n")
    (tmp_path / "b.mrg").write_text("(A a)\n(B (C d)\n")
    with pytest.raises(BracketError, match=r"b\.mrg:2:1: this bracket is never closed"):
        read_trees(tmp_path)


def test_compressed_files_may_have_names_in_capitals(tmp_path: Path) -> None:
    sw.write_trees(["(a b)"], tmp_path / "W.GZ")
    (tmp_path / "W.MRG.XZ").write_bytes(lzma.compress(b"(a b)"))
    (tmp_path / "W.LZMA").write_bytes(lzma.compress(b"(a b)", lzma.FORMAT_ALONE))
    (tmp_path / "W.BZ2").write_bytes(bz2.compress(b"(a b)"))
    names = ("W.GZ", "W.MRG.XZ", "W.LZMA", "W.BZ2")
    for name in names:
        assert read_trees(tmp_path / name).to_strings() == ["(a b)"]
    with zipfile.ZipFile(tmp_path / "all.ZIP", "w") as packed, tarfile.open(tmp_path / "all.TAR", "w") as tape:
        for name in names:
            packed.write(tmp_path / name, name)
            tape.add(tmp_path / name, name)
    for archive in ("all.ZIP", "all.TAR"):
        assert read_trees(tmp_path / archive / "W*").to_strings() == ["(a b)"] * 4


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a\0b", r"'a\\x00b': no file has such a name; it holds a NUL character"),
        (b"q.mrg", r"source is bytes; a path must be text: pass os\.fsdecode\(path\)"),
        ([bytearray(b"q.mrg")], "source is bytes; a path must be text"),
        ("(S (NP dogs))", r"no such file .*Tree\.fromstring\(text\)"),
    ],
)
def test_what_names_no_file(source: Any, message: str) -> None:
    for read in (read_trees, lambda source: list(lines(source))):
        with pytest.raises(DataError, match=message):
            read(source)


def test_round_trip(tmp_path: Path) -> None:
    trees = [Tree.fromstring("(S (NP (NN rain)) (VP (VBZ falls)))"), Tree.fromstring("(NP Zoë)")]
    for name in ("t.mrg", "t.mrg.gz", "t.mrg.XZ", "t.bz2"):
        write_trees(trees, tmp_path / name)
        assert list(read_trees(tmp_path / name)) == trees
    assert len(read_trees(tmp_path)) == 6, "the file t.bz2 does not say that it holds trees"
    assert len(read_trees([tmp_path, tmp_path / "t.bz2"])) == 8
    unpacked = {
        gzip.decompress((tmp_path / "t.mrg.gz").read_bytes()),
        lzma.decompress((tmp_path / "t.mrg.XZ").read_bytes()),
    }
    assert unpacked == {(tmp_path / "t.mrg").read_bytes()} == {bz2.decompress((tmp_path / "t.bz2").read_bytes())}


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("nltk-zips/treebank.zip/treebank/combined/wsj_*.mrg", 3914),
        ("questionbank/4000qs.txt.gz", 4000),
        ("ewt-propbank/train.trees.gz", 12515),
        ("ewt-propbank/dev.trees.gz", 1940),
        ("ewt-propbank/test.trees.gz", 2058),
    ],
)
def test_counts(data: Path, source: str, count: int) -> None:
    assert sum(len(block) for block in iter_tree_blocks(data / source, drop_traces=True)) == count


def test_number_of_files_of_the_sample(data: Path) -> None:
    from sapwood.sources import open_all

    assert sum(1 for _ in open_all(data / "nltk-zips/treebank.zip/treebank/combined/wsj_*.mrg")) == 199


@pytest.mark.slow
def test_gum_sentences_and_tokens(data: Path) -> None:
    readable = {"GUM": [0, 0], "GENTLE": [0, 0]}
    blanked = 0
    archive = data / "gum/gum-const.tar.xz/const"
    for corpus, counts in readable.items():
        for tree in read_trees(archive / f"{corpus}_*.ptb"):
            words = tree.leaves()
            if corpus == "GUM" and all(set(word) == {"_"} for word in words):
                blanked += 1
            else:
                counts[0] += 1
                counts[1] += len(words)
    assert readable == {"GUM": [13263, 233926], "GENTLE": [1334, 17799]}
    assert blanked == 895


@pytest.mark.slow
@pytest.mark.timing
def test_reading_is_fast(data: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(data / "nltk-zips/treebank.zip") as packed:
        packed.extractall(tmp_path, [name for name in packed.namelist() if "/combined/wsj_" in name])
    files = tmp_path / "treebank" / "combined"
    rates = []
    for _ in range(5):
        start = time.process_time()
        count = len(read_trees(files))
        rates.append(count / (time.process_time() - start))
        start = time.process_time()
        count = sum(len(block) for block in iter_tree_blocks(files))
        rates.append(count / (time.process_time() - start))
    # The best of a few runs: a busy machine must not fail the test, a slow reader must.
    assert max(rates[::2]) >= 30_000
    assert max(rates[1::2]) >= 30_000

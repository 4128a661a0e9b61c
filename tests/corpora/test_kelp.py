from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from sapwood.corpora import iter_kelp, kelp_labels, lexical_centred, read_kelp, relation_centred, words_only, write_kelp
from sapwood.corpora.conllu import DependencySentence, Row
from sapwood.corpora.kelp import KelpExample
from sapwood.errors import BracketError, DataError
from sapwood.kernels import PartialTree, SubsetTree
from sapwood.sources import FormatError
from sapwood.trees import Tree, TreeArray

LINE = "NUM |BS:q| How far ? |ES| |BV:bow| _?__.:1.0 a:b:0.5 |EV| |BDV:d| 1.5,2 |EDV| |BT:t| (A(B(x))(C)) |ET| \n"


def test_all_kinds_of_representations() -> None:
    (example,) = read_kelp(io.StringIO(LINE))
    assert example.labels == ("NUM",)
    assert example.strings == {"q": "How far ?"}
    assert example.vectors == {"bow": {"_?__.": 1.0, "a:b": 0.5}}
    assert example.dense == {"d": (1.5, 2.0)}
    assert str(example.trees["t"]) == "(A (B x) C)"
    assert read_kelp(io.StringIO(LINE), trees=())[0].trees == {}


def test_round_trip(tmp_path: Path) -> None:
    examples = read_kelp(io.StringIO(LINE * 3 + "A B |BT:t| (X) |ET|\n"))
    for name in ("x.klp", "x.klp.gz"):
        write_kelp(examples, tmp_path / name)
        assert read_kelp(tmp_path / name) == examples


@pytest.mark.parametrize(
    "example",
    [
        KelpExample(("two words",)),
        KelpExample(("A",), strings={"q": "a |ES| b"}),
        KelpExample(("A",), vectors={"v": {"a b": 1.0}}),
        KelpExample(("A",), trees={"t": Tree("(")}),
    ],
)
def test_what_cannot_be_written_is_refused(example: KelpExample, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot hold"):
        write_kelp([example], tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("NUM no marks", 1, "no representation"),
        ("NUM |BT:t| (A(B)) ", 5, "is not closed by |ET|"),
        ("NUM |BX:t| a |EX|", 5, "is none of the kinds read here"),
        ("NUM |BV:v| a |EV|", 12, "not of the form feature:value"),
        ("NUM |BV:v| a:nan |EV|", 12, "expected a finite number"),
        ("NUM |BS:q| a |ES| |BS:q| b |ES|", 19, "is used twice"),
        ("NUM |BS:q| a |ES| rest", 19, "expected the start of a representation"),
        ("", 1, "a blank line"),
    ],
)
def test_faults_have_place_and_reason(text: str, column: int, reason: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_kelp(io.StringIO(LINE + text + "\n"))
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (2, column)


def test_a_broken_tree_is_placed_in_the_file() -> None:
    with pytest.raises(BracketError) as caught:
        read_kelp(io.StringIO(LINE + "NUM |BT:t| (A(B) |ET|\n"))
    assert (caught.value.line, caught.value.column) == (2, 12)


def test_counts_and_labels(data: Path) -> None:
    folder = data / "trec-qc-kelp"
    assert sum(1 for _ in iter_kelp(folder / "train_5500.coarse.klp.gz", trees=())) == 5452
    test = read_kelp(folder / "TREC_10.coarse.klp.gz", trees=("grct",))
    assert len(test) == 500
    assert {example.labels[0] for example in test} == {"ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"}
    assert set(read_kelp(folder / "TREC_10.coarse.klp.gz")[0].trees) == {"grct", "lct", "loct", "cgrct", "clct"}


@pytest.fixture(scope="module")
def grct(data: Path) -> TreeArray:
    examples = iter_kelp(data / "trec-qc-kelp/TREC_10.coarse.klp.gz", trees=("grct",))
    return TreeArray([example.trees["grct"] for example in examples])


@pytest.mark.parametrize(
    ("file", "kernel"),
    [
        ("sstk_scores.txt", SubsetTree(decay=0.4, bag_of_words=True)),
        ("ptk_scores.txt", PartialTree(decay=0.4, depth_decay=0.4, terminal_factor=5.0)),
    ],
)
def test_published_kernel_scores(data: Path, grct: TreeArray, file: str, kernel: SubsetTree | PartialTree) -> None:
    published = np.loadtxt(data / "trec-qc-kelp" / "kernel-scores" / file)
    assert published.shape == (499,)
    K = kernel.normalized()(grct)
    # KeLP computes in single precision.
    assert np.abs(np.diagonal(K, 1) - published).max() < 1e-6


def dependencies(grct: Tree) -> DependencySentence:
    """Take a relation-centred tree of KeLP apart into words, tags and heads."""
    words: list[dict[str, str]] = []
    heads: list[int] = []

    def visit(node: Tree) -> int:
        below = []
        own = -1
        for child in node.children:
            if child.label.startswith("POS##"):
                lemma = child.children[0].label.removeprefix("LEX##").rpartition("::")[0]
                own = len(words)
                words.append({"form": lemma, "tag": child.label.removeprefix("POS##"), "rel": node.label[6:]})
                heads.append(-1)
            else:
                below.append(visit(child))
        for child in below:
            heads[child] = own
        return own

    visit(grct)
    return DependencySentence(
        tuple(
            Row(str(at + 1), word["form"], word["form"], "_", word["tag"], "_", str(head + 1), word["rel"])
            for at, (word, head) in enumerate(zip(words, heads, strict=True))
        )
    )


def test_our_shapes_are_those_of_kelp(data: Path) -> None:
    compared = 0
    for example in iter_kelp(data / "trec-qc-kelp/TREC_10.coarse.klp.gz", trees=("grct", "lct", "loct")):
        sentence = dependencies(example.trees["grct"])
        options = {"labels": kelp_labels, "drop_relations": ()}
        assert relation_centred(sentence, **options) == example.trees["grct"]
        assert lexical_centred(sentence, **options) == example.trees["lct"]
        assert words_only(sentence, **options) == example.trees["loct"]
        compared += 1
    assert compared == 500

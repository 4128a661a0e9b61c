from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from sapwood import corpora
from sapwood.corpora.kelp import KelpExample
from sapwood.errors import BracketError, DataError, FormatError
from sapwood.kernels import PartialTree, SubsetTree
from sapwood.trees import Tree, TreeArray
from sapwood.trees.dependency_sentence import DependencySentence, Row

LINE = "NUM |BS:q| How far ? |ES| |BV:bow| _?__.:1.0 a:b:0.5 |EV| |BDV:d| 1.5,2 |EDV| |BT:t| (A(B(x))(C)) |ET| \n"


def test_all_kinds_of_representations() -> None:
    (example,) = list(corpora.kelp.read(io.StringIO(LINE)))
    assert example.labels == ("NUM",)
    assert example.strings == {"q": "How far ?"}
    assert example.vectors == {"bow": {"_?__.": 1.0, "a:b": 0.5}}
    assert example.dense == {"d": (1.5, 2.0)}
    assert str(example.trees["t"]) == "(A (B x) C)"
    assert next(corpora.kelp.read(io.StringIO(LINE), trees=())).trees == {}


def test_round_trip(tmp_path: Path) -> None:
    examples = list(corpora.kelp.read(io.StringIO(LINE * 3 + "A B |BT:t| (X) |ET|\n")))
    for name in ("x.klp", "x.klp.gz"):
        corpora.kelp.write(examples, tmp_path / name)
        assert list(corpora.kelp.read(tmp_path / name)) == examples


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
        corpora.kelp.write([example], tmp_path / "x")
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
        list(corpora.kelp.read(io.StringIO(LINE + text + "\n")))
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (2, column)


def test_a_broken_tree_is_placed_in_the_file() -> None:
    with pytest.raises(BracketError) as caught:
        list(corpora.kelp.read(io.StringIO(LINE + "NUM |BT:t| (A(B) |ET|\n")))
    assert (caught.value.line, caught.value.column) == (2, 12)


@pytest.mark.slow
def test_counts_and_labels(data: Path) -> None:
    folder = data / "trec-qc-kelp"
    assert sum(1 for _ in corpora.kelp.read(folder / "train_5500.coarse.klp.gz", trees=())) == 5452
    test = list(corpora.kelp.read(folder / "TREC_10.coarse.klp.gz", trees=("grct",)))
    assert len(test) == 500
    assert {example.labels[0] for example in test} == {"ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"}
    every = next(corpora.kelp.read(folder / "TREC_10.coarse.klp.gz"))
    assert set(every.trees) == {"grct", "lct", "loct", "cgrct", "clct"}


@pytest.fixture(scope="module")
def grct(data: Path) -> TreeArray:
    examples = corpora.kelp.read(data / "trec-qc-kelp/TREC_10.coarse.klp.gz", trees=("grct",))
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
    for example in corpora.kelp.read(data / "trec-qc-kelp/TREC_10.coarse.klp.gz", trees=("grct", "lct", "loct")):
        sentence = dependencies(example.trees["grct"])
        options = {"labels": "kelp", "drop_relations": ()}
        assert sentence.to_tree("relation", **options) == example.trees["grct"]
        assert sentence.to_tree("lexical", **options) == example.trees["lct"]
        assert sentence.to_tree("words", **options) == example.trees["loct"]
        compared += 1
    assert compared == 500

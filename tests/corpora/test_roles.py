"""Readers and writers of semantic roles."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood import corpora
from sapwood.corpora.columns import bits_of
from sapwood.corpora.propbank import PropInstance
from sapwood.errors import DataError, FormatError
from sapwood.trees import Argument, Proposition, RoleSentence, Tree, read_trees
from sapwood.trees.propositions import long_role, pieces, short_role
from strategies import role_sentences

TREE = "(S (NP (DT The) (NN cat)) (VP (VBD saw) (NP (PRP it))) (. .))"
SENTENCE = RoleSentence(
    ("The", "cat", "saw", "it", "."),
    (Proposition(2, "see", (Argument("A0", 0, 1), Argument("V", 2, 2), Argument("A1", 3, 3)), "see.01"),),
    Tree.fromstring(TREE),
    "one",
)


def props(text: str) -> list[RoleSentence]:
    return list(corpora.conll05.read(io.StringIO(text)))


@pytest.mark.slow
@given(st.lists(role_sentences(), min_size=1, max_size=4))
def test_props_come_back(tmp_path_factory: pytest.TempPathFactory, sentences: list[RoleSentence]) -> None:
    path = tmp_path_factory.mktemp("props") / "x.props.gz"
    corpora.conll05.write(sentences, path)
    assert list(corpora.conll05.read(path)) == sentences


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("see (A0*\n- (A1*)\n\n", r":2:3: A1 begins inside A0"),
        ("see *)\n\n", r":1:5: an argument ends here, but none has begun"),
        ("see (A0*\n- *A1)\n\n", r":2:3: A1 ends here, but A0 is what began"),
        ("-  *\nsee (A0*\n\n", r":1:1: .* 1 predicates|:2:5: A0 begins here and never ends"),
        ("see A0\n\n", r":1:5: expected a cell such as"),
        ("see (V*) *\n\n", r"1 predicates but 2 columns"),
        ("see (V*)\n- * *\n\n", r":2:1: expected 2 columns"),
    ],
)
def test_broken_props_are_placed(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        props(text)


def test_what_columns_cannot_hold_is_not_written(tmp_path: Path) -> None:
    def written(*arguments: Argument, predicate: int = 0, lemma: str = "see") -> None:
        corpora.conll05.write([RoleSentence(("a", "b"), (Proposition(predicate, lemma, arguments),))], tmp_path / "x")

    with pytest.raises(DataError, match="A0 and A1 of 'see' both cover word 1"):
        written(Argument("A0", 0, 1), Argument("A1", 1, 1))
    with pytest.raises(DataError, match="covers words 1 to 2; the sentence has 2"):
        written(Argument("A0", 1, 2))
    with pytest.raises(DataError, match="is word 2; the sentence has 2 words"):
        written(predicate=2)
    with pytest.raises(DataError, match="base form '-'"):
        written(lemma="-")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        ("a (S*\nb *\n\n", "1 brackets are still open"),
        ("a (S*)\nb *\n\n", ":2:3: the tree was closed before"),
        ("a *\nb *)\n\n", ":1:3: this word stands under no bracket"),
        ("a (S*\nb *))\n\n", ":2:3: a bracket closes here"),
        ("a (S*\n\n", "1 words here and 2 at"),
        ("a (S*\nb *)\n\na (S*)\n\n", "sentence 1 has no counterpart in the file of propositions"),
    ],
)
def test_broken_syntax_is_placed(bits: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        list(corpora.conll05.read(io.StringIO("-\n-\n\n"), syntax=io.StringIO(bits)))


def test_the_shared_task_has_its_published_size(data: Path) -> None:
    root = data / "conll05" / "conll05st-release-nowords.tar" / "conll05st-release"
    sentences = list(corpora.conll05.read_release(root, "test.brown"))
    arguments = [a for s in sentences for p in s.propositions for a in p.arguments]
    assert (len(sentences), sum(len(s.propositions) for s in sentences)) == (426, 804)
    assert sum(a.role != "V" for a in arguments) == 2201
    assert sentences[1].words[0] == "Scotty"
    assert all(s.tree is not None and s.tree.leaves() == s.words for s in sentences)
    first = next(corpora.conll05.read_release(root, "devel"))
    assert first.words[0] == "_"
    assert first.propositions[0].roleset == f"{first.propositions[0].lemma}.01"


def test_joined_columns_agree_with_the_trees_beside_them(data: Path) -> None:
    folder = data / "ewt-propbank"
    sentences = list(islice(corpora.propbank_columns.read(folder / "test.conll.gz"), 300))
    with gzip.open(folder / "test.trees.gz", "rt") as stream:
        trees = list(islice(read_trees(io.StringIO("".join(islice(stream, 300)))), 300))
    # The columns have brackets as they are, the trees have them escaped.
    assert [str(s.tree) for s in sentences] == [str(tree) for tree in trees]
    assert {a.role for s in sentences for p in s.propositions for a in p.arguments} >= {"A0", "AM-TMP", "R-A0", "V"}


@pytest.mark.slow
def test_pointers_agree_with_spans_made_elsewhere(data: Path) -> None:
    """``prop.txt`` and the table of spans beside it were made from the same annotation by another program."""
    instances = list(corpora.propbank.read(data / "propbank-wsj" / "prop.txt"))
    assert len(instances) == 10_307
    trees: dict[str, list[Tree]] = {}
    with zipfile.ZipFile(data / "nltk-zips" / "treebank.zip") as archive:
        for name in sorted({one.file for one in instances})[:40]:
            text = archive.read(f"treebank/combined/{name}").decode()
            trees[name] = [tree for tree in read_trees(io.StringIO(text)) if isinstance(tree, Tree)]
    spans = {}
    with gzip.open(data / "propbank-wsj" / "wsj_props.jsonl.gz", "rt") as stream:
        for line in stream:
            record = json.loads(line)
            for one in record["preds"]:
                arguments = {(label.replace("C-", ""), first, last) for label, first, last in one["args"]}
                spans[f"{record['file']}.mrg", record["sent"], one["token"]] = arguments
    compared = 0
    for instance in instances:
        if instance.file in trees:
            made = instance.proposition(trees[instance.file][instance.sentence])
            found = {(long_role(a.role).replace("C-", ""), a.first, a.last) for a in made.arguments}
            found -= {(role, first, last) for role, first, last in found if role == "V" and first == made.predicate}
            assert found == spans[instance.file, instance.sentence, made.predicate], str(instance)
            compared += 1
    assert compared > 1500


def test_prop_lines_come_back(tmp_path: Path) -> None:
    text = (
        "wsj_0001.mrg 0 8 gold join.01 vf--a 0:2-ARG0 8:0-rel 9:1*4:1,5:1-ARG1\n"
        "a.parse 0 1 gold take-v take.LV ----- 0:1;3:0-ARG0 1:0-rel 0:1*2:0-LINK-PRO\n"
    )
    instances = list(corpora.propbank.read(io.StringIO(text)))
    assert [one.frame for one in instances] == ["", "take-v"]
    assert instances[0].chain(2) == (((9, 1),), ((4, 1), (5, 1)))
    corpora.propbank.write(instances, tmp_path / "prop.txt")
    assert (tmp_path / "prop.txt").read_text() == text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("wsj 0 x gold join.01 ----- 0:0-rel", ":1:7: expected a whole number"),
        ("wsj 0 0 gold join ----- 0:0-rel", ":1:14: expected a roleset|expected an inflection"),
        ("wsj 0 0 gold join.01 ----- 0:0rel", ":1:28: expected a pointer"),
        ("wsj 0 0 gold", "expected file, sentence"),
    ],
)
def test_broken_prop_lines_are_placed(line: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        list(corpora.propbank.read(io.StringIO(line)))


def surfaced(pointers: dict[str, str], tree: str, word: int) -> list[tuple[str, tuple[int, int]]]:
    instance = PropInstance("f", 0, word, "gold", "be.01", "-----", tuple(pointers.items()))
    return [(a.role, a.span) for a in instance.proposition(Tree.fromstring(tree)).arguments]


def test_chains_splits_links_and_overlaps_become_spans() -> None:
    tree = "(S (NP (NN a) (NN b)) (VP (VBD c) (S (NP (-NONE- *)) (VP (TO d) (VP (VB e) (NP (NN f)))))))"
    # A trace has no words; what it is coindexed with has.
    assert surfaced({"rel": "5:0", "ARG0": "0:1*3:0"}, tree, 5) == [("A0", (0, 1)), ("V", (4, 4))]
    assert surfaced({"rel": "5:0", "ARG0": "3:0", "LINK-PRO": "0:1*3:0"}, tree, 5) == [("A0", (0, 1)), ("V", (4, 4))]
    assert surfaced({"rel": "2:0", "ARG1": "0:1,4:1"}, tree, 2) == [("A1", (0, 1)), ("V", (2, 2)), ("C-A1", (3, 5))]
    assert surfaced({"rel": "2:0", "ARG1": "0:0,1:0"}, tree, 2) == [("A1", (0, 1)), ("V", (2, 2))]
    assert surfaced({"rel": "2:0", "ARG1": "0:0*1:0"}, tree, 2)[:2] == [("A1", (0, 0)), ("C-A1", (1, 1))]
    # Of arguments that overlap the last one listed stays.
    assert surfaced({"rel": "2:0", "ARG1": "0:1", "ARG2": "1:0"}, tree, 2) == [("A2", (1, 1)), ("V", (2, 2))]
    assert surfaced({"rel": "2:0", "ARG1-DSP": "0:3", "ARG0": "1:0"}, tree, 2) == [
        ("A1-DSP", (0, 0)),
        ("A0", (1, 1)),
        ("V", (2, 2)),
        ("C-A1-DSP", (3, 5)),
    ]
    with pytest.raises(DataError, match="points at leaf 9"):
        surfaced({"rel": "2:0", "ARG1": "9:0"}, tree, 2)
    with pytest.raises(DataError, match="above the root"):
        surfaced({"rel": "2:0", "ARG1": "0:3"}, tree, 2)
    with pytest.raises(DataError, match="is a trace"):
        surfaced({"rel": "3:0"}, tree, 3)


def test_conll09_puts_roles_on_heads(tmp_path: Path) -> None:
    corpora.conll09.write([SENTENCE], tmp_path / "x.conll09")
    (back,) = corpora.conll09.read(tmp_path / "x.conll09")
    assert back.words == SENTENCE.words
    (proposition,) = back.propositions
    assert (proposition.predicate, proposition.lemma, proposition.roleset) == (2, "see", "see.01")
    assert [(a.role, a.span) for a in proposition.arguments] == [("A0", (1, 1)), ("A1", (3, 3))]
    heads = [line.split("\t")[8] for line in (tmp_path / "x.conll09").read_text().splitlines() if line]
    assert heads == ["2", "3", "0", "3", "3"]


def test_columns_with_trees_come_back(tmp_path: Path) -> None:
    named = replace(SENTENCE, name="file:3")
    corpora.propbank_columns.write([named], tmp_path / "x.gold_skel", format="skeleton")
    assert list(corpora.propbank_columns.read(tmp_path / "x.gold_skel", format="skeleton")) == [named]
    assert "ARG0" in (tmp_path / "x.gold_skel").read_text()
    corpora.propbank_columns.write([named, SENTENCE], tmp_path / "x.conll.gz")
    assert [replace(s, name="") for s in (named, SENTENCE)] == list(
        corpora.propbank_columns.read(tmp_path / "x.conll.gz")
    )
    with pytest.raises(DataError, match="has no tree over its words"):
        corpora.propbank_columns.write([replace(SENTENCE, tree=None)], tmp_path / "x")
    with pytest.raises(DataError, match="'NP' has no tag of its own"):
        bits_of(Tree.fromstring("(S (NP (NN a)) NP)"))


def test_json_lines_come_back(tmp_path: Path) -> None:
    corpora.role_lines.write([SENTENCE, SENTENCE], tmp_path / "x.jsonl")
    assert list(corpora.role_lines.read(tmp_path / "x.jsonl")) == [SENTENCE, SENTENCE]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "expected words and propositions"),
        ('{"words": ["a"], "propositions": [], "name": 3}', "expected words and propositions"),
        (
            '{"words": ["a"], "propositions": [{"predicate": Infinity, "lemma": "b", "arguments": []}]}',
            "not a whole number",
        ),
        (
            '{"words": ["a"], "propositions": [{"predicate": true, "lemma": "b", "arguments": []}]}',
            "not a whole number",
        ),
        ('{"words": ["a"], "propositions": [{"predicate": 1, "lemma": "b", "arguments": []}]}', "is word 1, but"),
        ('{"words": ["a"], "tree": "(NN b)", "propositions": []}', "leaves of the tree are not the words"),
        ('{"words": ["a"], "tree": "(NN b", "propositions": []}', "tree cannot be read"),
    ],
)
def test_broken_json_lines_are_placed(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=rf"^<stream>:1:[12]: .*{message}"):
        list(corpora.role_lines.read(io.StringIO(text)))


@given(st.sampled_from(["A0", "A5", "AA", "AM-TMP", "AM", "V", "C-V"]), st.sampled_from(["", "R-", "C-"]))
def test_short_and_long_roles_are_one_to_one(role: str, lead: str) -> None:
    if role.startswith("C-") or role == "V":
        lead = ""
    assert short_role(long_role(lead + role)) == lead + role


def test_continuations_join_the_last_piece_before_them() -> None:
    arguments = (Argument("A1", 0, 0), Argument("A1", 1, 1), Argument("C-A1", 2, 2), Argument("C-A0", 3, 3))
    assert list(pieces(arguments)) == [("A1", ((0, 0),)), ("A1", ((1, 1), (2, 2))), ("A0", ((3, 3),))]
